// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail compact`: gives back what deleted keys take.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct CompactVerbOptions {
  std::string db;
  uint64_t dead_min = 1;
};

absl::Status RunCompact(const CompactVerbOptions& options,
                        const Console& console);

}  // namespace dovetail::cli
