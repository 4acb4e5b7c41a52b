// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Keys in LevelDB's tables are internal keys: the user key and eight bytes that
// hold (sequence << 8 | type) as a fixed64. They are ordered by user key, then
// from the newest to the oldest.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/storage/leveldb_coding.h"
#include "engine/storage/leveldb_status.h"
#include "leveldb/comparator.h"

namespace dovetail {

// The type of a trailer whose key has a value; a deletion has 0.
inline constexpr uint64_t kPutType = 1;

// REQUIRES: at least kInternalKeyTrailerBytes long.
inline std::string_view UserKey(std::string_view internal_key) {
  return internal_key.substr(0, internal_key.size() - kInternalKeyTrailerBytes);
}
inline uint64_t Trailer(std::string_view internal_key) {
  return DecodeFixed64(internal_key.data() + internal_key.size() -
                       kInternalKeyTrailerBytes);
}

// A key too short to be an internal one, which only a damaged table has, comes
// first.
class InternalKeyOrder final : public leveldb::Comparator {
 public:
  int Compare(const leveldb::Slice& a,
              const leveldb::Slice& b) const noexcept override {
    const std::string_view left = ToStd(a);
    const std::string_view right = ToStd(b);
    if (left.size() < kInternalKeyTrailerBytes ||
        right.size() < kInternalKeyTrailerBytes) {
      return left.compare(right);
    }
    const int order = UserKey(left).compare(UserKey(right));
    if (order != 0) return order;
    if (Trailer(left) == Trailer(right)) return 0;
    return Trailer(left) > Trailer(right) ? -1 : 1;
  }
  const char* Name() const noexcept override {
    return "dovetail.InternalKeyOrder";
  }
  void FindShortestSeparator(std::string*,
                             const leveldb::Slice&) const noexcept override {}
  void FindShortSuccessor(std::string*) const noexcept override {}
};

}  // namespace dovetail
