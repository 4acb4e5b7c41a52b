// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The parts of query_sql.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "tests/support/checks.h"

namespace dovetail::test {

// What the random statements did, for people.
struct RandomFigures {
  uint64_t statements = 0;
  uint64_t rows = 0;
  uint64_t refused = 0;
  uint64_t plans = 0;
  uint64_t bound = 0;
  uint64_t lists = 0;
  uint64_t covering = 0;
  uint64_t ordered = 0;
  std::map<std::string, uint64_t> forms;
};

// Random statements over random tables: as plain SQLite answers them.
absl::Status CompareRandom(uint64_t statements, uint64_t seed, Checks* checks);

// Questions about the first so many Olist orders, to the store and to an import
// of the same files; in process, and through `extension` in SQLite's shell and
// in Python.
absl::Status CompareOlist(const std::string& extension, uint64_t orders,
                          Checks* checks);

}  // namespace dovetail::test
