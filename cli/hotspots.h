// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail hotspots`: the load of regions, from a write log.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct HotspotsOptions {
  // A database that records, a log's directory, or one of its files.
  std::string log;
  std::string table;  // Empty: all that are written.
  // See region_spec.h; "map": the database's own.
  std::string regions = "sample:16";
  uint64_t half_life = 60;                // Seconds.
  uint64_t hot_factor = 10;               // Times the median.
  uint64_t prefix_columns = 1;            // Of row keys.
  std::optional<uint64_t> watch_seconds;  // Again and again.
  uint64_t count = 0;                     // So often; 0: no end.
  bool skip_damaged = false;
};

absl::Status RunHotspots(const HotspotsOptions& options,
                         const Console& console);

}  // namespace dovetail::cli
