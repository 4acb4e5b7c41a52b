// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/row_fetcher.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/row_cache.h"
#include "engine/row_format.h"

namespace dovetail {

absl::StatusOr<RowView> ViewRow(const TableState& table, std::string_view key,
                                std::string_view value) {
  absl::StatusOr<StoredRow> stored = DecodeRow(value);
  if (stored.ok()) return RowView{key, stored->record, stored->version};
  return absl::Status(stored.status().code(),
                      absl::StrCat(stored.status().message(), " row_key=",
                                   Quote(key), " table=", table.name()));
}

absl::StatusOr<bool> ReadRow(const internal::PublishedState& state,
                             const TableState& table, std::string_view row_key,
                             std::string* value) {
  std::string key;
  key.reserve(table.rows_prefix.size() + row_key.size());
  key.append(table.rows_prefix).append(row_key);
  const auto sequence = static_cast<uint64_t>(state.sequence);
  if (state.rows != nullptr && state.rows->Find(key, sequence, value)) {
    return true;
  }
  StoreReadOptions options;
  options.snapshot = state.snapshot.get();
  ASSIGN_OR_RETURN(const bool found, state.store->Get(options, key, value));
  if (found && state.rows != nullptr) state.rows->Insert(key, *value, sequence);
  return found;
}

RowFetcher::~RowFetcher() {
  if (it_ != nullptr) state_.ReturnIterator(std::move(it_));
}

absl::StatusOr<RowView> RowFetcher::Fetch(int index, std::string_view entry_key,
                                          std::string_view entry_value,
                                          Work* work) {
  const absl::Status decoded = table_.compiled->indexes()[index].RowKeyOf(
      entry_key, entry_value, &row_key_);
  if (!decoded.ok()) {
    return EntryWithoutRow(table_, index, entry_key, decoded);
  }
  key_.assign(table_.rows_prefix).append(row_key_);
  const auto sequence = static_cast<uint64_t>(state_.sequence);
  if (state_.rows != nullptr && state_.rows->Find(key_, sequence, &value_)) {
    return ViewRow(table_, row_key_, value_);
  }
  // The first row alone may be all there is.
  const bool get = first_ || misses_ >= kMissesMax;
  first_ = false;
  ASSIGN_OR_RETURN(const bool found, get ? Get(work) : Step(work));
  if (!found) return EntryWithoutRow(table_, index, entry_key, decoded);
  const std::string_view row = get ? std::string_view(value_) : it_->value();
  if (state_.rows != nullptr && kept_ < kKeptMax) {
    ++kept_;
    state_.rows->Insert(key_, row, sequence);
  }
  return ViewRow(table_, row_key_, row);
}

absl::StatusOr<bool> RowFetcher::Get(Work* work) {
  ++work->gets;
  StoreReadOptions options;
  options.snapshot = state_.snapshot.get();
  return state_.store->Get(options, key_, &value_);
}

absl::StatusOr<bool> RowFetcher::Step(Work* work) {
  const bool fresh = it_ == nullptr;
  if (fresh) it_ = state_.BorrowIterator();
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

}  // namespace dovetail
