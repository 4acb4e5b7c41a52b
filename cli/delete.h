// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail delete`: removes rows found by row key or index values.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct DeleteOptions {
  std::string db;
  std::string table;
  std::string index;                    // "-": the row key.
  std::vector<std::string> values;      // Of its first columns.
  bool all = false;                     // Every matching row, not exactly one.
  std::vector<std::string> conditions;  // "field=value" that must hold.
  bool sync = false;
};

// In one request. NotFound if no row matches; FailedPrecondition if several do
// without `all`, or a condition does not hold.
absl::Status RunDelete(const DeleteOptions& options, const Console& console);

}  // namespace dovetail::cli
