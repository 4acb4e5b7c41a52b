// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/work_table.h"

#include <string>
#include <utility>
#include <vector>

#include "sql/columns.h"

namespace dovetail::sql {
namespace {

constexpr char kDeclaration[] =
    "CREATE TABLE x(table_name TEXT, plan TEXT, scans INTEGER, pages INTEGER, "
    "seeks INTEGER, entries INTEGER, gets INTEGER, rows INTEGER)";

struct WorkTable : sqlite3_vtab {
  std::shared_ptr<Connection> connection;
};

struct Line {
  std::string table;
  std::string plan;
  std::vector<uint64_t> numbers;
};

struct WorkCursor : sqlite3_vtab_cursor {
  std::vector<Line> lines;
  size_t at = 0;
};

int Connect(sqlite3* db, void* state, int, const char* const*,
            sqlite3_vtab** out, char**) {
  const int declared = sqlite3_declare_vtab(db, kDeclaration);
  if (declared != SQLITE_OK) return declared;
  auto table = std::make_unique<WorkTable>();
  static_cast<sqlite3_vtab&>(*table) = {};
  table->connection = *static_cast<std::shared_ptr<Connection>*>(state);
  *out = table.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<WorkTable*>(table);
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 10;
  info->estimatedRows = 10;
  return SQLITE_OK;
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<WorkCursor>();
  static_cast<sqlite3_vtab_cursor&>(*cursor) = {};
  *out = cursor.release();
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<WorkCursor*>(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  auto& cursor = *static_cast<WorkCursor*>(base);
  cursor.lines.clear();
  cursor.at = 0;
  for (const auto& [key, work] :
       static_cast<WorkTable*>(base->pVtab)->connection->work()) {
    cursor.lines.push_back({key.first,
                            key.second,
                            {work.scans, work.pages, work.seeks, work.entries,
                             work.gets, work.rows}});
  }
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  ++static_cast<WorkCursor*>(base)->at;
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto& cursor = *static_cast<WorkCursor*>(base);
  return cursor.at >= cursor.lines.size() ? 1 : 0;
}

int GetColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const auto& cursor = *static_cast<WorkCursor*>(base);
  const Line& line = cursor.lines[cursor.at];
  switch (number) {
    case 0:
      SetText(line.table, context);
      break;
    case 1:
      SetText(line.plan, context);
      break;
    default:
      SetResult(line.numbers[static_cast<size_t>(number) - 2], context);
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<WorkCursor*>(base)->at);
  return SQLITE_OK;
}

// Without xCreate it is there by its name alone.
const sqlite3_module kModule = [] {
  sqlite3_module module = {};
  module.iVersion = 1;
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = GetColumn;
  module.xRowid = RowId;
  return module;
}();

}  // namespace

int RegisterWorkTable(sqlite3* db, std::shared_ptr<Connection> connection) {
  return sqlite3_create_module_v2(
      db, "dovetail_work", &kModule,
      new std::shared_ptr<Connection>(std::move(connection)), [](void* state) {
        delete static_cast<std::shared_ptr<Connection>*>(state);
      });
}

}  // namespace dovetail::sql
