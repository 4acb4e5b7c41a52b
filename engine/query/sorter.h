// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The first rows of an order, out of rows in any order, in bounded memory.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "dovetail/read.h"
#include "index/query/place.h"

namespace dovetail {

// Thread-compatible.
class Sorter {
 public:
  // Keeps at most `rows_max` rows, and, beyond the first, no more than
  // `bytes_max` bytes.
  Sorter(uint64_t rows_max, uint64_t bytes_max)
      : rows_max_(rows_max), bytes_max_(bytes_max) {}

  // Takes a copy if the row is among the first so far.
  void Add(RowPlace place, const RowView& row);

  // Whether rows were left out: those that are kept are all before them.
  bool left_out() const { return left_out_; }

  // By their place. Record and version.
  using Rows = std::map<RowPlace, std::pair<std::string, SequenceNumber>>;
  const Rows& rows() const { return rows_; }

 private:
  static uint64_t BytesOf(const Rows::value_type& row);

  const uint64_t rows_max_;
  const uint64_t bytes_max_;
  Rows rows_;
  uint64_t bytes_ = 0;
  bool left_out_ = false;
};

}  // namespace dovetail
