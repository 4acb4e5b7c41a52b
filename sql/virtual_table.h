// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One table of SQL, and how SQLite's planner is answered.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sql/connection.h"
#include "sql/row_source.h"
#include "sql/scan_plan.h"
#include "sql/sqlite_api.h"

namespace dovetail::sql {

// SQLite knows it by its first member, which is the base.
struct VirtualTable : sqlite3_vtab {
  std::shared_ptr<Connection> connection;
  Source source;
  std::string name;  // For messages and counters: "orders", "orders.totals".
  double rows = 0;  // About.
  // The plans of all statements, by their text; as many as there are ways to
  // read the table.
  std::map<std::string, ScanPlan> plans;
};

// Opens what the arguments of CREATE VIRTUAL TABLE name, and works out columns
// and ways in.
absl::Status OpenTable(sqlite3* db, const std::vector<std::string>& arguments,
                       VirtualTable* table);

// xBestIndex.
int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info);

// SQLite's code for a status.
int CodeOf(const absl::Status& status);
// The same; an error's message goes to `message`, with the table's name.
int Fail(const absl::Status& status, const std::string& name, char** message);

}  // namespace dovetail::sql
