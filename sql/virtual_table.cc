// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/virtual_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dovetail::sql {
namespace {

using Use = PlanArgument::Use;

// Of a table whose rows nobody has counted; and of one that is small now, but
// may grow under a plan.
constexpr double kRowsGuess = 1e6;
constexpr double kRowsLeast = 1e4;
constexpr double kRowBytesGuess = 100;

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

}  // namespace

int CodeOf(const absl::Status& status) {
  if (status.ok()) return SQLITE_OK;
  return absl::IsDataLoss(status) ? SQLITE_CORRUPT_VTAB : SQLITE_ERROR;
}

int Fail(const absl::Status& status, const std::string& name, char** message) {
  if (status.ok()) return SQLITE_OK;
  sqlite3_free(*message);
  const std::string text =
      absl::StrCat(status.message(), name.empty() ? "" : " sql_table=", name);
  *message = sqlite3_mprintf("%s", text.c_str());
  return CodeOf(status);
}

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
    ASSIGN_OR_RETURN(
        AccessPath path,
        GroupPath(*source.table, source.group_index, source.columns, utf8));
    source.paths = {std::move(path)};
  } else {
    ASSIGN_OR_RETURN(source.columns, RowColumns(*source.table));
    ASSIGN_OR_RETURN(const std::vector<IndexInfo> indexes,
                     source.engine->ListIndexes());
    ASSIGN_OR_RETURN(source.paths,
                     RowPaths(*source.table, source.columns, indexes,
                              source.engine->limits().merge_streams_max, utf8));
  }
  ASSIGN_OR_RETURN(const double rows,
                   CountRows(*source.engine, name, source.group_index));
  table->rows = std::max(rows, kRowsLeast);
  return absl::OkStatus();
}

namespace {

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

}  // namespace

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
    input.order.push_back(
        {info->aOrderBy[i].iColumn, info->aOrderBy[i].desc != 0});
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

}  // namespace dovetail::sql
