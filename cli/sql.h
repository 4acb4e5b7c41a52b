// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail sql`.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct SqlOptions {
  std::string db;
  std::vector<std::string> statements;  // None: from standard input.
  // What SQLite plans and what the statement read, instead of its rows.
  bool explain = false;
};

absl::Status RunSql(const SqlOptions& options, const Console& console);

}  // namespace dovetail::cli
