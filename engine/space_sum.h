// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The sum behind a digest: of what one space, a table's rows or an index,
// holds. Free of order: adding and taking away commute, so a commit changes
// the sum by what it changes, and nobody else needs to be read.
// docs/format.md specifies the hash.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"

namespace dovetail {

struct SpaceSum {
  uint64_t count = 0;     // Rows or entries.
  absl::uint128 sum = 0;  // Of their hashes, modulo 2^128.

  SpaceSum& operator+=(const SpaceSum& other) {
    count += other.count;
    sum += other.sum;
    return *this;
  }
  SpaceSum& operator-=(const SpaceSum& other) {
    count -= other.count;
    sum -= other.sum;
    return *this;
  }
  friend SpaceSum operator-(SpaceSum a, const SpaceSum& b) { return a -= b; }
  friend bool operator==(const SpaceSum&, const SpaceSum&) = default;
};

// Appends the 16 bytes of a sum, big-endian.
void AppendSum(absl::uint128 sum, std::string* out);
// The other way. REQUIRES: bytes.size() == 16.
absl::uint128 ParseSum(std::string_view bytes);

// Hashes what one space holds. Immutable, thread-safe.
class SpaceHasher {
 public:
  // An empty `index` is the table's rows.
  SpaceHasher(std::string_view table, std::string_view index);

  // One row, by key and record, or one entry, by key and value: as a sum of
  // one. Keys are without the prefix of their space.
  SpaceSum Of(std::string_view key, std::string_view value) const;

 private:
  std::string name_;  // Framed, as every hash begins.
};

}  // namespace dovetail
