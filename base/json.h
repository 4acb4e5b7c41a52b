// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// JSON (RFC 8259) as trees whose numbers stay as they are written, so that no
// 64-bit number and no decimal goes through a double, and whose values know
// their place in the text.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/change_stream.h"

namespace dovetail {

struct JsonLimits {
  int depth_max = 100;
  size_t values_max = 1 << 20;  // Memory: about 120 bytes each.
};

// The value that `text` begins with. `*at` is then the byte offset behind it
// and behind white space. InvalidArgument if it is not JSON, names a key
// twice in one object, or is over a limit; `*at` is then that of the fault.
absl::StatusOr<ForeignValue> ParseJson(std::string_view text,
                                       const JsonLimits& limits, size_t* at);

// The object that `line` is. `*at` is set if it is not one.
absl::StatusOr<ForeignValue> ParseJsonObject(std::string_view line, size_t* at);

// The value as JSON again, without white space; bytes as base64.
std::string ToJson(const ForeignValue& value);

}  // namespace dovetail
