// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From a declared part to a compiled one. What is declared wrong is refused
// here, once, so that the codec need not ask again for every key.

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"
#include "index/hash.h"
#include "index/key_body.h"
#include "index/key_part.h"
#include "index/text_key.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

constexpr uint32_t kBucketsMax = 65'536;
constexpr uint32_t kSubBucketsMax = 65'535;  // 0 is one more.
constexpr uint32_t kDigitsMax = 38;          // What 128 bits hold.
constexpr uint32_t kEnumBytesMax = 4;

// Messages here are "<fixed text>: path=... transform=...<facts>".
absl::Status Invalid(const KeyPart& part, std::string_view why,
                     std::string_view facts = "") {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(why), ":", KeyPartFacts(part), ToAbsl(facts)));
}

absl::Status CheckBounds(const KeyPart& part, std::string_view name,
                         uint64_t number, uint64_t min, uint64_t max) {
  if (number >= min && number <= max) return absl::OkStatus();
  return Invalid(
      part, "key part has a number out of its bounds",
      absl::StrCat(" ", ToAbsl(name), "=", number, " min=", min, " max=", max));
}

bool IsInteger(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kUint32:
    case FieldType::kUint64:
      return true;
    default:
      return false;
  }
}

bool IsIntegerOrEnum(FieldType type) {
  return IsInteger(type) || type == FieldType::kEnum;
}

// Whether the transform takes a field of `type` as its first one. The digits of
// a number can be reversed, its bytes cannot.
bool Takes(Transform transform, FieldType type, bool is_text_key) {
  switch (transform) {
    case Transform::kReverse:
      return IsText(type) || (is_text_key && IsIntegerOrEnum(type));
    case Transform::kDecimal:
      return type == FieldType::kString;
    case Transform::kTime32:
      return IsInteger(type) || type == FieldType::kTimestamp;
    case Transform::kEnum:
    case Transform::kVarint:
      return IsIntegerOrEnum(type);
    case Transform::kSubBucket:
      return IsText(type) || IsIntegerOrEnum(type);
    case Transform::kNone:
    case Transform::kHash:
    case Transform::kBucket:
    case Transform::kSalt:
      return true;
  }
  return false;
}

Transform TransformOf(const v1::KeyPart& proto) {
  switch (proto.transform_case()) {
    case v1::KeyPart::kReverse:
      return Transform::kReverse;
    case v1::KeyPart::kHash:
      return Transform::kHash;
    case v1::KeyPart::kBucket:
      return Transform::kBucket;
    case v1::KeyPart::kSalt:
      return Transform::kSalt;
    case v1::KeyPart::kSubBucket:
      return Transform::kSubBucket;
    case v1::KeyPart::kDecimal:
      return Transform::kDecimal;
    case v1::KeyPart::kTime32:
      return Transform::kTime32;
    case v1::KeyPart::kEnumBytes:
      return Transform::kEnum;
    case v1::KeyPart::kVarint:
      return Transform::kVarint;
    case v1::KeyPart::TRANSFORM_NOT_SET:
      break;
  }
  return Transform::kNone;
}

bool HasUnknownFields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection* reflection = message.GetReflection();
  if (!reflection->GetUnknownFields(message).empty()) return true;
  std::vector<const google::protobuf::FieldDescriptor*> set;
  reflection->ListFields(message, &set);
  return std::any_of(set.begin(), set.end(), [&](const auto* field) {
    return field->cpp_type() ==
               google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE &&
           !field->is_repeated() &&
           HasUnknownFields(reflection->GetMessage(message, field));
  });
}

absl::Status CheckFieldCount(const KeyPart& part, size_t count) {
  size_t min = 1;
  size_t max = 1;
  switch (part.transform) {
    case Transform::kSalt:
      min = max = 0;
      break;
    case Transform::kHash:
    case Transform::kBucket:
      max = kKeyPartsMax;
      break;
    case Transform::kSubBucket:  // The listed one, and what spreads it.
      min = 2;
      max = kKeyPartsMax;
      break;
    default:
      break;
  }
  if (count >= min && count <= max) return absl::OkStatus();
  return Invalid(part, "key part has a wrong number of fields",
                 absl::StrCat(" fields=", count, " min=", min, " max=", max));
}

absl::Status BindFields(const v1::KeyPart& proto,
                        std::span<const FieldInfo> fields, KeyPart* part) {
  part->input_paths.assign(proto.fields().begin(), proto.fields().end());
  RETURN_IF_ERROR(CheckFieldCount(*part, part->input_paths.size()));
  for (const std::string& path : part->input_paths) {
    const auto info =
        std::find_if(fields.begin(), fields.end(),
                     [&](const FieldInfo& f) { return f.path == path; });
    if (info == fields.end()) {
      return Invalid(*part, "key part names an unknown field",
                     absl::StrCat(" unknown=", Quote(path)));
    }
    part->inputs.push_back(static_cast<int>(info - fields.begin()));
    part->input_types.push_back(info->type);
    part->input_nullable.push_back(info->nullable);
  }
  if (!part->input_types.empty() &&
      !Takes(part->transform, part->input_types[0], part->is_text)) {
    return Invalid(
        *part, "key part's transform does not take the field's type",
        absl::StrCat(" type=", ToAbsl(FieldTypeName(part->input_types[0]))));
  }
  return absl::OkStatus();
}

absl::Status BindAlgorithm(v1::HashAlgorithm algorithm, KeyPart* part) {
  part->algorithm = algorithm;
  if (HashSize(algorithm) != 0) return absl::OkStatus();
  return Invalid(*part, "key part has no hash algorithm that is known here",
                 absl::StrCat(" algorithm=", static_cast<int>(algorithm)));
}

// As a key holds it: "7" and "-1", not "07", "+7" or "-0".
template <typename T>
bool IsCanonicalInteger(std::string_view text) {
  T v{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result parsed = std::from_chars(text.data(), end, v);
  return parsed.ec == std::errc() && parsed.ptr == end &&
         absl::StrCat(v) == ToAbsl(text);
}

bool IsListable(FieldType type, std::string_view text) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kEnum:
      return IsCanonicalInteger<int32_t>(text);
    case FieldType::kInt64:
      return IsCanonicalInteger<int64_t>(text);
    case FieldType::kUint32:
      return IsCanonicalInteger<uint32_t>(text);
    case FieldType::kUint64:
      return IsCanonicalInteger<uint64_t>(text);
    default:
      return true;
  }
}

absl::Status BindSubBucket(const v1::KeyPart::SubBucket& proto, KeyPart* part) {
  part->count = proto.count();
  RETURN_IF_ERROR(CheckBounds(*part, "count", part->count, 1, kSubBucketsMax));
  part->listed.assign(proto.listed().begin(), proto.listed().end());
  std::sort(part->listed.begin(), part->listed.end());
  const auto twice =
      std::adjacent_find(part->listed.begin(), part->listed.end());
  if (twice != part->listed.end()) {
    return Invalid(*part, "key part lists a value twice",
                   absl::StrCat(" listed=", Quote(*twice)));
  }
  for (const std::string& text : part->listed) {
    if (!IsListable(part->input_types[0], text)) {
      return Invalid(
          *part, "key part lists what is no value of its field",
          absl::StrCat(" type=", ToAbsl(FieldTypeName(part->input_types[0])),
                       " listed=", Quote(text)));
    }
  }
  return BindAlgorithm(proto.algorithm(), part);
}

absl::Status BindTime32(const v1::KeyPart::Time32& proto, KeyPart* part) {
  part->unit = proto.unit();
  if (!v1::KeyPart::Time32::Unit_IsValid(proto.unit())) {
    return Invalid(*part, "key part has an unknown unit of time",
                   absl::StrCat(" unit=", static_cast<int>(proto.unit())));
  }
  if (part->type() == FieldType::kTimestamp &&
      proto.unit() != v1::KeyPart::Time32::SECONDS) {
    return Invalid(
        *part, "key part gives a unit to a field that has its own",
        absl::StrCat(" unit=", v1::KeyPart::Time32::Unit_Name(proto.unit())));
  }
  return absl::OkStatus();
}

absl::Status BindTransform(const v1::KeyPart& proto, KeyPart* part) {
  switch (part->transform) {
    case Transform::kNone:
    case Transform::kReverse:
    case Transform::kVarint:
      return absl::OkStatus();
    case Transform::kHash:
      part->bytes = proto.hash().bytes();
      RETURN_IF_ERROR(BindAlgorithm(proto.hash().algorithm(), part));
      return CheckBounds(*part, "bytes", part->bytes, 1,
                         HashSize(part->algorithm));
    case Transform::kBucket:
      part->count = proto.bucket().count();
      RETURN_IF_ERROR(BindAlgorithm(proto.bucket().algorithm(), part));
      return CheckBounds(*part, "count", part->count, 1, kBucketsMax);
    case Transform::kSalt:
      part->count = proto.salt().count();
      return CheckBounds(*part, "count", part->count, 1, kBucketsMax);
    case Transform::kSubBucket:
      return BindSubBucket(proto.sub_bucket(), part);
    case Transform::kDecimal:
      part->digits = proto.decimal().digits();
      return CheckBounds(*part, "digits", part->digits, 1, kDigitsMax);
    case Transform::kTime32:
      return BindTime32(proto.time32(), part);
    case Transform::kEnum:
      part->bytes = proto.enum_bytes().bytes();
      return CheckBounds(*part, "bytes", part->bytes, 1, kEnumBytesMax);
  }
  return absl::OkStatus();
}

absl::Status BindOrder(const v1::KeyPart& proto, KeyPart* part) {
  if (!v1::KeyPart::Order_IsValid(proto.order())) {
    return Invalid(*part, "key part has an unknown order",
                   absl::StrCat(" order=", static_cast<int>(proto.order())));
  }
  if (!v1::KeyPart::Nulls_IsValid(proto.nulls())) {
    return Invalid(*part, "key part has an unknown place for nulls",
                   absl::StrCat(" nulls=", static_cast<int>(proto.nulls())));
  }
  part->descending = proto.order() == v1::KeyPart::DESC;
  part->nulls_last = part->descending;
  if (proto.nulls() == v1::KeyPart::NULLS_DEFAULT) return absl::OkStatus();
  if (part->computed()) {
    return Invalid(*part, "key part is never null, but says where nulls stand");
  }
  // Without nulls the place makes no difference to any key; two such parts
  // are equal.
  if (part->nullable()) {
    part->nulls_last = proto.nulls() == v1::KeyPart::NULLS_LAST;
  }
  return absl::OkStatus();
}

absl::StatusOr<KeyPart> CompileAny(const v1::KeyPart& proto, bool is_text,
                                   std::span<const FieldInfo> fields) {
  KeyPart part;
  part.transform = TransformOf(proto);
  part.is_text = is_text;
  // A transform of a later version shows as none at all: without this, its
  // keys would be written as plain values.
  if (HasUnknownFields(proto)) {
    return Invalid(
        part, "key part has settings that are unknown here",
        absl::StrCat(" fields=", absl::StrJoin(proto.fields(), ",")));
  }
  RETURN_IF_ERROR(BindFields(proto, fields, &part));
  RETURN_IF_ERROR(BindTransform(proto, &part));
  RETURN_IF_ERROR(BindOrder(proto, &part));
  return part;
}

}  // namespace

absl::StatusOr<KeyPart> CompileKeyPart(const v1::KeyPart& proto,
                                       std::span<const FieldInfo> fields) {
  ASSIGN_OR_RETURN(KeyPart part, CompileAny(proto, /*is_text=*/false, fields));
  if (proto.has_text()) {
    return Invalid(part,
                   "key part says how its text looks, but is of no TEXT "
                   "row key");
  }
  return part;
}

absl::StatusOr<KeyPart> CompileTextKeyPart(const v1::KeyPart& proto,
                                           const TextPlace& place,
                                           std::span<const FieldInfo> fields) {
  ASSIGN_OR_RETURN(KeyPart part, CompileAny(proto, /*is_text=*/true, fields));
  RETURN_IF_ERROR(BindText(proto, place, &part));
  return part;
}

}  // namespace dovetail
