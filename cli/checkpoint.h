// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail checkpoint`: a copy of a database that no process has open.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct CheckpointVerbOptions {
  std::string db;
  std::string destination;
  bool copy = false;  // Every byte, instead of links to table files.
};

// Exits with kInUse if another process has the database open, and says that
// only that process can make the copy.
absl::Status RunCheckpoint(const CheckpointVerbOptions& options,
                           const Console& console);

}  // namespace dovetail::cli
