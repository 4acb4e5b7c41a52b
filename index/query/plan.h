// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A plan: which ranges a query reads, how they are put together, and what that
// is expected to cost. Immutable once it is made.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/query/access.h"

namespace dovetail {

struct Estimate {
  double seeks = 0;
  double entries = 0;
  double gets = 0;
  double rows = 0;
  // In units of a step to the next entry.
  double Cost() const;
};

// What one call reads at most, whatever the data.
struct WorkBound {
  uint64_t seeks = 0;
  uint64_t entries = 0;
  uint64_t gets = 0;
};

// What identifies a plan of a query: all else follows from the two. A
// continuation carries it.
struct PlanShape {
  enum class Kind {
    kEmpty,      // No row can match.
    kRead,       // One read.
    kIntersect,  // The rows that all reads have.
    kUnion,      // The rows that any of the reads has, each once.
  };
  Kind kind = Kind::kEmpty;
  std::vector<int> indexes;  // Of each read; -1: the row key.
  // Rows are collected and sorted by the query's order in memory.
  bool sort = false;

  friend bool operator==(const PlanShape&, const PlanShape&) = default;
};

struct PlanRead {
  Access access;
  // If the plan is ordered.
  AccessOrder order;
  // By field of the order: its part of the sort key where it has one value in
  // all rows that match, and no entry has it.
  std::vector<std::string> constants;
  // The entries hold all that the query asks for of a row.
  bool covering = false;
};

struct Plan {
  using Kind = PlanShape::Kind;

  PlanShape shape;
  std::vector<PlanRead> reads;
  // The reads' rows are put together in the order of `order`, then the row
  // key. Otherwise they come read after read, each in the order of its keys.
  bool ordered = false;
  std::vector<OrderField> order;
  // Whether the record has to be tested; else entries decide everything.
  bool filter = false;
  // kUnion, not ordered: the conjunction of each read, by which a row that an
  // earlier read has is left out.
  std::vector<Conjunction> branches;
  bool full_scan = false;

  // Whether the row of an entry of the read is read.
  static bool TwoHop(const PlanRead& read) {
    return read.access.index >= 0 && !read.covering;
  }

  Estimate estimate;
  std::optional<WorkBound> bound;

  // Whether it was preferred by the sizes of its ranges in the store.
  bool by_sizes = false;
  // How many candidates there were.
  size_t candidates = 0;
};

}  // namespace dovetail
