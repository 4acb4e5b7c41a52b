// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The bodies of key parts, ascending: what key_part.cc puts null tags before
// and complements for DESC. key_part.h lists the formats. Internal to the key
// codec.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "dovetail/value.h"
#include "index/field_value.h"
#include "index/key_part.h"
#include "index/ordered_codec.h"

namespace dovetail {

inline bool IsText(FieldType type) {
  return type == FieldType::kString || type == FieldType::kBytes;
}
inline bool IsSigned(FieldType type) {
  return type == FieldType::kInt32 || type == FieldType::kInt64 ||
         type == FieldType::kEnum;
}

// The value of an integer or enum field.
inline SignedMagnitude FieldInteger(const FieldValue& value, FieldType type) {
  if (IsSigned(type) && static_cast<int64_t>(value.bits) < 0) {
    return {.negative = true, .magnitude = ~value.bits};
  }
  return {.negative = false, .magnitude = value.bits};
}

// The integer as a field of `type`; false if it is out of the type's range.
bool IntegerField(SignedMagnitude v, FieldType type, Value* value);

uint64_t UnitsPerSecond(v1::KeyPart::Time32::Unit unit);

// Size of the bodies of a part whose bodies all have one size; 0 if they do
// not: strings and varints.
size_t FixedBodyBytes(const KeyPart& part);

// The body of a part without transform. InvalidArgument for a timestamp out
// of range.
absl::Status AppendPlainBody(const KeyPart& part, FieldType type,
                             const FieldValue& value, std::string* out);

// InvalidArgument if `value` has no encoding under the transform.
// REQUIRES: !part.computed() and !value.is_null.
absl::Status AppendBody(const KeyPart& part, const FieldValue& value,
                        std::string* out);

// The greatest number of a BUCKET, SALT or SUB_BUCKET; the least is 0, which
// SUB_BUCKET has beside its `count` buckets.
uint32_t GreatestNumber(const KeyPart& part);

// Such a number's body. REQUIRES: number <= GreatestNumber(part).
void AppendNumberBody(const KeyPart& part, uint32_t number, std::string* out);

// The value of a body of any part; false if `body` is none of its bodies.
// REQUIRES: body.size() is FixedBodyBytes or, for a varint, what its first
// byte says.
bool DecodeBody(const KeyPart& part, std::string body, Value* value);

// The error for a value that has no encoding; `why` is a fixed text.
absl::Status RefuseKeyValue(const KeyPart& part, FieldType type,
                            const FieldValue& value, std::string_view why);

// "none", "hash", ...: for messages.
std::string_view KeyTransformName(KeyPart::Transform transform);

// "seller_id", "hash(seller_id)", "salt()": for messages.
std::string KeyPartName(const KeyPart& part);

// " path=... transform=..."
std::string KeyPartFacts(const KeyPart& part);

}  // namespace dovetail
