// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/count_stop.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "engine/live_cursor.h"
#include "engine/live_keeper.h"
#include "index/group_value.h"

namespace dovetail {
namespace {

// The values, in the order of the COUNT index's columns; nullopt if those are
// other columns.
std::optional<std::vector<Value>> InColumnsOf(const KeyLayout& counting,
                                              const KeyLayout& scanned,
                                              const std::vector<Value>& equal) {
  if (counting.columns().size() != equal.size()) return std::nullopt;
  std::vector<Value> values;
  values.reserve(equal.size());
  for (const Column& column : counting.columns()) {
    const auto begin = scanned.columns().begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(equal.size());
    const auto it = std::find_if(
        begin, end, [&](const Column& c) { return c.field == column.field; });
    if (it == end) return std::nullopt;
    values.push_back(equal[static_cast<size_t>(it - begin)]);
  }
  return values;
}

}  // namespace

bool CountStop::BeginsDead(std::string_view space,
                           const std::vector<KeyRange>& ranges) const {
  const std::string prefix(space);
  return std::any_of(ranges.begin(), ranges.end(), [&](const KeyRange& range) {
    return LiveCursor::SeekMayWalk(state_, prefix + range.begin,
                                   prefix + range.end);
  });
}

// The index, or -1, and the key of the scan's group in it.
int CountStop::FindCounting(std::string* key) const {
  if (state_.live == nullptr || request_.equal.empty() ||
      !request_.any_of.empty() || request_.range.has_value() ||
      !request_.continuation.empty()) {
    return -1;
  }
  const auto& indexes = table_.compiled->indexes();
  // A row with several entries would be counted once.
  if (index_ >= 0 && indexes[static_cast<size_t>(index_)].fan_out() >= 0) {
    return -1;
  }
  const KeyLayout& scanned =
      index_ < 0 ? table_.compiled->row_key()
                 : indexes[static_cast<size_t>(index_)].layout();
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (!indexes[i].aggregates() || indexes[i].fan_out() >= 0 ||
        !indexes[i].predicate().empty() ||
        table_.state(i) != v1::INDEX_READABLE) {
      continue;
    }
    const std::optional<std::vector<Value>> values =
        InColumnsOf(indexes[i].layout(), scanned, request_.equal);
    if (!values.has_value()) continue;
    *key = table_.entry_prefixes[i];
    if (indexes[i].layout().EncodeColumns(*values, key).ok()) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

absl::Status CountStop::Look(Work* work) {
  looked_ = true;
  std::string key;
  const int counting = FindCounting(&key);
  if (counting < 0) return absl::OkStatus();
  StoreReadOptions read;
  read.snapshot = state_.snapshot.get();
  std::string value;
  ++work->gets;
  ASSIGN_OR_RETURN(const bool any, state_.store->Get(read, key, &value));
  rows_ = 0;
  if (!any) return absl::OkStatus();
  const auto at = static_cast<size_t>(counting);
  const absl::StatusOr<GroupValue> counted =
      ParseGroupValue(value, table_.compiled->indexes()[at].sums());
  if (!counted.ok()) {
    return EntryWithoutRow(
        table_, counting,
        std::string_view(key).substr(table_.entry_prefixes[at].size()),
        counted.status());
  }
  rows_ = static_cast<uint64_t>(counted->count);
  return absl::OkStatus();
}

void CountStop::CountIt() const { state_.live->CountStop(); }

}  // namespace dovetail
