// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Numbers and hashes as the digits that TEXT keys hold. Encode stands beside
// decode; decoders return false for any text that the encoder does not write.
// Internal to the key codec.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dovetail/v1/schema.pb.h"
#include "index/ordered_codec.h"

namespace dovetail {

using TextDigits = v1::KeyPart::Text::Digits;

// Appends a number in DECIMAL, HEX or HEX_UPPER: as short as it is if `width`
// is 0, else with zeros, behind the sign, to exactly `width` bytes, as Java's
// %05d does. False, with `*out` as it was, if it needs more.
// REQUIRES: HEX is of numbers that are not negative.
bool AppendDigits(SignedMagnitude v, TextDigits digits, uint32_t width,
                  std::string* out);
bool ParseDigits(std::string_view text, TextDigits digits, uint32_t width,
                 SignedMagnitude* v);

// Appends a hash's bytes: HEX in two digits each, cut to `width` bytes if that
// is not 0; HEX_UNPADDED and DECIMAL as one unsigned integer, DECIMAL with
// zeros in front to `width`; SIGNED_DECIMAL as an int (4 bytes) or long (8).
// REQUIRES: `width` is 0 or holds every hash of so many bytes.
void AppendHashDigits(std::string_view hash, TextDigits digits, uint32_t width,
                      std::string* out);
// Whether some hash of `bytes` bytes has this text.
bool IsHashDigits(std::string_view text, size_t bytes, TextDigits digits,
                  uint32_t width);

// Digits of the greatest unsigned integer of `bytes` bytes, in DECIMAL.
size_t DecimalDigits(size_t bytes);

// Digits of a number, in DECIMAL or HEX.
uint32_t DigitsOf(uint64_t number, TextDigits digits);

// The byte behind the greatest digit: numbers of one width are texts from "0"
// up to this one.
char BehindDigits(TextDigits digits);

}  // namespace dovetail
