// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The glue between SQLite's calls and scan_plan.h and row_source.h. SQLite
// subclasses by first members: sqlite3_vtab is that of VirtualTable,
// sqlite3_vtab_cursor that of Cursor.

#include "sql/module.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/table.h"
#include "sql/row_source.h"
#include "sql/work_table.h"

namespace dovetail::sql {
namespace {

using Use = PlanArgument::Use;

// Of a table whose rows nobody has counted.
constexpr double kRowsGuess = 1e6;
constexpr double kRowBytesGuess = 100;

// What SQLite keeps for the module of one connection.
struct ModuleState {
  std::shared_ptr<Connection> connection;
  bool direct_only = true;
};

struct VirtualTable : sqlite3_vtab {
  std::shared_ptr<Connection> connection;
  Source source;
  std::string name;  // For messages and counters: "orders", "orders.totals".
  double rows = kRowsGuess;
  // The plans of all statements, by their text; as many as there are ways to
  // read the table.
  std::map<std::string, ScanPlan> plans;
};

struct Cursor : sqlite3_vtab_cursor {
  VirtualTable* table = nullptr;
  std::unique_ptr<RowSource> rows;
  // The record of the row, once a column of it was asked for.
  std::unique_ptr<google::protobuf::Message> record;
  bool parsed = false;
};

int CodeOf(const absl::Status& status) {
  if (status.ok()) return SQLITE_OK;
  return absl::IsDataLoss(status) ? SQLITE_CORRUPT_VTAB : SQLITE_ERROR;
}

// Fails with the status's message as the table's.
int Fail(const absl::Status& status, const std::string& name, char** message) {
  if (status.ok()) return SQLITE_OK;
  sqlite3_free(*message);
  const std::string text =
      absl::StrCat(status.message(), name.empty() ? "" : " sql_table=", name);
  *message = sqlite3_mprintf("%s", text.c_str());
  return CodeOf(status);
}

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

absl::StatusOr<bool> IsUtf8(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  bool utf8 = false;
  if (sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    const auto* name =
        reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    utf8 = name != nullptr && std::string_view(name) == "UTF-8";
  }
  if (sqlite3_finalize(statement) != SQLITE_OK) {
    return absl::InternalError(sqlite3_errmsg(db));
  }
  return utf8;
}

absl::StatusOr<double> CountRows(Engine& engine, const std::string& table,
                                 const std::string& index) {
  ASSIGN_OR_RETURN(const Stats stats, engine.GetStats());
  for (const IndexStats& each : stats.indexes) {
    if (each.table != table || each.index != index) continue;
    return each.entries.has_value()
               ? static_cast<double>(*each.entries)
               : static_cast<double>(each.bytes_on_disk) / kRowBytesGuess;
  }
  return kRowsGuess;
}

// Opens what the arguments name and works out columns and ways in.
absl::Status OpenTable(sqlite3* db, const std::vector<std::string>& arguments,
                       VirtualTable* table) {
  if (arguments.size() != 2 && arguments.size() != 3) {
    return absl::InvalidArgumentError(
        "say USING dovetail('PATH', 'TABLE'), or, for a COUNT or SUM index, "
        "dovetail('PATH', 'TABLE', 'INDEX')");
  }
  Source& source = table->source;
  const std::string& name = arguments[1];
  table->name = name;
  ASSIGN_OR_RETURN(source.engine, table->connection->Open(arguments[0]));
  ASSIGN_OR_RETURN(DynamicTable bound,
                   DynamicTable::Bind(source.engine.get(), name));
  source.table = std::make_shared<const DynamicTable>(std::move(bound));
  ASSIGN_OR_RETURN(const bool utf8, IsUtf8(db));
  if (arguments.size() == 3) {
    source.group_index = arguments[2];
    table->name = absl::StrCat(name, ".", arguments[2]);
    ASSIGN_OR_RETURN(source.columns,
                     GroupColumns(*source.table, source.group_index));
    ASSIGN_OR_RETURN(AccessPath path,
                     GroupPath(*source.table, source.group_index,
                               source.columns, utf8));
    source.paths = {std::move(path)};
  } else {
    ASSIGN_OR_RETURN(source.columns, RowColumns(*source.table));
    ASSIGN_OR_RETURN(const std::vector<IndexInfo> indexes,
                     source.engine->ListIndexes());
    ASSIGN_OR_RETURN(source.paths,
                     RowPaths(*source.table, source.columns, indexes,
                              source.engine->limits().merge_streams_max, utf8));
  }
  ASSIGN_OR_RETURN(
      table->rows,
      CountRows(*source.engine, name, source.group_index));
  return absl::OkStatus();
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

// False: nothing that a plan could bind.
bool ReadConstraint(const VirtualTable& table, sqlite3_index_info* info, int i,
                    Constraint* out) {
  const auto& raw = info->aConstraint[i];
  if (!raw.usable) return false;
  switch (raw.op) {
    case SQLITE_INDEX_CONSTRAINT_LIMIT:
      out->kind = Constraint::Kind::kLimit;
      return true;
    case SQLITE_INDEX_CONSTRAINT_OFFSET:
      out->kind = Constraint::Kind::kOffset;
      return true;
    case SQLITE_INDEX_CONSTRAINT_EQ:
      out->comparison = Comparison::kEqual;
      break;
    case SQLITE_INDEX_CONSTRAINT_GT:
      out->comparison = Comparison::kAbove;
      break;
    case SQLITE_INDEX_CONSTRAINT_GE:
      out->comparison = Comparison::kAtLeast;
      break;
    case SQLITE_INDEX_CONSTRAINT_LT:
      out->comparison = Comparison::kBelow;
      break;
    case SQLITE_INDEX_CONSTRAINT_LE:
      out->comparison = Comparison::kAtMost;
      break;
    case SQLITE_INDEX_CONSTRAINT_IS:
      out->kind = Constraint::Kind::kIs;
      break;
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
      out->kind = Constraint::Kind::kIsNull;
      break;
    default:
      return false;
  }
  out->column = raw.iColumn;
  if (out->column < 0 ||
      static_cast<size_t>(out->column) >= table.source.columns.size()) {
    return false;
  }
  const char* collation = sqlite3_vtab_collation(info, i);
  if (collation != nullptr && sqlite3_stricmp(collation, "BINARY") != 0) {
    if (sqlite3_stricmp(collation, "NOCASE") != 0) {
      // Numbers have none.
      const Column& column =
          table.source.columns[static_cast<size_t>(out->column)];
      if (column.kind == Column::Kind::kString ||
          column.kind == Column::Kind::kEnum ||
          column.kind == Column::Kind::kTimestamp) {
        return false;
      }
    } else {
      out->collation = Collation::kNoCase;
    }
  }
  sqlite3_value* value = nullptr;
  out->literal = sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK;
  out->in = out->kind == Constraint::Kind::kCompare &&
            sqlite3_vtab_in(info, i, -1) != 0;
  return true;
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  auto& table = *static_cast<VirtualTable*>(vtab);
  PlanInput input;
  input.columns = &table.source.columns;
  input.paths = &table.source.paths;
  input.columns_used = info->colUsed;
  input.rows = table.rows;
  input.groups = !table.source.group_index.empty();
  std::vector<int> numbers;
  for (int i = 0; i < info->nConstraint; ++i) {
    Constraint constraint;
    if (!ReadConstraint(table, info, i, &constraint)) continue;
    input.constraints.push_back(constraint);
    numbers.push_back(i);
  }
  for (int i = 0; i < info->nOrderBy; ++i) {
    input.order.push_back({info->aOrderBy[i].iColumn,
                           info->aOrderBy[i].desc != 0});
  }
  // 1 is GROUP BY, for which the order would not matter; but SQLite says the
  // same of GROUP BY with an ORDER BY of the same terms, and then relies on it.
  input.group_only = sqlite3_vtab_distinct(info) == 2;

  const ScanPlan plan = ChoosePlan(input);
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const PlanArgument& argument = plan.arguments[i];
    const int number = numbers[argument.constraint];
    info->aConstraintUsage[number].argvIndex = static_cast<int>(i) + 1;
    if (argument.use == Use::kAnyOf) sqlite3_vtab_in(info, number, 1);
  }
  info->idxStr = sqlite3_mprintf("%s", plan.text.c_str());
  if (info->idxStr == nullptr) return SQLITE_NOMEM;
  info->needToFreeIdxStr = 1;
  info->orderByConsumed = plan.ordered ? 1 : 0;
  info->estimatedCost = plan.cost;
  info->estimatedRows = static_cast<sqlite3_int64>(plan.rows);
  if (plan.one_row) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  table.plans.emplace(plan.text, plan);
  return SQLITE_OK;
}

int Open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<Cursor>();
  static_cast<sqlite3_vtab_cursor&>(*cursor) = {};
  cursor->table = static_cast<VirtualTable*>(vtab);
  cursor->table->connection->CursorOpens();
  *out = cursor.release();
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor> owned(static_cast<Cursor*>(cursor));
  owned->rows.reset();
  owned->table->connection->CursorCloses();
  return SQLITE_OK;
}

// The values of an IN, each once.
int ReadList(const Column& column, const PlanArgument& argument,
             sqlite3_value* list, std::vector<Operand>* out) {
  sqlite3_value* value = nullptr;
  int code = sqlite3_vtab_in_first(list, &value);
  for (; code == SQLITE_OK; code = sqlite3_vtab_in_next(list, &value)) {
    Operand operand = OperandOf(column, Comparison::kEqual,
                                argument.of.collation, argument.of.literal,
                                value);
    if (operand.kind == Operand::Kind::kNothing) continue;
    out->push_back(std::move(operand));
  }
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

int ReadBounds(const VirtualTable& table, const ScanPlan& plan,
               sqlite3_value** argv, Bounds* out) {
  int64_t limit = -1;
  int64_t offset = 0;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const PlanArgument& argument = plan.arguments[i];
    const Constraint& of = argument.of;
    if (argument.use == Use::kLimit) {
      limit = sqlite3_value_int64(argv[i]);
      continue;
    }
    if (argument.use == Use::kOffset) {
      offset = sqlite3_value_int64(argv[i]);
      continue;
    }
    const Column& column = table.source.columns[static_cast<size_t>(of.column)];
    if (argument.use == Use::kAnyOf) {
      out->any_of.emplace();
      const int code = ReadList(column, argument, argv[i], &*out->any_of);
      if (code != SQLITE_OK) return code;
      continue;
    }
    const bool null = of.kind == Constraint::Kind::kIsNull ||
                      (of.kind == Constraint::Kind::kIs &&
                       sqlite3_value_type(argv[i]) == SQLITE_NULL);
    Operand operand =
        null ? (column.nullable ? Operand::Bound(Value()) : Operand::Nothing())
             : OperandOf(column, of.comparison, of.collation, of.literal,
                         argv[i]);
    out->nothing |= operand.kind == Operand::Kind::kNothing;
    switch (argument.use) {
      case Use::kEqual:
        out->equal.push_back(std::move(operand));
        break;
      case Use::kMin:
        out->min = std::move(operand);
        break;
      default:
        out->max = std::move(operand);
    }
  }
  // A hint for the size of the first page, and no more: SQLite may drop rows
  // that it tests, and hands the same limit to each part of a compound.
  if (limit >= 0 && offset >= 0) {
    out->limit = static_cast<uint64_t>(limit) + static_cast<uint64_t>(offset);
  }
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char* text, int,
           sqlite3_value** argv) {
  auto& cursor = *static_cast<Cursor*>(base);
  VirtualTable& table = *cursor.table;
  cursor.parsed = false;
  const auto plan = table.plans.find(text == nullptr ? "" : text);
  if (plan == table.plans.end()) {
    return Fail(absl::InternalError("no such plan"), table.name,
                &table.zErrMsg);
  }
  Bounds bounds;
  const int code = ReadBounds(table, plan->second, argv, &bounds);
  if (code != SQLITE_OK) return code;
  const absl::StatusOr<const Snapshot*> snapshot =
      table.connection->SnapshotOf(table.source.engine.get());
  if (!snapshot.ok()) {
    return Fail(snapshot.status(), table.name, &table.zErrMsg);
  }
  cursor.rows = std::make_unique<RowSource>(
      table.source, **snapshot,
      table.connection->WorkOf(table.name, plan->first));
  return Fail(cursor.rows->Start(plan->second, std::move(bounds)), table.name,
              &table.zErrMsg);
}

int Next(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<Cursor*>(base);
  cursor.parsed = false;
  return Fail(cursor.rows->Next(), cursor.table->name, &cursor.table->zErrMsg);
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto& cursor = *static_cast<Cursor*>(base);
  return cursor.rows == nullptr || !cursor.rows->Valid() ? 1 : 0;
}

// Bytes that only this group's values have.
std::string GroupKey(const Group& group) {
  std::string key;
  for (const Value& value : group.values) {
    absl::StrAppend(&key, static_cast<int>(value.kind()), ":");
    const std::string text = value.kind() == Value::Kind::kString
                                 ? value.as_string()
                                 : value.DebugString();
    absl::StrAppend(&key, text.size(), ":", text);
  }
  return key;
}

void SetGroupColumn(const Group& group, const Column& column, size_t number,
                    sqlite3_context* context) {
  switch (column.kind) {
    case Column::Kind::kCount:
      SetResult(group.count, context);
      return;
    case Column::Kind::kSum:
      SetResult(group.sum, context);
      return;
    case Column::Kind::kRowKey:
      SetBlob(GroupKey(group), context);
      return;
    default:
      SetResult(column, group.values[number], context);
  }
}

absl::Status SetRowColumn(Cursor* cursor, const Column& column,
                          sqlite3_context* context) {
  const Row& row = cursor->rows->row().row;
  switch (column.kind) {
    case Column::Kind::kRowKey:
      SetBlob(row.key, context);
      return absl::OkStatus();
    case Column::Kind::kVersion:
      SetResult(static_cast<uint64_t>(row.version), context);
      return absl::OkStatus();
    case Column::Kind::kRecord:
      SetBlob(row.record, context);
      return absl::OkStatus();
    default:
      break;
  }
  if (!cursor->parsed) {
    if (cursor->record == nullptr) {
      cursor->record = cursor->table->source.table->NewRecord();
    }
    if (!cursor->record->ParseFromString(row.record)) {
      return internal::RecordDoesNotParse(cursor->table->name, row.key);
    }
    cursor->parsed = true;
  }
  return SetResult(column, *cursor->record, context);
}

int GetColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  auto& cursor = *static_cast<Cursor*>(base);
  const auto at = static_cast<size_t>(number);
  const Column& column = cursor.table->source.columns[at];
  if (!cursor.table->source.group_index.empty()) {
    SetGroupColumn(cursor.rows->row().group, column, at, context);
    return SQLITE_OK;
  }
  const absl::Status set = SetRowColumn(&cursor, column, context);
  if (set.ok()) return SQLITE_OK;
  const std::string text =
      absl::StrCat(set.message(), " sql_table=", cursor.table->name,
                   " column=", column.name);
  sqlite3_result_error(context, text.c_str(), -1);
  return CodeOf(set);
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
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = GetColumn;
  module.xRowid = RowId;
  return module;
}();

void AttachFunction(sqlite3_context* context, int, sqlite3_value** argv) {
  auto& connection = **static_cast<std::shared_ptr<Connection>*>(
      sqlite3_user_data(context));
  const auto* path =
      reinterpret_cast<const char*>(sqlite3_value_text(argv[0]));
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
    sqlite3_result_error(context, std::string(tables.status().message()).c_str(),
                         -1);
  }
}

absl::Status Registered(int code, sqlite3* db) {
  if (code == SQLITE_OK) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "SQLite refuses the module: error=", sqlite3_errmsg(db)));
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
  RETURN_IF_ERROR(RegisterWorkTable(db, connection));
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
