// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail index ...`: the life of the indexes of a database.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

// An index that is there.
struct IndexTarget {
  std::string db;
  std::string table;
  std::string index;
};

struct IndexBuildOptions {
  IndexTarget target;
  uint64_t rate = 0;  // Rows a second at most; 0: no limit.
};

struct IndexAddOptions {
  std::string db;
  std::string table;
  std::vector<std::string> words;  // "name=NAME", then the parts; or else:
  std::string file;                // An IndexSchema in text format.
  bool unique = false;
  bool no_build = false;
  uint64_t rate = 0;
};

struct IndexDropOptions {
  IndexTarget target;
  bool yes = false;
};

absl::Status RunIndexList(const std::string& db, const Console& console);
// Also builds it, unless told otherwise.
absl::Status RunIndexAdd(const IndexAddOptions& options,
                         const Console& console);
// Interrupted, it says how to go on. Exits with kFindings for duplicates.
absl::Status RunIndexBuild(const IndexBuildOptions& options,
                           const Console& console);
absl::Status RunIndexHide(const IndexTarget& target, const Console& console);
absl::Status RunIndexShow(const IndexTarget& target, const Console& console);
// Returns once its space is empty.
absl::Status RunIndexDrop(const IndexDropOptions& options,
                          const Console& console);

}  // namespace dovetail::cli
