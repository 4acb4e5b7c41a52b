// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail stats`: what a database holds, how large it is, what it costs.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct StatsVerbOptions {
  std::string db;
  std::optional<uint64_t> watch_seconds;  // Again and again, at this distance.
  bool entries = false;                   // Count them.
  uint64_t count = 0;                     // Times, if watching; 0: no end.
};

absl::Status RunStats(const StatsVerbOptions& options, const Console& console);

// Bytes of the files below a directory; 0 if it cannot be read.
uint64_t DirectoryBytes(const std::string& path);

}  // namespace dovetail::cli
