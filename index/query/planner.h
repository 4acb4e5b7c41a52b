// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From a query to its plan. Pure: the same query, schema and statistics give
// the same plan.

#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "index/compiled_table.h"
#include "index/query/checked_query.h"
#include "index/query/normal_form.h"
#include "index/query/plan.h"
#include "index/query/plan_cost.h"

namespace dovetail {

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

// Ranges of one read at most; with more, fewer parts of its keys are bound.
inline constexpr size_t kPlannedRangesMax = 10'000;

// Sets the constants of a read of an ordered plan from what the conjunction,
// which it was made from, says of the order's fields.
void SetOrderConstants(const CheckedQuery& query,
                       const Conjunction& conjunction, PlanRead* read);

// With `resume` that plan, or, if it cannot be had any more, another one that
// gives the query's order.
// FailedPrecondition if no plan is allowed: it says which allowance or which
// index is missing; or if a continuation's plan is gone, and its place is one
// in no order but the plan's.
absl::StatusOr<Plan> MakePlan(const PlannerInput& input);

}  // namespace dovetail
