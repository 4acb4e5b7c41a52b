// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/column_filter.h"
#include "engine/continuation.h"
#include "engine/count_stop.h"
#include "engine/covered_row.h"
#include "engine/range_merge.h"
#include "engine/row_fetcher.h"

namespace dovetail {
namespace {

absl::Status InTable(const TableState& table, std::string_view index,
                     const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), " table=", table.name(),
                   index.empty() ? "" : " index=", ToAbsl(index)));
}

const KeyLayout& LayoutOf(const TableState& table, int index) {
  return index < 0 ? table.compiled->row_key()
                   : table.compiled->indexes()[index].layout();
}

Row CopyOf(const RowView& row) {
  return {std::string(row.key), std::string(row.record), row.version};
}

}  // namespace

absl::StatusOr<Row> Reader::Get(std::string_view table_name,
                                const std::vector<Value>& key) const {
  ASSIGN_OR_RETURN(const TableState* table, state_.schema->Find(table_name));
  const KeyLayout& layout = table->compiled->row_key();
  if (key.size() != layout.columns().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "row key needs one value per column: table=", table->name(),
        " columns=", layout.columns().size(), " values=", key.size()));
  }
  absl::StatusOr<std::vector<KeyRange>> candidates =
      layout.Ranges(key, {}, std::nullopt, limits_.merge_streams_max);
  RETURN_IF_ERROR(InTable(*table, {}, candidates.status()));
  ASSIGN_OR_RETURN(const ColumnFilter filter,
                   ColumnFilter::Make(layout, key, {}));
  std::string value;
  for (const KeyRange& candidate : *candidates) {
    ASSIGN_OR_RETURN(const bool found,
                     ReadRow(state_, *table, candidate.prefix, &value));
    if (!found) continue;
    ASSIGN_OR_RETURN(const RowView row,
                     ViewRow(*table, candidate.prefix, value));
    ASSIGN_OR_RETURN(const bool matches, filter.Matches(*table, row.record));
    if (!matches) continue;
    table->counters[0]->CountRead(1, 1);
    return CopyOf(row);
  }
  return absl::NotFoundError(absl::StrCat(
      "no such row: table=", table->name(), " ",
      layout.DebugString(candidates->front().prefix).value_or("")));
}

absl::StatusOr<std::vector<Row>> Reader::GetBy(
    std::string_view table_name, std::string_view index_name,
    const std::vector<Value>& values) const {
  ASSIGN_OR_RETURN(const TableState* table, state_.schema->Find(table_name));
  ASSIGN_OR_RETURN(const int index, FindReadableIndex(*table, index_name));
  const KeyLayout& layout = LayoutOf(*table, index);
  if (values.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("give at least the first column: table=", table->name(),
                     " index=", ToAbsl(index_name)));
  }
  const bool point = index >= 0 && table->compiled->indexes()[index].unique() &&
                     values.size() == layout.columns().size();
  std::vector<Row> rows;
  if (point) {
    // Indexes have no salt, so all columns make one key.
    std::string key = table->entry_prefixes[index];
    RETURN_IF_ERROR(
        InTable(*table, index_name, layout.EncodeColumns(values, &key)));
    std::string value;
    ASSIGN_OR_RETURN(const bool found,
                     state_.store->Get(options_, key, &value));
    if (!found) return rows;
    RowFetcher fetcher(state_, *table);
    Work work;
    ASSIGN_OR_RETURN(const RowView row,
                     fetcher.Fetch(index,
                                   std::string_view(key).substr(
                                       table->entry_prefixes[index].size()),
                                   value, &work));
    ASSIGN_OR_RETURN(const ColumnFilter filter,
                     ColumnFilter::Make(layout, values, {}));
    ASSIGN_OR_RETURN(const bool matches, filter.Matches(*table, row.record));
    if (!matches) return rows;
    rows.push_back(CopyOf(row));
    table->counters[index + 1]->CountRead(1, 1);
    return rows;
  }
  ScanRequest request;
  request.table = std::string(table_name);
  request.index = std::string(index_name);
  request.equal = values;
  request.limit = limits_.match_rows_max + 1;
  size_t bytes = 0;
  ASSIGN_OR_RETURN(const ScanEnd end, ForEach(request, [&](const RowView& row) {
                     rows.push_back(CopyOf(row));
                     bytes += row.record.size() + row.key.size() + sizeof(Row);
                     return bytes < limits_.page_bytes_max;
                   }));
  if (rows.size() > limits_.match_rows_max || !end.continuation.empty()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "too many rows match; use Scan: table=", table->name(),
        " index=", ToAbsl(index_name), " max=", limits_.match_rows_max));
  }
  return rows;
}

absl::StatusOr<ScanEnd> Reader::ForEach(const ScanRequest& request,
                                        RowVisitor visit) const {
  ASSIGN_OR_RETURN(const TableState* table, state_.schema->Find(request.table));
  ASSIGN_OR_RETURN(const int index, FindReadableIndex(*table, request.index));
  absl::StatusOr<std::vector<KeyRange>> ranges =
      LayoutOf(*table, index)
          .Ranges(request.equal, request.any_of, request.range,
                  limits_.merge_streams_max);
  RETURN_IF_ERROR(InTable(*table, request.index, ranges.status()));
  const std::string& space = table->prefix(index);
  std::optional<ScanPosition> resume;
  if (!request.continuation.empty()) {
    ASSIGN_OR_RETURN(resume, DecodeContinuation(request.continuation,
                                                ScanFingerprint(space, *ranges),
                                                ranges->size()));
  }

  ScanEnd end;
  if (request.limit == 0) {
    end.continuation = request.continuation;
    return end;
  }
  ASSIGN_OR_RETURN(const ColumnFilter filter,
                   ColumnFilter::Make(LayoutOf(*table, index), request.equal,
                                      request.any_of));
  const bool covered = request.covered && index >= 0;
  if (covered) {
    RETURN_IF_ERROR(
        InTable(*table, request.index,
                filter.CheckHeld(
                    table->compiled->indexes()[static_cast<size_t>(index)])));
  }
  CountStop count(state_, *table, index, request);
  ASSIGN_OR_RETURN(const bool nothing,
                   count.FindsNothing(space, *ranges, &end.work));
  if (nothing) return end;
  RangeMerge merge(state_, space, *ranges, resume);
  CoveredRow entry(*table, index);
  RowFetcher rows(state_, *table);
  uint64_t returned = 0;
  while (merge.Valid()) {
    ASSIGN_OR_RETURN(
        const RowView row,
          index < 0 ? ViewRow(*table, merge.key(), merge.value())
          : covered ? entry.Of(merge.key(), merge.value())
                  : rows.Fetch(index, merge.key(), merge.value(), &end.work));
    ++end.work.entries;
    ASSIGN_OR_RETURN(const bool matches, filter.Matches(*table, row.record));
    if (!matches) {
      merge.Next();
      continue;
    }
    ++returned;
    const uint64_t limit =
        request.limit + (SeededBug("one_row_too_many") ? 1 : 0);
    const bool go_on = visit(row) && returned < limit;
    if (merge.MayWalk()) {
      ASSIGN_OR_RETURN(const bool last, count.IsLast(returned, &end.work));
      if (last) break;
    }
    if (go_on) {
      merge.Next();
      continue;
    }
    // There is a continuation if there is more.
    const ScanPosition position{std::string(merge.suffix()), merge.stream()};
    merge.Next();
    if (merge.Valid()) {
      end.continuation =
          EncodeContinuation(ScanFingerprint(space, *ranges), position);
    }
    break;
  }
  RETURN_IF_ERROR(merge.status());
  table->counters[index + 1]->CountRead(end.work.entries, returned);
  end.work.seeks += merge.seeks();
  return end;
}

}  // namespace dovetail
