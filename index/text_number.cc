// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/text_number.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "index/key_body.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;
using Text = v1::KeyPart::Text;

uint64_t PerSecond(Text::Unit unit) {
  switch (unit) {
    case Text::SECONDS:
      return 1;
    case Text::MICROSECONDS:
      return 1'000'000;
    case Text::NANOSECONDS:
      return 1'000'000'000;
    default:
      return 1000;
  }
}

constexpr int64_t kNanosPerSecond = 1'000'000'000;

absl::StatusOr<SignedMagnitude> TimestampNumber(const KeyPart& part,
                                                const FieldValue& value) {
  const auto seconds = static_cast<int64_t>(value.bits);
  const auto per_second = static_cast<int64_t>(PerSecond(part.text.unit));
  const int64_t nanos_each = kNanosPerSecond / per_second;
  int64_t number = 0;
  if (!IsValidTimestamp(seconds, value.nanos) ||
      __builtin_mul_overflow(seconds, per_second, &number) ||
      __builtin_add_overflow(number, value.nanos / nanos_each, &number)) {
    return RefuseKeyValue(part, FieldType::kTimestamp, value,
                          "key part takes times in the range of its unit only");
  }
  if (value.nanos % nanos_each != 0) {
    return RefuseKeyValue(
        part, FieldType::kTimestamp, value,
        absl::StrCat("key part takes whole ", Text::Unit_Name(part.text.unit),
                     " only"));
  }
  return SignedMagnitude{
      .negative = number < 0,
      .magnitude = static_cast<uint64_t>(number < 0 ? ~number : number)};
}

// The number of whole seconds of a TIME32.
absl::StatusOr<SignedMagnitude> Time32Number(const KeyPart& part,
                                             const FieldValue& value) {
  const bool timestamp = part.type() == FieldType::kTimestamp;
  const uint64_t units = timestamp ? 1 : UnitsPerSecond(part.unit);
  SignedMagnitude v =
      FieldInteger(value, timestamp ? FieldType::kInt64 : part.type());
  if (value.nanos != 0 || v.negative || v.magnitude % units != 0 ||
      v.magnitude / units > std::numeric_limits<uint32_t>::max()) {
    return RefuseKeyValue(
        part, part.type(), value,
        "key part takes whole seconds from 1970 to 2106 only");
  }
  v.magnitude /= units;
  return v;
}

}  // namespace

bool IsTextNumber(const KeyPart& part) {
  if (part.transform == Transform::kTime32) return true;
  return part.transform == Transform::kNone && !IsText(part.type()) &&
         part.type() != FieldType::kBool;
}

absl::StatusOr<SignedMagnitude> TextNumberOf(const KeyPart& part,
                                             FieldType type,
                                             const FieldValue& value) {
  if (part.transform == Transform::kTime32) return Time32Number(part, value);
  if (type == FieldType::kTimestamp) return TimestampNumber(part, value);
  return FieldInteger(value, type);
}

bool FromTextNumber(const KeyPart& part, SignedMagnitude v, Value* value) {
  if (part.descending) {
    if (v.negative || v.magnitude > part.text.desc_from) return false;
    v.magnitude = part.text.desc_from - v.magnitude;
  }
  const bool time32 = part.transform == Transform::kTime32;
  if (time32 &&
      (v.negative || v.magnitude > std::numeric_limits<uint32_t>::max())) {
    return false;
  }
  if (part.type() != FieldType::kTimestamp) {
    if (time32) v.magnitude *= UnitsPerSecond(part.unit);
    return IntegerField(v, part.type(), value);
  }
  Value number;
  if (!IntegerField(v, FieldType::kInt64, &number)) return false;
  const auto per_second =
      time32 ? 1 : static_cast<int64_t>(PerSecond(part.text.unit));
  int64_t seconds = number.as_int() / per_second;
  int64_t rest = number.as_int() % per_second;
  if (rest < 0) {
    --seconds;
    rest += per_second;
  }
  const TimestampValue time{
      seconds, static_cast<int32_t>(rest * (kNanosPerSecond / per_second))};
  *value = time;
  return IsValidTimestamp(time.seconds, time.nanos);
}

}  // namespace dovetail
