// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail count DB TABLE INDEX`: from a COUNT or SUM index, without reading
// rows.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct CountGroupsOptions {
  std::string db;
  std::string table;
  std::string index;
  std::vector<std::string> values;  // Of the first columns.
  bool groups = false;              // Each group, instead of all together.
  uint64_t limit = 0;               // Of groups; 0: all.
};

// Prints the count; of a SUM index, count and sum. UsageError if the index is
// of another kind.
absl::Status RunCountGroups(const CountGroupsOptions& options,
                            const Console& console);

}  // namespace dovetail::cli
