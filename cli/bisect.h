// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail bisect`: the record of a write log after which something is wrong.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct BisectVerbOptions {
  std::string log;
  std::string check = "verify";
  std::string base;
  std::string scratch;  // Empty: LOG.bisect.
};

// Exits with kFindings if there is such a record.
absl::Status RunBisect(const BisectVerbOptions& options,
                       const Console& console);

}  // namespace dovetail::cli
