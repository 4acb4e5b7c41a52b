// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail set`: changes fields of rows found by row key or index values.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct SetOptions {
  std::string db;
  std::string table;
  std::string index;  // "-": the row key.
  // Values for the index's first columns, then one or more "field=value".
  std::vector<std::string> words;
  bool all = false;                     // Every matching row, not exactly one.
  std::vector<std::string> conditions;  // "field=value" that must hold.
  bool sync = false;
};

// All of it in one request. NotFound if no row matches; FailedPrecondition if
// several do without `all`, or a condition does not hold.
absl::Status RunSet(const SetOptions& options, const Console& console);

}  // namespace dovetail::cli
