// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Dovetail in SQLite: a module of read-only virtual tables, and what belongs
// to it. docs/sql.md is for people.
//
//   CREATE VIRTUAL TABLE temp.orders USING dovetail('/path', 'orders');
//   CREATE VIRTUAL TABLE temp.totals USING dovetail('/path', 'orders',
//   'totals'); SELECT dovetail_attach('/path');  -- All of them, as temporary
//   tables. SELECT * FROM dovetail_work;      -- What the last statement has
//   read.

#pragma once

#include "absl/status/status.h"
#include "sql/connection.h"
#include "sql/sqlite_api.h"

namespace dovetail::sql {

struct ModuleOptions {
  // How a path becomes an open store. Engines that change meanwhile are
  // served too: each statement reads one state.
  StoreOpener open = OpenShared;
  // Refuse to be used by what a database file brings along, such as a view,
  // since that could name any path.
  bool direct_only = true;
};

// Registers the module, the table dovetail_work and the function
// dovetail_attach with the connection, until it is closed.
absl::Status RegisterModule(sqlite3* db, const ModuleOptions& options);

// What dovetail_attach does: a temporary table for each table of the store,
// named as it is, and for each COUNT and SUM index, TABLE_INDEX or, if that is
// a table's name, TABLE.INDEX. Returns how many there are.
absl::StatusOr<int> AttachStore(sqlite3* db, Connection* connection,
                                const std::string& path);

}  // namespace dovetail::sql
