// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Queries on one published state: from v1::Query to rows or to a plan.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/limits.h"
#include "dovetail/query.h"
#include "engine/published_state.h"
#include "engine/query/query_plan_cache.h"

namespace dovetail {

// Cheap to make; not shared between threads. All must outlive it.
class QueryService {
 public:
  // `cache` may be null.
  QueryService(const internal::PublishedState& state, const Limits& limits,
               Clock* clock, QueryPlanCache* cache)
      : state_(state), limits_(limits), clock_(clock), cache_(cache) {}

  // Stops behind the row that reaches `bytes_max`.
  absl::StatusOr<QueryEnd> Run(const v1::Query& query, uint64_t bytes_max,
                               RowVisitor visit) const;
  absl::StatusOr<v1::QueryPlan> Explain(const v1::Query& query, bool run) const;

 private:
  // A query to run: as it was prepared, or with other values in its plan.
  struct Runnable {
    std::shared_ptr<const PreparedQuery> prepared;
    std::optional<PlanTemplate::Bound> bound;
    const Plan& plan() const { return bound ? bound->plan : prepared->plan; }
    const Predicate& where() const {
      return bound ? bound->where : prepared->query.where;
    }
  };

  absl::StatusOr<Runnable> Prepare(const v1::Query& query) const;
  // With a copy of the query, or as long as the query is there.
  absl::StatusOr<std::shared_ptr<const PreparedQuery>> MakePrepared(
      const v1::Query& query, bool copy) const;

  const internal::PublishedState& state_;
  const Limits& limits_;
  Clock* clock_;
  QueryPlanCache* cache_;
};

// See Engine::Advise.
absl::StatusOr<std::vector<IndexAdvice>> AdviseIndexes(
    const internal::PublishedState& state, const std::vector<Query>& queries);

}  // namespace dovetail
