// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a plan is expected to read. Guesses from the form of the conditions,
// and, where the store knows it, the size of key ranges.

#pragma once

#include <optional>
#include <span>
#include <vector>

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

// The keys in the access's ranges, by the conjunction alone.
double GuessKeys(const PlanStatistics& statistics, const Access& access,
                 const Conjunction& conjunction,
                 std::span<const QueryField> fields);

// One call of the plan. With `measure` the sizes of its ranges are asked for.
Estimate EstimatePlan(const PlanStatistics& statistics,
                      const CheckedQuery& query, const NormalForm& form,
                      const Plan& plan, bool measure);

}  // namespace dovetail
