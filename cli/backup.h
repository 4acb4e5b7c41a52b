// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail backup` and `dovetail restore`.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct BackupVerbOptions {
  std::string db;
  std::string backup;
  bool checkpoint = false;  // Make one, though the log would do.
  bool copy = false;        // Every byte, instead of links to table files.
};

struct RestoreVerbOptions {
  std::string backup;
  std::string db;
  uint64_t to_sequence = 0;  // 0: the last one.
  std::string to_time;       // Empty: the last one.
  bool copy = false;
};

// Exits with kInUse if another process has the database open.
absl::Status RunBackup(const BackupVerbOptions& options,
                       const Console& console);
absl::Status RunRestore(const RestoreVerbOptions& options,
                        const Console& console);

}  // namespace dovetail::cli
