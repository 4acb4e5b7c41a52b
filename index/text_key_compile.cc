// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From the declared text of a part to the compiled one. What could not be read
// back is refused here; what is left to refuse for single values are separators
// inside them, and numbers that are too wide.

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/hash.h"
#include "index/key_body.h"
#include "index/text_digits.h"
#include "index/text_key.h"
#include "index/text_number.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;
using Text = v1::KeyPart::Text;

constexpr uint32_t kTextWidthMax = 256;
constexpr size_t kSeparatorBytesMax = 8;

absl::Status Invalid(const KeyPart& part, std::string_view why,
                     std::string_view facts = "") {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(why), ":", KeyPartFacts(part), ToAbsl(facts)));
}

absl::Status CheckTypes(const KeyPart& part) {
  if (part.transform == Transform::kVarint ||
      part.transform == Transform::kEnum) {
    return Invalid(part,
                   "key part's transform is of BINARY keys; a TEXT key has the "
                   "plain number, with a width if its order matters");
  }
  for (const FieldType type : part.input_types) {
    if (type == FieldType::kFloat || type == FieldType::kDouble) {
      return Invalid(part, "key part has no text for the field's type",
                     absl::StrCat(" type=", ToAbsl(FieldTypeName(type))));
    }
  }
  return absl::OkStatus();
}

// Whether the part is written in digits.
bool HasDigits(const KeyPart& part) {
  return part.computed() || IsTextNumber(part) ||
         (part.transform == Transform::kReverse && !IsText(part.type()));
}

absl::Status BindDigits(const Text& proto, KeyPart* part) {
  const auto refuse = [&] {
    return Invalid(*part, "key part cannot be written in these digits",
                   absl::StrCat(" digits=", static_cast<int>(proto.digits())));
  };
  if (!Text::Digits_IsValid(proto.digits())) return refuse();
  const bool hash = part->transform == Transform::kHash;
  part->text.digits = proto.digits();
  switch (proto.digits()) {
    case Text::DIGITS_DEFAULT:
      part->text.digits = hash ? Text::HEX : Text::DECIMAL;
      return absl::OkStatus();
    case Text::HEX_UNPADDED:
      return hash && proto.width() == 0 ? absl::OkStatus() : refuse();
    case Text::SIGNED_DECIMAL: {
      const bool whole = part->bytes == HashSize(part->algorithm) &&
                         (part->bytes == 4 || part->bytes == 8);
      return hash && whole && proto.width() == 0 ? absl::OkStatus() : refuse();
    }
    default:
      return HasDigits(*part) ? absl::OkStatus() : refuse();
  }
}

absl::Status CheckWidth(const KeyPart& part, uint64_t min, uint64_t max) {
  const uint32_t width = part.text.width;
  if (width == 0 || (width >= min && width <= max)) return absl::OkStatus();
  return Invalid(part, "key part's text has a width out of its bounds",
                 absl::StrCat(" width=", width, " min=", min, " max=", max));
}

absl::Status BindHashWidth(KeyPart* part) {
  TextForm& text = part->text;
  if (text.digits == Text::DECIMAL) {
    return CheckWidth(*part, DecimalDigits(part->bytes), kTextWidthMax);
  }
  if (text.digits == Text::HEX || text.digits == Text::HEX_UPPER) {
    const uint32_t whole = 2 * part->bytes;
    if (text.width == 0) text.width = whole;
    return CheckWidth(*part, whole - 1, whole);
  }
  return absl::OkStatus();
}

// Numbers that all have one digit are of fixed width without saying so.
absl::Status BindNumberWidth(KeyPart* part) {
  TextForm& text = part->text;
  const uint32_t most = DigitsOf(GreatestNumber(*part), text.digits);
  const bool negative = part->transform == Transform::kBucket &&
                        text.form == Text::ABS_MOD &&
                        LeastAbsMod(part->algorithm, part->count) != 0;
  if (text.width == 0 && most == 1 && !negative) text.width = 1;
  return CheckWidth(*part, most, kTextWidthMax);
}

absl::Status BindWidth(const Text& proto, KeyPart* part) {
  part->text.width = proto.width();
  switch (part->transform) {
    case Transform::kHash:
      return BindHashWidth(part);
    case Transform::kBucket:
    case Transform::kSalt:
    case Transform::kSubBucket:
      return BindNumberWidth(part);
    case Transform::kDecimal:
      if (part->text.width == 0) part->text.width = part->digits;
      return CheckWidth(*part, part->digits, part->digits);
    default:
      // "true" and "false" differ.
      return CheckWidth(*part, 1,
                        part->type() == FieldType::kBool ? 0 : kTextWidthMax);
  }
}

absl::Status BindForm(const Text& proto, KeyPart* part) {
  part->text.form = proto.form();
  if (proto.form() == Text::FORM_DEFAULT) return absl::OkStatus();
  const bool sub_bucket = part->transform == Transform::kSubBucket;
  const bool good =
      Text::BucketForm_IsValid(proto.form()) &&
      (part->transform == Transform::kBucket || sub_bucket) &&
      (proto.form() == Text::UNSIGNED_MOD || HashSize(part->algorithm) <= 8) &&
      // A negative bucket has no place in a sub-bucket's numbers, and hex
      // digits none for its sign.
      (proto.form() != Text::ABS_MOD ||
       (!sub_bucket && part->text.digits == Text::DECIMAL));
  if (good) return absl::OkStatus();
  return Invalid(*part, "key part has no bucket of this form",
                 absl::StrCat(" form=", static_cast<int>(proto.form())));
}

absl::Status BindOrder(const v1::KeyPart& proto, KeyPart* part) {
  if (proto.nulls() != v1::KeyPart::NULLS_DEFAULT) {
    return Invalid(*part,
                   "key part says where nulls stand; in a TEXT key they stand "
                   "where null_as sorts");
  }
  const bool descending = proto.order() == v1::KeyPart::DESC;
  if (descending && !IsTextNumber(*part)) {
    return Invalid(*part, "key part is no number or time, so it has no DESC");
  }
  if (proto.text().desc_from() != 0 && !descending) {
    return Invalid(*part, "key part has desc_from, but is not DESC");
  }
  // Two equal parts compare as equal, whatever the place of their nulls.
  part->nulls_last = false;
  if (!descending) return absl::OkStatus();
  part->text.desc_from = proto.text().desc_from();
  if (part->text.desc_from == 0) {
    part->text.desc_from = std::numeric_limits<int64_t>::max();
  }
  return absl::OkStatus();
}

absl::Status BindInput(const Text& proto, KeyPart* part) {
  const size_t first = part->transform == Transform::kSubBucket ? 1 : 0;
  const bool hashed = part->computed() && part->transform != Transform::kSalt;
  const size_t inputs = part->inputs.size() - first;
  if (!proto.joiner().empty() && (!hashed || inputs < 2)) {
    return Invalid(*part,
                   "key part has a joiner, but does not hash two fields");
  }
  if (proto.reverse_input() && (!hashed || inputs != 1)) {
    return Invalid(*part,
                   "key part has reverse_input, but does not hash one field");
  }
  part->text.joiner = proto.joiner();
  part->text.reverse_input = proto.reverse_input();
  bool time = false;
  if (part->transform != Transform::kTime32) {
    for (const FieldType type : part->input_types) {
      time |= type == FieldType::kTimestamp;
    }
  }
  if (!Text::Unit_IsValid(proto.unit()) ||
      (proto.unit() != Text::MILLISECONDS && !time)) {
    return Invalid(*part, "key part has a unit, but writes no Timestamp",
                   absl::StrCat(" unit=", static_cast<int>(proto.unit())));
  }
  part->text.unit = proto.unit();
  return absl::OkStatus();
}

absl::Status BindNull(const Text& proto, KeyPart* part) {
  if (!proto.has_null_as()) return absl::OkStatus();
  TextForm& text = part->text;
  bool nullable = false;
  for (const bool input : part->input_nullable) nullable |= input;
  if (!nullable) {
    return Invalid(*part, "key part has null_as, but is never null");
  }
  text.has_null = true;
  text.null_as = proto.null_as();
  if (part->computed()) return absl::OkStatus();  // It is hashed only.
  const std::string facts = absl::StrCat(" null_as=", Quote(text.null_as));
  if (text.width != 0) {
    // A fixed-width number's null stands before or behind all numbers, so
    // that ranges leave it out.
    const bool number = HasDigits(*part) || part->digits != 0;
    const bool among_numbers = number && !text.null_as.empty() &&
                               text.null_as[0] >= '0' &&
                               text.null_as[0] < BehindDigits(text.digits);
    if (text.null_as.size() != text.width || among_numbers) {
      return Invalid(*part,
                     "key part's null_as must have the part's width, and not "
                     "stand among its numbers",
                     facts);
    }
  } else if (!text.end.empty() &&
             FirstEnd(text.null_as, text.end) != text.null_as.size()) {
    return Invalid(*part, "key part's null_as holds the separator", facts);
  } else if (text.only && text.null_as.empty()) {
    return Invalid(*part, "key part's null_as would make an empty key", facts);
  }
  return absl::OkStatus();
}

// Decides what stands behind the part, and whether it can be told from that.
absl::Status BindEnd(const Text& proto, const TextPlace& place, KeyPart* part) {
  TextForm& text = part->text;
  text.last = place.last;
  text.only = place.first && place.last;
  if (proto.joined() && place.last) {
    return Invalid(*part,
                   "key part is joined to the next one, but is the last");
  }
  if (place.last) return absl::OkStatus();
  if (!proto.joined()) text.end = place.separator;
  if (text.width != 0) return absl::OkStatus();
  if (text.end.empty()) {
    return Invalid(*part,
                   "key part has nothing behind it and no width, so it cannot "
                   "be told from the next one");
  }
  if (text.digits == Text::SIGNED_DECIMAL && text.end == "-") {
    return Invalid(*part,
                   "key part's sign is the separator, so it cannot be read "
                   "back; use another separator, or put it last");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTextSeparator(std::string_view separator) {
  const bool good =
      separator.size() <= kSeparatorBytesMax &&
      std::none_of(separator.begin(), separator.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c));
      });
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a separator has no letters or digits, which numbers and hashes are "
      "written in: separator=",
      Quote(separator), " bytes_max=", kSeparatorBytesMax));
}

absl::Status BindText(const v1::KeyPart& proto, const TextPlace& place,
                      KeyPart* part) {
  part->is_text = true;
  RETURN_IF_ERROR(CheckTypes(*part));
  RETURN_IF_ERROR(BindDigits(proto.text(), part));
  RETURN_IF_ERROR(BindForm(proto.text(), part));
  RETURN_IF_ERROR(BindWidth(proto.text(), part));
  RETURN_IF_ERROR(BindOrder(proto, part));
  RETURN_IF_ERROR(BindInput(proto.text(), part));
  RETURN_IF_ERROR(BindEnd(proto.text(), place, part));
  return BindNull(proto.text(), part);
}

}  // namespace dovetail
