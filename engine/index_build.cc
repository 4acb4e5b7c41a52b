// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/index_build.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"

namespace dovetail {
namespace {

// A step aims at this long inside the serial section: below what a writer
// waits for a group of its peers.
constexpr int64_t kStepMicros = 250;
// While there are writers, a job rests this many times as long as it held
// them up.
constexpr int64_t kRest = 3;
constexpr size_t kRowsMin = 16;
constexpr size_t kRowsMax = 4096;
constexpr int kDuplicateSamples = 20;

std::string Words(const KeyLayout& layout, std::string_view key) {
  return layout.DebugString(key).value_or(std::string(ToAbsl(Quote(key))));
}

// The index as the serial section has it now.
struct Found {
  const TableState* table;
  int index;
  const IndexDefinition& definition() const {
    return table->compiled->indexes()[index];
  }
};

absl::StatusOr<Found> FindBuilding(const SchemaState& schema,
                                   const BuildTarget& target) {
  const absl::StatusOr<const TableState*> table = schema.Find(target.table);
  const int at = table.ok() ? (*table)->compiled->FindIndex(target.index) : -1;
  if (at < 0 || (*table)->state(at) != v1::INDEX_BUILDING ||
      (*table)->indexes[at].space().number() != target.space.number()) {
    return absl::FailedPreconditionError(
        absl::StrCat("index is not being built any more: table=", target.table,
                     " index=", target.index));
  }
  return Found{*table, at};
}

absl::Status InRow(const Found& found, std::string_view row_key,
                   const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), ": table=", found.table->name(),
                   " index=", found.definition().name(),
                   " row: ", Words(found.table->compiled->row_key(), row_key)));
}

absl::Status CheckKeySize(const Limits& limits, size_t bytes) {
  if (bytes <= limits.key_bytes_max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "key is too long: bytes=", bytes, " max=", limits.key_bytes_max));
}

// Adds the entries of a row that may have several, or a share of some.
absl::Status AddMany(const Found& found, const Limits& limits,
                     const EncodedRow& row, SerialView& view,
                     v1::IndexBuild* build) {
  const IndexDefinition& definition = found.definition();
  const std::string& prefix = found.table->entry_prefixes[found.index];
  std::vector<IndexDefinition::Entry> entries;
  RETURN_IF_ERROR(definition.EncodeEntries(row, prefix, &entries));
  build->set_entries(build->entries() + entries.size());
  for (IndexDefinition::Entry& entry : entries) {
    RETURN_IF_ERROR(CheckKeySize(limits, entry.key.size() - prefix.size()));
    if (definition.aggregates()) {
      view.groups().Add(*found.table, static_cast<size_t>(found.index),
                        std::move(entry.key),
                        definition.Contribution(row.fields));
      continue;
    }
    view.overlay().Put(std::move(entry.key), std::move(entry.value));
  }
  return absl::OkStatus();
}

// Adds the entry of one row, or counts it as a duplicate.
absl::Status AddEntry(const Found& found, const Limits& limits,
                      const SerialView::KeyValue& stored, SerialView& view,
                      v1::IndexBuild* build) {
  const CompiledTable& compiled = *found.table->compiled;
  const IndexDefinition& definition = found.definition();
  ASSIGN_OR_RETURN(const StoredRow row, DecodeRow(stored.value));
  EncodedRow encoded;
  RETURN_IF_ERROR(compiled.ExtractFields(row.record, &encoded));
  encoded.key = stored.key;
  ASSIGN_OR_RETURN(encoded.offsets, compiled.row_key().Split(encoded.key));
  build->set_rows(build->rows() + 1);
  if (!definition.plain()) {
    return AddMany(found, limits, encoded, view, build);
  }
  if (!definition.HasEntry(encoded.fields)) return absl::OkStatus();

  const std::string& prefix = found.table->entry_prefixes[found.index];
  std::string key = prefix;
  std::string value;
  RETURN_IF_ERROR(definition.EncodeEntry(encoded, &key, &value));
  RETURN_IF_ERROR(CheckKeySize(limits, key.size() - prefix.size()));
  if (definition.unique()) {
    ASSIGN_OR_RETURN(const std::optional<std::string> owner, view.Read(key));
    if (owner.has_value() && *owner != value) {
      build->set_duplicates(build->duplicates() + 1);
      if (build->duplicate_samples_size() < kDuplicateSamples) {
        build->add_duplicate_samples(absl::StrCat(
            Words(definition.layout(),
                  std::string_view(key).substr(prefix.size())),
            " again in row: ", Words(compiled.row_key(), stored.key)));
      }
      return absl::OkStatus();
    }
  }
  build->set_entries(build->entries() + 1);
  view.overlay().Put(std::move(key), std::move(value));
  return absl::OkStatus();
}

}  // namespace

Pacer::Pacer(Committer* committer, Clock* clock, Rest rest,
             uint64_t rows_per_second_max)
    : committer_(committer),
      clock_(clock),
      rest_(std::move(rest)),
      rows_per_second_max_(rows_per_second_max),
      requests_seen_(committer->counts().requests) {}

absl::Status Pacer::Step(Committer::MaintenanceBody body) {
  int64_t begin = 0;
  const auto timed = [&](const SchemaState& schema, SerialView& view) {
    begin = clock_->MonotonicMicros();
    return body(schema, view);
  };
  RETURN_IF_ERROR(committer_->WaitUntilWritable());
  RETURN_IF_ERROR(
      committer_->RunMaintenance(timed, Committer::Leaves::kChanges));
  const int64_t held = std::max<int64_t>(1, clock_->MonotonicMicros() - begin);

  const uint64_t requests = committer_->counts().requests;
  const bool writers = requests != requests_seen_;
  requests_seen_ = requests;
  int64_t rest = writers ? kRest * held : 0;
  if (rows_per_second_max_ > 0) {
    rest = std::max<int64_t>(
        rest,
        static_cast<int64_t>(rows_ * 1'000'000 / rows_per_second_max_) - held);
  }
  // Half way to the size that would have taken the time aimed at.
  const size_t fit = writers ? rows_ * kStepMicros / held : kRowsMax;
  rows_ = std::clamp((rows_ + fit) / 2, kRowsMin, kRowsMax);
  if (rows_per_second_max_ > 0) {
    rows_ = std::min<size_t>(rows_,
                             std::max<uint64_t>(1, rows_per_second_max_ / 10));
  }
  if (rest > 0) rest_(std::chrono::microseconds(rest));
  return absl::OkStatus();
}

absl::StatusOr<v1::IndexBuild> ParseIndexBuild(std::string_view bytes) {
  v1::IndexBuild build;
  if (!build.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("progress of an index build does not parse");
  }
  return build;
}

absl::Status AddEntries(Pacer& pacer, const Limits& limits,
                        const BuildTarget& target, v1::IndexBuild* build,
                        absl::FunctionRef<bool(const v1::IndexBuild&)> go_on) {
  while (!build->all_rows()) {
    v1::IndexBuild next = *build;
    const auto body = [&](const SchemaState& schema,
                          SerialView& view) -> absl::Status {
      ASSIGN_OR_RETURN(const Found found, FindBuilding(schema, target));
      KeyRange rest;
      if (!next.position().empty()) rest.begin = next.position() + '\0';
      std::vector<SerialView::KeyValue> rows;
      const size_t max = pacer.rows();
      RETURN_IF_ERROR(view.Scan(found.table->rows_prefix, {rest}, max, &rows));
      for (const SerialView::KeyValue& row : rows) {
        RETURN_IF_ERROR(
            InRow(found, row.key, AddEntry(found, limits, row, view, &next)));
      }
      RETURN_IF_ERROR(view.groups().Settle(
          view, [](const TableState&, size_t, GroupCounters::Outcome) {}));
      if (!rows.empty()) next.set_position(rows.back().key);
      next.set_all_rows(rows.size() < max);
      view.overlay().Put(BuildKey(SpaceId{target.space.number()}),
                         next.SerializeAsString());
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(pacer.Step(body));
    *build = std::move(next);
    if (!go_on(*build)) {
      return absl::CancelledError("build was stopped; it can be resumed");
    }
  }
  return absl::OkStatus();
}

absl::Status DeleteEntries(Pacer& pacer, const v1::Space& space,
                           absl::FunctionRef<bool()> go_on) {
  const std::string prefix = SpacePrefix(SpaceId{space.number()});
  // Behind the last key deleted, so that no step walks over what is gone.
  KeyRange rest;
  for (bool done = false; !done;) {
    const auto body = [&](const SchemaState&,
                          SerialView& view) -> absl::Status {
      std::vector<SerialView::KeyValue> entries;
      const size_t max = pacer.rows();
      RETURN_IF_ERROR(view.Scan(prefix, {rest}, max, &entries));
      for (const SerialView::KeyValue& entry : entries) {
        view.overlay().Delete(prefix + entry.key);
      }
      if (!entries.empty()) rest.begin = entries.back().key + '\0';
      done = entries.size() < max;
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(pacer.Step(body));
    if (!go_on()) return absl::CancelledError("emptying a space was stopped");
  }
  return absl::OkStatus();
}

}  // namespace dovetail
