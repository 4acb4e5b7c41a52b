// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/decoder.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

constexpr int64_t kEarliestS = -2'208'988'800;  // 1900
constexpr int64_t kLatestS = 7'258'118'400;     // 2200

}  // namespace

absl::Status Line::Error(size_t at, std::string_view cause) {
  at_ = at;
  return absl::InvalidArgumentError(ToAbsl(cause));
}

absl::Status Line::Error(const ForeignValue& value, std::string_view cause) {
  return Error(value.at, absl::StrCat(ToAbsl(cause),
                                      ": column=", ToAbsl(Quote(value.name))));
}

absl::StatusOr<ForeignValue> Line::Json(size_t from, size_t* end) {
  absl::StatusOr<ForeignValue> value =
      ParseJson(text_.substr(from), limits_, end);
  *end += from;
  if (!value.ok()) at_ = *end;
  return value;
}

absl::StatusOr<ForeignValue> Line::JsonObject() {
  size_t end = 0;
  absl::StatusOr<ForeignValue> value = Json(0, &end);
  if (!value.ok()) return value;
  if (value->kind != ForeignValue::Kind::kObject) {
    return Error(value->at, "not a JSON object");
  }
  if (end != text_.size()) return Error(end, "text behind the object");
  return value;
}

absl::StatusOr<std::string> TextOf(Line* line, const ForeignValue& object,
                                   std::string_view member) {
  const ForeignValue* value = object.Find(member);
  if (value == nullptr || value->is_null()) return std::string();
  if (value->kind != ForeignValue::Kind::kString) {
    return line->Error(*value, "not a text");
  }
  return value->text;
}

bool Has(const ForeignValue& object, std::string_view member) {
  const ForeignValue* value = object.Find(member);
  return value != nullptr && !value->is_null();
}

absl::StatusOr<const ForeignValue*> ObjectOf(Line* line,
                                             const ForeignValue& object,
                                             std::string_view member) {
  const ForeignValue* value = object.Find(member);
  if (value == nullptr || value->is_null()) return nullptr;
  if (value->kind != ForeignValue::Kind::kObject) {
    return line->Error(*value, "not an object");
  }
  return value;
}

std::optional<int64_t> TimeOf(const ForeignValue& object,
                              std::string_view member, int64_t per_second) {
  const ForeignValue* value = object.Find(member);
  int64_t count = 0;
  if (value == nullptr || !absl::SimpleAtoi(value->text, &count)) return {};
  const int64_t seconds = count / per_second;
  // Zero is what sources write where they do not know.
  if (count == 0 || seconds < kEarliestS || seconds > kLatestS) return {};
  return per_second <= 1'000'000 ? count * (1'000'000 / per_second)
                                 : count / (per_second / 1'000'000);
}

ForeignValue Overlay(const ForeignValue& row, const ForeignValue& changed) {
  ForeignValue result = row;
  absl::flat_hash_map<std::string_view, size_t> places;
  for (size_t i = 0; i < row.members.size(); ++i) {
    places[row.members[i].name] = i;
  }
  for (const ForeignValue& member : changed.members) {
    const auto place = places.find(member.name);
    if (place == places.end()) {
      result.members.push_back(member);
    } else {
      result.members[place->second] = member;
    }
  }
  return result;
}

}  // namespace dovetail::changes
