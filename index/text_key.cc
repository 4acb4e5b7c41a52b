// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/text_key.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/hash.h"
#include "index/key_body.h"
#include "index/ordered_codec.h"
#include "index/text_digits.h"
#include "index/text_number.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;
using Text = v1::KeyPart::Text;

constexpr std::string_view kTrue = "true";
constexpr std::string_view kFalse = "false";

absl::Status Malformed(const KeyPart& part, std::string_view bytes,
                       std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(why), ":", KeyPartFacts(part), " bytes=", Quote(bytes)));
}

// --- Texts of fields ---

absl::Status AppendNumber(const KeyPart& part, const FieldValue& value,
                          std::string* out) {
  ASSIGN_OR_RETURN(SignedMagnitude v, TextNumberOf(part, part.type(), value));
  const auto refuse = [&](std::string_view why) {
    return RefuseKeyValue(part, part.type(), value, why);
  };
  const TextForm& text = part.text;
  if (part.descending) {
    if (v.negative || v.magnitude > text.desc_from) {
      return refuse(
          absl::StrCat("key part takes numbers from 0 to ", text.desc_from));
    }
    v.magnitude = text.desc_from - v.magnitude;
  }
  if (v.negative && (text.width != 0 || text.digits != Text::DECIMAL ||
                     part.transform == Transform::kReverse)) {
    return refuse("key part takes no negative numbers");
  }
  if (!AppendDigits(v, text.digits, text.width, out)) {
    return refuse(
        absl::StrCat("key part takes numbers of ", text.width, " digits"));
  }
  return absl::OkStatus();
}

absl::Status AppendValueText(const KeyPart& part, const FieldValue& value,
                             std::string* out) {
  if (IsTextNumber(part)) return AppendNumber(part, value, out);
  switch (part.transform) {
    case Transform::kReverse: {
      if (!IsText(part.type())) {
        const size_t start = out->size();
        RETURN_IF_ERROR(AppendNumber(part, value, out));
        std::reverse(out->begin() + static_cast<std::ptrdiff_t>(start),
                     out->end());
        return absl::OkStatus();
      }
      if (part.type() == FieldType::kBytes) {
        out->append(value.text.rbegin(), value.text.rend());
        return absl::OkStatus();
      }
      std::string reversed;
      if (!ReverseCharacters(value.text, &reversed)) {
        return RefuseKeyValue(part, part.type(), value,
                              "key part takes UTF-8 only");
      }
      out->append(reversed);
      return absl::OkStatus();
    }
    case Transform::kDecimal:
      if (!std::all_of(value.text.begin(), value.text.end(),
                       [](char c) { return c >= '0' && c <= '9'; })) {
        return RefuseKeyValue(part, part.type(), value,
                              "key part takes decimal digits only");
      }
      out->append(value.text);
      return absl::OkStatus();
    default:
      if (part.type() == FieldType::kBool) {
        out->append(value.bits != 0 ? kTrue : kFalse);
      } else {
        out->append(value.text);
      }
      return absl::OkStatus();
  }
}

// Ends the part that starts at `start`. Says why it cannot stand there, or
// nothing if it can.
std::string_view EndPart(const TextForm& text, size_t start, std::string* out) {
  const size_t size = out->size() - start;
  if (text.width != 0) {
    if (size != text.width) return "key part takes texts of its width only";
    out->append(text.end);
    return {};
  }
  if (size == 0 && text.only) return "key part would make an empty key";
  if (text.end.empty()) return {};
  out->append(text.end);
  if (out->find(text.end, start) != start + size) {
    return "key part takes no text that holds the separator behind it";
  }
  return {};
}

// --- What is hashed ---

absl::Status AppendInputText(const KeyPart& part, size_t i,
                             const FieldValue& value, std::string* out) {
  const FieldType type = part.input_types[i];
  if (value.is_null) {
    if (part.text.has_null) {
      out->append(part.text.null_as);
      return absl::OkStatus();
    }
    return RefuseKeyValue(part, type, value, "key part has no text for null");
  }
  if (IsText(type)) {
    out->append(value.text);
  } else if (type == FieldType::kBool) {
    out->append(value.bits != 0 ? kTrue : kFalse);
  } else {
    ASSIGN_OR_RETURN(const SignedMagnitude v, TextNumberOf(part, type, value));
    AppendDigits(v, Text::DECIMAL, 0, out);
  }
  return absl::OkStatus();
}

// The text that is hashed: the fields from inputs[first] on. A view of the
// record, or of `storage`.
absl::StatusOr<std::string_view> HashInput(const KeyPart& part, size_t first,
                                           std::span<const FieldValue> fields,
                                           std::string* storage) {
  const auto field = [&](size_t i) -> const FieldValue& {
    return fields[static_cast<size_t>(part.inputs[i])];
  };
  const bool one = part.inputs.size() == first + 1;
  if (one && IsText(part.input_types[first]) && !part.text.reverse_input &&
      !field(first).is_null) {
    return field(first).text;
  }
  for (size_t i = first; i < part.inputs.size(); ++i) {
    if (i > first) storage->append(part.text.joiner);
    RETURN_IF_ERROR(AppendInputText(part, i, field(i), storage));
  }
  if (!part.text.reverse_input) return std::string_view(*storage);
  if (part.input_types[first] == FieldType::kBytes) {
    std::reverse(storage->begin(), storage->end());
    return std::string_view(*storage);
  }
  std::string reversed;
  if (!ReverseCharacters(*storage, &reversed)) {
    return RefuseKeyValue(part, part.input_types[first], field(first),
                          "key part takes UTF-8 only");
  }
  *storage = std::move(reversed);
  return std::string_view(*storage);
}

// A bucket, salt or sub-bucket; only ABS_MOD has negative ones.
bool AppendNumberText(const KeyPart& part, int64_t number, std::string* out) {
  const SignedMagnitude v{
      .negative = number < 0,
      .magnitude = static_cast<uint64_t>(number < 0 ? ~number : number)};
  return AppendDigits(v, part.text.digits, part.text.width, out);
}

absl::Status AppendComputedText(const KeyPart& part,
                                std::span<const FieldValue> fields,
                                uint32_t salt, std::string* out) {
  int64_t number = 0;
  std::string storage;
  switch (part.transform) {
    case Transform::kHash: {
      ASSIGN_OR_RETURN(const std::string_view input,
                       HashInput(part, 0, fields, &storage));
      std::string hash;
      AppendHash(part.algorithm, input, part.bytes, &hash);
      AppendHashDigits(hash, part.text.digits, part.text.width, out);
      return absl::OkStatus();
    }
    case Transform::kBucket: {
      ASSIGN_OR_RETURN(const std::string_view input,
                       HashInput(part, 0, fields, &storage));
      number = HashBucketAs(part.text.form, part.algorithm, input, part.count);
      break;
    }
    case Transform::kSubBucket: {
      if (!IsListed(part, fields[static_cast<size_t>(part.inputs[0])])) break;
      ASSIGN_OR_RETURN(const std::string_view input,
                       HashInput(part, 1, fields, &storage));
      number =
          1 + HashBucketAs(part.text.form, part.algorithm, input, part.count);
      break;
    }
    default:
      DOVETAIL_CHECK(part.transform == Transform::kSalt);
      DOVETAIL_CHECK(salt <= GreatestNumber(part));
      number = salt;
      break;
  }
  if (AppendNumberText(part, number, out)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "key part's negative bucket is wider than its text:", KeyPartFacts(part),
      " bucket=", number, " width=", part.text.width,
      "; declare another form, or one byte more"));
}

// --- Reading ---

bool DecodeNumberText(const KeyPart& part, std::string_view text,
                      Value* value) {
  SignedMagnitude v;
  if (!ParseDigits(text, part.text.digits, part.text.width, &v)) return false;
  if (!v.negative) {
    *value = v.magnitude;
    return v.magnitude <= GreatestNumber(part);
  }
  const auto number = static_cast<int64_t>(~v.magnitude);
  *value = number;
  return part.text.form == Text::ABS_MOD &&
         number == LeastAbsMod(part.algorithm, part.count);
}

bool DecodeFieldNumber(const KeyPart& part, std::string_view text,
                       Value* value) {
  SignedMagnitude v;
  if (!ParseDigits(text, part.text.digits, part.text.width, &v)) return false;
  const bool no_sign =
      part.text.width != 0 || part.transform == Transform::kReverse;
  return !(v.negative && no_sign) && FromTextNumber(part, v, value);
}

bool DecodeReversed(const KeyPart& part, std::string_view text, Value* value) {
  if (part.type() == FieldType::kString) {
    std::string characters;
    if (!ReverseCharacters(text, &characters)) return false;
    *value = std::move(characters);
    return true;
  }
  std::string bytes(text.rbegin(), text.rend());
  if (!IsText(part.type())) return DecodeFieldNumber(part, bytes, value);
  *value = std::move(bytes);
  return true;
}

bool DecodeText(const KeyPart& part, std::string_view text, Value* value) {
  if (IsTextNumber(part)) return DecodeFieldNumber(part, text, value);
  switch (part.transform) {
    case Transform::kHash:
      *value = text;
      return IsHashDigits(text, part.bytes, part.text.digits, part.text.width);
    case Transform::kBucket:
    case Transform::kSalt:
    case Transform::kSubBucket:
      return DecodeNumberText(part, text, value);
    case Transform::kReverse:
      return DecodeReversed(part, text, value);
    case Transform::kDecimal:
      *value = text;
      return std::all_of(text.begin(), text.end(),
                         [](char c) { return c >= '0' && c <= '9'; });
    default:
      break;
  }
  if (part.type() == FieldType::kBool) {
    *value = text == kTrue;
    return text == kTrue || text == kFalse;
  }
  *value = text;
  return !text.empty() || !part.text.only;
}

}  // namespace

size_t FirstEnd(std::string_view text, std::string_view end) {
  return absl::StrCat(ToAbsl(text), ToAbsl(end)).find(end);
}

absl::Status AppendTextPart(const KeyPart& part,
                            std::span<const FieldValue> fields, uint32_t salt,
                            std::string* out) {
  if (!part.computed()) {
    return AppendTextValue(part, fields[static_cast<size_t>(part.inputs[0])],
                           out);
  }
  const size_t start = out->size();
  RETURN_IF_ERROR(AppendComputedText(part, fields, salt, out));
  const std::string_view why = EndPart(part.text, start, out);
  return why.empty()
             ? absl::OkStatus()
             : Malformed(part, std::string_view(*out).substr(start), why);
}

absl::Status AppendTextValue(const KeyPart& part, const FieldValue& value,
                             std::string* out) {
  if (value.is_null) {
    if (!part.text.has_null) {
      return RefuseKeyValue(part, part.type(), value,
                            "key part has no text for null");
    }
    absl::StrAppend(out, part.text.null_as, part.text.end);
    return absl::OkStatus();
  }
  const size_t start = out->size();
  RETURN_IF_ERROR(AppendValueText(part, value, out));
  if (part.text.has_null &&
      std::string_view(*out).substr(start) == part.text.null_as) {
    return RefuseKeyValue(part, part.type(), value,
                          "key part takes no value that reads as null");
  }
  const std::string_view why = EndPart(part.text, start, out);
  if (why.empty()) return absl::OkStatus();
  return RefuseKeyValue(part, part.type(), value,
                        part.text.width != 0
                            ? absl::StrCat(ToAbsl(why), ", ", part.text.width)
                            : std::string(why));
}

void AppendTextPartNumber(const KeyPart& part, uint32_t number,
                          std::string* out) {
  DOVETAIL_CHECK(number <= GreatestNumber(part));
  DOVETAIL_CHECK(AppendNumberText(part, number, out));
  out->append(part.text.end);
}

absl::StatusOr<std::string_view> ConsumeTextPart(const KeyPart& part,
                                                 std::string_view* key) {
  const TextForm& text = part.text;
  size_t size = key->size();
  if (text.width != 0) {
    size = text.width;
  } else if (!text.end.empty()) {
    size = key->find(text.end);
  }
  // A size that is npos is beyond every key.
  if (size > key->size() || key->substr(size, text.end.size()) != text.end) {
    return Malformed(part, *key, "key part is cut off");
  }
  const std::string_view bytes = key->substr(0, size + text.end.size());
  key->remove_prefix(bytes.size());
  return bytes;
}

absl::StatusOr<Value> DecodeTextPart(const KeyPart& part,
                                     std::string_view bytes) {
  std::string_view rest = bytes;
  RETURN_IF_ERROR(ConsumeTextPart(part, &rest).status());
  if (!rest.empty()) {
    return Malformed(part, bytes, "key part has bytes behind its end");
  }
  const std::string_view text =
      bytes.substr(0, bytes.size() - part.text.end.size());
  if (!part.computed() && part.text.has_null && text == part.text.null_as) {
    return Value();
  }
  Value value;
  if (!DecodeText(part, text, &value)) {
    return Malformed(part, bytes, "key part's bytes are no value's text");
  }
  return value;
}

}  // namespace dovetail
