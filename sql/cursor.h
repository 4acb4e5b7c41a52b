// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The cursor of one table in one statement: SQLite's calls of it.

#pragma once

#include "sql/sqlite_api.h"

namespace dovetail::sql {

// xOpen, xClose, xFilter, xNext, xEof, xColumn of sqlite3_module, for cursors
// of a VirtualTable.
int OpenCursor(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out);
int CloseCursor(sqlite3_vtab_cursor* cursor);
int FilterRows(sqlite3_vtab_cursor* base, int number, const char* text,
               int argc, sqlite3_value** argv);
int NextRow(sqlite3_vtab_cursor* base);
int AtEnd(sqlite3_vtab_cursor* base);
int GetColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int number);

}  // namespace dovetail::sql
