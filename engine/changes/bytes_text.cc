// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/bytes_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

using Binary = v1::FieldMapping::Binary;
using Kind = ForeignValue::Kind;

absl::Status NotBytes(std::string_view form, std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "not bytes in ", ToAbsl(form), ": value=", ToAbsl(Quote(text))));
}

bool FromHex(std::string_view text, std::string* bytes) {
  if (text.size() % 2 != 0) return false;
  for (const char c : text) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
  }
  *bytes = absl::HexStringToBytes(ToAbsl(text));
  return true;
}

// UTF-8 of characters up to U+00FF, a byte each.
bool FromLatin1(std::string_view text, std::string* bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      *bytes += text[i];
      continue;
    }
    if ((lead != 0xc2 && lead != 0xc3) || i + 1 == text.size()) return false;
    const auto next = static_cast<unsigned char>(text[++i]);
    if ((next & 0xc0) != 0x80) return false;
    *bytes += static_cast<char>((lead & 3) << 6 | (next & 0x3f));
  }
  return true;
}

bool FromBigEndian(std::string_view bytes, std::string* digits) {
  if (bytes.size() != 1 && bytes.size() != 2 && bytes.size() != 4 &&
      bytes.size() != 8) {
    return false;
  }
  uint64_t number = (bytes[0] & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char c : bytes) {
    number = number << 8 | static_cast<unsigned char>(c);
  }
  *digits = absl::StrCat(static_cast<int64_t>(number));
  return true;
}

}  // namespace

absl::Status DecodeBinary(Binary::Form form, ForeignValue* value) {
  const bool number = form == Binary::BIG_ENDIAN_INTEGER;
  if (value->kind == Kind::kBytes && !number) return {};
  if (value->kind != Kind::kBytes && value->kind != Kind::kString) {
    return NotBytes("a text", value->text);
  }
  std::string decoded;
  switch (form) {
    case Binary::BASE64:
      if (!absl::Base64Unescape(value->text, &decoded)) {
        return NotBytes("base64", value->text);
      }
      break;
    case Binary::HEX:
      if (!FromHex(value->text, &decoded)) return NotBytes("hex", value->text);
      break;
    case Binary::LATIN1:
      if (!FromLatin1(value->text, &decoded)) {
        return NotBytes("characters of Latin-1", value->text);
      }
      break;
    case Binary::BIG_ENDIAN_INTEGER:
      if (!FromBigEndian(value->text, &decoded)) {
        return absl::InvalidArgumentError(
            absl::StrCat("not 1, 2, 4 or 8 bytes of an integer: bytes=",
                         value->text.size()));
      }
      break;
    default:
      decoded = std::move(value->text);
      break;
  }
  value->text = std::move(decoded);
  value->kind = number ? Kind::kNumber : Kind::kBytes;
  return {};
}

}  // namespace dovetail::changes
