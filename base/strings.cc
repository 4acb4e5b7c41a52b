// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/strings.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
namespace {

std::string Escape(std::string_view bytes, size_t bytes_max, bool quoted) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  const size_t shown = bytes.size() > bytes_max ? bytes_max : bytes.size();
  out.reserve(shown + 2);
  if (quoted) out += '"';
  for (const char c : bytes.substr(0, shown)) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\\' || (quoted && c == '"')) {
      out += '\\';
      out += c;
    } else if (u >= 0x20 && u < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
    }
  }
  if (quoted) out += '"';
  if (shown < bytes.size())
    absl::StrAppend(&out, "...(", bytes.size(), " bytes)");
  return out;
}

}  // namespace

std::string EscapeBytes(std::string_view bytes, size_t bytes_max) {
  return Escape(bytes, bytes_max, /*quoted=*/false);
}

std::string Quote(std::string_view bytes, size_t bytes_max) {
  return Escape(bytes, bytes_max, /*quoted=*/true);
}

}  // namespace dovetail
