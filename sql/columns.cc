// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::sql {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

bool IsTimestamp(const FieldDescriptor& field) {
  const Descriptor* type = field.message_type();
  if (type == nullptr || type->full_name() != "google.protobuf.Timestamp") {
    return false;
  }
  const FieldDescriptor* seconds = type->FindFieldByNumber(1);
  const FieldDescriptor* nanos = type->FindFieldByNumber(2);
  return seconds != nullptr && nanos != nullptr &&
         seconds->type() == FieldDescriptor::TYPE_INT64 &&
         nanos->type() == FieldDescriptor::TYPE_INT32;
}

Column::Kind KindOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return Column::Kind::kBool;
    case FieldDescriptor::CPPTYPE_INT32:
      return Column::Kind::kInt32;
    case FieldDescriptor::CPPTYPE_INT64:
      return Column::Kind::kInt64;
    case FieldDescriptor::CPPTYPE_UINT32:
      return Column::Kind::kUint32;
    case FieldDescriptor::CPPTYPE_UINT64:
      return Column::Kind::kUint64;
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Column::Kind::kFloat;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Column::Kind::kDouble;
    case FieldDescriptor::CPPTYPE_ENUM:
      return Column::Kind::kEnum;
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES
                 ? Column::Kind::kBytes
                 : Column::Kind::kString;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return IsTimestamp(field) ? Column::Kind::kTimestamp : Column::Kind::kJson;
}

std::string_view SqlType(Column::Kind kind) {
  switch (kind) {
    case Column::Kind::kBool:
    case Column::Kind::kInt32:
    case Column::Kind::kInt64:
    case Column::Kind::kUint32:
    case Column::Kind::kUint64:
    case Column::Kind::kVersion:
    case Column::Kind::kCount:
    case Column::Kind::kSum:
      return "INTEGER";
    case Column::Kind::kFloat:
    case Column::Kind::kDouble:
      return "REAL";
    case Column::Kind::kEnum:
    case Column::Kind::kString:
    case Column::Kind::kTimestamp:
    case Column::Kind::kJson:
      return "TEXT";
    case Column::Kind::kBytes:
    case Column::Kind::kRowKey:
    case Column::Kind::kRecord:
      return "BLOB";
  }
  return "";
}

// Column names, which SQL tells apart without regard to case.
class Names {
 public:
  // `name`, or, where that is taken, with '_' behind it as often as it takes.
  std::string Take(std::string name) {
    while (!taken_.insert(absl::AsciiStrToLower(name)).second) name += '_';
    return name;
  }

 private:
  std::set<std::string> taken_;
};

// SQLite's own default limit is 2000.
constexpr size_t kNestedColumnsMax = 1000;

void AddHidden(const Descriptor& record, const std::string& path, Names* names,
               std::vector<Column>* columns) {
  if (FindColumn(*columns, path) >= 0) return;
  absl::StatusOr<Column> column = FieldColumn(record, path);
  if (!column.ok()) return;  // Of a repeated message, or an extension.
  column->name = names->Take(path);
  column->hidden = true;
  columns->push_back(*std::move(column));
}

// The singular fields of messages in the record, but of none within itself.
void AddNested(const Descriptor& record, const Descriptor& message,
               const std::string& prefix,
               std::vector<const Descriptor*>* within, Names* names,
               std::vector<Column>* columns) {
  within->push_back(&message);
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (field.is_repeated() || columns->size() >= kNestedColumnsMax) continue;
    const std::string path = prefix + field.name();
    const Descriptor* inner = field.message_type();
    if (inner == nullptr || IsTimestamp(field)) {
      AddHidden(record, path, names, columns);
    } else if (std::find(within->begin(), within->end(), inner) ==
               within->end()) {
      AddNested(record, *inner, path + ".", within, names, columns);
    }
  }
  within->pop_back();
}

Column Special(std::string_view name, Column::Kind kind, Names* names) {
  Column column;
  column.name = names->Take(std::string(name));
  column.kind = kind;
  column.hidden = true;
  return column;
}

}  // namespace

absl::StatusOr<Column> FieldColumn(const Descriptor& record,
                                   std::string_view path) {
  Column column;
  column.path = std::string(path);
  const Descriptor* message = &record;
  for (absl::string_view name : absl::StrSplit(ToAbsl(path), '.')) {
    const FieldDescriptor* field =
        message == nullptr ? nullptr
                           : message->FindFieldByName(std::string(name));
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("no such field: record_type=", record.full_name(),
                       " path=", ToAbsl(Quote(path))));
    }
    column.nullable |= field->has_presence() && !field->is_required();
    column.fields.push_back(field);
    message = field->message_type();
  }
  column.kind = KindOf(*column.fields.back());
  return column;
}

absl::StatusOr<std::vector<Column>> RowColumns(const DynamicTable& table) {
  const Descriptor& record = *table.record_type();
  std::vector<Column> columns;
  Names names;
  for (int i = 0; i < record.field_count(); ++i) {
    const FieldDescriptor& field = *record.field(i);
    Column column;
    column.name = names.Take(field.name());
    column.path = field.name();
    column.fields = {&field};
    column.nullable = field.has_presence() && !field.is_required();
    column.kind = field.is_repeated() ? Column::Kind::kJson : KindOf(field);
    columns.push_back(std::move(column));
  }
  // Those that keys are made of first, so that none of them is left out.
  std::vector<std::string> indexes = {""};
  for (const v1::IndexSchema& index : table.schema().indexes()) {
    indexes.push_back(index.name());
  }
  for (const std::string& index : indexes) {
    ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                     table.Columns(index));
    for (const std::string& path : paths) {
      AddHidden(record, path, &names, &columns);
    }
  }
  std::vector<const Descriptor*> within;
  AddNested(record, record, "", &within, &names, &columns);
  columns.push_back(Special("_row_key", Column::Kind::kRowKey, &names));
  columns.push_back(Special("_version", Column::Kind::kVersion, &names));
  columns.push_back(Special("_record", Column::Kind::kRecord, &names));
  return columns;
}

absl::StatusOr<std::vector<Column>> GroupColumns(const DynamicTable& table,
                                                 std::string_view index) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, table.Columns(index));
  v1::IndexSchema::Kind kind = v1::IndexSchema::VALUE;
  for (const v1::IndexSchema& each : table.schema().indexes()) {
    if (each.name() == index) kind = each.kind();
  }
  if (kind != v1::IndexSchema::COUNT && kind != v1::IndexSchema::SUM) {
    return absl::InvalidArgumentError(absl::StrCat(
        "only a COUNT or SUM index is a table of its own: table=", table.name(),
        " index=", ToAbsl(Quote(index))));
  }
  std::vector<Column> columns;
  Names names;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(Column column, FieldColumn(*table.record_type(), path));
    column.name = names.Take(path);
    columns.push_back(std::move(column));
  }
  columns.push_back(Special("count", Column::Kind::kCount, &names));
  columns.back().hidden = false;
  if (kind == v1::IndexSchema::SUM) {
    columns.push_back(Special("sum", Column::Kind::kSum, &names));
    columns.back().hidden = false;
  }
  columns.push_back(Special("_row_key", Column::Kind::kRowKey, &names));
  return columns;
}

int FindColumn(const std::vector<Column>& columns, std::string_view path) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].path.empty() && columns[i].path == path) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::string QuoteName(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string Declaration(const std::vector<Column>& columns) {
  std::vector<std::string> items;
  std::string key;
  for (const Column& column : columns) {
    items.push_back(absl::StrCat(QuoteName(column.name), " ",
                                 ToAbsl(SqlType(column.kind)),
                                 column.hidden ? " HIDDEN" : ""));
    if (column.kind == Column::Kind::kRowKey) key = QuoteName(column.name);
  }
  return absl::StrCat("CREATE TABLE x(", absl::StrJoin(items, ", "),
                      ", PRIMARY KEY(", key, ")) WITHOUT ROWID");
}

}  // namespace dovetail::sql
