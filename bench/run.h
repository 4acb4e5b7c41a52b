// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One run: one engine, through a list of phases, in this process.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/bench_result.pb.h"
#include "bench/order_store.h"
#include "bench/workload.h"

namespace dovetail::bench {

struct RunOptions {
  std::string engine;
  uint64_t orders = 300'000;  // A multiple of 100.
  double scale = 1;  // Of the number of operations in phases after the load.
  std::vector<std::string> phases;
  OrderStoreOptions store;  // Its directory holds the run's databases.
};

std::vector<std::string> EngineNames();

// Runs the phases in order, in new databases below the given directory, which
// must exist. A phase that needs the loaded orders, where no `load` came
// before it, makes an unmeasured load happen first. `on_phase` is called as
// each one begins. An error names the phase.
absl::StatusOr<RunResult> Run(
    const Workload& workload, const RunOptions& options,
    const std::function<void(std::string_view)>& on_phase);

}  // namespace dovetail::bench
