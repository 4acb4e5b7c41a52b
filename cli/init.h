// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail init`: a database with the tables of a preset or of a schema file.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct InitOptions {
  std::string db;
  std::string preset;       // One of presets::All(); or else:
  std::string table;        // The preset's table. Empty: its own name.
  std::string schema_file;  // dovetail.v1.Schema in text format.
  std::vector<std::string> proto_files;
  std::vector<std::string> proto_paths;
};

// Also adds tables to a database that is there. Repeating it changes nothing.
absl::Status RunInit(const InitOptions& options, const Console& console);

}  // namespace dovetail::cli
