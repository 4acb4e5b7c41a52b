// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/group_reader.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/continuation.h"
#include "engine/range_merge.h"

namespace dovetail {
namespace {

// The index of a request, which counts rows.
struct GroupPlace {
  const TableState* table;
  int index;

  const IndexDefinition& definition() const {
    return table->compiled->indexes()[static_cast<size_t>(index)];
  }
  const std::string& prefix() const { return table->prefix(index); }
  absl::Status At(const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::Status(status.code(),
                        absl::StrCat(status.message(), " table=", table->name(),
                                     " index=", definition().name()));
  }
};

absl::StatusOr<GroupPlace> Find(const internal::PublishedState& state,
                                const std::string& table,
                                const std::string& index) {
  GroupPlace place;
  ASSIGN_OR_RETURN(place.table, state.schema->Find(table));
  ASSIGN_OR_RETURN(place.index, FindCountingIndex(*place.table, index));
  return place;
}

absl::StatusOr<GroupValue> Parse(const GroupPlace& place, std::string_view key,
                                 std::string_view value) {
  absl::StatusOr<GroupValue> parsed =
      ParseGroupValue(value, place.definition().sums());
  if (parsed.ok()) return parsed;
  return EntryWithoutRow(*place.table, place.index, key, parsed.status());
}

void Add(const GroupValue& value, Totals* totals) {
  ++totals->groups;
  totals->count += static_cast<uint64_t>(value.count);
  totals->sum += value.sum;
}

absl::StatusOr<Totals> PointRead(const internal::PublishedState& state,
                                 const GroupPlace& place,
                                 const std::vector<Value>& values) {
  std::string key = place.prefix();
  RETURN_IF_ERROR(
      place.At(place.definition().layout().EncodeColumns(values, &key)));
  StoreReadOptions read;
  read.snapshot = state.snapshot.get();
  Totals totals;
  std::string value;
  ++totals.work.gets;
  ASSIGN_OR_RETURN(const bool found, state.store->Get(read, key, &value));
  if (!found) return totals;
  ASSIGN_OR_RETURN(
      const GroupValue counted,
      Parse(place, std::string_view(key).substr(place.prefix().size()), value));
  Add(counted, &totals);
  place.table->counters[static_cast<size_t>(place.index) + 1]->CountRead(1, 0);
  return totals;
}

}  // namespace

absl::StatusOr<Totals> Aggregate(const internal::PublishedState& state,
                                 const Limits& limits,
                                 const GroupRange& range) {
  ASSIGN_OR_RETURN(const GroupPlace place,
                   Find(state, range.table, range.index));
  const KeyLayout& layout = place.definition().layout();
  if (range.equal.size() == layout.columns().size() && range.any_of.empty() &&
      !range.range.has_value()) {
    return PointRead(state, place, range.equal);
  }
  const absl::StatusOr<std::vector<KeyRange>> ranges = layout.Ranges(
      range.equal, range.any_of, range.range, limits.merge_streams_max);
  RETURN_IF_ERROR(place.At(ranges.status()));
  Totals totals;
  RangeMerge merge(state, place.prefix(), *ranges, std::nullopt);
  for (; merge.Valid(); merge.Next()) {
    ASSIGN_OR_RETURN(const GroupValue counted,
                     Parse(place, merge.key(), merge.value()));
    Add(counted, &totals);
  }
  RETURN_IF_ERROR(merge.status());
  totals.work.entries = totals.groups;
  totals.work.seeks = merge.seeks();
  place.table->counters[static_cast<size_t>(place.index) + 1]->CountRead(
      totals.groups, 0);
  return totals;
}

absl::StatusOr<ScanEnd> ForEachGroup(const internal::PublishedState& state,
                                     const Limits& limits,
                                     const ScanRequest& request,
                                     GroupVisitor visit) {
  ASSIGN_OR_RETURN(const GroupPlace place,
                   Find(state, request.table, request.index));
  const absl::StatusOr<std::vector<KeyRange>> ranges =
      place.definition().layout().Ranges(request.equal, request.any_of,
                                         request.range,
                                         limits.merge_streams_max);
  RETURN_IF_ERROR(place.At(ranges.status()));
  const uint64_t fingerprint = ScanFingerprint(place.prefix(), *ranges);
  std::optional<ScanPosition> resume;
  if (!request.continuation.empty()) {
    ASSIGN_OR_RETURN(resume, DecodeContinuation(request.continuation,
                                                fingerprint, ranges->size()));
  }
  ScanEnd end;
  if (request.limit == 0) {
    end.continuation = request.continuation;
    return end;
  }
  RangeMerge merge(state, place.prefix(), *ranges, resume);
  while (merge.Valid()) {
    ASSIGN_OR_RETURN(const GroupValue counted,
                     Parse(place, merge.key(), merge.value()));
    absl::StatusOr<std::vector<Value>> values =
        place.definition().GroupColumns(merge.key());
    if (!values.ok()) {
      return EntryWithoutRow(*place.table, place.index, merge.key(),
                             values.status());
    }
    ++end.work.entries;
    const bool go_on =
        visit({*std::move(values), static_cast<uint64_t>(counted.count),
               counted.sum});
    const ScanPosition position{std::string(merge.suffix()), merge.stream()};
    merge.Next();
    if (go_on && end.work.entries < request.limit) continue;
    if (merge.Valid()) {
      end.continuation = EncodeContinuation(fingerprint, position);
    }
    break;
  }
  RETURN_IF_ERROR(merge.status());
  end.work.seeks = merge.seeks();
  place.table->counters[static_cast<size_t>(place.index) + 1]->CountRead(
      end.work.entries, 0);
  return end;
}

}  // namespace dovetail
