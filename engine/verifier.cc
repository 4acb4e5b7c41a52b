// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/verifier.h"

#include <xxhash.h>

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
  ASSIGN_OR_RETURN(const std::vector<SpaceSum> digests,
                   ReadDigests(*state_.store, read_, *state_.schema));
  const std::vector<TableState>& tables = state_.schema->tables();
  for (size_t t = 0; t < tables.size(); ++t) {
    const TableState& table = tables[t];
    // What is being built or disabled does not follow from the rows.
    std::vector<int> indexes;
    for (int i = 0; i < static_cast<int>(table.indexes.size()); ++i) {
      if (table.Follows(static_cast<size_t>(i))) indexes.push_back(i);
    }
    ASSIGN_OR_RETURN(const SpaceSum rows, VerifyTable(table, indexes));
    if (digests.empty()) continue;
    CompareDigest(
        table,
        state_.schema->catalog().tables(static_cast<int>(t)).rows().number(),
        digests[t], rows);
  }
  return std::move(report_);
}

void Verifier::CompareDigest(const TableState& table, uint32_t space,
                             const SpaceSum& kept, const SpaceSum& found) {
  if (kept == found) return;
  digest_differences_[space] = kept - found;
  Finding finding;
  finding.kind = Finding::Kind::kWrongDigest;
  finding.table = table.name();
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

absl::StatusOr<SpaceSum> Verifier::VerifyTable(
    const TableState& table, const std::vector<int>& indexes) {
  Sums sums;
  sums.indexes.resize(indexes.size());
  RETURN_IF_ERROR(SumRows(table, indexes, &sums));
  std::vector<int> differ;
  for (size_t i = 0; i < indexes.size(); ++i) {
    IndexSums& index = sums.indexes[i];
    RETURN_IF_ERROR(SumEntries(table, indexes[i], &index.entries));
    const bool same = index.implied == index.entries;
    if (!same && !SeededBug("verify_is_blind")) differ.push_back(indexes[i]);
  }
  if (differ.empty()) return sums.rows;
  RETURN_IF_ERROR(NameMissing(table, differ));
  for (const int i : differ) RETURN_IF_ERROR(NameDangling(table, i));
  return sums.rows;
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
  for (const int i : indexes) {
    hashers.emplace_back(table.name(), table.indexes[i].name());
  }
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
                                  SpaceSum* sum) {
  const std::string& name = table.compiled->indexes()[index].name();
  const SpaceHasher hasher(table.name(), name);
  const std::string& prefix = table.entry_prefixes[index];
  const auto it = Iterate(prefix);
  for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
    ++report_.entries;
    RETURN_IF_ERROR(Step(table.name(), name));
    *sum += hasher.Of(it->key().substr(prefix.size()), it->value());
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
      if (!table.compiled->indexes()[i].HasEntry(row.fields)) continue;
      RETURN_IF_ERROR(CheckExpected(table, i, row));
    }
  }
  return it->status();
}

absl::Status Verifier::CheckExpected(const TableState& table, int index,
                                     const EncodedRow& row) {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  const std::string& prefix = table.entry_prefixes[index];
  std::string key;
  std::string expected;
  RETURN_IF_ERROR(definition.EncodeEntry(row, &key, &expected));
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
      std::string want_key;
      std::string want_value;
      right = found &&
              Encode(table, finding.row_key, value, /*silent=*/true, &row) &&
              definition.HasEntry(row.fields) &&
              definition.EncodeEntry(row, &want_key, &want_value).ok() &&
              want_key == key && want_value == it->value();
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
