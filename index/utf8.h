// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Is a text UTF-8, in the sense in which Protobuf asks of proto3 strings:
// shortest forms only, no surrogates, nothing above U+10FFFF; NUL is allowed.

#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace dovetail {

// The whole check. IsValidUtf8 is the same and faster on ASCII.
bool IsValidUtf8Slow(std::string_view text);

inline bool IsValidUtf8(std::string_view text) {
  const auto load = [](const char* p) {
    uint64_t word;
    std::memcpy(&word, p, sizeof(word));
    return word;
  };
  const char* p = text.data();
  size_t left = text.size();
  uint64_t seen = 0;
  if (left >= 8) {
    seen = load(p + left - 8);  // The tail, and some of what precedes it.
    for (; left > 8; p += 8, left -= 8) seen |= load(p);
  } else {
    for (; left > 0; ++p, --left) seen |= static_cast<uint8_t>(*p);
  }
  if ((seen & 0x8080808080808080u) == 0) [[likely]]
    return true;
  return IsValidUtf8Slow(text);
}

}  // namespace dovetail
