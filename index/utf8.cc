// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/utf8.h"

namespace dovetail {
namespace {

bool IsContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// The length of the sequence that starts at `p`, 0 if it is not valid. What
// Unicode forbids (overlong forms, surrogates, values above U+10FFFF) all
// shows in the range of the second byte.
size_t SequenceLength(const uint8_t* p, size_t left) {
  const uint8_t lead = p[0];
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return left >= 2 && IsContinuation(p[1]) ? 2 : 0;
  const size_t length = lead < 0xf0 ? 3 : 4;
  if (left < length) return 0;
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (p[1] < low || p[1] > high || !IsContinuation(p[2])) return 0;
  return length == 3 || IsContinuation(p[3]) ? length : 0;
}

}  // namespace

bool IsValidUtf8Slow(std::string_view text) {
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t left = text.size(); left > 0;) {
    const size_t length = SequenceLength(p, left);
    if (length == 0) return false;
    p += length;
    left -= length;
  }
  return true;
}

}  // namespace dovetail
