// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/sorter.h"

#include <iterator>

namespace dovetail {
namespace {

// A node of the map, and what its strings allocate beyond their text.
constexpr uint64_t kRowOverhead = 160;

}  // namespace

uint64_t Sorter::BytesOf(const Rows::value_type& row) {
  return row.first.order_key.size() + row.first.row_key.size() +
         row.second.first.size() + kRowOverhead;
}

void Sorter::Add(RowPlace place, const RowView& row) {
  // Once rows are left out, none behind the last one is taken any more.
  if (left_out_ && !rows_.empty() && place > rows_.rbegin()->first) return;
  const auto [it, added] =
      rows_.try_emplace(std::move(place), std::string(row.record), row.version);
  if (!added) return;
  bytes_ += BytesOf(*it);
  while (rows_.size() > rows_max_ ||
         (bytes_ > bytes_max_ && rows_.size() > 1)) {
    left_out_ = true;
    const auto last = std::prev(rows_.end());
    bytes_ -= BytesOf(*last);
    rows_.erase(last);
  }
}

}  // namespace dovetail
