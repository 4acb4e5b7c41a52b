// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/testing/model_fields.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "google/protobuf/timestamp.pb.h"

namespace dovetail::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The message that holds the last field of the path; null if it is absent.
const Message* Holder(const Message& record, const FieldPath& path) {
  const Message* holder = &record;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Reflection* reflection = holder->GetReflection();
    if (!reflection->HasField(*holder, path[i])) return nullptr;
    holder = &reflection->GetMessage(*holder, path[i]);
  }
  return holder;
}

template <typename T>
int ThreeWay(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

Value ElementOf(const Message& holder, const FieldDescriptor* field, int i) {
  const Reflection* reflection = holder.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetRepeatedBool(holder, field, i);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetRepeatedInt32(holder, field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->GetRepeatedInt64(holder, field, i);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection->GetRepeatedUInt32(holder, field, i);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection->GetRepeatedUInt64(holder, field, i);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetRepeatedDouble(holder, field, i);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->GetRepeatedFloat(holder, field, i);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->GetRepeatedEnumValue(holder, field, i);
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetRepeatedString(holder, field, i);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  DOVETAIL_CHECK(false && "a message is no element");
  return Value();
}

}  // namespace

absl::StatusOr<FieldPath> ResolvePath(const Descriptor* type,
                                      const std::string& path) {
  FieldPath fields;
  for (const auto name : absl::StrSplit(path, '.')) {
    const FieldDescriptor* field =
        type == nullptr ? nullptr : type->FindFieldByName(std::string(name));
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the record has no such field: field=", path));
    }
    fields.push_back(field);
    type = field->message_type();
  }
  return fields;
}

Value FieldOf(const Message& record, const FieldPath& path) {
  const FieldDescriptor* field = path.back();
  const Message* holder = Holder(record, path);
  if (holder == nullptr || field->is_repeated()) return Value();
  const Reflection* reflection = holder->GetReflection();
  if (field->has_presence() && !reflection->HasField(*holder, field)) {
    return Value();
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(*holder, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetInt32(*holder, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->GetInt64(*holder, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection->GetUInt32(*holder, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection->GetUInt64(*holder, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetDouble(*holder, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->GetFloat(*holder, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->GetEnumValue(*holder, field);
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetString(*holder, field);
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      google::protobuf::Timestamp time;
      if (field->message_type()->full_name() !=
              time.GetDescriptor()->full_name() ||
          !time.ParsePartialFromString(
              reflection->GetMessage(*holder, field).SerializeAsString())) {
        break;
      }
      return TimestampValue{time.seconds(), time.nanos()};
    }
  }
  DOVETAIL_CHECK(false && "a message is no column");
  return Value();
}

Tuple ElementsOf(const Message& record, const FieldPath& path) {
  const Message* holder = Holder(record, path);
  Tuple elements;
  if (holder == nullptr) return elements;
  const int size = holder->GetReflection()->FieldSize(*holder, path.back());
  for (int i = 0; i < size; ++i) {
    elements.push_back(ElementOf(*holder, path.back(), i));
  }
  return elements;
}

void ClearIfRepeated(const FieldPath& path, Message* record) {
  if (!path.back()->is_repeated()) return;
  Message* holder = record;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Reflection* reflection = holder->GetReflection();
    if (!reflection->HasField(*holder, path[i])) return;
    holder = reflection->MutableMessage(holder, path[i]);
  }
  holder->GetReflection()->ClearField(holder, path.back());
}

Value Normalize(const Value& value, const FieldDescriptor* field) {
  const bool is_unsigned =
      field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ||
      field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
  if (value.kind() == Value::Kind::kInt && is_unsigned) {
    return static_cast<uint64_t>(value.as_int());
  }
  if (value.kind() == Value::Kind::kUint && !is_unsigned) {
    return static_cast<int64_t>(value.as_uint());
  }
  return value;
}

Tuple NormalizeAll(const Tuple& values,
                   const std::vector<ModelColumn>& columns) {
  DOVETAIL_CHECK(values.size() <= columns.size());
  Tuple result;
  for (size_t i = 0; i < values.size(); ++i) {
    result.push_back(Normalize(values[i], columns[i].path.back()));
  }
  return result;
}

int CompareValues(const Value& a, const Value& b) {
  DOVETAIL_CHECK(a.kind() == b.kind());
  switch (a.kind()) {
    case Value::Kind::kNull:
      return 0;
    case Value::Kind::kBool:
      return ThreeWay(a.as_bool(), b.as_bool());
    case Value::Kind::kInt:
      return ThreeWay(a.as_int(), b.as_int());
    case Value::Kind::kUint:
      return ThreeWay(a.as_uint(), b.as_uint());
    case Value::Kind::kDouble:
      return ThreeWay(a.as_double(), b.as_double());
    case Value::Kind::kString:
      return a.as_string().compare(b.as_string());
    case Value::Kind::kTimestamp:
      return ThreeWay(
          std::pair(a.as_timestamp().seconds, a.as_timestamp().nanos),
          std::pair(b.as_timestamp().seconds, b.as_timestamp().nanos));
  }
  return 0;
}

Tuple ReadColumns(const Message& record,
                  const std::vector<ModelColumn>& columns) {
  Tuple values;
  for (const ModelColumn& column : columns) {
    values.push_back(FieldOf(record, column.path));
  }
  return values;
}

std::unique_ptr<Message> ParseRecord(const Message& prototype,
                                     std::string_view record) {
  std::unique_ptr<Message> message(prototype.New());
  const bool parses =
      message->ParseFromArray(record.data(), static_cast<int>(record.size()));
  return parses ? std::move(message) : nullptr;
}

absl::StatusOr<std::vector<ModelColumn>> ReadLayout(
    const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
    const Descriptor* type) {
  std::vector<ModelColumn> columns;
  for (const v1::KeyPart& part : parts) {
    switch (part.transform_case()) {
      case v1::KeyPart::kHash:
      case v1::KeyPart::kBucket:
      case v1::KeyPart::kSubBucket:
      case v1::KeyPart::kSalt:
        continue;  // Spreads keys.
      case v1::KeyPart::TRANSFORM_NOT_SET:
      case v1::KeyPart::kVarint:
      case v1::KeyPart::kDecimal:
      case v1::KeyPart::kTime32:
      case v1::KeyPart::kEnumBytes:
        break;  // Orders by value.
      case v1::KeyPart::kReverse:
        return absl::UnimplementedError(
            absl::StrCat("the model knows no REVERSE: field=", part.fields(0)));
    }
    if (part.fields_size() != 1) {
      return absl::InvalidArgumentError("a key part is not of one field");
    }
    ModelColumn column;
    column.name = part.fields(0);
    const bool is_there = std::any_of(
        columns.begin(), columns.end(),
        [&](const ModelColumn& c) { return c.name == column.name; });
    if (is_there) continue;
    ASSIGN_OR_RETURN(column.path, ResolvePath(type, column.name));
    column.descending = part.order() == v1::KeyPart::DESC;
    column.nulls_last = part.nulls() == v1::KeyPart::NULLS_DEFAULT
                            ? column.descending
                            : part.nulls() == v1::KeyPart::NULLS_LAST;
    columns.push_back(std::move(column));
  }
  return columns;
}

void CopyField(const FieldPath& path, const Message& values, Message* record) {
  const FieldDescriptor* field = path.back();
  const Message* from = Holder(values, path);
  const Reflection* reflection =
      from == nullptr ? nullptr : from->GetReflection();
  const bool is_set =
      from != nullptr &&
      (field->is_repeated() ? reflection->FieldSize(*from, field) > 0
                            : reflection->HasField(*from, field));
  if (!is_set && Holder(*record, path) == nullptr) return;
  Message* to = record;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    to = to->GetReflection()->MutableMessage(to, path[i]);
  }
  to->GetReflection()->ClearField(to, field);
  if (!is_set) return;
  // The field alone, merged into the cleared place.
  std::unique_ptr<Message> only(from->New());
  only->CopyFrom(*from);
  std::vector<const FieldDescriptor*> set;
  only->GetReflection()->ListFields(*only, &set);
  for (const FieldDescriptor* other : set) {
    if (other != field) only->GetReflection()->ClearField(only.get(), other);
  }
  only->GetReflection()->MutableUnknownFields(only.get())->Clear();
  to->MergeFrom(*only);
}

TupleLess::TupleLess(const std::vector<ModelColumn>& columns) {
  for (const ModelColumn& column : columns) {
    orders_.emplace_back(column.descending, column.nulls_last);
  }
}

int TupleLess::Compare(const Tuple& a, const Tuple& b) const {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const auto [descending, nulls_last] = orders_[i];
    if (a[i].is_null() != b[i].is_null()) {
      return a[i].is_null() == nulls_last ? 1 : -1;
    }
    const int order = CompareValues(a[i], b[i]);
    if (order != 0) return descending ? -order : order;
  }
  return 0;
}

bool TupleLess::operator()(const Tuple& a, const Tuple& b) const {
  const int order = Compare(a, b);
  return order != 0 ? order < 0 : a.size() < b.size();
}

}  // namespace dovetail::test
