// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail dump` and `key`: what lies on disk, and what a key means.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct DumpOptions {
  std::string db;
  std::string table;   // Empty: all, each followed by its indexes.
  std::string index;   // With a table; empty: its rows, and all its indexes.
  bool rows = false;   // With a table: its rows alone.
  std::string from;    // Hexadecimal: the first key to show.
  uint64_t limit = 0;  // Of each table and index; 0: all.
};

struct KeyOptions {
  std::string db;
  std::string table;
  std::string index;                // Empty: the row key.
  std::vector<std::string> values;  // Of the first columns; or else:
  std::string hex;                  // A key, as dump shows it.
};

// Shows damaged keys and values too, as bytes.
absl::Status RunDump(const DumpOptions& options, const Console& console);
absl::Status RunKey(const KeyOptions& options, const Console& console);

}  // namespace dovetail::cli
