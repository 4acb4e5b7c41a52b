// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/text_digits.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/coding.h"

namespace dovetail {
namespace {

using Text = v1::KeyPart::Text;

bool IsHex(TextDigits digits) {
  return digits == Text::HEX || digits == Text::HEX_UPPER ||
         digits == Text::HEX_UNPADDED;
}

// The value of a digit, or the base if it is none in this style.
uint32_t DigitValue(char c, TextDigits digits) {
  const uint32_t base = IsHex(digits) ? 16 : 10;
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  const char a = digits == Text::HEX_UPPER ? 'A' : 'a';
  const uint32_t letter = 10 + static_cast<uint32_t>(c - a);
  return c >= a && letter < base ? letter : base;
}

bool AreDigits(std::string_view text, TextDigits digits) {
  const uint32_t base = IsHex(digits) ? 16 : 10;
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return DigitValue(c, digits) < base;
  });
}

bool HasNeedlessZero(std::string_view text) {
  return text.size() > 1 && text[0] == '0';
}

void AppendHex(std::string_view bytes, TextDigits digits, std::string* out) {
  const char* const table =
      digits == Text::HEX_UPPER ? "0123456789ABCDEF" : "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out->push_back(table[byte >> 4]);
    out->push_back(table[byte & 15]);
  }
}

// An unsigned big-endian integer of any size, nine digits at a time.
std::string DecimalOf(std::string_view bytes) {
  constexpr uint64_t kGroup = 1'000'000'000;
  std::string number(bytes);
  std::string reversed;
  do {
    uint64_t rest = 0;
    for (char& c : number) {
      rest = rest << 8 | static_cast<uint8_t>(c);
      c = static_cast<char>(rest / kGroup);
      rest %= kGroup;
    }
    number.erase(0, std::min(number.find_first_not_of('\0'), number.size()));
    for (int i = 0; i < 9; ++i, rest /= 10) {
      reversed.push_back(static_cast<char>('0' + rest % 10));
    }
  } while (!number.empty());
  const size_t last = reversed.find_last_not_of('0');
  reversed.resize(last == std::string::npos ? 1 : last + 1);
  return std::string(reversed.rbegin(), reversed.rend());
}

std::string GreatestDecimal(size_t bytes) {
  return DecimalOf(std::string(bytes, '\xFF'));
}

SignedMagnitude JavaInteger(std::string_view hash) {
  const int bytes = static_cast<int>(hash.size());
  const uint64_t bits = DecodeBigEndian(hash.data(), bytes);
  const auto v =
      bytes == 4 ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(bits))}
                 : static_cast<int64_t>(bits);
  return {.negative = v < 0,
          .magnitude = static_cast<uint64_t>(v < 0 ? ~v : v)};
}

}  // namespace

bool AppendDigits(SignedMagnitude v, TextDigits digits, uint32_t width,
                  std::string* out) {
  char buffer[20];  // 2^64 - 1 in decimal.
  const uint64_t absolute = v.magnitude + (v.negative ? 1 : 0);
  const std::to_chars_result end = std::to_chars(
      buffer, buffer + sizeof(buffer), absolute, IsHex(digits) ? 16 : 10);
  if (digits == Text::HEX_UPPER) {
    for (char* p = buffer; p < end.ptr; ++p) {
      if (*p >= 'a') *p = static_cast<char>(*p - 'a' + 'A');
    }
  }
  const auto size = static_cast<size_t>(end.ptr - buffer);
  const size_t signed_size = size + (v.negative ? 1 : 0);
  if (width != 0 && signed_size > width) return false;
  if (v.negative) out->push_back('-');
  if (width != 0) out->append(width - signed_size, '0');
  out->append(buffer, size);
  return true;
}

bool ParseDigits(std::string_view text, TextDigits digits, uint32_t width,
                 SignedMagnitude* v) {
  if (width != 0 && text.size() != width) return false;
  v->negative = !IsHex(digits) && !text.empty() && text[0] == '-';
  if (v->negative) text.remove_prefix(1);
  if (!AreDigits(text, digits)) return false;
  if (width == 0 && HasNeedlessZero(text)) return false;
  const uint64_t base = IsHex(digits) ? 16 : 10;
  uint64_t absolute = 0;
  for (const char c : text) {
    const uint64_t digit = DigitValue(c, digits);
    if (absolute > (std::numeric_limits<uint64_t>::max() - digit) / base) {
      return false;
    }
    absolute = absolute * base + digit;
  }
  if (v->negative && absolute == 0) return false;  // "-0"
  v->magnitude = absolute - (v->negative ? 1 : 0);
  return true;
}

void AppendHashDigits(std::string_view hash, TextDigits digits, uint32_t width,
                      std::string* out) {
  switch (digits) {
    case Text::HEX_UNPADDED: {
      std::string hex;
      AppendHex(hash, digits, &hex);
      const size_t first = std::min(hex.find_first_not_of('0'), hex.size() - 1);
      out->append(hex, first, std::string::npos);
      return;
    }
    case Text::DECIMAL: {
      const std::string number = DecimalOf(hash);
      DOVETAIL_CHECK(width == 0 || number.size() <= width);
      if (width != 0) out->append(width - number.size(), '0');
      out->append(number);
      return;
    }
    case Text::SIGNED_DECIMAL:
      DOVETAIL_CHECK(AppendDigits(JavaInteger(hash), digits, 0, out));
      return;
    default: {
      const size_t start = out->size();
      AppendHex(hash, digits, out);
      if (width != 0) out->resize(start + width);
      return;
    }
  }
}

bool IsHashDigits(std::string_view text, size_t bytes, TextDigits digits,
                  uint32_t width) {
  if (width != 0 && text.size() != width) return false;
  switch (digits) {
    case Text::HEX_UNPADDED:
      return AreDigits(text, digits) && !HasNeedlessZero(text) &&
             text.size() <= 2 * bytes;
    case Text::DECIMAL: {
      if (!AreDigits(text, digits)) return false;
      if (width == 0 && HasNeedlessZero(text)) return false;
      text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
      const std::string max = GreatestDecimal(bytes);
      return text.size() != max.size() ? text.size() < max.size() : text <= max;
    }
    case Text::SIGNED_DECIMAL: {
      SignedMagnitude v;
      return ParseDigits(text, digits, 0, &v) &&
             v.magnitude >> (8 * bytes - 1) == 0;
    }
    default:
      return AreDigits(text, digits) &&
             (width != 0 || text.size() == 2 * bytes);
  }
}

char BehindDigits(TextDigits digits) {
  if (digits == Text::HEX_UPPER) return 'F' + 1;
  return IsHex(digits) ? 'f' + 1 : '9' + 1;
}

size_t DecimalDigits(size_t bytes) { return GreatestDecimal(bytes).size(); }

uint32_t DigitsOf(uint64_t number, TextDigits digits) {
  std::string text;
  AppendDigits({.magnitude = number}, digits, 0, &text);
  return static_cast<uint32_t>(text.size());
}

}  // namespace dovetail
