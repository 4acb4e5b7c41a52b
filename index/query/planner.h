// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From a query to its plan. Pure: the same query, schema and statistics give
// the same plan.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "index/compiled_table.h"
#include "index/query/checked_query.h"
#include "index/query/normal_form.h"
#include "index/query/plan.h"

namespace dovetail {

// What is known of the data. The planner asks only where plans compete.
class PlanStatistics {
 public:
  virtual ~PlanStatistics() = default;
  // Rows of the table, roughly.
  virtual double Rows() const = 0;
  // Keys in these ranges of an index (-1: the row key), roughly; nullopt if
  // there are too few of them to tell.
  virtual std::optional<double> Keys(
      int index, const std::vector<AccessRange>& ranges) const = 0;
};

// Statistics of a table of which nothing is known.
class NoStatistics final : public PlanStatistics {
 public:
  double Rows() const override { return 100'000; }
  std::optional<double> Keys(int,
                             const std::vector<AccessRange>&) const override {
    return std::nullopt;
  }
};

struct PlannerInput {
  const CompiledTable* table = nullptr;
  const CheckedQuery* query = nullptr;
  const NormalForm* form = nullptr;
  // By index of the table: whether it serves reads now.
  std::vector<bool> readable;
  size_t merge_streams_max = 1024;
  const PlanStatistics* statistics = nullptr;
  // The plan that a continuation carries.
  std::optional<PlanShape> resume;
};

// With `resume` that plan, or, if it cannot be had any more, another one that
// gives the query's order.
// FailedPrecondition if no plan is allowed: it says which allowance or which
// index is missing; or if a continuation's plan is gone, and its place is one
// in no order but the plan's.
absl::StatusOr<Plan> MakePlan(const PlannerInput& input);

// An index that would serve the query well, named `name`; nullopt if none can,
// because its filter is on nothing that an index narrows.
std::optional<v1::IndexSchema> SuggestIndex(const CompiledTable& table,
                                            const CheckedQuery& query,
                                            const NormalForm& form);
// In words, for messages: (seller_id, status, ts_ms desc).
std::string IndexText(const v1::IndexSchema& index);

}  // namespace dovetail
