// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/field_value.h"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail {
namespace {

absl::Status Misfit(const Value& value, FieldType type) {
  return absl::InvalidArgumentError(absl::StrCat(
      "value does not fit the field: type=", ToAbsl(FieldTypeName(type)),
      " value=", value.DebugString()));
}

// The bits of an integer value that T holds; nothing for any other.
template <typename T>
std::optional<uint64_t> IntegerBits(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kInt:
      if (!std::in_range<T>(value.as_int())) return std::nullopt;
      return static_cast<uint64_t>(value.as_int());
    case Value::Kind::kUint:
      if (!std::in_range<T>(value.as_uint())) return std::nullopt;
      return value.as_uint();
    default:
      return std::nullopt;
  }
}

// The double equal to a numeric value, if there is one. The bounds come
// before the cast back: 2^63 and 2^64 are doubles, but no integers.
std::optional<double> ExactDouble(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kDouble:
      return value.as_double();
    case Value::Kind::kInt: {
      const auto d = static_cast<double>(value.as_int());
      if (d >= 0x1p63 || static_cast<int64_t>(d) != value.as_int()) {
        return std::nullopt;
      }
      return d;
    }
    case Value::Kind::kUint: {
      const auto d = static_cast<double>(value.as_uint());
      if (d >= 0x1p64 || static_cast<uint64_t>(d) != value.as_uint()) {
        return std::nullopt;
      }
      return d;
    }
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> DoubleBits(const Value& value) {
  const std::optional<double> d = ExactDouble(value);
  if (!d) return std::nullopt;
  return std::bit_cast<uint64_t>(*d);
}

std::optional<uint64_t> FloatBits(const Value& value) {
  const std::optional<double> d = ExactDouble(value);
  if (!d) return std::nullopt;
  if (std::isfinite(*d) && std::abs(*d) > std::numeric_limits<float>::max()) {
    return std::nullopt;
  }
  const auto f = static_cast<float>(*d);
  if (!std::isnan(*d) && static_cast<double>(f) != *d) return std::nullopt;
  return std::bit_cast<uint32_t>(f);
}

std::optional<uint64_t> BoolBits(const Value& value) {
  if (value.kind() != Value::Kind::kBool) return std::nullopt;
  return value.as_bool() ? 1 : 0;
}

// Of the types that are nothing but bits.
std::optional<uint64_t> Bits(const Value& value, FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return BoolBits(value);
    case FieldType::kInt32:
    case FieldType::kEnum:
      return IntegerBits<int32_t>(value);
    case FieldType::kInt64:
      return IntegerBits<int64_t>(value);
    case FieldType::kUint32:
      return IntegerBits<uint32_t>(value);
    case FieldType::kUint64:
      return IntegerBits<uint64_t>(value);
    case FieldType::kFloat:
      return FloatBits(value);
    case FieldType::kDouble:
      return DoubleBits(value);
    case FieldType::kString:
    case FieldType::kBytes:
    case FieldType::kTimestamp:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string_view FieldTypeName(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return "bool";
    case FieldType::kInt32:
      return "int32";
    case FieldType::kInt64:
      return "int64";
    case FieldType::kUint32:
      return "uint32";
    case FieldType::kUint64:
      return "uint64";
    case FieldType::kFloat:
      return "float";
    case FieldType::kDouble:
      return "double";
    case FieldType::kEnum:
      return "enum";
    case FieldType::kString:
      return "string";
    case FieldType::kBytes:
      return "bytes";
    case FieldType::kTimestamp:
      return "timestamp";
  }
  return "unknown";
}

bool IsValidTimestamp(int64_t seconds, int32_t nanos) {
  return seconds >= kTimestampSecondsMin && seconds <= kTimestampSecondsMax &&
         nanos >= 0 && nanos < 1'000'000'000;
}

absl::StatusOr<FieldValue> ToFieldValue(const Value& value, FieldType type) {
  FieldValue field;
  if (value.is_null()) return field;
  field.is_null = false;
  if (type == FieldType::kString || type == FieldType::kBytes) {
    if (value.kind() != Value::Kind::kString) return Misfit(value, type);
    field.text = value.as_string();
    return field;
  }
  if (type == FieldType::kTimestamp) {
    if (value.kind() != Value::Kind::kTimestamp) return Misfit(value, type);
    const TimestampValue t = value.as_timestamp();
    if (!IsValidTimestamp(t.seconds, t.nanos)) return Misfit(value, type);
    field.bits = static_cast<uint64_t>(t.seconds);
    field.nanos = t.nanos;
    return field;
  }
  const std::optional<uint64_t> bits = Bits(value, type);
  if (!bits) return Misfit(value, type);
  field.bits = *bits;
  return field;
}

Value ToValue(const FieldValue& field, FieldType type) {
  if (field.is_null) return Value();
  switch (type) {
    case FieldType::kBool:
      return field.bits != 0;
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kEnum:
      return static_cast<int64_t>(field.bits);
    case FieldType::kUint32:
    case FieldType::kUint64:
      return field.bits;
    case FieldType::kFloat:
      return std::bit_cast<float>(static_cast<uint32_t>(field.bits));
    case FieldType::kDouble:
      return std::bit_cast<double>(field.bits);
    case FieldType::kString:
    case FieldType::kBytes:
      return field.text;
    case FieldType::kTimestamp:
      return TimestampValue{.seconds = static_cast<int64_t>(field.bits),
                            .nanos = field.nanos};
  }
  return Value();
}

}  // namespace dovetail
