// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The bodies of key parts that are more than an integer: strings, floats and
// integers of variable length as bytes that sort like their values. All of
// them ascending; key_part.cc complements them for DESC. Encode stands beside
// decode; decoders return false for any bytes that the encoder does not write.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dovetail {

// --- Strings: 0x00 -> 0x01 0x01, 0x01 -> 0x01 0x02, end 0x00. ---

void AppendEscaped(std::string_view text, std::string* out);

// Replaces one escaped string, its end included, by the string itself.
// `*body` is unspecified after false.
bool UnescapeInPlace(std::string* body);

// The escaped form of `text` with its UTF-8 characters in reverse order.
// False, with `*out` as it was, if `text` is not UTF-8.
bool AppendReversedCharacters(std::string_view text, std::string* out);

// The escaped form of `text` with its bytes in reverse order.
void AppendReversedBytes(std::string_view text, std::string* out);

// `text` with its characters reversed; false if it is not UTF-8.
bool ReverseCharacters(std::string_view text, std::string* out);

// --- Floats: `bits` are of IEEE 754, in the low half for a float. ---

// Orders as unsigned integers like the numbers: -0.0 counts as 0.0, every NaN
// as the one above infinity.
uint32_t OrderedFromFloat(uint32_t bits);
uint64_t OrderedFromDouble(uint64_t bits);
bool FloatFromOrdered(uint32_t ordered, uint32_t* bits);
bool DoubleFromOrdered(uint64_t ordered, uint64_t* bits);

// --- Ordered varints; the format is at the top of ordered_codec.cc. ---

// An integer of either sign, from -2^64 to 2^64 - 1.
struct SignedMagnitude {
  bool negative = false;
  uint64_t magnitude = 0;  // The integer, or -1 - the integer if negative.
};

void AppendOrderedVarint(SignedMagnitude v, std::string* out);

// Bytes of the ordered varint that starts with `first`.
size_t OrderedVarintBytes(uint8_t first);

// False for a form longer than need be, and for one beyond 64 bits.
// REQUIRES: body.size() == OrderedVarintBytes(body[0]).
bool DecodeOrderedVarint(std::string_view body, SignedMagnitude* v);

}  // namespace dovetail
