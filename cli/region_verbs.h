// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail regions`: a table's region map, shown and changed.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

// One of the changes at most.
struct RegionsOptions {
  std::string db;
  std::string table;
  std::string pre_split;  // See region_spec.h.
  std::vector<std::string> nodes;
  bool replace = false;
  std::string split_at;  // A key, escaped.
  std::string merge;     // The left region's id.
  std::string move;      // ID=NODE
  std::string locate;    // A key, escaped.
};

absl::Status RunRegions(const RegionsOptions& options, const Console& console);

}  // namespace dovetail::cli
