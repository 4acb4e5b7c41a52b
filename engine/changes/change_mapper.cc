// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/change_stream.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "engine/changes/table_mapping.h"

namespace dovetail {
namespace {

// Changes that say nothing of rows are the same to every mapping.
bool IsOfRows(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kInsert:
    case ChangeKind::kRead:
    case ChangeKind::kUpdate:
    case ChangeKind::kDelete:
    case ChangeKind::kPut:
    case ChangeKind::kMerge:
    case ChangeKind::kTruncate:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct ChangeMapper::State {
  std::vector<std::unique_ptr<changes::TableMapping>> tables;
  bool reject_others = false;

  absl::StatusOr<ChangeOutcome> Add(const ForeignChange& change,
                                    WriteBatch* batch) const {
    if (!IsOfRows(change.kind)) {
      return ChangeOutcome{ChangeOutcome::Effect::kSkipped,
                           ChangeKindName(change.kind)};
    }
    for (const auto& table : tables) {
      if (table->Fits(change)) return table->Add(change, batch);
    }
    if (!reject_others) {
      return ChangeOutcome{ChangeOutcome::Effect::kSkipped, "another table"};
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "no table of the mapping takes the change: database=",
        ToAbsl(Quote(change.database)),
        " schema=", ToAbsl(Quote(change.schema)),
        " table=", ToAbsl(Quote(change.table)), " byte=", change.at));
  }
};

ChangeMapper::ChangeMapper(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
ChangeMapper::ChangeMapper(ChangeMapper&&) noexcept = default;
ChangeMapper& ChangeMapper::operator=(ChangeMapper&&) noexcept = default;
ChangeMapper::~ChangeMapper() = default;

absl::StatusOr<ChangeMapper> ChangeMapper::Compile(
    Engine* engine, const v1::ChangeMapping& mapping) {
  if (mapping.tables().empty()) {
    return absl::InvalidArgumentError("the mapping has no table");
  }
  auto state = std::make_unique<State>();
  state->reject_others = mapping.other_tables() == v1::ChangeMapping::REJECT;
  for (const v1::TableMapping& table : mapping.tables()) {
    ASSIGN_OR_RETURN(std::unique_ptr<changes::TableMapping> compiled,
                     changes::TableMapping::Compile(engine, table));
    state->tables.push_back(std::move(compiled));
  }
  return ChangeMapper(std::move(state));
}

absl::StatusOr<MappedEntry> ChangeMapper::Map(const ChangeEntry& entry) const {
  MappedEntry mapped;
  for (const ForeignChange& change : entry.changes) {
    absl::StatusOr<ChangeOutcome> outcome = state_->Add(change, &mapped.batch);
    if (!outcome.ok()) {
      return absl::Status(
          outcome.status().code(),
          absl::StrCat(outcome.status().message(), " line=", entry.line));
    }
    mapped.outcomes.push_back(*outcome);
    if (change.time_us.has_value()) mapped.time_us = change.time_us;
  }
  return mapped;
}

}  // namespace dovetail
