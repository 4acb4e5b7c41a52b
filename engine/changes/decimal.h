// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Decimal numbers as texts, exactly.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dovetail::changes {

// More digits than this, in front of the point or behind it, are refused.
inline constexpr int kDecimalDigitsMax = 400;

// The decimal whose unscaled value is the big-endian two's complement that
// `base64` is, with `scale` digits behind the point: "12345.110".
// InvalidArgument if it is not base64, empty or too long.
absl::StatusOr<std::string> DecimalFromBase64(std::string_view base64,
                                              int32_t scale);

// A decimal number times ten to `scale`, if that is an integer of the type.
// `text` may have a sign, a point and an exponent. InvalidArgument says why
// not.
absl::StatusOr<int64_t> ScaledInt64(std::string_view text, int32_t scale);
absl::StatusOr<uint64_t> ScaledUint64(std::string_view text, int32_t scale);

}  // namespace dovetail::changes
