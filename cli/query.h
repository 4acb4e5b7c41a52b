// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail query`, `explain`, `count` and `advise`.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

// A query in words of the command line.
struct QueryWords {
  std::string db;
  std::string table;
  std::string where;
  std::string order_by;
  std::vector<std::string> select;
  std::string file;  // JSON or text of a whole query instead; "-": stdin.
  uint64_t limit = 20;
  std::string continuation;
  uint64_t max_entries = 0;
  uint64_t max_millis = 0;
  bool full_scan = false;
  bool sort = false;
  std::string use_index;
  std::vector<std::string> avoid_index;
};

absl::Status RunQuery(const QueryWords& words, const Console& console);
// With `run` also what the query did.
absl::Status RunExplain(const QueryWords& words, bool run,
                        const Console& console);
// The number of rows that match. ResourceExhausted if a budget ends first.
absl::Status RunCount(const QueryWords& words, const Console& console);
// `file`: queries as JSON, one a line; "-" is standard input.
absl::Status RunAdvise(const std::string& db, const std::string& file,
                       const Console& console);

}  // namespace dovetail::cli
