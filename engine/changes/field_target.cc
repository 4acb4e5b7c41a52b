// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/field_target.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/changes/bytes_text.h"
#include "engine/changes/decimal.h"
#include "engine/changes/moment.h"
#include "index/field_path.h"
#include "index/utf8.h"

namespace dovetail::changes {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Kind = ForeignValue::Kind;

absl::Status BadValue(std::string_view what, std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(what), ": value=", ToAbsl(Quote(text))));
}

bool IsInteger(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return true;
    default:
      return false;
  }
}

bool IsMoment(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         IsTimestamp(*field.message_type());
}

absl::Status SetInteger(const FieldDescriptor& field, int64_t value,
                        std::string_view text, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      reflection.SetInt64(message, &field, value);
      return {};
    case FieldDescriptor::CPPTYPE_UINT64:
      if (value < 0) return BadValue("negative for an unsigned field", text);
      reflection.SetUInt64(message, &field, static_cast<uint64_t>(value));
      return {};
    case FieldDescriptor::CPPTYPE_INT32:
      if (value != static_cast<int32_t>(value)) {
        return BadValue("out of the range of int32", text);
      }
      reflection.SetInt32(message, &field, static_cast<int32_t>(value));
      return {};
    case FieldDescriptor::CPPTYPE_UINT32:
      if (value != static_cast<uint32_t>(value)) {
        return BadValue("out of the range of uint32", text);
      }
      reflection.SetUInt32(message, &field, static_cast<uint32_t>(value));
      return {};
    default:
      return BadValue("the field is no integer", text);
  }
}

absl::Status SetBool(const FieldDescriptor& field, std::string_view text,
                     Message* message) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(text));
  const bool is_true = lower == "true" || lower == "1" || lower == "t";
  if (!is_true && lower != "false" && lower != "0" && lower != "f") {
    return BadValue("neither true nor false", text);
  }
  message->GetReflection()->SetBool(message, &field, is_true);
  return {};
}

absl::Status SetDouble(const FieldDescriptor& field, std::string_view text,
                       Message* message) {
  double value = 0;
  if (!absl::SimpleAtod(ToAbsl(text), &value)) {
    return BadValue("not a number", text);
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    message->GetReflection()->SetDouble(message, &field, value);
    return {};
  }
  if (std::isfinite(value) &&
      std::fabs(value) > std::numeric_limits<float>::max()) {
    return BadValue("out of the range of float", text);
  }
  message->GetReflection()->SetFloat(message, &field,
                                     static_cast<float>(value));
  return {};
}

absl::Status SetTimestamp(const FieldDescriptor& field, absl::Time time,
                          Message* parent) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  Message* stamp = parent->GetReflection()->MutableMessage(parent, &field);
  const Descriptor* type = stamp->GetDescriptor();
  const int64_t nanos =
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
  stamp->GetReflection()->SetInt64(stamp, type->FindFieldByNumber(1), seconds);
  stamp->GetReflection()->SetInt32(stamp, type->FindFieldByNumber(2),
                                   static_cast<int32_t>(nanos));
  return {};
}

}  // namespace

absl::StatusOr<FieldTarget> FieldTarget::Compile(
    const Descriptor& record, const v1::FieldMapping& mapping) {
  FieldTarget target;
  target.path_ = mapping.field();
  target.mapping_ = mapping;
  ASSIGN_OR_RETURN(target.fields_, ResolvePath(record, mapping.field()));
  const FieldDescriptor& leaf = *target.fields_.back();
  if (leaf.is_repeated()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a repeated field cannot be mapped: field=", mapping.field()));
  }
  if (leaf.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsMoment(leaf)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the field is a message; map one of its fields: field=",
                     mapping.field()));
  }
  target.zone_ = absl::UTCTimeZone();
  const std::string& zone = mapping.time().zone();
  if (!zone.empty() && !absl::LoadTimeZone(zone, &target.zone_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no such time zone: zone=", ToAbsl(Quote(zone)),
                     " field=", mapping.field()));
  }
  RETURN_IF_ERROR(target.CheckConversion());
  return target;
}

absl::Status FieldTarget::CheckConversion() const {
  const FieldDescriptor& leaf = *fields_.back();
  const bool text = leaf.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const bool number = IsInteger(leaf) ||
                      leaf.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
                      leaf.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
  std::string_view needs;
  if (mapping_.has_time() && !IsInteger(leaf) && !IsMoment(leaf)) {
    needs = "time needs a Timestamp or an integer field";
  } else if (mapping_.has_decimal() && !text && !number) {
    needs = "decimal needs a number or a text";
  } else if (mapping_.decimal().scale() != 0 && !IsInteger(leaf)) {
    needs = "a decimal's scale needs an integer field";
  } else if (mapping_.decimal().scale() > 30) {
    needs = "a decimal's scale is at most 30";
  } else if (mapping_.time().year_min() < 0 || mapping_.time().year_max() < 0 ||
             mapping_.time().year_max() > 9999) {
    needs = "a time's years are from 1 to 9999";
  } else if (mapping_.has_names() && IsMoment(leaf)) {
    needs = "names do not fit a Timestamp";
  }
  if (needs.empty()) return {};
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(needs), ": field=", path_, " type=",
      IsMoment(leaf) ? "google.protobuf.Timestamp" : leaf.type_name()));
}

Message* FieldTarget::Parent(Message* record) const {
  for (size_t i = 0; i + 1 < fields_.size(); ++i) {
    record = record->GetReflection()->MutableMessage(record, fields_[i]);
  }
  return record;
}

std::string FieldTarget::NameOf(std::string_view text) const {
  for (const v1::FieldMapping::Names::Name& name : mapping_.names().names()) {
    if (mapping_.names().ignore_case()
            ? absl::EqualsIgnoreCase(name.from(), ToAbsl(text))
            : name.from() == text) {
      return name.to();
    }
  }
  return std::string(text);
}

absl::Status FieldTarget::Set(const ForeignValue& given,
                              Message* record) const {
  ForeignValue value;
  value.kind = given.kind;
  value.unit = given.unit;
  const bool nested = given.kind == Kind::kArray || given.kind == Kind::kObject;
  value.text = nested ? ToJson(given) : given.text;
  if (nested && fields_.back()->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return BadValue("an object or array, where a plain value is wanted",
                    value.text);
  }
  if (mapping_.has_binary()) {
    RETURN_IF_ERROR(DecodeBinary(mapping_.binary().form(), &value));
  }
  const v1::FieldMapping::Decimal& decimal = mapping_.decimal();
  if (decimal.form() == v1::FieldMapping::Decimal::UNSCALED_BASE64) {
    ASSIGN_OR_RETURN(
        value.text,
        DecimalFromBase64(value.text,
                          static_cast<int32_t>(decimal.unscaled_scale())));
    value.kind = Kind::kNumber;
  }
  return SetDecoded(value, record);
}

absl::Status FieldTarget::SetDefault(std::string_view text,
                                     Message* record) const {
  ForeignValue value;
  value.kind = Kind::kString;
  value.text = std::string(text);
  return SetDecoded(value, record);
}

absl::Status FieldTarget::SetDecoded(const ForeignValue& value,
                                     Message* record) const {
  Message* parent = Parent(record);
  if (mapping_.has_time() || IsMoment(*fields_.back())) {
    return SetTime(value, parent);
  }
  return SetText(value, NameOf(value.text), parent);
}

absl::Status FieldTarget::SetText(const ForeignValue& value,
                                  std::string_view text,
                                  Message* parent) const {
  const FieldDescriptor& leaf = *fields_.back();
  switch (leaf.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      if (value.kind == Kind::kBool) text = text == "true" ? "1" : "0";
      return SetNumber(text, static_cast<int32_t>(mapping_.decimal().scale()),
                       parent);
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return SetDouble(leaf, text, parent);
    case FieldDescriptor::CPPTYPE_BOOL:
      return SetBool(leaf, text, parent);
    case FieldDescriptor::CPPTYPE_ENUM:
      return SetEnum(text, parent);
    case FieldDescriptor::CPPTYPE_STRING:
      if (leaf.type() == FieldDescriptor::TYPE_STRING && !IsValidUtf8(text)) {
        return BadValue("not UTF-8", text);
      }
      parent->GetReflection()->SetString(parent, &leaf, std::string(text));
      return {};
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return BadValue("no value for the field", text);
}

absl::Status FieldTarget::SetNumber(std::string_view text, int32_t scale,
                                    Message* parent) const {
  const FieldDescriptor& leaf = *fields_.back();
  if (leaf.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    ASSIGN_OR_RETURN(const uint64_t number, ScaledUint64(text, scale));
    parent->GetReflection()->SetUInt64(parent, &leaf, number);
    return {};
  }
  ASSIGN_OR_RETURN(const int64_t number, ScaledInt64(text, scale));
  return SetInteger(leaf, number, text, parent);
}

absl::Status FieldTarget::SetTime(const ForeignValue& value,
                                  Message* parent) const {
  const FieldDescriptor& leaf = *fields_.back();
  ASSIGN_OR_RETURN(const absl::Time time,
                   MomentOf(value, mapping_.time(), zone_));
  if (IsMoment(leaf)) return SetTimestamp(leaf, time, parent);
  return SetInteger(leaf, CountOf(time, mapping_.time(), leaf.name()),
                    value.text, parent);
}

absl::Status FieldTarget::SetEnum(std::string_view text,
                                  Message* parent) const {
  const FieldDescriptor& leaf = *fields_.back();
  const google::protobuf::EnumDescriptor& type = *leaf.enum_type();
  for (int i = 0; i < type.value_count(); ++i) {
    if (!absl::EqualsIgnoreCase(type.value(i)->name(), ToAbsl(text))) continue;
    parent->GetReflection()->SetEnum(parent, &leaf, type.value(i));
    return {};
  }
  int32_t number = 0;
  const bool open =
      leaf.file()->syntax() == google::protobuf::FileDescriptor::SYNTAX_PROTO3;
  if (!absl::SimpleAtoi(ToAbsl(text), &number) ||
      (!open && type.FindValueByNumber(number) == nullptr)) {
    return BadValue(absl::StrCat("not a value of enum ", type.full_name(),
                                 "; give the word a meaning with names"),
                    text);
  }
  parent->GetReflection()->SetEnumValue(parent, &leaf, number);
  return {};
}

absl::Status FieldTarget::SetNull(Message* record) const {
  Message* parent = Parent(record);
  const FieldDescriptor& leaf = *fields_.back();
  if (!leaf.has_presence() &&
      leaf.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return absl::InvalidArgumentError(absl::StrCat(
        "null, which the field cannot be; give it a default_value: field=",
        path_));
  }
  parent->GetReflection()->ClearField(parent, &leaf);
  return {};
}

Value FieldTarget::Get(const Message& record) const {
  const Message* parent = &record;
  for (size_t i = 0; i + 1 < fields_.size(); ++i) {
    parent = &parent->GetReflection()->GetMessage(*parent, fields_[i]);
  }
  const FieldDescriptor* leaf = fields_.back();
  const Reflection& reflection = *parent->GetReflection();
  if (leaf->has_presence() && !reflection.HasField(*parent, leaf)) return {};
  switch (leaf->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Value(reflection.GetInt32(*parent, leaf));
    case FieldDescriptor::CPPTYPE_INT64:
      return Value(reflection.GetInt64(*parent, leaf));
    case FieldDescriptor::CPPTYPE_UINT32:
      return Value(reflection.GetUInt32(*parent, leaf));
    case FieldDescriptor::CPPTYPE_UINT64:
      return Value(reflection.GetUInt64(*parent, leaf));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Value(reflection.GetDouble(*parent, leaf));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Value(reflection.GetFloat(*parent, leaf));
    case FieldDescriptor::CPPTYPE_BOOL:
      return Value(reflection.GetBool(*parent, leaf));
    case FieldDescriptor::CPPTYPE_ENUM:
      return Value(reflection.GetEnumValue(*parent, leaf));
    case FieldDescriptor::CPPTYPE_STRING:
      return Value(reflection.GetString(*parent, leaf));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  const Message& stamp = reflection.GetMessage(*parent, leaf);
  const Descriptor* type = stamp.GetDescriptor();
  return Value(TimestampValue{
      stamp.GetReflection()->GetInt64(stamp, type->FindFieldByNumber(1)),
      stamp.GetReflection()->GetInt32(stamp, type->FindFieldByNumber(2))});
}

}  // namespace dovetail::changes
