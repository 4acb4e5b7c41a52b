// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail demo`: what the engine does, on a database of made-up orders that
// stays behind to play with.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct DemoOptions {
  std::string db;  // Empty: a new directory for temporary files.
  uint64_t orders = 200'000;
  uint64_t seed = 1;                 // Same seed, same orders.
  std::string program = "dovetail";  // For the commands it prints.
};

// Makes the orders of many sellers of very different size, changes the status
// of one in ten, asks the three questions of an order desk, verifies.
// FailedPrecondition if `db` is there and not empty.
absl::Status RunDemo(const DemoOptions& options, const Console& console);

}  // namespace dovetail::cli
