// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ordered varints. With v the integer and, for negative ones, u = -1 - v:
//
//   v >= 120       0xF8 + n - 1, then v - 120 in n bytes big-endian
//   0 .. 119       0x80 + v
//   -120 .. -1     0x7F - u
//   v < -120       0x07 - (n - 1), then the complement of u - 120 in n bytes
//
// where n, 1 to 8, is the least number of bytes that holds the number. The
// first byte alone tells the length, and falls or rises with it; within one
// length the bytes behind it are in order. Negative forms are the complements
// of those of u, which is how they are written and read.

#include "index/ordered_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/coding.h"
#include "index/utf8.h"

namespace dovetail {
namespace {

constexpr char kEnd = 0x00;
constexpr char kEscape = 0x01;
constexpr uint64_t kSmallCount = 120;
constexpr uint8_t kLongFirst = 0xF8;

// Length of the longest prefix without 0x00 and 0x01, eight bytes at a time:
// clearing the low bit of each byte makes both of them zero, and a word has a
// zero byte iff subtracting one from each byte borrows into a high bit.
size_t PlainPrefix(std::string_view s) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= s.size(); i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, s.data() + i, sizeof(word));
    word &= ~kOnes;
    if (((word - kOnes) & ~word & kHighBits) != 0) break;
  }
  while (i < s.size() && static_cast<uint8_t>(s[i]) > 1) ++i;
  return i;
}

void AppendEscapedByte(char c, std::string* out) {
  if (static_cast<uint8_t>(c) > 1) {
    out->push_back(c);
  } else {
    out->push_back(kEscape);
    out->push_back(static_cast<char>(c + 1));
  }
}

// The last character of valid UTF-8.
std::string_view LastCharacter(std::string_view text) {
  size_t start = text.size() - 1;
  while ((static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) --start;
  return text.substr(start);
}

template <typename Bits>
constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);

// Infinity: the exponent's bits set, the fraction's clear.
template <typename Bits>
constexpr Bits kInfinity = std::bit_cast<Bits>(
    std::numeric_limits<
        std::conditional_t<sizeof(Bits) == 4, float, double>>::infinity());

// The quiet NaN without sign and payload.
template <typename Bits>
constexpr Bits kNan = kInfinity<Bits> | (kInfinity<Bits> & ~kSign<Bits>) >> 1;

template <typename Bits>
Bits Canonical(Bits bits) {
  if ((bits & ~kSign<Bits>) > kInfinity<Bits>) return kNan<Bits>;
  return bits == kSign<Bits> ? 0 : bits;
}

template <typename Bits>
Bits OrderedFrom(Bits bits) {
  bits = Canonical(bits);
  return (bits & kSign<Bits>) != 0 ? ~bits : bits ^ kSign<Bits>;
}

template <typename Bits>
bool FromOrdered(Bits ordered, Bits* bits) {
  *bits = (ordered & kSign<Bits>) != 0 ? ordered ^ kSign<Bits> : ~ordered;
  return *bits == Canonical(*bits);
}

}  // namespace

void AppendEscaped(std::string_view text, std::string* out) {
  for (;;) {
    const size_t plain = PlainPrefix(text);
    out->append(text.data(), plain);
    if (plain == text.size()) break;
    AppendEscapedByte(text[plain], out);
    text.remove_prefix(plain + 1);
  }
  out->push_back(kEnd);
}

bool UnescapeInPlace(std::string* body) {
  if (body->empty() || body->back() != kEnd) return false;
  body->pop_back();
  const size_t plain = PlainPrefix(*body);
  char* to = body->data() + plain;
  const char* const end = body->data() + body->size();
  for (const char* from = to; from != end; ++from) {
    if (*from == kEnd) return false;
    if (*from == kEscape) {
      if (++from == end || (*from != 1 && *from != 2)) return false;
      *to++ = static_cast<char>(*from - 1);
    } else {
      *to++ = *from;
    }
  }
  body->resize(static_cast<size_t>(to - body->data()));
  return true;
}

bool AppendReversedCharacters(std::string_view text, std::string* out) {
  if (!IsValidUtf8(text)) return false;
  while (!text.empty()) {
    const std::string_view last = LastCharacter(text);
    if (last.size() == 1) {
      AppendEscapedByte(last[0], out);
    } else {
      out->append(last);
    }
    text.remove_suffix(last.size());
  }
  out->push_back(kEnd);
  return true;
}

void AppendReversedBytes(std::string_view text, std::string* out) {
  for (size_t i = text.size(); i-- > 0;) AppendEscapedByte(text[i], out);
  out->push_back(kEnd);
}

bool ReverseCharacters(std::string_view text, std::string* out) {
  if (!IsValidUtf8(text)) return false;
  out->clear();
  out->reserve(text.size());
  while (!text.empty()) {
    const std::string_view last = LastCharacter(text);
    out->append(last);
    text.remove_suffix(last.size());
  }
  return true;
}

uint32_t OrderedFromFloat(uint32_t bits) { return OrderedFrom(bits); }
uint64_t OrderedFromDouble(uint64_t bits) { return OrderedFrom(bits); }
bool FloatFromOrdered(uint32_t ordered, uint32_t* bits) {
  return FromOrdered(ordered, bits);
}
bool DoubleFromOrdered(uint64_t ordered, uint64_t* bits) {
  return FromOrdered(ordered, bits);
}

void AppendOrderedVarint(SignedMagnitude v, std::string* out) {
  char buffer[9];
  size_t size = 1;
  if (v.magnitude < kSmallCount) {
    buffer[0] = static_cast<char>(0x80 + v.magnitude);
  } else {
    const uint64_t rest = v.magnitude - kSmallCount;
    const int bytes =
        std::max(1, (static_cast<int>(std::bit_width(rest)) + 7) / 8);
    buffer[0] = static_cast<char>(kLongFirst + bytes - 1);
    for (int i = bytes - 1; i >= 0; --i) {
      buffer[size++] = static_cast<char>(rest >> (8 * i));
    }
  }
  if (v.negative) {
    for (size_t i = 0; i < size; ++i) buffer[i] = static_cast<char>(~buffer[i]);
  }
  out->append(buffer, size);
}

size_t OrderedVarintBytes(uint8_t first) {
  if (first < 0x80) first = static_cast<uint8_t>(~first);
  return first < kLongFirst ? 1 : size_t{first} - kLongFirst + 2;
}

bool DecodeOrderedVarint(std::string_view body, SignedMagnitude* v) {
  auto first = static_cast<uint8_t>(body[0]);
  v->negative = first < 0x80;
  if (v->negative) first = static_cast<uint8_t>(~first);
  if (first < kLongFirst) {
    v->magnitude = first - 0x80u;
    return true;
  }
  const int bytes = static_cast<int>(body.size()) - 1;
  uint64_t rest = 0;
  for (int i = 1; i <= bytes; ++i) {
    const auto byte = static_cast<uint8_t>(body[static_cast<size_t>(i)]);
    rest = rest << 8 | (v->negative ? static_cast<uint8_t>(~byte) : byte);
  }
  if (bytes > 1 && rest >> (8 * (bytes - 1)) == 0) return false;
  if (rest > std::numeric_limits<uint64_t>::max() - kSmallCount) return false;
  v->magnitude = rest + kSmallCount;
  return true;
}

}  // namespace dovetail
