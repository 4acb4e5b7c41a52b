// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail top` and `scan`: a range of rows in the order of the row key or of
// an index, its first rows or all of them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

// Which rows, in words of the command line.
struct RangeWords {
  std::string db;
  std::string table;
  std::string index;               // Empty: the row key.
  std::vector<std::string> equal;  // Values of the first columns.
  // One of these values in the next column; items may hold several, with
  // commas between them.
  std::vector<std::string> any_of;
  std::string from;  // At least, and below: the column after those.
  std::string to;
};

struct TopOptions {
  RangeWords range;
  uint64_t limit = 20;
  std::string after;  // A token that an earlier page printed.
};

struct ScanOptions {
  RangeWords range;
  std::string bounds;  // "FROM..TO", either may be empty; instead of both.
  uint64_t limit = 0;  // Rows; 0: all.
  std::string go_on;   // A token that an earlier scan printed.
};

// OK also if the range is empty. What is not the end of the range is followed
// by the token for the rest, on standard error or in the JSON.
absl::Status RunTop(const TopOptions& options, const Console& console);
// Page by page: any number of rows in little memory.
absl::Status RunScan(const ScanOptions& options, const Console& console);

}  // namespace dovetail::cli
