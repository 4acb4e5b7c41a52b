// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/hex.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {

std::string ToHex(std::string_view bytes) {
  return absl::BytesToHexString(ToAbsl(bytes));
}

absl::StatusOr<std::string> ParseHex(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  if (digits.size() % 2 != 0 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") !=
          std::string_view::npos) {
    return UsageError(absl::StrCat(
        "hexadecimal digits come in pairs, 0 to 9 and a to f: given=",
        ToAbsl(Quote(text, 256))));
  }
  return absl::HexStringToBytes(ToAbsl(digits));
}

}  // namespace dovetail::cli
