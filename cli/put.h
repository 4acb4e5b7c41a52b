// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail put`: one record, as JSON or in Protobuf's text format.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct PutOptions {
  std::string db;
  std::string table;
  std::string record;   // The record, or "-": standard input; or else:
  std::string file;     // Where it is.
  bool insert = false;  // Refuse it if the row, or its identity, is there.
  bool sync = false;
};

// AlreadyExists with `insert`, or if another row has a unique value of it.
absl::Status RunPut(const PutOptions& options, const Console& console);

}  // namespace dovetail::cli
