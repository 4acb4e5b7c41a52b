// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/group_value.h"

#include <limits>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/coding.h"

namespace dovetail {
namespace {

constexpr size_t kSumBytesMax = 16;

// Two's complement, in as few bytes as keep the sign; none for 0.
void AppendMinimal(absl::int128 sum, std::string* out) {
  char bytes[kSumBytesMax];
  size_t n = 0;
  for (absl::int128 rest = sum; n < kSumBytesMax; rest >>= 8) {
    const bool sign_is_kept =
        n > 0 && (static_cast<signed char>(bytes[n - 1]) < 0) == (sum < 0);
    const bool done = rest == (sum < 0 ? -1 : 0);
    if (done && (sign_is_kept || sum == 0)) break;
    bytes[n++] = static_cast<char>(absl::Int128Low64(rest) & 0xff);
  }
  while (n > 0) out->push_back(bytes[--n]);
}

}  // namespace

void AppendGroupValue(const GroupValue& value, bool with_sum,
                      std::string* out) {
  DOVETAIL_CHECK(value.count > 0);
  AppendVarint(static_cast<uint64_t>(value.count), out);
  if (with_sum) AppendMinimal(value.sum, out);
}

absl::StatusOr<GroupValue> ParseGroupValue(std::string_view bytes,
                                           bool with_sum) {
  const std::string_view whole = bytes;
  uint64_t count = 0;
  GroupValue value;
  if (ConsumeVarint(&bytes, &count) && count > 0 &&
      count <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
      bytes.size() <= (with_sum ? kSumBytesMax : 0)) {
    value.count = static_cast<int64_t>(count);
    if (!bytes.empty() && static_cast<signed char>(bytes[0]) < 0) {
      value.sum = -1;
    }
    for (const char c : bytes) {
      value.sum = absl::int128((absl::uint128(value.sum) << 8) |
                               static_cast<uint8_t>(c));
    }
    // One form for each value.
    std::string canonical;
    AppendGroupValue(value, with_sum, &canonical);
    if (canonical == whole) return value;
  }
  return absl::InvalidArgumentError("bytes are no count, or no count and sum");
}

}  // namespace dovetail
