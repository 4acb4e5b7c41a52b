// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail verify` and `repair`: does every row have exactly its entries,
// and is everything there that commits left?

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct VerifyVerbOptions {
  std::string db;
};

struct RepairVerbOptions {
  std::string db;
  bool dry_run = false;
  bool yes = false;  // Do not ask. Needed where there is no terminal.
};

// Exits with kFindings if anything is wrong, unreadable bytes included.
absl::Status RunVerify(const VerifyVerbOptions& options,
                       const Console& console);
// Shows what is wrong, asks, settles it. Exits with kFindings for a dry run
// that finds something, and for what only a person can decide.
absl::Status RunRepair(const RepairVerbOptions& options,
                       const Console& console);

}  // namespace dovetail::cli
