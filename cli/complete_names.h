// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the completion script asks for: names that a database has.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

// Prints the tables, or, of a table, its indexes, one a line.
absl::Status RunCompleteNames(const std::string& db, const std::string& table,
                              const Console& console);

}  // namespace dovetail::cli
