// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail digest`: one number for what each table holds.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct DigestVerbOptions {
  std::string db;
  bool enable = false;  // Or, with the other one, disable.
  bool disable = false;
  bool indexes = false;  // Sum them up, too.
};

absl::Status RunDigest(const DigestVerbOptions& options,
                       const Console& console);

}  // namespace dovetail::cli
