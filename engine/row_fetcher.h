// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From entries to their rows, on one published state.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "engine/published_state.h"

namespace dovetail {

// The row that a stored value is. DataLoss if it is none.
absl::StatusOr<RowView> ViewRow(const TableState& table, std::string_view key,
                                std::string_view value);

// False if there is no row under the key.
absl::StatusOr<bool> ReadRow(const internal::PublishedState& state,
                             const TableState& table, std::string_view row_key,
                             std::string* value);

// The second hop of a scan. Entries of one seller and status lead to rows that
// are near each other and in the same order, so stepping on from the row
// before is often cheaper than a point read; where the rows turn out to be far
// apart, it goes over to point reads.
//
// Thread-compatible. State and table must outlive it.
class RowFetcher {
 public:
  RowFetcher(const internal::PublishedState& state, const TableState& table)
      : state_(state), table_(table) {}
  ~RowFetcher();
  RowFetcher(const RowFetcher&) = delete;
  RowFetcher& operator=(const RowFetcher&) = delete;

  // The row of an entry of index `index`, valid until the next call. DataLoss
  // if the bytes are no entry, or if there is no such row.
  absl::StatusOr<RowView> Fetch(int index, std::string_view entry_key,
                                std::string_view entry_value, Work* work);

 private:
  static constexpr int kStepsMax = 8;
  static constexpr int kMissesMax = 2;
  // Rows of one scan that are kept in memory: a long one is read once, and
  // would drive out what is read again and again.
  static constexpr int kKeptMax = 100;

  // Find the value under key_, in the store.
  absl::StatusOr<bool> Get(Work* work);
  absl::StatusOr<bool> Step(Work* work);

  const internal::PublishedState& state_;
  const TableState& table_;
  std::unique_ptr<StoreIterator> it_;
  std::string row_key_;
  std::string key_;
  std::string value_;
  bool first_ = true;
  int misses_ = 0;
  int kept_ = 0;
};

}  // namespace dovetail
