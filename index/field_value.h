// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The value of one field of one record, as the extractor reads it and the key
// codec writes it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/value.h"

namespace dovetail {

enum class FieldType : uint8_t {
  kBool,
  kInt32,  // int32, sint32, sfixed32
  kInt64,
  kUint32,  // uint32, fixed32
  kUint64,
  kFloat,
  kDouble,
  kEnum,
  kString,
  kBytes,
  kTimestamp,  // google.protobuf.Timestamp
};

// "int64", "string", ...: for messages.
std::string_view FieldTypeName(FieldType type);

// A plain struct: which members count depends on the field's type.
//   kBool, kUint32, kUint64        bits is the value
//   kInt32, kInt64, kEnum          bits is the value, sign-extended
//   kFloat, kDouble                bits is the IEEE 754 representation
//   kString, kBytes                text, a view of the record
//   kTimestamp                     bits is the seconds, nanos the rest
struct FieldValue {
  bool is_null = true;
  int32_t nanos = 0;
  uint64_t bits = 0;
  std::string_view text = {};

  friend bool operator==(const FieldValue&, const FieldValue&) = default;
};

// The years 1 to 9999 in UTC, which is all that google.protobuf.Timestamp
// covers.
inline constexpr int64_t kTimestampSecondsMin = -62'135'596'800;
inline constexpr int64_t kTimestampSecondsMax = 253'402'300'799;
bool IsValidTimestamp(int64_t seconds, int32_t nanos);

// `value` as a field of `type`; null becomes null. The result views `value`'s
// string. InvalidArgument, with the type and the value named, if it is of
// another kind or out of range. Integers may be given signed or unsigned,
// floats as integers; a float field takes only what a float holds exactly, so
// 0.5 but not 0.1. An enum is an int32.
absl::StatusOr<FieldValue> ToFieldValue(const Value& value, FieldType type);

// The other way; strings are copied.
Value ToValue(const FieldValue& field, FieldType type);

}  // namespace dovetail
