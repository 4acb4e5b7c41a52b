// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail log ...`: the write log of a database.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct LogEnableOptions {
  std::string db;
  std::string directory;  // Empty: in the database's.
  uint64_t keep_mib = 0;  // 0: no bound, here and in the next one.
  uint64_t keep_days = 0;
  uint64_t file_mib = 64;
  bool start_over = false;
};

struct LogDisableOptions {
  std::string db;
  bool yes = false;
};

// `log` is a database that records, a log's directory, or one of its files.
struct LogShowOptions {
  std::string log;
  uint64_t from = 0;  // 0: the first there is.
  uint64_t to = 0;    // 0: the last there is, here and in the next one.
  uint64_t limit = 0;
  bool skip_damaged = false;
};

struct LogVerifyOptions {
  std::string log;
  bool skip_damaged = false;
};

absl::Status RunLogEnable(const LogEnableOptions& options,
                          const Console& console);
absl::Status RunLogDisable(const LogDisableOptions& options,
                           const Console& console);
// A JSON object a commit, whatever the format.
absl::Status RunLogShow(const LogShowOptions& options, const Console& console);
// Exits with kFindings if something is damaged.
absl::Status RunLogVerify(const LogVerifyOptions& options,
                          const Console& console);

}  // namespace dovetail::cli
