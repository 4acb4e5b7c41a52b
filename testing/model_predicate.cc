// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Predicates of indexes, as the model understands them.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/testing/model_fields.h"

namespace dovetail::test {
namespace {

using google::protobuf::FieldDescriptor;
using Literal = v1::IndexSchema::Literal;
using Test = v1::IndexSchema::Test;

Value ValueOf(const Literal& literal, const FieldDescriptor* field) {
  switch (literal.value_case()) {
    case Literal::kBoolValue:
      return literal.bool_value();
    case Literal::kIntValue:
      return Normalize(literal.int_value(), field);
    case Literal::kUintValue:
      return Normalize(literal.uint_value(), field);
    case Literal::kDoubleValue:
      return literal.double_value();
    case Literal::kStringValue:
      if (field->enum_type() != nullptr) {
        const auto* named =
            field->enum_type()->FindValueByName(literal.string_value());
        return named == nullptr ? Value() : Value(named->number());
      }
      return literal.string_value();
    case Literal::kTimestampValue:
      return TimestampValue{literal.timestamp_value().seconds(),
                            literal.timestamp_value().nanos()};
    case Literal::VALUE_NOT_SET:
      break;
  }
  return Value();
}

bool InRange(const Value& value, const Test::Range& range,
             const FieldDescriptor* field) {
  if (range.has_min()) {
    const int order = CompareValues(value, ValueOf(range.min(), field));
    if (order < 0 || (order == 0 && range.min_exclusive())) return false;
  }
  if (range.has_max()) {
    const int order = CompareValues(value, ValueOf(range.max(), field));
    if (order > 0 || (order == 0 && range.max_exclusive())) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> Passes(const Test& test,
                            const google::protobuf::Message& record) {
  ASSIGN_OR_RETURN(const FieldPath path,
                   ResolvePath(record.GetDescriptor(), test.field()));
  const FieldDescriptor* field = path.back();
  const Value value = FieldOf(record, path);
  if (test.kind_case() == Test::kIsNull) {
    return value.is_null() == test.is_null();
  }
  if (value.is_null()) return false;
  switch (test.kind_case()) {
    case Test::kEqual:
      return CompareValues(value, ValueOf(test.equal(), field)) == 0;
    case Test::kIn:
      return std::any_of(test.in().values().begin(), test.in().values().end(),
                         [&](const Literal& literal) {
                           return CompareValues(value,
                                                ValueOf(literal, field)) == 0;
                         });
    case Test::kRange:
      return InRange(value, test.range(), field);
    case Test::kPrefix:
      return value.as_string().starts_with(test.prefix());
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a test is of no kind: field=", test.field()));
  }
}

}  // namespace dovetail::test
