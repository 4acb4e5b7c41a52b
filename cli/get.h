// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail get` and `get-by`: rows by row key and by index values.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct GetOptions {
  std::string db;
  std::string table;
  std::vector<std::string> values;  // One per column of the row key.
};

struct GetByOptions {
  std::string db;
  std::string table;
  std::string index;
  std::vector<std::string> values;  // The index's first columns.
};

// NotFound if there is no such row.
absl::Status RunGet(const GetOptions& options, const Console& console);
absl::Status RunGetBy(const GetByOptions& options, const Console& console);

}  // namespace dovetail::cli
