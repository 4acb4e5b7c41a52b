// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// SQL over Dovetail against SQLite's own tables.
//
//   query_sql [--statements N] [--seed N] [--orders N]
//
// First the Olist orders: five questions of a marketplace in SQL, put to a
// checkpoint of a store and to a plain import of the same CSV files; in this
// process, through the extension in the sqlite3 shell, and in Debian's Python.
// Then random statements over random tables, each answered by both.

#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "base/strings.h"
#include "tests/acceptance/query_sql.h"

namespace dovetail::test {
namespace {

struct Settings {
  uint64_t statements = 10'000;
  uint64_t seed = std::random_device()();
  uint64_t orders = std::numeric_limits<uint64_t>::max();
};

bool Parse(int argc, char** argv, Settings* settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    uint64_t* to = name == "--statements" ? &settings->statements
                   : name == "--seed"     ? &settings->seed
                   : name == "--orders"   ? &settings->orders
                                          : nullptr;
    if (to == nullptr || i + 1 == argc || !absl::SimpleAtoi(argv[++i], to)) {
      return false;
    }
  }
  return true;
}

int Main(int argc, char** argv) {
  Settings settings;
  if (!Parse(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "query_sql [--statements N] [--seed N] [--orders N]\n");
    return 2;
  }
  std::printf("query_sql --seed %llu\n",
              static_cast<unsigned long long>(settings.seed));
  Checks checks("query-sql");
  checks.Ok(
      CompareOlist(DOVETAIL_SQLITE_EXTENSION_FILE, settings.orders, &checks),
      "the Olist orders");
  checks.Ok(CompareRandom(settings.statements, settings.seed, &checks),
            "the random statements");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
