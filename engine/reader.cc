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
#include "engine/covered_row.h"
#include "engine/range_merge.h"
#include "engine/row_format.h"

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

absl::StatusOr<RowView> View(const TableState& table, std::string_view key,
                             std::string_view value) {
  absl::StatusOr<StoredRow> stored = DecodeRow(value);
  if (stored.ok()) return RowView{key, stored->record, stored->version};
  return InTable(table, {},
                 absl::Status(stored.status().code(),
                              absl::StrCat(stored.status().message(),
                                           " row_key=", Quote(key))));
}

Row CopyOf(const RowView& row) {
  return {std::string(row.key), std::string(row.record), row.version};
}

}  // namespace

absl::StatusOr<bool> Reader::ReadRow(const TableState& table,
                                     std::string_view row_key,
                                     std::string* value) const {
  std::string key;
  key.reserve(table.rows_prefix.size() + row_key.size());
  key.append(table.rows_prefix).append(row_key);
  return state_.store->Get(options_, key, value);
}

// The second hop of a scan. Entries of one seller and status lead to rows that
// are near each other and in the same order, so stepping on from the row
// before is often cheaper than a point read; where the rows turn out to be far
// apart, it goes over to point reads.
class Reader::RowFetcher {
 public:
  RowFetcher(const Reader& reader, const TableState& table)
      : reader_(reader), table_(table) {}
  ~RowFetcher() {
    if (it_ != nullptr) reader_.state_.ReturnIterator(std::move(it_));
  }
  RowFetcher(const RowFetcher&) = delete;
  RowFetcher& operator=(const RowFetcher&) = delete;

  // The row is valid until the next call.
  absl::StatusOr<RowView> Fetch(int index, std::string_view entry_key,
                                std::string_view entry_value, Work* work) {
    const absl::Status decoded = table_.compiled->indexes()[index].RowKeyOf(
        entry_key, entry_value, &row_key_);
    if (!decoded.ok()) {
      return EntryWithoutRow(table_, index, entry_key, decoded);
    }
    std::string_view row;
    bool found = false;
    if (first_ || misses_ >= kMissesMax) {
      // The first row alone may be all there is.
      first_ = false;
      ++work->gets;
      ASSIGN_OR_RETURN(found, reader_.ReadRow(table_, row_key_, &value_));
      row = value_;
    } else {
      ASSIGN_OR_RETURN(found, Step(work));
      if (found) row = it_->value();
    }
    if (!found) return EntryWithoutRow(table_, index, entry_key, decoded);
    return View(table_, row_key_, row);
  }

 private:
  static constexpr int kStepsMax = 8;
  static constexpr int kMissesMax = 2;

  absl::StatusOr<bool> Step(Work* work) {
    key_.assign(table_.rows_prefix).append(row_key_);
    const bool fresh = it_ == nullptr;
    if (fresh) it_ = reader_.state_.BorrowIterator();
    int steps = 0;
    while (!fresh && steps < kStepsMax && it_->Valid() && it_->key() < key_) {
      it_->Next();
      ++steps;
    }
    if (fresh || !it_->Valid() || it_->key() != key_) {
      if (!fresh) ++misses_;
      it_->Seek(key_);
      ++work->seeks;
    }
    RETURN_IF_ERROR(it_->status());
    return it_->Valid() && it_->key() == key_;
  }

  const Reader& reader_;
  const TableState& table_;
  std::unique_ptr<StoreIterator> it_;
  std::string row_key_;
  std::string key_;
  std::string value_;
  bool first_ = true;
  int misses_ = 0;
};

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
                     ReadRow(*table, candidate.prefix, &value));
    if (!found) continue;
    ASSIGN_OR_RETURN(const RowView row, View(*table, candidate.prefix, value));
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
    RowFetcher fetcher(*this, *table);
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
  RangeMerge merge(state_, space, *ranges, resume);
  const bool covered = request.covered && index >= 0;
  if (covered) {
    RETURN_IF_ERROR(
        InTable(*table, request.index,
                filter.CheckHeld(
                    table->compiled->indexes()[static_cast<size_t>(index)])));
  }
  CoveredRow entry(*table, index);
  RowFetcher rows(*this, *table);
  uint64_t returned = 0;
  while (merge.Valid()) {
    ASSIGN_OR_RETURN(
        const RowView row,
        index < 0 ? View(*table, merge.key(), merge.value())
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
    if (visit(row) && returned < limit) {
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
