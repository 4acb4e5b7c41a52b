// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Debezium's events as JSON, a line each. What a line may be:
//
//   {"before":...,"after":...,"source":...,"op":"u"}     an event
//   {"schema":{...},"payload":{the same}}                with its schema
//   {"key":...,"value":...}                              a whole message
//   {"id":1}  TAB or blank  {"before":...}               key and value, as
//                                    kafka-console-consumer prints them
//   null                                                 a tombstone
//
// A key may have a schema too. MongoDB's row images are texts that hold
// extended JSON.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "engine/changes/connect_schema.h"
#include "engine/changes/decoder.h"

namespace dovetail::changes {
namespace {

using Kind = ForeignValue::Kind;

// A value and the schema that came with it.
struct Payload {
  const ForeignValue* schema = nullptr;
  const ForeignValue* value = nullptr;  // Null: JSON's null.
};

Payload Unwrap(const ForeignValue& value) {
  if (value.is_null()) return {};
  const ForeignValue* payload = value.Find("payload");
  const ForeignValue* schema = value.Find("schema");
  const size_t parts = (payload != nullptr) + (schema != nullptr);
  if (payload == nullptr || value.members.size() != parts) {
    return {nullptr, &value};
  }
  const bool has_schema = schema != nullptr && schema->kind == Kind::kObject;
  return {has_schema ? schema : nullptr,
          payload->is_null() ? nullptr : payload};
}

bool IsKeySchema(const ForeignValue* schema) {
  const ForeignValue* name = schema == nullptr ? nullptr : schema->Find("name");
  return name != nullptr && std::string_view(name->text).ends_with("Key");
}

// What is no change of rows: told by the members it has.
std::optional<ChangeKind> KindWithoutOp(const Payload& payload) {
  const ForeignValue& value = *payload.value;
  if (Has(value, "ddl") || Has(value, "tableChanges")) {
    return ChangeKind::kSchemaChange;
  }
  if (const ForeignValue* status = value.Find("status");
      status != nullptr && Has(value, "id") &&
      (status->text == "BEGIN" || status->text == "END")) {
    return ChangeKind::kTransaction;
  }
  if (IsKeySchema(payload.schema)) return ChangeKind::kKey;
  const bool only_times =
      !value.members.empty() &&
      std::all_of(value.members.begin(), value.members.end(),
                  [](const ForeignValue& member) {
                    return member.name.starts_with("ts_");
                  });
  if (only_times) return ChangeKind::kHeartbeat;
  return {};
}

absl::StatusOr<ChangeKind> KindOf(Line* line, const ForeignValue& op) {
  static constexpr std::pair<std::string_view, ChangeKind> kKinds[] = {
      {"c", ChangeKind::kInsert},   {"u", ChangeKind::kUpdate},
      {"d", ChangeKind::kDelete},   {"r", ChangeKind::kRead},
      {"t", ChangeKind::kTruncate}, {"m", ChangeKind::kMessage},
  };
  for (const auto& [name, kind] : kKinds) {
    if (op.kind == Kind::kString && op.text == name) return kind;
  }
  return line->Error(op, "an operation that Debezium does not have");
}

void SetPlaces(size_t at, ForeignValue* value) {
  value->at = value->name_at = at;
  for (ForeignValue& member : value->members) SetPlaces(at, &member);
}

// {"$numberLong":"1004"} is 1004, {"$oid":"..."} the text.
void UnwrapExtendedJson(ForeignValue* value) {
  for (ForeignValue& member : value->members) UnwrapExtendedJson(&member);
  if (value->kind != Kind::kObject || value->members.size() != 1) return;
  ForeignValue& only = value->members[0];
  const bool number = only.name.starts_with("$number");
  const bool date = only.name == "$date";
  if (!number && !date && only.name != "$oid") return;
  if (only.kind != Kind::kString && only.kind != Kind::kNumber) return;
  value->kind =
      number || only.kind == Kind::kNumber ? Kind::kNumber : Kind::kString;
  if (date && value->kind == Kind::kNumber) {
    value->unit = ForeignValue::Unit::kMillis;
  }
  std::string text = std::move(only.text);
  value->text = std::move(text);
  value->members.clear();
}

// A row image, if there is one.
absl::StatusOr<std::optional<ForeignValue>> Image(Line* line,
                                                  const Payload& payload,
                                                  std::string_view name) {
  const ForeignValue* value = payload.value->Find(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  ForeignValue image = *value;
  if (value->kind == Kind::kString) {  // MongoDB.
    size_t at = 0;
    absl::StatusOr<ForeignValue> document =
        ParseJson(value->text, line->limits(), &at);
    if (!document.ok() || at != value->text.size()) {
      return line->Error(*value, "a row image that is no JSON document");
    }
    image = *std::move(document);
    image.name = value->name;
    SetPlaces(value->at, &image);
    UnwrapExtendedJson(&image);
  }
  if (image.kind != Kind::kObject) {
    return line->Error(*value, "a row image that is no object");
  }
  const ForeignValue* schema =
      payload.schema == nullptr ? nullptr : FieldSchema(*payload.schema, name);
  if (schema != nullptr) {
    RETURN_IF_ERROR(ApplyConnectSchema(line, *schema, &image));
  }
  return image;
}

absl::Status ReadSource(Line* line, const ForeignValue& payload,
                        ForeignChange* change) {
  ASSIGN_OR_RETURN(const ForeignValue* source,
                   ObjectOf(line, payload, "source"));
  if (source != nullptr) {
    ASSIGN_OR_RETURN(change->database, TextOf(line, *source, "db"));
    ASSIGN_OR_RETURN(change->schema, TextOf(line, *source, "schema"));
    ASSIGN_OR_RETURN(change->table, TextOf(line, *source, "table"));
    if (change->table.empty()) {
      ASSIGN_OR_RETURN(change->table, TextOf(line, *source, "collection"));
    }
    change->time_us = TimeOf(*source, "ts_us", 1'000'000);
    if (!change->time_us.has_value()) {
      change->time_us = TimeOf(*source, "ts_ms", 1'000);
    }
  }
  if (!change->time_us.has_value()) {
    change->time_us = TimeOf(payload, "ts_ms", 1'000);
  }
  return {};
}

absl::Status ReadKey(Line* line, const ForeignValue& key,
                     ForeignChange* change) {
  const Payload payload = Unwrap(key);
  if (payload.value == nullptr) return {};
  ForeignValue value = *payload.value;
  if (value.kind != Kind::kObject) {
    return line->Error(value, "a key that is no object");
  }
  if (payload.schema != nullptr) {
    RETURN_IF_ERROR(ApplyConnectSchema(line, *payload.schema, &value));
  }
  change->key = std::move(value);
  return {};
}

absl::Status CheckImages(Line* line, const ForeignChange& change) {
  switch (change.kind) {
    case ChangeKind::kInsert:
    case ChangeKind::kRead:
    case ChangeKind::kUpdate:
      if (change.after.has_value()) return {};
      return line->Error(change.at, "a change without the row after it");
    case ChangeKind::kDelete:
      if (change.before.has_value() || change.key.has_value()) return {};
      return line->Error(change.at,
                         "a delete without the row before it, and no key");
    default:
      return {};
  }
}

absl::Status ReadEvent(Line* line, const ForeignValue& value,
                       ForeignChange* change) {
  const Payload payload = Unwrap(value);
  change->at = value.at;
  if (payload.value == nullptr) {
    change->kind = ChangeKind::kTombstone;
    return {};
  }
  if (payload.value->kind != Kind::kObject) {
    return line->Error(payload.value->at, "an event that is no object");
  }
  RETURN_IF_ERROR(ReadSource(line, *payload.value, change));
  const ForeignValue* op = payload.value->Find("op");
  if (op == nullptr) {
    const std::optional<ChangeKind> kind = KindWithoutOp(payload);
    if (!kind.has_value()) {
      return line->Error(payload.value->at,
                         "an event that does not say what was done: it has "
                         "no member op");
    }
    change->kind = *kind;
    return {};
  }
  ASSIGN_OR_RETURN(change->kind, KindOf(line, *op));
  ASSIGN_OR_RETURN(change->before, Image(line, payload, "before"));
  ASSIGN_OR_RETURN(change->after, Image(line, payload, "after"));
  return CheckImages(line, *change);
}

}  // namespace

absl::Status DecodeDebezium(Line* line, std::vector<ForeignChange>* changes) {
  size_t end = 0;
  ASSIGN_OR_RETURN(ForeignValue first, line->Json(0, &end));
  ForeignChange& change = changes->emplace_back();
  if (end < line->text().size()) {
    ASSIGN_OR_RETURN(ForeignValue second, line->Json(end, &end));
    if (end < line->text().size()) {
      return line->Error(end, "text behind the event");
    }
    RETURN_IF_ERROR(ReadKey(line, first, &change));
    return ReadEvent(line, second, &change);
  }
  const ForeignValue* key = first.Find("key");
  const ForeignValue* value = first.Find("value");
  if (value != nullptr && key != nullptr && first.Find("op") == nullptr) {
    RETURN_IF_ERROR(ReadKey(line, *key, &change));
    return ReadEvent(line, *value, &change);
  }
  return ReadEvent(line, first, &change);
}

}  // namespace dovetail::changes
