// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// How a table is read for a statement: which constraints of SQLite's planner
// are bound, through which access path, and in which order rows come. Pure.
//
// SQLite tests every constraint again (we never set `omit`), so a plan leaves
// out what it cannot bind. What it claims of the order is believed, though.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/access_path.h"
#include "sql/operand.h"

namespace dovetail::sql {

// One constraint that xBestIndex offers.
struct Constraint {
  enum class Kind {
    kCompare,  // By `comparison`; of kEqual, `in` says whether it is IN.
    kIs,       // As kEqual, but null is null.
    kIsNull,
    kLimit,
    kOffset,
  };
  Kind kind = Kind::kCompare;
  Comparison comparison = Comparison::kEqual;
  int column = -1;
  bool in = false;
  Collation collation = Collation::kBinary;
  bool literal = false;
};

struct OrderTerm {
  int column = -1;
  bool descending = false;
};

struct PlanInput {
  const std::vector<Column>* columns = nullptr;
  const std::vector<AccessPath>* paths = nullptr;
  std::vector<Constraint> constraints;  // Those that are usable.
  std::vector<OrderTerm> order;
  // DISTINCT: rows with equal values of `order` need only be neighbours.
  bool group_only = false;
  uint64_t columns_used = 0;  // As sqlite3_index_info::colUsed.
  double rows = 0;            // Of the table, about.
  bool groups = false;        // A table of groups.
};

// An argument of xFilter.
struct PlanArgument {
  enum class Use { kEqual, kAnyOf, kMin, kMax, kLimit, kOffset };
  Use use = Use::kEqual;
  size_t constraint = 0;  // Of PlanInput::constraints.
  Constraint of;
};

struct ScanPlan {
  size_t path = 0;
  std::vector<PlanArgument> arguments;
  // Answered from index entries alone.
  bool covered = false;
  // Rows come in the order asked for.
  bool ordered = false;
  std::vector<OrderTerm> order;  // If ordered: what was asked for.
  bool one_row = false;          // At most.
  double rows = 0;               // Estimates.
  double cost = 0;
  // All of the above but for the estimates, in words: two plans of a table
  // with the same text are the same. What EXPLAIN QUERY PLAN shows.
  std::string text;
};

ScanPlan ChoosePlan(const PlanInput& input);

}  // namespace dovetail::sql
