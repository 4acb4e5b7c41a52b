// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/cursor.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/table.h"
#include "google/protobuf/message.h"
#include "sql/virtual_table.h"

namespace dovetail::sql {
namespace {

using Use = PlanArgument::Use;

// SQLite knows it by its first member, which is the base.
struct Cursor : sqlite3_vtab_cursor {
  VirtualTable* table = nullptr;
  std::unique_ptr<RowSource> rows;
  // The record of the row, once a column of it was asked for.
  std::unique_ptr<google::protobuf::Message> record;
  bool parsed = false;
};

// The values of an IN, each once.
int ReadList(const Column& column, const PlanArgument& argument,
             sqlite3_value* list, std::vector<Operand>* out) {
  sqlite3_value* value = nullptr;
  int code = sqlite3_vtab_in_first(list, &value);
  for (; code == SQLITE_OK; code = sqlite3_vtab_in_next(list, &value)) {
    Operand operand =
        OperandOf(column, Comparison::kEqual, argument.of.collation,
                  argument.of.literal, value);
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
  const RowView row = cursor->rows->row();
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
    if (!cursor->record->ParseFromArray(row.record.data(),
                                        static_cast<int>(row.record.size()))) {
      return internal::RecordDoesNotParse(cursor->table->name, row.key);
    }
    cursor->parsed = true;
  }
  return SetResult(column, *cursor->record, context);
}

}  // namespace

int OpenCursor(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
  auto cursor = std::make_unique<Cursor>();
  static_cast<sqlite3_vtab_cursor&>(*cursor) = {};
  cursor->table = static_cast<VirtualTable*>(vtab);
  cursor->table->connection->CursorOpens();
  *out = cursor.release();
  return SQLITE_OK;
}

int CloseCursor(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor> owned(static_cast<Cursor*>(cursor));
  owned->rows.reset();
  owned->table->connection->CursorCloses();
  return SQLITE_OK;
}

int FilterRows(sqlite3_vtab_cursor* base, int, const char* text, int,
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

int NextRow(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<Cursor*>(base);
  cursor.parsed = false;
  return Fail(cursor.rows->Next(), cursor.table->name, &cursor.table->zErrMsg);
}

int AtEnd(sqlite3_vtab_cursor* base) {
  const auto& cursor = *static_cast<Cursor*>(base);
  return cursor.rows == nullptr || !cursor.rows->Valid() ? 1 : 0;
}

int GetColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  auto& cursor = *static_cast<Cursor*>(base);
  const auto at = static_cast<size_t>(number);
  const Column& column = cursor.table->source.columns[at];
  if (!cursor.table->source.group_index.empty()) {
    SetGroupColumn(cursor.rows->group(), column, at, context);
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

}  // namespace dovetail::sql
