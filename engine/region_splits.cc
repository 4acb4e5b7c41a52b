// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where to cut a space of keys that nothing is known of but its alphabet.

#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "dovetail/regions.h"

namespace dovetail {
namespace {

constexpr size_t kDigitsMax = 18;

absl::Status CheckCount(size_t regions) {
  if (regions >= 1 && regions <= kRegionsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a table has 1 to ", kRegionsMax, " regions: given=", regions));
}

// The i-th of `regions` equal parts of `range` begins here.
uint64_t Bound(absl::uint128 range, size_t i, size_t regions) {
  return absl::Uint128Low64(range * i / regions);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> UniformSplits(size_t regions) {
  RETURN_IF_ERROR(CheckCount(regions));
  std::vector<std::string> keys;
  for (size_t i = 1; i < regions; ++i) {
    std::string key;
    AppendBigEndian(Bound(absl::uint128(1) << 64, i, regions), 8, &key);
    // The key without zeros at its end has the same rows behind it, and is
    // what a key that begins with a shorter hash is compared with.
    while (key.back() == '\0') key.pop_back();
    keys.push_back(std::move(key));
  }
  return keys;
}

absl::StatusOr<std::vector<std::string>> HexSplits(size_t regions) {
  RETURN_IF_ERROR(CheckCount(regions));
  std::vector<std::string> keys;
  // HBase rounds the width of a region down, not each of the bounds.
  const uint64_t width = (uint64_t{1} << 32) / regions;
  for (size_t i = 1; i < regions; ++i) {
    keys.push_back(absl::StrFormat("%08x", width * i));
  }
  return keys;
}

absl::StatusOr<std::vector<std::string>> DecimalSplits(size_t regions,
                                                       size_t digits) {
  RETURN_IF_ERROR(CheckCount(regions));
  uint64_t numbers = 1;
  for (size_t i = 0; i < digits && i < kDigitsMax; ++i) numbers *= 10;
  if (digits < 1 || digits > kDigitsMax || numbers < regions) {
    return absl::InvalidArgumentError(absl::StrCat(
        "decimal splits need 1 to ", kDigitsMax,
        " digits, and no fewer numbers than regions: digits=", digits,
        " regions=", regions));
  }
  std::vector<std::string> keys;
  for (size_t i = 1; i < regions; ++i) {
    keys.push_back(absl::StrFormat("%0*d", static_cast<int>(digits),
                                   Bound(numbers, i, regions)));
  }
  return keys;
}

}  // namespace dovetail
