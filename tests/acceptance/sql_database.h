// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A SQLite connection for the programs that compare Dovetail's tables with
// SQLite's own: statements in, rows as comparable text out.

#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dovetail::test {

struct SqlBlob {
  std::string bytes;
};
using SqlValue =
    std::variant<std::monostate, int64_t, double, std::string, SqlBlob>;

// Thread-compatible.
class SqlDatabase {
 public:
  // In memory. Ends the program if there is no memory.
  SqlDatabase();
  ~SqlDatabase();
  SqlDatabase(const SqlDatabase&) = delete;
  SqlDatabase& operator=(const SqlDatabase&) = delete;

  sqlite3* get() const { return db_; }

  // Each row as one text in which types and values tell apart. With SQLite's
  // message for an error, and the rows up to there dropped.
  absl::StatusOr<std::vector<std::string>> Run(
      std::string_view sql, const std::vector<SqlValue>& parameters = {});
  // Statements without results.
  absl::Status Do(std::string_view sql,
                  const std::vector<SqlValue>& parameters = {}) {
    return Run(sql, parameters).status();
  }
  // The lines of EXPLAIN QUERY PLAN.
  absl::StatusOr<std::string> Plan(std::string_view sql);

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace dovetail::test
