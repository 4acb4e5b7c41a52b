// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What COUNT and SUM indexes keep of a group: how many rows there are, and the
// sum of one of their fields. It is also what a row adds to its group, and,
// with a count below 0, what it takes away.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

namespace dovetail {

struct GroupValue {
  int64_t count = 0;
  // Of values below 2^64, of fewer than 2^63 rows: it cannot overflow.
  absl::int128 sum = 0;

  GroupValue& operator+=(const GroupValue& other) {
    count += other.count;
    sum += other.sum;
    return *this;
  }
  GroupValue operator-() const { return {-count, -sum}; }
  friend bool operator==(const GroupValue&, const GroupValue&) = default;
};

// Appends the value of a group's entry; docs/format.md has the bytes. A COUNT
// index has no sum. REQUIRES: value.count > 0.
void AppendGroupValue(const GroupValue& value, bool with_sum, std::string* out);
// The other way. InvalidArgument for every other bytes.
absl::StatusOr<GroupValue> ParseGroupValue(std::string_view bytes,
                                           bool with_sum);

}  // namespace dovetail
