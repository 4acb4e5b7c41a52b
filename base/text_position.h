// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A place in a text file, as editors count.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dovetail {

struct TextPosition {
  uint64_t line = 0;    // From 1; 0: no place.
  uint64_t column = 0;  // In characters of UTF-8, from 1.

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

// The place of byte `offset` of `text`, which begins on line `line`.
TextPosition PositionIn(std::string_view text, size_t offset, uint64_t line);

// "FILE:LINE:COLUMN", the form editors jump to.
std::string FormatPosition(std::string_view file, TextPosition position);

}  // namespace dovetail
