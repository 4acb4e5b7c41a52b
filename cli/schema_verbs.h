// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail schema show` and `check`: what a database holds, and what another
// schema would change in it.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct SchemaShowOptions {
  std::string db;
  std::string table;  // Empty: all.
  bool text = false;  // As init --schema takes it.
};

struct SchemaCheckOptions {
  std::string db;
  std::string file;
  std::vector<std::string> proto_files;
  std::vector<std::string> proto_paths;
};

absl::Status RunSchemaShow(const SchemaShowOptions& options,
                           const Console& console);
// Exits with kFindings if a program that declares the file's schema could not
// open the database without further ado.
absl::Status RunSchemaCheck(const SchemaCheckOptions& options,
                            const Console& console);

}  // namespace dovetail::cli
