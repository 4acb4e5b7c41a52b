// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail import`: rows of a CSV or JSON Lines file as puts, in batches.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct ImportOptions {
  std::string db;
  std::string table;
  std::string file;       // "-": standard input.
  std::string from;       // "csv", "jsonl", or empty: by the file's name.
  std::string delimiter;  // Empty: comma, or tab for a name in .tsv.
  std::vector<std::string> maps;
  std::vector<std::string> defaults;
  bool allow_empty_keys = false;

  // "stop": everything before the first bad line is imported, nothing from
  // it on. "skip": bad lines are left out. See also `atomic`.
  std::string on_error = "stop";
  std::string rejects;  // skip: where bad lines go. Empty: only their causes.
  bool atomic = false;  // The whole file in one request, or nothing.
  uint64_t skip_lines = 0;
  uint64_t batch = 500;  // Records per request.
  bool sync = false;     // Make each request durable, not only the last.
};

// OK also if lines were skipped because the options say so.
absl::Status RunImport(const ImportOptions& options, const Console& console);

}  // namespace dovetail::cli
