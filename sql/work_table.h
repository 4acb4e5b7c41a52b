// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The table dovetail_work: what the last statement has read of Dovetail's
// tables, a row for each table and plan. It is not a part of the account.

#pragma once

#include <memory>

#include "sql/connection.h"
#include "sql/sqlite_api.h"

namespace dovetail::sql {

// SQLite's code.
int RegisterWorkTable(sqlite3* db, std::shared_ptr<Connection> connection);

}  // namespace dovetail::sql
