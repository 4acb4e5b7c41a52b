// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Writing, skipping and reading parts. Bodies are written ascending at the end
// of the key and complemented there for DESC; they are read from a copy that
// is complemented first. So everything below the entry points knows ascending
// bytes only.

#include "index/key_part.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/hash.h"
#include "index/key_body.h"
#include "index/ordered_codec.h"
#include "index/text_key.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

constexpr char kNullFirstTag = 0x00;
constexpr char kValueTag = 0x01;
constexpr char kNullLastTag = 0x02;

char NullTag(const KeyPart& part) {
  return part.nulls_last != SeededBug("wrong_null_rank") ? kNullLastTag
                                                         : kNullFirstTag;
}

absl::Status Malformed(const KeyPart& part, std::string_view bytes,
                       std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(why), ":", KeyPartFacts(part), " bytes=", Quote(bytes)));
}

// What HASH, BUCKET and SUB_BUCKET hash: the fields from inputs[first] on. It
// is a view of the record if that is one string, and else of what it appended
// to `out`, which the caller takes off again.
absl::StatusOr<std::string_view> AppendHashInput(
    const KeyPart& part, size_t first, std::span<const FieldValue> fields,
    std::string* out) {
  const auto field = [&](size_t i) -> const FieldValue& {
    return fields[static_cast<size_t>(part.inputs[i])];
  };
  if (part.inputs.size() == first + 1 && IsText(part.input_types[first])) {
    const FieldValue& value = field(first);
    return value.is_null ? std::string_view() : value.text;
  }
  const size_t start = out->size();
  for (size_t i = first; i < part.inputs.size(); ++i) {
    const FieldValue& value = field(i);
    if (part.input_nullable[i]) {
      out->push_back(value.is_null ? kNullFirstTag : kValueTag);
      if (value.is_null) continue;
    } else if (value.is_null) {
      return RefuseKeyValue(part, part.input_types[i], value,
                            "key part has no form for null");
    }
    RETURN_IF_ERROR(AppendPlainBody(part, part.input_types[i], value, out));
  }
  return std::string_view(*out).substr(start);
}

// The ascending body.
absl::Status AppendComputed(const KeyPart& part,
                            std::span<const FieldValue> fields, uint32_t salt,
                            std::string* out) {
  const size_t start = out->size();
  uint32_t number = 0;
  switch (part.transform) {
    case Transform::kHash: {
      ASSIGN_OR_RETURN(const std::string_view input,
                       AppendHashInput(part, 0, fields, out));
      const size_t input_bytes = out->size() - start;
      AppendHash(part.algorithm, input, part.bytes, out);
      out->erase(start, input_bytes);
      return absl::OkStatus();
    }
    case Transform::kBucket: {
      ASSIGN_OR_RETURN(const std::string_view input,
                       AppendHashInput(part, 0, fields, out));
      number = HashBucket(part.algorithm, input, part.count);
      break;
    }
    case Transform::kSubBucket: {
      if (!IsListed(part, fields[static_cast<size_t>(part.inputs[0])])) break;
      ASSIGN_OR_RETURN(const std::string_view input,
                       AppendHashInput(part, 1, fields, out));
      number = 1 + HashBucket(part.algorithm, input, part.count);
      break;
    }
    default:
      DOVETAIL_CHECK(part.transform == Transform::kSalt);
      DOVETAIL_CHECK(salt <= GreatestNumber(part));
      number = salt;
      break;
  }
  out->resize(start);
  AppendNumberBody(part, number, out);
  return absl::OkStatus();
}

void ComplementFrom(size_t start, std::string* bytes) {
  char* const p = bytes->data();
  const size_t size = bytes->size();
  for (size_t i = start; i < size; ++i) p[i] = static_cast<char>(~p[i]);
}

// Bytes of the body at the front of `rest`, 0 if it is cut off. No body is
// empty.
size_t BodyBytes(const KeyPart& part, std::string_view rest) {
  size_t bytes = FixedBodyBytes(part);
  if (bytes == 0 && !rest.empty()) {
    if (part.transform == Transform::kVarint) {
      const auto first = static_cast<uint8_t>(rest[0]);
      bytes = OrderedVarintBytes(part.descending ? static_cast<uint8_t>(~first)
                                                 : first);
    } else {
      const size_t end = rest.find(part.descending ? '\xFF' : '\0');
      bytes = end == std::string_view::npos ? 0 : end + 1;
    }
  }
  return bytes <= rest.size() ? bytes : 0;
}

absl::Status AppendValue(const KeyPart& part, const FieldValue& value,
                         std::string* out) {
  if (part.nullable()) {
    out->push_back(value.is_null ? NullTag(part) : kValueTag);
    if (value.is_null) return absl::OkStatus();
  } else if (value.is_null) {
    return RefuseKeyValue(part, part.type(), value,
                          "key part has no form for null");
  }
  const size_t start = out->size();
  RETURN_IF_ERROR(AppendBody(part, value, out));
  if (part.descending && !SeededBug("desc_not_complemented")) {
    ComplementFrom(start, out);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendKeyPart(const KeyPart& part,
                           std::span<const FieldValue> fields, uint32_t salt,
                           std::string* out) {
  if (part.is_text) [[unlikely]] {
    return AppendTextPart(part, fields, salt, out);
  }
  if (!part.computed()) {
    return AppendValue(part, fields[static_cast<size_t>(part.inputs[0])], out);
  }
  const size_t start = out->size();
  RETURN_IF_ERROR(AppendComputed(part, fields, salt, out));
  if (part.descending) ComplementFrom(start, out);
  return absl::OkStatus();
}

absl::Status AppendKeyPartValue(const KeyPart& part, const FieldValue& value,
                                std::string* out) {
  if (part.is_text) [[unlikely]]
    return AppendTextValue(part, value, out);
  return AppendValue(part, value, out);
}

void AppendKeyPartNumber(const KeyPart& part, uint32_t number,
                         std::string* out) {
  if (part.is_text) [[unlikely]] {
    AppendTextPartNumber(part, number, out);
    return;
  }
  DOVETAIL_CHECK(number <= GreatestNumber(part));
  const size_t start = out->size();
  AppendNumberBody(part, number, out);
  if (part.descending) ComplementFrom(start, out);
}

bool IsListed(const KeyPart& part, const FieldValue& value) {
  if (value.is_null) return false;
  const auto found = [&part](std::string_view text) {
    return std::binary_search(part.listed.begin(), part.listed.end(), text);
  };
  const FieldType type = part.input_types[0];
  if (IsText(type)) return found(value.text);
  char buffer[20];  // As many as the longest of either kind of int64 has.
  char* const end = buffer + sizeof(buffer);
  const std::to_chars_result digits =
      IsSigned(type)
          ? std::to_chars(buffer, end, static_cast<int64_t>(value.bits))
          : std::to_chars(buffer, end, value.bits);
  return found(
      std::string_view(buffer, static_cast<size_t>(digits.ptr - buffer)));
}

absl::StatusOr<std::string_view> ConsumeKeyPart(const KeyPart& part,
                                                std::string_view* key) {
  if (part.is_text) [[unlikely]]
    return ConsumeTextPart(part, key);
  size_t size = 0;
  bool has_body = true;
  if (part.nullable()) {
    if (key->empty()) return Malformed(part, *key, "key part is cut off");
    const char tag = key->front();
    has_body = tag != NullTag(part);
    if (has_body && tag != kValueTag) {
      return Malformed(part, *key, "key part has a wrong null tag");
    }
    size = 1;
  }
  if (has_body) {
    const size_t body = BodyBytes(part, key->substr(size));
    if (body == 0) return Malformed(part, *key, "key part is cut off");
    size += body;
  }
  const std::string_view bytes = key->substr(0, size);
  key->remove_prefix(size);
  return bytes;
}

absl::StatusOr<Value> DecodeKeyPart(const KeyPart& part,
                                    std::string_view bytes) {
  if (part.is_text) [[unlikely]]
    return DecodeTextPart(part, bytes);
  std::string_view rest = bytes;
  RETURN_IF_ERROR(ConsumeKeyPart(part, &rest).status());
  if (!rest.empty()) {
    return Malformed(part, bytes, "key part has bytes behind its end");
  }
  if (part.nullable() && bytes.front() == NullTag(part)) return Value();
  std::string body(bytes.substr(part.nullable() ? 1 : 0));
  if (part.descending) ComplementFrom(0, &body);
  Value value;
  if (!DecodeBody(part, std::move(body), &value)) {
    return Malformed(part, bytes, "key part's bytes are no value's encoding");
  }
  return value;
}

std::string PrefixEnd(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF' &&
         !SeededBug("prefix_end_overflows")) {
    prefix.remove_suffix(1);
  }
  std::string end(prefix);
  if (!end.empty()) ++end.back();
  return end;
}

}  // namespace dovetail
