// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Queries on one published state: from v1::Query to rows or to a plan.

#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/limits.h"
#include "dovetail/query.h"
#include "engine/published_state.h"

namespace dovetail {

// Cheap to make; not shared between threads. All must outlive it.
class QueryService {
 public:
  QueryService(const internal::PublishedState& state, const Limits& limits,
               Clock* clock)
      : state_(state), limits_(limits), clock_(clock) {}

  // Stops behind the row that reaches `bytes_max`.
  absl::StatusOr<QueryEnd> Run(const v1::Query& query, uint64_t bytes_max,
                               RowVisitor visit) const;
  absl::StatusOr<v1::QueryPlan> Explain(const v1::Query& query, bool run) const;

 private:
  struct Prepared;
  absl::Status Prepare(const v1::Query& query, Prepared* out) const;

  const internal::PublishedState& state_;
  const Limits& limits_;
  Clock* clock_;
};

// See Engine::Advise.
absl::StatusOr<std::vector<IndexAdvice>> AdviseIndexes(
    const internal::PublishedState& state, const std::vector<Query>& queries);

}  // namespace dovetail
