// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Plans without their values. A service asks the same few questions with other
// values each time, and what a plan takes from the values is little: the bounds
// of its ranges. Such a query is checked and planned once; the next of the same
// shape gets its values put into the plan that is there.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dovetail/v1/query.pb.h"
#include "index/compiled_table.h"
#include "index/query/checked_query.h"
#include "index/query/normal_form.h"
#include "index/query/plan.h"

namespace dovetail {

// All of a query but for the values of its conditions, so that queries of one
// shape differ in these only; nullopt if its filter is more than conditions on
// fields that all must hold. `bytes` is the serialized query.
std::optional<std::string> ShapeOf(const v1::Query& query,
                                   std::string_view bytes);

// Immutable.
class PlanTemplate {
 public:
  // What a query of the shape adds to the template's.
  struct Bound {
    // The filter, if the plan tests records; else everything.
    Predicate where;
    Plan plan;
  };

  // nullopt if another plan might be chosen for other values. All but the form
  // must outlive it; `plan` is what MakePlan has made of the query.
  static std::optional<PlanTemplate> Make(const CompiledTable& table,
                                          const CheckedQuery& query,
                                          const NormalForm& form,
                                          const Plan& plan);

  // The plan that MakePlan would make of a query of the same shape. nullopt if
  // that is not known, or a value does not fit: check and plan it.
  std::optional<Bound> Bind(const v1::Query& query) const;

 private:
  PlanTemplate(const CompiledTable& table, const CheckedQuery& query,
               const Plan& plan)
      : table_(&table), query_(&query), plan_(plan) {}

  const CompiledTable* table_;
  const CheckedQuery* query_;
  Plan plan_;                       // Its ranges are those of the first query.
  std::vector<size_t> slots_;       // By condition.
  std::vector<std::string> kinds_;  // By field of the conjunction.
};

}  // namespace dovetail
