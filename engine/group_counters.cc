// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/group_counters.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/serial_view.h"

namespace dovetail {
namespace {

// Of a remembered counter besides its key, roughly.
constexpr size_t kRememberedOverhead = 64;

absl::Status InGroup(const TableState& table, size_t index,
                     std::string_view key, std::string_view what) {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  key.remove_prefix(table.entry_prefixes[index].size());
  return absl::DataLossError(absl::StrCat(
      ToAbsl(what), "; run verify and repair: table=", table.name(),
      " index=", definition.name(),
      " group: ", definition.layout().DebugString(key).value_or(Quote(key))));
}

}  // namespace

void GroupCounters::Add(const TableState& table, size_t index, std::string key,
                        const GroupValue& delta) {
  Change& change =
      pending_.try_emplace(std::move(key), Change{&table, index, {}})
          .first->second;
  change.delta += delta;
}

absl::StatusOr<GroupValue> GroupCounters::Read(const SerialView& view,
                                               bool with_sum,
                                               std::string_view key) const {
  const std::optional<std::string>* pending = view.overlay().Find(key);
  if (pending == nullptr) {
    if (const auto it = newer_.find(ToAbsl(key)); it != newer_.end())
      return it->second;
    if (const auto it = older_.find(ToAbsl(key)); it != older_.end())
      return it->second;
  }
  ASSIGN_OR_RETURN(const std::optional<std::string> value, view.Read(key));
  if (!value.has_value()) return GroupValue();
  return ParseGroupValue(*value, with_sum);
}

absl::Status GroupCounters::Settle(
    SerialView& view,
    absl::FunctionRef<void(const TableState&, size_t, Outcome)> settled) {
  for (const auto& [key, change] : pending_) {
    Outcome outcome = Outcome::kUnchanged;
    if (change.delta != GroupValue()) {
      RETURN_IF_ERROR(SettleOne(view, key, change, &outcome));
    }
    settled(*change.table, change.index, outcome);
  }
  pending_.clear();
  return absl::OkStatus();
}

absl::Status GroupCounters::SettleOne(SerialView& view, const std::string& key,
                                      const Change& change, Outcome* outcome) {
  const TableState& table = *change.table;
  const bool with_sum = table.compiled->indexes()[change.index].sums();
  const absl::StatusOr<GroupValue> before = Read(view, with_sum, key);
  if (absl::IsInvalidArgument(before.status())) {
    return InGroup(table, change.index, key, ToStd(before.status().message()));
  }
  RETURN_IF_ERROR(before.status());
  GroupValue after = *before;
  after += change.delta;
  if (after.count < 0 || (after.count == 0 && after.sum != 0)) {
    return InGroup(table, change.index, key,
                   "a counter does not follow from its rows");
  }
  const int index = static_cast<int>(change.index);
  const std::string_view entry_key =
      std::string_view(key).substr(table.entry_prefixes[change.index].size());
  std::string value;
  if (before->count > 0) {
    AppendGroupValue(*before, with_sum, &value);
    view.digests().Remove(table, index, entry_key, value);
  }
  touched_.emplace_back(key, with_sum);
  if (after.count == 0) {
    view.overlay().Delete(key);
    *outcome = Outcome::kDeleted;
    return absl::OkStatus();
  }
  value.clear();
  AppendGroupValue(after, with_sum, &value);
  view.digests().Add(table, index, entry_key, value);
  view.overlay().Put(key, std::move(value));
  *outcome = Outcome::kPut;
  return absl::OkStatus();
}

void GroupCounters::EndGroup(const Overlay& overlay, bool stored) {
  pending_.clear();
  for (auto& [key, with_sum] : touched_) {
    if (!stored) break;
    const std::optional<std::string>* value = overlay.Find(key);
    if (value == nullptr) continue;  // Its request was undone.
    const absl::StatusOr<GroupValue> counter =
        value->has_value() ? ParseGroupValue(**value, with_sum) : GroupValue();
    if (counter.ok()) Remember(std::move(key), *counter);
  }
  touched_.clear();
}

void GroupCounters::Remember(std::string key, const GroupValue& value) {
  older_.erase(key);
  const size_t bytes = key.size() + kRememberedOverhead;
  if (newer_.insert_or_assign(std::move(key), value).second) {
    newer_bytes_ += bytes;
  }
  if (newer_bytes_ < kRememberedBytes / 2) return;
  older_ = std::move(newer_);
  newer_.clear();
  newer_bytes_ = 0;
}

}  // namespace dovetail
