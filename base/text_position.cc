// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/text_position.h"

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail {

TextPosition PositionIn(std::string_view text, size_t offset, uint64_t line) {
  TextPosition position{line, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++position.column;  // Not a continuation byte.
    }
  }
  return position;
}

std::string FormatPosition(std::string_view file, TextPosition position) {
  return absl::StrCat(ToAbsl(file == "-" ? "(stdin)" : file), ":",
                      position.line, ":", position.column);
}

}  // namespace dovetail
