// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/module.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "sql/cursor.h"
#include "sql/virtual_table.h"
#include "sql/work_table.h"

namespace dovetail::sql {
namespace {

// What SQLite keeps for the module of one connection.
struct ModuleState {
  std::shared_ptr<Connection> connection;
  bool direct_only = true;
};

// 'it''s' or "it" or it, as arguments of CREATE VIRTUAL TABLE come.
std::string Unquoted(std::string_view argument) {
  const absl::string_view text = absl::StripAsciiWhitespace(ToAbsl(argument));
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') ||
      text.back() != text[0]) {
    return std::string(text);
  }
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    out += text[i];
    if (text[i] == text[0] && text[i + 1] == text[0]) ++i;
  }
  return out;
}

int Connect(sqlite3* db, void* state, int argc, const char* const* argv,
            sqlite3_vtab** out, char** message) {
  const auto& module = *static_cast<ModuleState*>(state);
  auto table = std::make_unique<VirtualTable>();
  static_cast<sqlite3_vtab&>(*table) = {};
  table->connection = module.connection;
  std::vector<std::string> arguments;
  // Module, schema and name of the table stand in front.
  for (int i = 3; i < argc; ++i) arguments.push_back(Unquoted(argv[i]));
  const absl::Status opened = OpenTable(db, arguments, table.get());
  if (!opened.ok()) return Fail(opened, argv[2], message);
  const int declared =
      sqlite3_declare_vtab(db, Declaration(table->source.columns).c_str());
  if (declared != SQLITE_OK) {
    return Fail(absl::InvalidArgumentError(sqlite3_errmsg(db)), argv[2],
                message);
  }
  if (module.direct_only) sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  *out = table.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

// Tables are declared WITHOUT ROWID.
int RowId(sqlite3_vtab_cursor*, sqlite3_int64*) { return SQLITE_MISUSE; }

const sqlite3_module kModule = [] {
  sqlite3_module module = {};
  module.iVersion = 1;
  module.xCreate = Connect;
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
  module.xOpen = OpenCursor;
  module.xClose = CloseCursor;
  module.xFilter = FilterRows;
  module.xNext = NextRow;
  module.xEof = AtEnd;
  module.xColumn = GetColumn;
  module.xRowid = RowId;
  return module;
}();

void AttachFunction(sqlite3_context* context, int, sqlite3_value** argv) {
  auto& connection =
      **static_cast<std::shared_ptr<Connection>*>(sqlite3_user_data(context));
  const auto* path = reinterpret_cast<const char*>(sqlite3_value_text(argv[0]));
  if (path == nullptr) {
    sqlite3_result_error(context, "dovetail_attach needs the path of a store",
                         -1);
    return;
  }
  const absl::StatusOr<int> tables =
      AttachStore(sqlite3_context_db_handle(context), &connection, path);
  if (tables.ok()) {
    sqlite3_result_int(context, *tables);
  } else {
    sqlite3_result_error(context,
                         std::string(tables.status().message()).c_str(), -1);
  }
}

absl::Status Registered(int code, sqlite3* db) {
  if (code == SQLITE_OK) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("SQLite refuses the module: error=", sqlite3_errmsg(db)));
}

}  // namespace

absl::Status RegisterModule(sqlite3* db, const ModuleOptions& options) {
  const auto connection = std::make_shared<Connection>(options.open);
  RETURN_IF_ERROR(Registered(
      sqlite3_create_module_v2(
          db, "dovetail", &kModule,
          new ModuleState{connection, options.direct_only},
          [](void* state) { delete static_cast<ModuleState*>(state); }),
      db));
  RETURN_IF_ERROR(Registered(RegisterWorkTable(db, connection), db));
  // It runs statements, which views and triggers must not make it do.
  return Registered(
      sqlite3_create_function_v2(
          db, "dovetail_attach", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
          new std::shared_ptr<Connection>(connection), AttachFunction, nullptr,
          nullptr,
          [](void* state) {
            delete static_cast<std::shared_ptr<Connection>*>(state);
          }),
      db);
}

}  // namespace dovetail::sql
