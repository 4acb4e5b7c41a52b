// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which texts sort like their values:
//   - those of one width, without a sign: numbers, times, DECIMAL, strings;
//   - strings at the end of the key. Before a separator they do not: "a!" is
//     above "a", but "a!-" is below "a-".
// A null's text lies anywhere among strings, so these have no range if they
// can be null; among numbers of one width it is outside of all of them.

#include "index/text_key_range.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/key_body.h"
#include "index/text_digits.h"
#include "index/text_key.h"
#include "index/text_number.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

absl::Status Unserved(const Column& column, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("TEXT key does not keep the order of the range column: "
                   "column=",
                   column.path, ": ", ToAbsl(why),
                   ", or scan an index that has the column"));
}

bool IsPlainString(const KeyPart& part) {
  return part.transform == Transform::kNone && IsText(part.type());
}

absl::Status CheckOrder(const KeyPart& part, const Column& column) {
  const bool decimal = part.transform == Transform::kDecimal;
  if (!IsTextNumber(part) && !IsPlainString(part) && !decimal) {
    return Unserved(column,
                    absl::StrCat("its text is ",
                                 part.type() == FieldType::kBool
                                     ? "a word"
                                     : ToAbsl(KeyTransformName(part.transform)),
                                 "; ask for single values with any_of"));
  }
  if (IsPlainString(part) && part.text.has_null) {
    return Unserved(column,
                    "null's text stands among the others; ask for single "
                    "values with any_of");
  }
  if (part.text.width != 0) return absl::OkStatus();
  if (IsTextNumber(part)) {
    return Unserved(column,
                    "numbers of no fixed width sort as text, 10 before 9; "
                    "declare a width (19 holds Long.MAX_VALUE minus a time, "
                    "and changes no such key)");
  }
  if (!part.text.last) {
    return Unserved(column,
                    "strings of no fixed width sort together with the "
                    "separator behind them; declare a width, or put the part "
                    "last");
  }
  return absl::OkStatus();
}

}  // namespace

bool TextKeepsOrder(const KeyPart& part) {
  return !part.computed() && CheckOrder(part, Column()).ok();
}

absl::Status ApplyTextRange(const Range& range, const KeyPart& part,
                            const Column& column, KeyRange* out) {
  RETURN_IF_ERROR(CheckOrder(part, column));
  // Keys with this value of the column: those that start with its text, or, at
  // the end of the key, the text alone.
  const auto behind = [&part](const std::string& key) {
    return part.text.last ? key + '\0' : PrefixEnd(key);
  };
  std::string begin = out->prefix;
  std::string end = PrefixEnd(out->prefix);
  if (part.text.has_null) {
    begin.push_back('0');
    end = absl::StrCat(out->prefix,
                       std::string(1, BehindDigits(part.text.digits)));
  }
  bool nothing = false;  // No key can follow the excluded bound.
  const auto bind = [&](const std::optional<Value>& value, bool inclusive,
                        bool is_begin) -> absl::Status {
    if (!value.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const FieldValue field, ToFieldValue(*value, column.type));
    if (field.is_null) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a range cannot start or end at null: column=", column.path));
    }
    std::string bytes = out->prefix;
    RETURN_IF_ERROR(AppendTextValue(part, field, &bytes));
    if (is_begin) {
      begin = inclusive ? std::move(bytes) : behind(bytes);
      nothing = begin.empty();
    } else {
      end = inclusive ? behind(bytes) : std::move(bytes);
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(bind(range.min, range.min_inclusive, !part.descending));
  RETURN_IF_ERROR(bind(range.max, range.max_inclusive, part.descending));
  if (nothing) {
    out->begin = out->end = out->prefix + '\0';
    return absl::OkStatus();
  }
  out->begin = std::move(begin);
  out->end = std::move(end);
  return absl::OkStatus();
}

}  // namespace dovetail
