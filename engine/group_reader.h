// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads of COUNT and SUM indexes on one published state.

#pragma once

#include "absl/status/statusor.h"
#include "dovetail/limits.h"
#include "dovetail/read.h"
#include "engine/published_state.h"

namespace dovetail {

// See Engine::Aggregate and Engine::ForEachGroup. DataLoss if an entry does
// not parse.
absl::StatusOr<Totals> Aggregate(const internal::PublishedState& state,
                                 const Limits& limits, const GroupRange& range);
absl::StatusOr<ScanEnd> ForEachGroup(const internal::PublishedState& state,
                                     const Limits& limits,
                                     const ScanRequest& request,
                                     GroupVisitor visit);

}  // namespace dovetail
