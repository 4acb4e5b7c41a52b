// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A snapshot of the metrics in the text format that Prometheus scrapes.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dovetail/metrics.h"

namespace dovetail::internal {

// `labels` go on every line, names as they are, values escaped.
std::string PrometheusText(
    const MetricsSnapshot& snapshot,
    const std::vector<std::pair<std::string, std::string>>& labels);

}  // namespace dovetail::internal
