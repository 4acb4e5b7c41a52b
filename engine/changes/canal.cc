// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Canal's flat messages, a line each:
//
//   {"type":"UPDATE","database":"shop","table":"orders","es":1683008290000,
//    "isDdl":false,"pkNames":["id"],"data":[{"id":"1","state":"paid"}],
//    "old":[{"state":"new"}]}
//
// data[i] is a row after the change (before it, for a delete), old[i] what the
// changed columns of that row were. All values are texts. Aliyun's Data
// Integration writes a form of its own, with `payload` and `schema`, a row a
// message.

#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/changes/decoder.h"

namespace dovetail::changes {
namespace {

using Kind = ForeignValue::Kind;

// The rows of the message, in one of its arrays; null is none.
absl::StatusOr<const ForeignValue*> RowsOf(Line* line,
                                           const ForeignValue& message,
                                           std::string_view member) {
  const ForeignValue* rows = message.Find(member);
  if (rows == nullptr || rows->is_null()) return nullptr;
  if (rows->kind != Kind::kArray) {
    return line->Error(*rows, "not an array of rows");
  }
  for (const ForeignValue& row : rows->members) {
    if (row.kind != Kind::kObject) {
      return line->Error(row.at, "a row that is no object");
    }
  }
  return rows;
}

absl::Status ReadRows(Line* line, const ForeignValue& message,
                      const ForeignChange& common,
                      std::vector<ForeignChange>* changes) {
  ASSIGN_OR_RETURN(const ForeignValue* data, RowsOf(line, message, "data"));
  if (data == nullptr || data->members.empty()) {
    return line->Error(message.at, "a change of rows without data");
  }
  ASSIGN_OR_RETURN(const ForeignValue* old, RowsOf(line, message, "old"));
  const bool update = common.kind == ChangeKind::kUpdate;
  if (update && old != nullptr && old->members.size() != data->members.size()) {
    return line->Error(*old, "rows before and after that do not pair");
  }
  for (size_t i = 0; i < data->members.size(); ++i) {
    const ForeignValue& row = data->members[i];
    ForeignChange& change = changes->emplace_back(common);
    change.at = row.at;
    if (common.kind == ChangeKind::kDelete) {
      change.before = row;
      continue;
    }
    change.after = row;
    if (update && old != nullptr) {
      change.before = Overlay(row, old->members[i]);
    }
  }
  return {};
}

// What the type says where it is no change of rows.
ChangeKind KindOfStatement(std::string_view type, bool ddl) {
  if (absl::EqualsIgnoreCase(ToAbsl(type), "TRUNCATE")) {
    return ChangeKind::kTruncate;
  }
  return ddl ? ChangeKind::kSchemaChange : ChangeKind::kStatement;
}

absl::Status ReadMessage(Line* line, const ForeignValue& message,
                         std::vector<ForeignChange>* changes) {
  ForeignChange change;
  change.at = message.at;
  ASSIGN_OR_RETURN(const std::string type, TextOf(line, message, "type"));
  ASSIGN_OR_RETURN(change.database, TextOf(line, message, "database"));
  ASSIGN_OR_RETURN(change.table, TextOf(line, message, "table"));
  change.time_us = TimeOf(message, "es", 1'000);
  if (!change.time_us.has_value())
    change.time_us = TimeOf(message, "ts", 1'000);
  const ForeignValue* ddl = message.Find("isDdl");
  const bool is_ddl = ddl != nullptr && ddl->text == "true";
  const ForeignValue* keys = message.Find("pkNames");
  change.no_primary_key = keys != nullptr && keys->members.empty();
  if (type.empty()) {
    return line->Error(message.at, "a message without its type");
  }
  static constexpr std::pair<std::string_view, ChangeKind> kRowKinds[] = {
      {"INSERT", ChangeKind::kInsert},
      {"UPDATE", ChangeKind::kUpdate},
      {"DELETE", ChangeKind::kDelete},
  };
  for (const auto& [name, kind] : kRowKinds) {
    if (is_ddl || type != name) continue;
    change.kind = kind;
    return ReadRows(line, message, change, changes);
  }
  static constexpr std::string_view kStatements[] = {
      "QUERY",  "CREATE", "ALTER", "ERASE",    "TRUNCATE",  "RENAME",
      "CINDEX", "DINDEX", "GTID",  "XACOMMIT", "XAROLLBACK"};
  bool known = is_ddl;
  for (const std::string_view name : kStatements) known |= type == name;
  if (!known) {
    return line->Error(*message.Find("type"),
                       "a type that Canal does not have");
  }
  change.kind = KindOfStatement(type, is_ddl);
  changes->push_back(std::move(change));
  return {};
}

absl::StatusOr<std::optional<ForeignValue>> AliyunImage(
    Line* line, const ForeignValue& payload, std::string_view member) {
  ASSIGN_OR_RETURN(const ForeignValue* image, ObjectOf(line, payload, member));
  if (image == nullptr) return std::nullopt;
  ASSIGN_OR_RETURN(const ForeignValue* row,
                   ObjectOf(line, *image, "dataColumn"));
  if (row == nullptr) return line->Error(*image, "a row without its columns");
  return *row;
}

absl::Status ReadAliyunSchema(Line* line, const ForeignValue& message,
                              ForeignChange* change) {
  ASSIGN_OR_RETURN(const ForeignValue* schema,
                   ObjectOf(line, message, "schema"));
  if (schema == nullptr) return {};
  const ForeignValue* keys = schema->Find("primaryKey");
  change->no_primary_key = keys != nullptr && keys->members.empty();
  ASSIGN_OR_RETURN(const ForeignValue* source,
                   ObjectOf(line, *schema, "source"));
  if (source == nullptr) return {};
  ASSIGN_OR_RETURN(change->database, TextOf(line, *source, "dbName"));
  ASSIGN_OR_RETURN(change->table, TextOf(line, *source, "tableName"));
  return {};
}

absl::Status ReadAliyun(Line* line, const ForeignValue& message,
                        const ForeignValue& payload,
                        std::vector<ForeignChange>* changes) {
  ForeignChange change;
  change.at = payload.at;
  RETURN_IF_ERROR(ReadAliyunSchema(line, message, &change));
  ASSIGN_OR_RETURN(const ForeignValue* times,
                   ObjectOf(line, payload, "timestamp"));
  if (times != nullptr) change.time_us = TimeOf(*times, "eventTime", 1'000);
  ASSIGN_OR_RETURN(change.before, AliyunImage(line, payload, "before"));
  ASSIGN_OR_RETURN(change.after, AliyunImage(line, payload, "after"));
  ASSIGN_OR_RETURN(const std::string op, TextOf(line, payload, "op"));
  bool complete = true;
  if (Has(payload, "ddl")) {
    change.kind = ChangeKind::kSchemaChange;
  } else if (op == "INSERT") {
    change.kind = ChangeKind::kInsert;
    complete = change.after.has_value();
  } else if (op == "UPDATE_AFTER") {
    change.kind = ChangeKind::kUpdate;
    complete = change.after.has_value();
  } else if (op == "UPDATE_BEFORE") {  // Its UPDATE_AFTER says the same.
    change.kind = ChangeKind::kMessage;
  } else if (op == "DELETE") {
    change.kind = ChangeKind::kDelete;
    complete = change.before.has_value();
  } else {
    return line->Error(payload.at, "an operation that is not known");
  }
  if (!complete) return line->Error(payload.at, "a change without its row");
  changes->push_back(std::move(change));
  return {};
}

}  // namespace

absl::Status DecodeCanal(Line* line, std::vector<ForeignChange>* changes) {
  if (line->text() == "null") {
    changes->emplace_back().kind = ChangeKind::kTombstone;
    return {};
  }
  ASSIGN_OR_RETURN(const ForeignValue message, line->JsonObject());
  ASSIGN_OR_RETURN(const ForeignValue* payload,
                   ObjectOf(line, message, "payload"));
  if (payload != nullptr) return ReadAliyun(line, message, *payload, changes);
  return ReadMessage(line, message, changes);
}

}  // namespace dovetail::changes
