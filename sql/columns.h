// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Records as rows of SQL: which columns a table has, of which types, and what
// their values are. docs/sql.md states the rules for people.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/read.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "sql/sqlite_api.h"

namespace dovetail::sql {

struct Column {
  enum class Kind {
    // Singular fields. SQL type:
    kBool,       // INTEGER, 0 or 1
    kInt32,      // INTEGER
    kInt64,      // INTEGER
    kUint32,     // INTEGER
    kUint64,     // INTEGER; above 2^63 - 1 a REAL
    kFloat,      // REAL; NaN is NULL, -0.0 is 0.0
    kDouble,     // REAL; the same
    kEnum,       // TEXT, the value's name; of an unknown value its number
    kString,     // TEXT
    kBytes,      // BLOB
    kTimestamp,  // TEXT, 2026-01-31T12:00:00.000000000Z
    kJson,       // TEXT: messages, repeated fields and maps
    // Hidden ones that are no fields.
    kRowKey,   // BLOB
    kVersion,  // INTEGER
    kRecord,   // BLOB
    // Of tables of groups.
    kCount,  // INTEGER
    kSum,    // INTEGER; out of its range a REAL
  };

  std::string name;
  Kind kind = Kind::kString;
  // Path of the field, "ship_to.country"; empty if it is none.
  std::string path;
  // The fields on it, from the record down.
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  // Whether the field can be absent. SQL also has NULL for NaN.
  bool nullable = false;
  bool hidden = false;

  bool is_real() const { return kind == Kind::kFloat || kind == Kind::kDouble; }
};

// A column of the field at `path`, without a name. Of a repeated field, one of
// its elements. InvalidArgument if there is no such field.
absl::StatusOr<Column> FieldColumn(const google::protobuf::Descriptor& record,
                                   std::string_view path);

// Every field of the record, then, hidden, the singular fields of messages in
// it by their paths, and _row_key, _version and _record.
absl::StatusOr<std::vector<Column>> RowColumns(const DynamicTable& table);

// The columns of a COUNT or SUM index, then count and sum, then, hidden,
// _row_key. NotFound if there is no such index, InvalidArgument if it is of
// another kind.
absl::StatusOr<std::vector<Column>> GroupColumns(const DynamicTable& table,
                                                 std::string_view index);

// Of the field at `path`; -1: none.
int FindColumn(const std::vector<Column>& columns, std::string_view path);

// CREATE TABLE for sqlite3_declare_vtab: without a rowid, since a row is known
// by its key, which is no number.
std::string Declaration(const std::vector<Column>& columns);

// "name" as an identifier in SQL.
std::string QuoteName(std::string_view name);

// Hand a field's value over to SQLite. InvalidArgument if a message has no
// JSON form.
absl::Status SetResult(const Column& column,
                       const google::protobuf::Message& record,
                       sqlite3_context* context);
void SetResult(const Column& column, const Value& value,
               sqlite3_context* context);
void SetResult(absl::int128 sum, sqlite3_context* context);
void SetResult(uint64_t number, sqlite3_context* context);
void SetBlob(std::string_view bytes, sqlite3_context* context);
void SetText(std::string_view text, sqlite3_context* context);

// The text of a time, and back: the earliest time whose text is at least
// `text`. `exact`: its text is `text`. False if there is none that could be
// told.
std::string TimestampText(int64_t seconds, int32_t nanos);
bool ParseTimestampText(std::string_view text, TimestampValue* time,
                        bool* exact);

}  // namespace dovetail::sql
