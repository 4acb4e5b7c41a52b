// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/continuation.h"
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

absl::Status FillRow(const TableState& table, std::string_view key,
                     std::string_view value, Row* row) {
  absl::StatusOr<StoredRow> stored = DecodeRow(value);
  if (!stored.ok()) {
    return InTable(table, {},
                   absl::Status(stored.status().code(),
                                absl::StrCat(stored.status().message(),
                                             " row_key=", Quote(key))));
  }
  row->key.assign(key);
  row->record.assign(stored->record);
  row->version = stored->version;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> Reader::ReadRow(const TableState& table,
                                     std::string_view row_key, Row* row) const {
  std::string key;
  key.reserve(table.rows_prefix.size() + row_key.size());
  key.append(table.rows_prefix).append(row_key);
  std::string value;
  ASSIGN_OR_RETURN(const bool found, state_.store->Get(options_, key, &value));
  if (!found) return false;
  RETURN_IF_ERROR(FillRow(table, row_key, value, row));
  return true;
}

absl::Status Reader::ReadRowOfEntry(const TableState& table, int index,
                                    std::string_view entry_key,
                                    std::string_view entry_value,
                                    Row* row) const {
  std::string row_key;
  const absl::Status decoded = table.compiled->indexes()[index].RowKeyOf(
      entry_key, entry_value, &row_key);
  if (!decoded.ok()) return EntryWithoutRow(table, index, entry_key, decoded);
  ASSIGN_OR_RETURN(const bool found, ReadRow(table, row_key, row));
  return found ? absl::OkStatus()
               : EntryWithoutRow(table, index, entry_key, decoded);
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

  absl::Status Fetch(int index, std::string_view entry_key,
                     std::string_view entry_value, Row* row, Work* work) {
    const absl::Status decoded = table_.compiled->indexes()[index].RowKeyOf(
        entry_key, entry_value, &row_key_);
    if (!decoded.ok())
      return EntryWithoutRow(table_, index, entry_key, decoded);
    bool found = false;
    if (first_ || misses_ >= kMissesMax) {
      // The first row alone may be all there is.
      first_ = false;
      ++work->gets;
      ASSIGN_OR_RETURN(found, reader_.ReadRow(table_, row_key_, row));
    } else {
      ASSIGN_OR_RETURN(found, Step(row, work));
    }
    return found ? absl::OkStatus()
                 : EntryWithoutRow(table_, index, entry_key, decoded);
  }

 private:
  static constexpr int kStepsMax = 8;
  static constexpr int kMissesMax = 2;

  absl::StatusOr<bool> Step(Row* row, Work* work) {
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
    if (!it_->Valid() || it_->key() != key_) return false;
    RETURN_IF_ERROR(FillRow(table_, row_key_, it_->value(), row));
    return true;
  }

  const Reader& reader_;
  const TableState& table_;
  std::unique_ptr<StoreIterator> it_;
  std::string row_key_;
  std::string key_;
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
  for (const KeyRange& candidate : *candidates) {
    Row row;
    ASSIGN_OR_RETURN(const bool found, ReadRow(*table, candidate.prefix, &row));
    if (found) return row;
  }
  return absl::NotFoundError(absl::StrCat(
      "no such row: table=", table->name(), " ",
      layout.DebugString(candidates->front().prefix).value_or("")));
}

absl::StatusOr<std::vector<Row>> Reader::GetBy(
    std::string_view table_name, std::string_view index_name,
    const std::vector<Value>& values) const {
  ASSIGN_OR_RETURN(const TableState* table, state_.schema->Find(table_name));
  ASSIGN_OR_RETURN(const int index, FindIndex(*table, index_name));
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
    RETURN_IF_ERROR(ReadRowOfEntry(
        *table, index,
        std::string_view(key).substr(table->entry_prefixes[index].size()),
        value, &rows.emplace_back()));
    return rows;
  }
  ScanRequest request;
  request.table = std::string(table_name);
  request.index = std::string(index_name);
  request.equal = values;
  request.limit = limits_.match_rows_max + 1;
  ASSIGN_OR_RETURN(Page page, Scan(request));
  if (page.rows.size() > limits_.match_rows_max || !page.continuation.empty()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "too many rows match; use Scan: table=", table->name(),
        " index=", ToAbsl(index_name), " max=", limits_.match_rows_max));
  }
  return std::move(page.rows);
}

absl::StatusOr<Page> Reader::Scan(const ScanRequest& request) const {
  ASSIGN_OR_RETURN(const TableState* table, state_.schema->Find(request.table));
  ASSIGN_OR_RETURN(const int index, FindIndex(*table, request.index));
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

  Page page;
  if (request.limit == 0) {
    page.continuation = request.continuation;
    return page;
  }
  RangeMerge merge(state_, space, *ranges, resume);
  RowFetcher rows(*this, *table);
  // Not what the limit says: it may be 2^64 - 1.
  page.rows.reserve(std::min<uint64_t>(request.limit, 32));
  size_t bytes = 0;
  while (merge.Valid()) {
    Row& row = page.rows.emplace_back();
    if (index < 0) {
      RETURN_IF_ERROR(FillRow(*table, merge.key(), merge.value(), &row));
    } else {
      RETURN_IF_ERROR(
          rows.Fetch(index, merge.key(), merge.value(), &row, &page.work));
    }
    ++page.work.entries;
    bytes += row.record.size() + row.key.size() + sizeof(Row);
    if (page.rows.size() < request.limit && bytes < limits_.page_bytes_max) {
      merge.Next();
      continue;
    }
    // The page is full; there is a continuation if there is more.
    const ScanPosition position{std::string(merge.suffix()), merge.stream()};
    merge.Next();
    if (merge.Valid()) {
      page.continuation =
          EncodeContinuation(ScanFingerprint(space, *ranges), position);
    }
    break;
  }
  RETURN_IF_ERROR(merge.status());
  page.work.seeks += merge.seeks();
  return page;
}

}  // namespace dovetail
