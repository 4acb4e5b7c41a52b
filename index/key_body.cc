// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/key_body.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/coding.h"
#include "base/seeded_bug.h"
#include "base/strings.h"
#include "index/ordered_codec.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

constexpr uint32_t kSign32 = uint32_t{1} << 31;
constexpr uint64_t kSign64 = uint64_t{1} << 63;

// --- Sizes ---

// ceil(digits * log2(10) / 8), for up to 38 digits.
int DecimalBytes(uint32_t digits) {
  return static_cast<int>((digits * 4153 + 9999) / 10000);
}

// Bytes of a bucket, salt or second bucket.
int NumberBytes(const KeyPart& part) {
  const uint32_t one_byte_max =
      part.transform == Transform::kSubBucket ? 255 : 256;
  return part.count <= one_byte_max ? 1 : 2;
}

int PlainBytes(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return 1;
    case FieldType::kInt32:
    case FieldType::kUint32:
    case FieldType::kFloat:
    case FieldType::kEnum:
      return 4;
    case FieldType::kInt64:
    case FieldType::kUint64:
    case FieldType::kDouble:
      return 8;
    case FieldType::kTimestamp:
      return 12;
    case FieldType::kString:
    case FieldType::kBytes:
      break;
  }
  return 0;
}

// --- The plain encodings ---

// False if `value` has none: a timestamp out of range.
bool AppendPlain(FieldType type, const FieldValue& value, std::string* out) {
  switch (type) {
    case FieldType::kBool:
      out->push_back(value.bits != 0 ? 1 : 0);
      return true;
    case FieldType::kInt32:
    case FieldType::kEnum:
      AppendBigEndian(static_cast<uint32_t>(value.bits) ^ kSign32, 4, out);
      return true;
    case FieldType::kInt64:
      AppendBigEndian(
          SeededBug("sign_not_flipped") ? value.bits : value.bits ^ kSign64, 8,
          out);
      return true;
    case FieldType::kUint32:
      AppendBigEndian(value.bits, 4, out);
      return true;
    case FieldType::kUint64:
      AppendBigEndian(value.bits, 8, out);
      return true;
    case FieldType::kFloat:
      AppendBigEndian(OrderedFromFloat(static_cast<uint32_t>(value.bits)), 4,
                      out);
      return true;
    case FieldType::kDouble:
      AppendBigEndian(OrderedFromDouble(value.bits), 8, out);
      return true;
    case FieldType::kString:
    case FieldType::kBytes:
      AppendEscaped(value.text, out);
      return true;
    case FieldType::kTimestamp:
      if (!IsValidTimestamp(static_cast<int64_t>(value.bits), value.nanos)) {
        return false;
      }
      AppendBigEndian(value.bits ^ kSign64, 8, out);
      AppendBigEndian(static_cast<uint32_t>(value.nanos), 4, out);
      return true;
  }
  return false;
}

// Of the types of fixed size. False if `body`, which has the right size, is
// no value's encoding.
bool DecodePlain(FieldType type, std::string_view body, Value* value) {
  FieldValue field;
  field.is_null = false;
  const char* const p = body.data();
  switch (type) {
    case FieldType::kBool:
      field.bits = static_cast<uint8_t>(p[0]);
      if (field.bits > 1) return false;
      break;
    case FieldType::kInt32:
    case FieldType::kEnum: {
      const auto bits = static_cast<uint32_t>(DecodeBigEndian(p, 4)) ^ kSign32;
      field.bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(bits)});
      break;
    }
    case FieldType::kInt64:
      field.bits = DecodeBigEndian(p, 8) ^ kSign64;
      break;
    case FieldType::kUint32:
      field.bits = DecodeBigEndian(p, 4);
      break;
    case FieldType::kUint64:
      field.bits = DecodeBigEndian(p, 8);
      break;
    case FieldType::kFloat: {
      uint32_t bits = 0;
      const auto ordered = static_cast<uint32_t>(DecodeBigEndian(p, 4));
      if (!FloatFromOrdered(ordered, &bits)) return false;
      field.bits = bits;
      break;
    }
    case FieldType::kDouble:
      if (!DoubleFromOrdered(DecodeBigEndian(p, 8), &field.bits)) return false;
      break;
    case FieldType::kTimestamp: {
      field.bits = DecodeBigEndian(p, 8) ^ kSign64;
      // Beyond 2^31 they are negative, which is out of range as well.
      field.nanos = static_cast<int32_t>(DecodeBigEndian(p + 8, 4));
      if (!IsValidTimestamp(static_cast<int64_t>(field.bits), field.nanos)) {
        return false;
      }
      break;
    }
    case FieldType::kString:
    case FieldType::kBytes:
      return false;
  }
  *value = ToValue(field, type);
  return true;
}

// --- DECIMAL ---

// Decimal digits that 64 bits hold, whatever they are.
constexpr size_t kWordDigits = 19;

absl::Status AppendDecimal(const KeyPart& part, const FieldValue& value,
                           std::string* out) {
  absl::uint128 number = 0;
  bool digits_only = value.text.size() == part.digits;
  for (size_t i = 0; digits_only && i < value.text.size();) {
    // As many digits at once as a word holds: 128-bit steps are slow.
    uint64_t word = 0;
    uint64_t scale = 1;
    const size_t end = std::min(i + kWordDigits, value.text.size());
    for (; i < end; ++i, scale *= 10) {
      const auto digit = static_cast<uint32_t>(value.text[i] - '0');
      digits_only &= digit <= 9;
      word = word * 10 + digit;
    }
    number = number * scale + word;
  }
  if (!digits_only) {
    return RefuseKeyValue(part, part.type(), value,
                          absl::StrCat("key part takes a string of ",
                                       part.digits, " decimal digits"));
  }
  const int bytes = DecimalBytes(part.digits);
  if (bytes > 8) AppendBigEndian(absl::Uint128High64(number), bytes - 8, out);
  AppendBigEndian(absl::Uint128Low64(number), std::min(bytes, 8), out);
  return absl::OkStatus();
}

bool DecodeDecimal(uint32_t digits, std::string_view body, Value* value) {
  absl::uint128 number = 0;
  for (const char c : body) number = number << 8 | static_cast<uint8_t>(c);
  std::string text(digits, '0');
  for (size_t i = digits; i > 0;) {
    const size_t begin = i > kWordDigits ? i - kWordDigits : 0;
    uint64_t scale = 1;
    for (size_t n = begin; n < i; ++n) scale *= 10;
    auto word = absl::Uint128Low64(number % scale);
    number /= scale;
    for (; i > begin; word /= 10) {
      text[--i] = static_cast<char>('0' + word % 10);
    }
  }
  if (number != 0) return false;  // It has more digits.
  *value = std::move(text);
  return true;
}

// --- TIME32 ---

absl::Status AppendTime32(const KeyPart& part, const FieldValue& value,
                          std::string* out) {
  uint64_t units = UnitsPerSecond(part.unit);
  SignedMagnitude time = FieldInteger(value, part.type());
  if (part.type() == FieldType::kTimestamp) {
    units = 1;
    time = FieldInteger(value, FieldType::kInt64);
  }
  if (value.nanos != 0 || time.magnitude % units != 0) {
    return RefuseKeyValue(part, part.type(), value,
                          "key part takes whole seconds only");
  }
  const uint64_t seconds = time.magnitude / units;
  if (time.negative || seconds > std::numeric_limits<uint32_t>::max()) {
    return RefuseKeyValue(part, part.type(), value,
                          "key part takes times from 1970 to 2106 only");
  }
  AppendBigEndian(seconds, 4, out);
  return absl::OkStatus();
}

bool DecodeTime32(const KeyPart& part, std::string_view body, Value* value) {
  const uint64_t seconds = DecodeBigEndian(body.data(), 4);
  if (part.type() == FieldType::kTimestamp) {
    *value = TimestampValue{.seconds = static_cast<int64_t>(seconds)};
    return true;
  }
  const uint64_t time = seconds * UnitsPerSecond(part.unit);
  return IntegerField({.magnitude = time}, part.type(), value);
}

// --- ENUM ---

absl::Status AppendEnum(const KeyPart& part, const FieldValue& value,
                        std::string* out) {
  const SignedMagnitude number = FieldInteger(value, part.type());
  if (number.negative || number.magnitude >> (8 * part.bytes) != 0) {
    return RefuseKeyValue(part, part.type(), value,
                          absl::StrCat("key part takes numbers of ", part.bytes,
                                       " unsigned bytes only"));
  }
  AppendBigEndian(number.magnitude, static_cast<int>(part.bytes), out);
  return absl::OkStatus();
}

// --- Computed parts ---

// The ascending body of a computed part; it has the part's fixed size.
bool DecodeComputed(const KeyPart& part, std::string body, Value* value) {
  if (part.transform == Transform::kHash) {
    *value = std::move(body);
    return true;
  }
  const uint64_t number =
      DecodeBigEndian(body.data(), static_cast<int>(body.size()));
  *value = number;
  return number <= GreatestNumber(part);
}

}  // namespace

bool IntegerField(SignedMagnitude v, FieldType type, Value* value) {
  uint64_t max = std::numeric_limits<uint64_t>::max();
  if (type == FieldType::kUint32) max = std::numeric_limits<uint32_t>::max();
  if (IsSigned(type)) {
    max = type == FieldType::kInt64 ? std::numeric_limits<int64_t>::max()
                                    : std::numeric_limits<int32_t>::max();
  } else if (v.negative) {
    return false;
  }
  if (v.magnitude > max) return false;
  if (IsSigned(type)) {
    *value = static_cast<int64_t>(v.negative ? ~v.magnitude : v.magnitude);
  } else {
    *value = v.magnitude;
  }
  return true;
}

uint64_t UnitsPerSecond(v1::KeyPart::Time32::Unit unit) {
  switch (unit) {
    case v1::KeyPart::Time32::MILLISECONDS:
      return 1000;
    case v1::KeyPart::Time32::MICROSECONDS:
      return 1'000'000;
    default:
      return 1;
  }
}

std::string_view KeyTransformName(KeyPart::Transform transform) {
  switch (transform) {
    case Transform::kNone:
      return "none";
    case Transform::kReverse:
      return "reverse";
    case Transform::kHash:
      return "hash";
    case Transform::kBucket:
      return "bucket";
    case Transform::kSalt:
      return "salt";
    case Transform::kSubBucket:
      return "sub_bucket";
    case Transform::kDecimal:
      return "decimal";
    case Transform::kTime32:
      return "time32";
    case Transform::kEnum:
      return "enum";
    case Transform::kVarint:
      return "varint";
  }
  return "unknown";
}

std::string KeyPartName(const KeyPart& part) {
  const std::string paths = absl::StrJoin(part.input_paths, ",");
  if (!part.computed()) return paths;
  return absl::StrCat(ToAbsl(KeyTransformName(part.transform)), "(", paths,
                      ")");
}

std::string KeyPartFacts(const KeyPart& part) {
  return absl::StrCat(" path=", absl::StrJoin(part.input_paths, ","),
                      " transform=", ToAbsl(KeyTransformName(part.transform)));
}

absl::Status RefuseKeyValue(const KeyPart& part, FieldType type,
                            const FieldValue& value, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(why), ":", KeyPartFacts(part),
                   " value=", ToValue(value, type).DebugString()));
}

size_t FixedBodyBytes(const KeyPart& part) {
  switch (part.transform) {
    case Transform::kNone:
      return static_cast<size_t>(PlainBytes(part.type()));
    case Transform::kHash:
    case Transform::kEnum:
      return part.bytes;
    case Transform::kBucket:
    case Transform::kSalt:
    case Transform::kSubBucket:
      return static_cast<size_t>(NumberBytes(part));
    case Transform::kDecimal:
      return static_cast<size_t>(DecimalBytes(part.digits));
    case Transform::kTime32:
      return 4;
    case Transform::kReverse:
    case Transform::kVarint:
      break;
  }
  return 0;
}

absl::Status AppendPlainBody(const KeyPart& part, FieldType type,
                             const FieldValue& value, std::string* out) {
  if (AppendPlain(type, value, out)) return absl::OkStatus();
  return RefuseKeyValue(part, type, value,
                        "key part takes timestamps of years 1 to 9999 only");
}

absl::Status AppendBody(const KeyPart& part, const FieldValue& value,
                        std::string* out) {
  switch (part.transform) {
    case Transform::kNone:
      return AppendPlainBody(part, part.type(), value, out);
    case Transform::kReverse:
      if (part.type() == FieldType::kBytes) {
        AppendReversedBytes(value.text, out);
        return absl::OkStatus();
      }
      if (AppendReversedCharacters(value.text, out)) return absl::OkStatus();
      return RefuseKeyValue(part, part.type(), value,
                            "key part takes UTF-8 only");
    case Transform::kDecimal:
      return AppendDecimal(part, value, out);
    case Transform::kTime32:
      return AppendTime32(part, value, out);
    case Transform::kEnum:
      return AppendEnum(part, value, out);
    case Transform::kVarint:
      AppendOrderedVarint(FieldInteger(value, part.type()), out);
      return absl::OkStatus();
    case Transform::kHash:
    case Transform::kBucket:
    case Transform::kSalt:
    case Transform::kSubBucket:
      break;
  }
  DOVETAIL_CHECK(!part.computed());
  return absl::OkStatus();
}

uint32_t GreatestNumber(const KeyPart& part) {
  return part.transform == Transform::kSubBucket ? part.count : part.count - 1;
}

void AppendNumberBody(const KeyPart& part, uint32_t number, std::string* out) {
  AppendBigEndian(number, NumberBytes(part), out);
}

bool DecodeBody(const KeyPart& part, std::string body, Value* value) {
  if (part.computed()) return DecodeComputed(part, std::move(body), value);
  switch (part.transform) {
    case Transform::kNone:
      if (!IsText(part.type())) return DecodePlain(part.type(), body, value);
      if (!UnescapeInPlace(&body)) return false;
      *value = std::move(body);
      return true;
    case Transform::kReverse: {
      if (!UnescapeInPlace(&body)) return false;
      std::string text;
      if (part.type() == FieldType::kBytes) {
        text.assign(body.rbegin(), body.rend());
      } else if (!ReverseCharacters(body, &text)) {
        return false;
      }
      *value = std::move(text);
      return true;
    }
    case Transform::kDecimal:
      return DecodeDecimal(part.digits, body, value);
    case Transform::kTime32:
      return DecodeTime32(part, body, value);
    case Transform::kEnum:
      return IntegerField({.magnitude = DecodeBigEndian(
                               body.data(), static_cast<int>(body.size()))},
                          part.type(), value);
    case Transform::kVarint: {
      SignedMagnitude number;
      return DecodeOrderedVarint(body, &number) &&
             IntegerField(number, part.type(), value);
    }
    default:
      return false;
  }
}

}  // namespace dovetail
