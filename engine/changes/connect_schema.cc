// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/connect_schema.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/changes/decimal.h"

namespace dovetail::changes {
namespace {

using Kind = ForeignValue::Kind;
using Unit = ForeignValue::Unit;

constexpr std::string_view kDecimal = "org.apache.kafka.connect.data.Decimal";
constexpr std::string_view kVariableDecimal =
    "io.debezium.data.VariableScaleDecimal";

constexpr std::pair<std::string_view, Unit> kMoments[] = {
    {"io.debezium.time.Date", Unit::kDays},
    {"io.debezium.time.Timestamp", Unit::kMillis},
    {"io.debezium.time.MicroTimestamp", Unit::kMicros},
    {"io.debezium.time.NanoTimestamp", Unit::kNanos},
    {"org.apache.kafka.connect.data.Date", Unit::kDays},
    {"org.apache.kafka.connect.data.Timestamp", Unit::kMillis},
};

std::string_view Word(const ForeignValue& schema, std::string_view member) {
  const ForeignValue* value = schema.Find(member);
  return value == nullptr ? std::string_view() : value->text;
}

absl::Status DecodeDecimal(Line* line, int32_t scale, ForeignValue* value) {
  if (value->kind == Kind::kNumber) return {};  // decimal.format=NUMERIC
  if (value->kind != Kind::kString) {
    return line->Error(*value, "a decimal that is no text and no number");
  }
  absl::StatusOr<std::string> text = DecimalFromBase64(value->text, scale);
  if (!text.ok()) return line->Error(*value, ToStd(text.status().message()));
  value->text = *std::move(text);
  value->kind = Kind::kNumber;
  return {};
}

absl::StatusOr<int32_t> ScaleOf(Line* line, const ForeignValue* scale,
                                const ForeignValue& value) {
  int32_t digits = 0;
  if (scale == nullptr || !absl::SimpleAtoi(scale->text, &digits)) {
    return line->Error(value, "a decimal without its scale");
  }
  return digits;
}

absl::Status DecodeVariableDecimal(Line* line, ForeignValue* value) {
  const ForeignValue* unscaled = value->Find("value");
  if (unscaled == nullptr) {
    return line->Error(*value, "a decimal without its value");
  }
  ASSIGN_OR_RETURN(const int32_t scale,
                   ScaleOf(line, value->Find("scale"), *value));
  ForeignValue number = *unscaled;
  number.name = value->name;
  RETURN_IF_ERROR(DecodeDecimal(line, scale, &number));
  *value = std::move(number);
  return {};
}

absl::Status DecodeBytes(Line* line, ForeignValue* value) {
  std::string bytes;
  if (value->kind != Kind::kString ||
      !absl::Base64Unescape(value->text, &bytes)) {
    return line->Error(*value, "bytes that are not base64");
  }
  value->text = std::move(bytes);
  value->kind = Kind::kBytes;
  return {};
}

absl::Status ApplyToValue(Line* line, const ForeignValue& schema,
                          ForeignValue* value) {
  if (value->is_null()) return {};
  const std::string_view name = Word(schema, "name");
  if (name == kDecimal) {
    const ForeignValue* parameters = schema.Find("parameters");
    ASSIGN_OR_RETURN(
        const int32_t scale,
        ScaleOf(line,
                parameters == nullptr ? nullptr : parameters->Find("scale"),
                *value));
    return DecodeDecimal(line, scale, value);
  }
  if (name == kVariableDecimal) return DecodeVariableDecimal(line, value);
  if (Word(schema, "type") == "bytes") return DecodeBytes(line, value);
  if (value->kind == Kind::kNumber) {
    for (const auto& [moment, unit] : kMoments) {
      if (name == moment) value->unit = unit;
    }
  }
  return {};
}

}  // namespace

const ForeignValue* FieldSchema(const ForeignValue& schema,
                                std::string_view field) {
  const ForeignValue* fields = schema.Find("fields");
  if (fields == nullptr || fields->kind != Kind::kArray) return nullptr;
  for (const ForeignValue& candidate : fields->members) {
    if (Word(candidate, "field") == field) return &candidate;
  }
  return nullptr;
}

absl::Status ApplyConnectSchema(Line* line, const ForeignValue& schema,
                                ForeignValue* row) {
  const ForeignValue* fields = schema.Find("fields");
  if (fields == nullptr || fields->kind != Kind::kArray) return {};
  absl::flat_hash_map<std::string_view, const ForeignValue*> by_name;
  for (const ForeignValue& field : fields->members) {
    by_name.try_emplace(Word(field, "field"), &field);
  }
  for (ForeignValue& member : row->members) {
    const auto field = by_name.find(member.name);
    if (field == by_name.end()) continue;
    RETURN_IF_ERROR(ApplyToValue(line, *field->second, &member));
  }
  return {};
}

}  // namespace dovetail::changes
