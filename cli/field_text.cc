// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/field_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "google/protobuf/text_format.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status BadValue(std::string_view what, std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(what), ": value=", ToAbsl(Quote(text))));
}

// The whole of `text` as a decimal number of the type.
template <typename T>
absl::Status ParseNumber(std::string_view text, std::string_view what, T* out) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') {
    digits.remove_prefix(1);
  }
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, *out);
  if (error == std::errc::result_out_of_range) {
    return BadValue(absl::StrCat("out of the range of ", ToAbsl(what)), text);
  }
  if (error != std::errc() || at != end) {
    return BadValue(absl::StrCat("not a number (", ToAbsl(what), ")"), text);
  }
  return {};
}

absl::Status SetInteger(const FieldDescriptor* field, int64_t value,
                        std::string_view text, Message* message) {
  const Reflection* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      reflection->SetInt64(message, field, value);
      return {};
    case FieldDescriptor::CPPTYPE_UINT64:
      if (value < 0) return BadValue("negative for an unsigned field", text);
      reflection->SetUInt64(message, field, static_cast<uint64_t>(value));
      return {};
    case FieldDescriptor::CPPTYPE_INT32:
      if (value != static_cast<int32_t>(value)) {
        return BadValue("out of the range of int32", text);
      }
      reflection->SetInt32(message, field, static_cast<int32_t>(value));
      return {};
    case FieldDescriptor::CPPTYPE_UINT32:
      if (value != static_cast<uint32_t>(value)) {
        return BadValue("out of the range of uint32", text);
      }
      reflection->SetUInt32(message, field, static_cast<uint32_t>(value));
      return {};
    default:
      return BadValue("the field is no integer", text);
  }
}

absl::Status SetTime(const FieldDescriptor* field, const Conversion& conversion,
                     std::string_view text, Message* parent) {
  ASSIGN_OR_RETURN(const absl::Time time,
                   ParseTimeText(text, conversion.formats));
  if (!IsTimestamp(field)) {
    return SetInteger(field, CountOf(time, UnitOf(field, conversion.unit)),
                      text, parent);
  }
  const int64_t seconds = absl::ToUnixSeconds(time);
  if (seconds < -62135596800 || seconds > 253402300799) {
    return BadValue("a Timestamp holds the years 1 to 9999", text);
  }
  Message* stamp = parent->GetReflection()->MutableMessage(parent, field);
  const Descriptor* type = stamp->GetDescriptor();
  const int64_t nanos =
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
  stamp->GetReflection()->SetInt64(stamp, type->FindFieldByNumber(1), seconds);
  stamp->GetReflection()->SetInt32(stamp, type->FindFieldByNumber(2),
                                   static_cast<int32_t>(nanos));
  return {};
}

// "-39.9" is -3990. At most two decimals that are not zero.
absl::StatusOr<int64_t> ParseCents(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    rest.remove_prefix(1);
  }
  std::string digits(rest.substr(0, rest.find('.')));
  std::string decimals;
  if (digits.size() < rest.size()) {
    decimals = std::string(rest.substr(digits.size() + 1));
    if (decimals.empty()) return BadValue("not a decimal number", text);
  }
  const auto all_digits = [](const std::string& s) {
    return s.find_first_not_of("0123456789") == std::string::npos;
  };
  if ((digits.empty() && decimals.empty()) || !all_digits(digits) ||
      !all_digits(decimals)) {
    return BadValue("not a decimal number", text);
  }
  if (decimals.find_first_not_of('0', 2) != std::string::npos) {
    return BadValue("more than two decimals", text);
  }
  decimals.resize(2, '0');
  int64_t cents = 0;
  RETURN_IF_ERROR(ParseNumber(
      absl::StrCat(negative ? "-" : "", digits, decimals), "cents", &cents));
  return cents;
}

absl::Status SetEnum(const FieldDescriptor* field, bool any_case,
                     std::string_view text, Message* message) {
  const auto* type = field->enum_type();
  const EnumValueDescriptor* found = type->FindValueByName(std::string(text));
  for (int i = 0; found == nullptr && any_case && i < type->value_count();
       ++i) {
    if (absl::EqualsIgnoreCase(type->value(i)->name(), ToAbsl(text))) {
      found = type->value(i);
    }
  }
  int32_t number = 0;
  if (found == nullptr && absl::SimpleAtoi(ToAbsl(text), &number)) {
    found = type->FindValueByNumber(number);
  }
  if (found == nullptr) {
    std::vector<std::string> names;
    bool other_case = false;
    for (int i = 0; i < type->value_count(); ++i) {
      names.push_back(type->value(i)->name());
      other_case |= absl::EqualsIgnoreCase(names.back(), ToAbsl(text));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "not a value of enum ", type->full_name(), ": value=",
        ToAbsl(Quote(text)), " values=\"", absl::StrJoin(names, " "), "\"",
        other_case ? "; names are in this very case, or use :enum" : ""));
  }
  message->GetReflection()->SetEnum(message, field, found);
  return {};
}

absl::Status SetBool(const FieldDescriptor* field, std::string_view text,
                     Message* message) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(text));
  if (lower != "true" && lower != "false" && lower != "1" && lower != "0") {
    return BadValue("neither true nor false", text);
  }
  message->GetReflection()->SetBool(message, field,
                                    lower == "true" || lower == "1");
  return {};
}

absl::Status SetDouble(const FieldDescriptor* field, std::string_view text,
                       Message* message) {
  double value = 0;
  RETURN_IF_ERROR(ParseNumber(text, "double", &value));
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    message->GetReflection()->SetDouble(message, field, value);
    return {};
  }
  if (std::isfinite(value) &&
      std::fabs(value) > std::numeric_limits<float>::max()) {
    return BadValue("out of the range of float", text);
  }
  message->GetReflection()->SetFloat(message, field, static_cast<float>(value));
  return {};
}

absl::Status SetString(const FieldDescriptor* field, std::string_view text,
                       Message* message) {
  if (field->type() == FieldDescriptor::TYPE_STRING && !IsUtf8(text)) {
    return BadValue("not UTF-8; convert the file with iconv", text);
  }
  message->GetReflection()->SetString(message, field, std::string(text));
  return {};
}

absl::Status SetPlain(const FieldDescriptor* field, std::string_view text,
                      Message* message) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_INT64: {
      int64_t value = 0;
      RETURN_IF_ERROR(ParseNumber(text, field->cpp_type_name(), &value));
      return SetInteger(field, value, text, message);
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      uint64_t value = 0;
      RETURN_IF_ERROR(ParseNumber(text, "uint64", &value));
      message->GetReflection()->SetUInt64(message, field, value);
      return {};
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return SetDouble(field, text, message);
    case FieldDescriptor::CPPTYPE_BOOL:
      return SetBool(field, text, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return SetEnum(field, /*any_case=*/false, text, message);
    case FieldDescriptor::CPPTYPE_STRING:
      return SetString(field, text, message);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SetTime(field, {}, text, message);
  }
  return BadValue("unknown field type", text);
}

std::string TimestampText(const Message& stamp) {
  const Descriptor* type = stamp.GetDescriptor();
  const absl::Time time = absl::FromUnixSeconds(stamp.GetReflection()->GetInt64(
                              stamp, type->FindFieldByNumber(1))) +
                          absl::Nanoseconds(stamp.GetReflection()->GetInt32(
                              stamp, type->FindFieldByNumber(2)));
  return Rfc3339(time);
}

template <typename T>
std::string ShortestText(T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

}  // namespace

absl::StatusOr<Conversion> ParseConversion(std::string_view text) {
  Conversion conversion;
  std::string_view name = text;
  const size_t open = text.find('(');
  if (open != std::string_view::npos && text.ends_with(')')) {
    name = text.substr(0, open);
    const std::string_view formats =
        text.substr(open + 1, text.size() - open - 2);
    conversion.formats = absl::StrSplit(ToAbsl(formats), '|');
  }
  using Unit = Conversion::Unit;
  if (name == "time" || name == "time_s" || name == "time_ms" ||
      name == "time_us") {
    conversion.kind = Conversion::Kind::kTime;
    conversion.unit = name == "time_s"    ? Unit::kSeconds
                      : name == "time_ms" ? Unit::kMillis
                      : name == "time_us" ? Unit::kMicros
                                          : Unit::kByName;
    return conversion;
  }
  if (name.size() == text.size()) {
    if (name == "cents") conversion.kind = Conversion::Kind::kCents;
    if (name == "upper") conversion.kind = Conversion::Kind::kUpper;
    if (name == "enum") conversion.kind = Conversion::Kind::kEnum;
    if (conversion.kind != Conversion::Kind::kPlain) return conversion;
  }
  return absl::NotFoundError(absl::StrCat(
      "no such conversion: conversion=", ToAbsl(Quote(text)),
      " conversions=\"time time_s time_ms time_us time(FORMAT|FORMAT) cents "
      "upper enum\""));
}

absl::Status CheckConversion(const FieldPath& field,
                             const Conversion& conversion) {
  const bool is_enum =
      field.leaf()->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  std::string_view needs;
  switch (conversion.kind) {
    case Conversion::Kind::kPlain:
      break;
    case Conversion::Kind::kTime:
      if (!field.is_timestamp() && !field.is_integer()) {
        needs = ":time needs a Timestamp or an integer field";
      }
      break;
    case Conversion::Kind::kCents:
      if (!field.is_integer()) needs = ":cents needs an integer field";
      break;
    case Conversion::Kind::kUpper:
      if (!field.is_text() && !is_enum) {
        needs = ":upper needs a string or enum field";
      }
      break;
    case Conversion::Kind::kEnum:
      if (!is_enum) needs = ":enum needs an enum field";
      break;
  }
  if (needs.empty()) return {};
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(needs), ": field=", field.path(), " type=",
                   field.is_timestamp() ? "google.protobuf.Timestamp"
                                        : field.leaf()->type_name()));
}

absl::Status SetFromText(const FieldPath& field, const Conversion& conversion,
                         std::string_view text, Message* record) {
  Message* parent = field.Parent(record);
  switch (conversion.kind) {
    case Conversion::Kind::kPlain:
      return SetPlain(field.leaf(), text, parent);
    case Conversion::Kind::kTime:
      return SetTime(field.leaf(), conversion, text, parent);
    case Conversion::Kind::kCents: {
      ASSIGN_OR_RETURN(const int64_t cents, ParseCents(text));
      return SetInteger(field.leaf(), cents, text, parent);
    }
    case Conversion::Kind::kUpper:
      return SetPlain(field.leaf(), absl::AsciiStrToUpper(ToAbsl(text)),
                      parent);
    case Conversion::Kind::kEnum:
      return SetEnum(field.leaf(), /*any_case=*/true, text, parent);
  }
  return BadValue("unknown conversion", text);
}

absl::Status SetNull(const FieldPath& field, Message* record) {
  if (!field.leaf()->has_presence()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the field cannot be null: field=", field.path(),
                     " type=", field.leaf()->type_name()));
  }
  Message* parent = field.Parent(record);
  parent->GetReflection()->ClearField(parent, field.leaf());
  return {};
}

std::string FieldText(const Message& record, const FieldDescriptor* field) {
  const Reflection* reflection = record.GetReflection();
  if (field->is_repeated()) {
    std::string all;
    for (int i = 0; i < reflection->FieldSize(record, field); ++i) {
      std::string one;
      google::protobuf::TextFormat::PrintFieldValueToString(record, field, i,
                                                            &one);
      absl::StrAppend(&all, i == 0 ? "" : ", ", one);
    }
    return all;
  }
  if (field->has_presence() && !reflection->HasField(record, field)) return "";
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = reflection->GetString(record, field);
      if (field->type() == FieldDescriptor::TYPE_STRING) return text;
      return EscapeBytes(text, text.size());
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return ShortestText(reflection->GetDouble(record, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return ShortestText(reflection->GetFloat(record, field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (IsTimestamp(field)) {
        return TimestampText(reflection->GetMessage(record, field));
      }
      return reflection->GetMessage(record, field).ShortDebugString();
    default: {
      std::string text;
      google::protobuf::TextFormat::PrintFieldValueToString(record, field, -1,
                                                            &text);
      return text;
    }
  }
}

}  // namespace dovetail::cli
