// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail get`, `get-by` and `top`: rows by row key, by index values, and
// the first rows of a range.

#pragma once

#include <cstdint>
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

struct TopOptions {
  std::string db;
  std::string table;
  std::string index;                // Empty: the row key.
  std::vector<std::string> values;  // Equal: the first columns.
  // One of these values in the next column; items may hold several, with
  // commas between them.
  std::vector<std::string> any_of;
  std::string from;  // At least, and below: the column after those.
  std::string to;
  uint64_t limit = 20;
  std::string after;  // A token that an earlier page printed.
};

// NotFound if there is no such row.
absl::Status RunGet(const GetOptions& options, const Console& console);
absl::Status RunGetBy(const GetByOptions& options, const Console& console);
// OK also if the range is empty. A page that is not the last one ends with
// the token for the next, on standard error or in the JSON.
absl::Status RunTop(const TopOptions& options, const Console& console);

// A continuation as one word for the command line, and back.
std::string TokenText(std::string_view continuation);
absl::StatusOr<std::string> ParseToken(std::string_view text);

}  // namespace dovetail::cli
