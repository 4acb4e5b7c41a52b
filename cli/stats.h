// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail stats`: what a database holds and how large it is.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct StatsVerbOptions {
  std::string db;
};

absl::Status RunStats(const StatsVerbOptions& options, const Console& console);

// Bytes of the files below a directory; 0 if it cannot be read.
uint64_t DirectoryBytes(const std::string& path);

}  // namespace dovetail::cli
