// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Bytes as hexadecimal digits on the command line.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace dovetail::cli {

std::string ToHex(std::string_view bytes);
// Digits in pairs, with or without "0x" in front. UsageError.
absl::StatusOr<std::string> ParseHex(std::string_view text);

}  // namespace dovetail::cli
