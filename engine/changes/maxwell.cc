// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Maxwell's messages, a line each:
//
//   {"database":"shop","table":"orders","type":"update","ts":1477053234,
//    "data":{"id":1,"state":"paid"},"old":{"state":"new"}}
//
// `ts` counts seconds in a row's message and milliseconds in a DDL's. `data`
// lacks columns where the server logs only what changed.

#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "engine/changes/decoder.h"

namespace dovetail::changes {
namespace {

struct Type {
  std::string_view name;
  ChangeKind kind;
};
constexpr Type kTypes[] = {
    {"insert", ChangeKind::kInsert},
    {"update", ChangeKind::kUpdate},
    {"delete", ChangeKind::kDelete},
    {"bootstrap-insert", ChangeKind::kRead},
    {"bootstrap-start", ChangeKind::kMessage},
    {"bootstrap-complete", ChangeKind::kMessage},
    {"table-create", ChangeKind::kSchemaChange},
    {"table-alter", ChangeKind::kSchemaChange},
    {"table-drop", ChangeKind::kSchemaChange},
    {"database-create", ChangeKind::kSchemaChange},
    {"database-alter", ChangeKind::kSchemaChange},
    {"database-drop", ChangeKind::kSchemaChange},
    {"heartbeat", ChangeKind::kHeartbeat},
};

absl::Status ReadImages(Line* line, const ForeignValue& message,
                        ForeignChange* change) {
  if (change->kind != ChangeKind::kInsert &&
      change->kind != ChangeKind::kUpdate &&
      change->kind != ChangeKind::kDelete &&
      change->kind != ChangeKind::kRead) {
    return {};
  }
  ASSIGN_OR_RETURN(const ForeignValue* data, ObjectOf(line, message, "data"));
  if (data == nullptr) {
    return line->Error(message.at, "a change of a row without data");
  }
  ASSIGN_OR_RETURN(const ForeignValue* old, ObjectOf(line, message, "old"));
  if (change->kind == ChangeKind::kDelete) {
    change->before = *data;
    return {};
  }
  change->after = *data;
  if (old != nullptr) change->before = Overlay(*data, *old);
  return {};
}

}  // namespace

absl::Status DecodeMaxwell(Line* line, std::vector<ForeignChange>* changes) {
  if (line->text() == "null") {
    changes->emplace_back().kind = ChangeKind::kTombstone;
    return {};
  }
  ASSIGN_OR_RETURN(const ForeignValue message, line->JsonObject());
  ForeignChange change;
  ASSIGN_OR_RETURN(const std::string type, TextOf(line, message, "type"));
  ASSIGN_OR_RETURN(change.database, TextOf(line, message, "database"));
  ASSIGN_OR_RETURN(change.table, TextOf(line, message, "table"));
  const Type* known = nullptr;
  for (const Type& candidate : kTypes) {
    if (candidate.name == type) known = &candidate;
  }
  if (known == nullptr) {
    return line->Error(message.at, type.empty()
                                       ? "a message without its type"
                                       : "a type that Maxwell does not have");
  }
  change.kind = known->kind;
  change.time_us = TimeOf(message, "ts",
                          change.kind == ChangeKind::kSchemaChange ? 1'000 : 1);
  const ForeignValue* keys = message.Find("primary_key_columns");
  change.no_primary_key = keys != nullptr && keys->members.empty();
  RETURN_IF_ERROR(ReadImages(line, message, &change));
  changes->push_back(std::move(change));
  return {};
}

absl::Status DecodeJsonLine(Line* line, std::vector<ForeignChange>* changes) {
  ASSIGN_OR_RETURN(ForeignValue row, line->JsonObject());
  changes->emplace_back().after = std::move(row);
  return {};
}

}  // namespace dovetail::changes
