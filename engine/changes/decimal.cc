// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/decimal.h"

#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

// 10^400 has 167 bytes.
constexpr size_t kUnscaledBytesMax = 167;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Digits of a magnitude, big-endian bytes, by dividing by ten again and
// again: at most 167 bytes, so at most 403 rounds.
std::string MagnitudeDigits(std::string bytes) {
  std::string digits;
  while (!bytes.empty()) {
    unsigned rest = 0;
    for (char& c : bytes) {
      const unsigned part = rest << 8 | static_cast<unsigned char>(c);
      c = static_cast<char>(part / 10);
      rest = part % 10;
    }
    digits += static_cast<char>('0' + rest);
    bytes.erase(0, bytes.find_first_not_of('\0'));
  }
  std::reverse(digits.begin(), digits.end());
  return digits.empty() ? "0" : digits;
}

// The magnitude of a big-endian two's complement number.
std::string Magnitude(std::string bytes, bool negative) {
  if (negative) {
    unsigned carry = 1;
    for (size_t i = bytes.size(); i-- > 0;) {
      const unsigned flipped = (static_cast<unsigned char>(~bytes[i])) + carry;
      bytes[i] = static_cast<char>(flipped);
      carry = flipped >> 8;
    }
  }
  bytes.erase(0, bytes.find_first_not_of('\0'));
  return bytes;
}

absl::Status NotANumber(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a decimal number: text=", ToAbsl(Quote(text))));
}

// A number taken apart: sign, digits without point, power of ten.
struct Parts {
  bool negative = false;
  std::string digits;  // Without zeros in front; empty is zero.
  int64_t exponent = 0;
};

absl::StatusOr<Parts> TakeApart(std::string_view text) {
  Parts parts;
  size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    parts.negative = text[at++] == '-';
  }
  bool any = false;
  bool point = false;
  for (; at < text.size() && (IsDigit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] == '.') {
      if (point) return NotANumber(text);
      point = true;
      continue;
    }
    any = true;
    if (point) --parts.exponent;
    if (text[at] != '0' || !parts.digits.empty()) parts.digits += text[at];
    if (parts.digits.size() > kDecimalDigitsMax ||
        parts.exponent < -kDecimalDigitsMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a number of too many digits: digits_max=", kDecimalDigitsMax));
    }
  }
  if (!any) return NotANumber(text);
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return NotANumber(text);
    std::string_view power = text.substr(at + 1);
    int32_t exponent = 0;
    const bool signs =
        power.starts_with('+') && power.size() > 1 && IsDigit(power[1]);
    if (signs) power.remove_prefix(1);
    if (power.empty() || power.find_first_not_of("-0123456789") != power.npos ||
        !absl::SimpleAtoi(ToAbsl(power), &exponent)) {
      return NotANumber(text);
    }
    parts.exponent += exponent;
  }
  return parts;
}

absl::Status DoesNotFit(std::string_view text, int32_t scale) {
  return absl::InvalidArgumentError(absl::StrCat(
      "a number that the field cannot hold: number=", ToAbsl(Quote(text)),
      " scale=", scale));
}

// The digits of the number times ten to `scale`, with their sign.
absl::StatusOr<std::string> ScaledDigits(std::string_view text, int32_t scale) {
  ASSIGN_OR_RETURN(Parts parts, TakeApart(text));
  if (parts.digits.empty()) return std::string("0");
  int64_t zeros = parts.exponent + scale;
  while (zeros < 0 && parts.digits.ends_with('0')) {
    parts.digits.pop_back();
    ++zeros;
  }
  if (zeros < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a number with more digits behind the point than the field keeps: "
        "number=",
        ToAbsl(Quote(text)), " scale=", scale));
  }
  // 2^64 has 20 digits.
  if (zeros + static_cast<int64_t>(parts.digits.size()) > 20) {
    return DoesNotFit(text, scale);
  }
  parts.digits.append(static_cast<size_t>(zeros), '0');
  return parts.negative ? absl::StrCat("-", parts.digits) : parts.digits;
}

}  // namespace

absl::StatusOr<std::string> DecimalFromBase64(std::string_view base64,
                                              int32_t scale) {
  std::string bytes;
  if (!absl::Base64Unescape(ToAbsl(base64), &bytes) || bytes.empty()) {
    return absl::InvalidArgumentError("a decimal that is not base64");
  }
  if (bytes.size() > kUnscaledBytesMax || scale < -kDecimalDigitsMax ||
      scale > kDecimalDigitsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a number of too many digits: bytes=", bytes.size(),
                     " scale=", scale, " digits_max=", kDecimalDigitsMax));
  }
  const bool negative = (bytes[0] & 0x80) != 0;
  std::string digits = MagnitudeDigits(Magnitude(std::move(bytes), negative));
  if (scale < 0 && digits != "0") {
    digits.append(static_cast<size_t>(-scale), '0');
  } else if (scale > 0) {
    const size_t behind = static_cast<size_t>(scale);
    if (digits.size() <= behind) {
      digits.insert(0, behind + 1 - digits.size(), '0');
    }
    digits.insert(digits.size() - behind, 1, '.');
  }
  return negative ? absl::StrCat("-", digits) : digits;
}

absl::StatusOr<int64_t> ScaledInt64(std::string_view text, int32_t scale) {
  ASSIGN_OR_RETURN(const std::string digits, ScaledDigits(text, scale));
  int64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value)) return DoesNotFit(text, scale);
  return value;
}

absl::StatusOr<uint64_t> ScaledUint64(std::string_view text, int32_t scale) {
  ASSIGN_OR_RETURN(const std::string digits, ScaledDigits(text, scale));
  uint64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value)) return DoesNotFit(text, scale);
  return value;
}

}  // namespace dovetail::changes
