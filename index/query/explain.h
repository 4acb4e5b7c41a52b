// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A plan for people and tools; PlanText of dovetail/query.h shows it.

#pragma once

#include "dovetail/v1/query.pb.h"
#include "index/query/checked_query.h"
#include "index/query/plan.h"

namespace dovetail {

// Without what it did.
v1::QueryPlan DescribePlan(const CompiledTable& table,
                           const CheckedQuery& query, const Plan& plan);

}  // namespace dovetail
