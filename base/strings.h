// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The bridges between std::string_view, which all our own interfaces take,
// and absl::string_view, which is a type of its own in the distribution's
// Abseil; and bytes made readable for messages.

#pragma once

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace dovetail {

inline absl::string_view ToAbsl(std::string_view s) {
  return absl::string_view(s.data(), s.size());
}
inline std::string_view ToStd(absl::string_view s) {
  return std::string_view(s.data(), s.size());
}

// Printable ASCII as it is, other bytes as \xNN; cut behind `bytes_max` bytes
// of input with "..." and the length.
std::string EscapeBytes(std::string_view bytes, size_t bytes_max = 64);

// The same between double quotes, with quotes and backslashes escaped.
std::string Quote(std::string_view bytes, size_t bytes_max = 64);

}  // namespace dovetail
