// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/verifier.h"

#include <xxhash.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/digest.h"
#include "engine/row_format.h"

namespace dovetail {
namespace {

uint64_t EntryHash(const std::string& prefix, std::string_view key) {
  const std::string whole = prefix + std::string(key);
  return XXH3_64bits(whole.data(), whole.size());
}

}  // namespace

Verifier::Verifier(const internal::PublishedState& state,
                   const VerifyOptions& options)
    : state_(state), options_(options) {
  read_.snapshot = state.snapshot.get();
  read_.fill_cache = false;
}

absl::StatusOr<VerifyReport> Verifier::Run() {
  report_.sequence = state_.sequence;
  ASSIGN_OR_RETURN(const StoredDigests digests,
                   ReadDigests(*state_.store, read_, *state_.schema));
  const std::vector<TableState>& tables = state_.schema->tables();
  for (size_t t = 0; t < tables.size(); ++t) {
    const TableState& table = tables[t];
    // What is being built or disabled does not follow from the rows.
    std::vector<int> indexes;
    for (int i = 0; i < static_cast<int>(table.indexes.size()); ++i) {
      if (table.Follows(static_cast<size_t>(i))) indexes.push_back(i);
    }
    ASSIGN_OR_RETURN(const Sums sums, VerifyTable(table, indexes));
    if (digests.empty()) continue;
    const v1::CatalogTable& stored =
        state_.schema->catalog().tables(static_cast<int>(t));
    CompareDigest(table, -1, stored.rows().number(), *digests[t][0], sums.rows);
    for (size_t k = 0; k < indexes.size(); ++k) {
      const size_t i = static_cast<size_t>(indexes[k]);
      CompareDigest(table, indexes[k], table.indexes[i].space().number(),
                    *digests[t][1 + i], sums.indexes[k].entries);
    }
  }
  return std::move(report_);
}

void Verifier::CompareDigest(const TableState& table, int index, uint32_t space,
                             const SpaceSum& kept, const SpaceSum& found) {
  if (kept == found) return;
  digest_differences_[space] = kept - found;
  Finding finding;
  finding.kind = Finding::Kind::kWrongDigest;
  finding.table = table.name();
  if (index >= 0) finding.index = table.indexes[index].name();
  finding.detail =
      absl::StrCat("digest=", DigestText(kept.sum), " of count=", kept.count,
                   " but there is digest=", DigestText(found.sum),
                   " of count=", found.count);
  Report(std::move(finding));
}

absl::StatusOr<std::optional<Finding>> Verifier::FirstDifference(
    const TableState& table, int index) {
  RETURN_IF_ERROR(VerifyTable(table, {index}).status());
  if (report_.clean()) return std::optional<Finding>();
  return report_.findings.front();
}

absl::StatusOr<Verifier::Sums> Verifier::VerifyTable(
    const TableState& table, const std::vector<int>& indexes) {
  Sums sums;
  sums.indexes.resize(indexes.size());
  RETURN_IF_ERROR(SumRows(table, indexes, &sums));
  std::vector<int> differ;
  for (size_t i = 0; i < indexes.size(); ++i) {
    IndexSums& index = sums.indexes[i];
    RETURN_IF_ERROR(SumEntries(table, indexes[i], &index));
    if (index.Same() || SeededBug("verify_is_blind")) continue;
    if (index.groups == nullptr) {
      differ.push_back(indexes[i]);
    } else {
      RETURN_IF_ERROR(NameGroups(table, indexes[i], *index.groups));
    }
  }
  if (differ.empty()) return sums;
  RETURN_IF_ERROR(NameMissing(table, differ));
  for (const int i : differ) RETURN_IF_ERROR(NameDangling(table, i));
  return sums;
}

std::unique_ptr<StoreIterator> Verifier::Iterate(const std::string& prefix) {
  std::unique_ptr<StoreIterator> it = state_.store->NewIterator(read_);
  it->Seek(prefix);
  return it;
}

absl::Status Verifier::SumRows(const TableState& table,
                               const std::vector<int>& indexes, Sums* sums) {
  const SpaceHasher rows(table.name(), {});
  std::vector<SpaceHasher> hashers;
  for (size_t k = 0; k < indexes.size(); ++k) {
    const auto i = static_cast<size_t>(indexes[k]);
    hashers.emplace_back(table.name(), table.indexes[i].name());
    if (table.compiled->indexes()[i].aggregates()) {
      sums->indexes[k].groups = std::make_unique<GroupSums>();
    }
  }
  std::vector<IndexDefinition::Entry> entries;
  EncodedRow row;
  std::string key;
  std::string value;
  const auto it = Iterate(table.rows_prefix);
  for (; it->Valid() && it->key().starts_with(table.rows_prefix); it->Next()) {
    ++report_.rows;
    RETURN_IF_ERROR(Step(table.name(), {}));
    const std::string_view row_key = it->key().substr(table.rows_prefix.size());
    // Of one that does not parse, nothing: its digest will differ.
    const absl::StatusOr<StoredRow> stored = DecodeRow(it->value());
    if (stored.ok()) sums->rows += rows.Of(row_key, stored->record);
    if (!Encode(table, row_key, it->value(), /*silent=*/false, &row)) continue;
    for (size_t i = 0; i < indexes.size(); ++i) {
      const IndexDefinition& index = table.compiled->indexes()[indexes[i]];
      if (!index.plain()) {
        if (!EncodeMany(index, table, row, /*silent=*/false, &entries))
          continue;
        for (const IndexDefinition::Entry& entry : entries) {
          if (index.aggregates()) {
            sums->indexes[i].groups->AddRow(entry.key,
                                            index.Contribution(row.fields));
          } else {
            sums->indexes[i].implied += hashers[i].Of(entry.key, entry.value);
          }
        }
        continue;
      }
      if (!index.HasEntry(row.fields)) continue;
      key.clear();
      value.clear();
      RETURN_IF_ERROR(index.EncodeEntry(row, &key, &value));
      sums->indexes[i].implied += hashers[i].Of(key, value);
    }
  }
  return it->status();
}

absl::Status Verifier::SumEntries(const TableState& table, int index,
                                  IndexSums* sums) {
  const std::string& name = table.compiled->indexes()[index].name();
  const SpaceHasher hasher(table.name(), name);
  const std::string& prefix = table.entry_prefixes[index];
  const auto it = Iterate(prefix);
  for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
    ++report_.entries;
    RETURN_IF_ERROR(Step(table.name(), name));
    const std::string_view key = it->key().substr(prefix.size());
    sums->entries += hasher.Of(key, it->value());
    if (sums->groups != nullptr) {
      sums->groups->AddCounter(key, it->value(),
                               table.compiled->indexes()[index].sums());
    }
  }
  return it->status();
}

absl::Status Verifier::NameMissing(const TableState& table,
                                   const std::vector<int>& indexes) {
  EncodedRow row;
  const auto it = Iterate(table.rows_prefix);
  for (; it->Valid() && it->key().starts_with(table.rows_prefix); it->Next()) {
    RETURN_IF_ERROR(Step(table.name(), {}));
    if (!Encode(table, it->key().substr(table.rows_prefix.size()), it->value(),
                /*silent=*/true, &row)) {
      continue;
    }
    for (const int i : indexes) {
      RETURN_IF_ERROR(CheckExpected(table, i, row));
    }
  }
  return it->status();
}

absl::Status Verifier::CheckExpected(const TableState& table, int index,
                                     const EncodedRow& row) {
  std::vector<IndexDefinition::Entry> entries;
  if (!EncodeMany(table.compiled->indexes()[index], table, row,
                  /*silent=*/true, &entries)) {
    return absl::OkStatus();
  }
  for (const IndexDefinition::Entry& entry : entries) {
    RETURN_IF_ERROR(CheckEntry(table, index, row, entry));
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckEntry(const TableState& table, int index,
                                  const EncodedRow& row,
                                  const IndexDefinition::Entry& entry) {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  const std::string& prefix = table.entry_prefixes[index];
  const auto& [key, expected] = entry;
  std::string value;
  ASSIGN_OR_RETURN(const bool found,
                   state_.store->Get(read_, prefix + key, &value));
  if (found && value == expected) return absl::OkStatus();

  Finding finding;
  finding.kind =
      found ? Finding::Kind::kWrongEntry : Finding::Kind::kMissingEntry;
  finding.table = table.name();
  finding.index = definition.name();
  finding.entry_key = key;
  finding.row_key = row.key;
  finding.detail = absl::StrCat(
      definition.layout().DebugString(key).value_or(Quote(key)),
      found ? absl::StrCat(" has=", Quote(value), " wanted=", Quote(expected))
            : " is not there");
  if (found) {
    // Another row may claim the same entry with the same right.
    std::string owner_key;
    if (definition.unique() &&
        definition.RowKeyOf(key, value, &owner_key).ok()) {
      std::string owner;
      ASSIGN_OR_RETURN(
          const bool owner_found,
          state_.store->Get(read_, table.rows_prefix + owner_key, &owner));
      EncodedRow owner_row;
      std::string owner_entry;
      std::string owner_value;
      if (owner_found &&
          Encode(table, owner_key, owner, /*silent=*/true, &owner_row) &&
          definition.HasEntry(owner_row.fields) &&
          definition.EncodeEntry(owner_row, &owner_entry, &owner_value).ok() &&
          owner_entry == key && owner_value == value) {
        finding.kind = Finding::Kind::kDuplicateUnique;
        finding.detail = absl::StrCat(
            definition.layout().DebugString(key).value_or(Quote(key)),
            " is claimed by two rows: ",
            table.compiled->row_key().DebugString(owner_key).value_or(""),
            " and ",
            table.compiled->row_key().DebugString(row.key).value_or(""));
      }
    }
    reported_.insert(EntryHash(prefix, key));
  }
  Report(std::move(finding));
  return absl::OkStatus();
}

absl::Status Verifier::NameDangling(const TableState& table, int index) {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  const std::string& prefix = table.entry_prefixes[index];
  const auto it = Iterate(prefix);
  for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
    RETURN_IF_ERROR(Step(table.name(), definition.name()));
    const std::string_view key = it->key().substr(prefix.size());
    Finding finding;
    finding.kind = Finding::Kind::kDanglingEntry;
    finding.table = table.name();
    finding.index = definition.name();
    finding.entry_key = std::string(key);
    const absl::Status decoded =
        definition.RowKeyOf(key, it->value(), &finding.row_key);
    bool right = false;
    if (!decoded.ok()) {
      finding.row_key.clear();
      finding.detail = std::string(decoded.message());
    } else {
      std::string value;
      ASSIGN_OR_RETURN(const bool found,
                       state_.store->Get(
                           read_, table.rows_prefix + finding.row_key, &value));
      EncodedRow row;
      std::vector<IndexDefinition::Entry> wanted;
      const IndexDefinition::Entry is{std::string(key),
                                      std::string(it->value())};
      right = found &&
              Encode(table, finding.row_key, value, /*silent=*/true, &row) &&
              EncodeMany(definition, table, row, /*silent=*/true, &wanted) &&
              std::find(wanted.begin(), wanted.end(), is) != wanted.end();
      finding.detail = absl::StrCat(
          definition.layout().DebugString(key).value_or(Quote(key)),
          found ? " does not follow from its row" : " has no row");
    }
    // Named already, as the wrong content of a right entry.
    if (right || reported_.contains(EntryHash(prefix, key))) continue;
    Report(std::move(finding));
  }
  return it->status();
}

absl::Status Verifier::NameGroups(const TableState& table, int index,
                                  const GroupSums& sums) {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  const auto differs = [&](GroupDifference difference) {
    ReportGroup(table, index, std::move(difference));
  };
  GroupPasses passes(sums, definition.sums());
  while (!passes.done()) {
    EncodedRow row;
    std::vector<IndexDefinition::Entry> groups;
    auto it = Iterate(table.rows_prefix);
    for (; it->Valid() && it->key().starts_with(table.rows_prefix);
         it->Next()) {
      RETURN_IF_ERROR(Step(table.name(), {}));
      if (!Encode(table, it->key().substr(table.rows_prefix.size()),
                  it->value(), /*silent=*/true, &row) ||
          !EncodeMany(definition, table, row, /*silent=*/true, &groups)) {
        continue;
      }
      for (const IndexDefinition::Entry& group : groups) {
        passes.AddRow(group.key, definition.Contribution(row.fields));
      }
    }
    RETURN_IF_ERROR(it->status());
    const std::string& prefix = table.entry_prefixes[index];
    it = Iterate(prefix);
    for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
      RETURN_IF_ERROR(Step(table.name(), definition.name()));
      passes.AddCounter(it->key().substr(prefix.size()), it->value(), differs);
    }
    RETURN_IF_ERROR(it->status());
    passes.End(differs);
  }
  return absl::OkStatus();
}

void Verifier::ReportGroup(const TableState& table, int index,
                           GroupDifference difference) {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  const auto words = [&](const GroupValue& value) {
    std::string sum;
    if (definition.sums()) {
      std::ostringstream out;
      out << " sum=" << value.sum;
      sum = out.str();
    }
    return absl::StrCat("count=", value.count, sum);
  };
  Finding finding;
  finding.kind = !difference.has.has_value()    ? Finding::Kind::kMissingEntry
                 : difference.wanted.count == 0 ? Finding::Kind::kDanglingEntry
                                                : Finding::Kind::kWrongEntry;
  finding.table = table.name();
  finding.index = definition.name();
  finding.entry_key = difference.group;
  finding.detail =
      absl::StrCat("group ",
                   definition.layout()
                       .DebugString(difference.group)
                       .value_or(Quote(difference.group)),
                   " has=",
                   !difference.has.has_value() ? "nothing"
                   : difference.counted.has_value()
                       ? words(*difference.counted)
                       : std::string(ToAbsl(Quote(*difference.has))),
                   " wanted=", words(difference.wanted));
  Report(std::move(finding));
  if (wrong_groups_.size() >= options_.findings_max) return;
  wrong_groups_.push_back({table.name(), table.indexes[index].space().number(),
                           std::move(difference)});
}

bool Verifier::EncodeMany(const IndexDefinition& index, const TableState& table,
                          const EncodedRow& row, bool silent,
                          std::vector<IndexDefinition::Entry>* entries) {
  const absl::Status status = index.EncodeEntries(row, {}, entries);
  if (status.ok() || silent) return status.ok();
  Finding finding;
  finding.kind = Finding::Kind::kWrongRow;
  finding.table = table.name();
  finding.row_key = row.key;
  finding.detail = std::string(status.message());
  Report(std::move(finding));
  return false;
}

bool Verifier::Encode(const TableState& table, std::string_view row_key,
                      std::string_view value, bool silent, EncodedRow* row) {
  absl::Status status;
  const absl::StatusOr<StoredRow> stored = DecodeRow(value);
  status.Update(stored.status());
  if (status.ok()) {
    status.Update(table.compiled->ExtractFields(stored->record, row));
  }
  if (status.ok()) {
    const absl::StatusOr<uint32_t> salt = table.compiled->SaltOf(row_key);
    status.Update(salt.status());
    if (status.ok()) status.Update(table.compiled->EncodeKey(*salt, row));
  }
  if (status.ok() && row->key == row_key) return true;
  if (!silent) {
    Finding finding;
    finding.kind = Finding::Kind::kWrongRow;
    finding.table = table.name();
    finding.row_key = std::string(row_key);
    finding.detail = status.ok() ? "the key is not the key of the record"
                                 : std::string(status.message());
    Report(std::move(finding));
  }
  return false;
}

void Verifier::Report(Finding finding) {
  switch (finding.kind) {
    case Finding::Kind::kMissingEntry:
      ++report_.missing;
      break;
    case Finding::Kind::kDanglingEntry:
      ++report_.dangling;
      break;
    case Finding::Kind::kWrongEntry:
      ++report_.wrong_entries;
      break;
    case Finding::Kind::kDuplicateUnique:
      ++report_.duplicate_unique;
      break;
    case Finding::Kind::kWrongRow:
      ++report_.wrong_rows;
      break;
    case Finding::Kind::kWrongDigest:
      ++report_.wrong_digests;
      break;
  }
  if (options_.on_finding) options_.on_finding(finding);
  if (report_.findings.size() < options_.findings_max) {
    report_.findings.push_back(std::move(finding));
  }
}

absl::Status Verifier::Step(std::string_view table, std::string_view index) {
  if (!options_.progress || options_.progress_every == 0 ||
      ++steps_ % options_.progress_every != 0) {
    return absl::OkStatus();
  }
  if (options_.progress({std::string(table), std::string(index), report_.rows,
                         report_.entries})) {
    return absl::OkStatus();
  }
  return absl::CancelledError("verify was cancelled by its progress callback");
}

std::string VerifyReport::Summary() const {
  return absl::StrCat("rows=", rows, " entries=", entries, " missing=", missing,
                      " dangling=", dangling, " wrong_entries=", wrong_entries,
                      " duplicate_unique=", duplicate_unique,
                      " wrong_rows=", wrong_rows,
                      " wrong_digests=", wrong_digests);
}

}  // namespace dovetail
