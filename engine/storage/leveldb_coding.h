// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The elements of LevelDB's formats: little-endian integers, varints and
// byte strings behind their length.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/coding.h"

namespace dovetail {

// REQUIRES: `p` has 4 bytes.
inline uint32_t DecodeFixed32(const char* p) {
  uint32_t v = 0;
  for (int i = 3; i >= 0; --i) v = v << 8 | static_cast<uint8_t>(p[i]);
  return v;
}

// REQUIRES: `p` has 8 bytes.
inline uint64_t DecodeFixed64(const char* p) {
  return DecodeFixed32(p) | static_cast<uint64_t>(DecodeFixed32(p + 4)) << 32;
}

// The Consume functions take a value from the front of `in`, or return false.

inline bool ConsumeVarint32(std::string_view* in, uint32_t* v) {
  uint64_t wide;
  if (!ConsumeVarint(in, &wide) || wide > UINT32_MAX) return false;
  *v = static_cast<uint32_t>(wide);
  return true;
}

inline bool ConsumeLengthPrefixed(std::string_view* in,
                                  std::string_view* bytes) {
  uint32_t size;
  if (!ConsumeVarint32(in, &size) || size > in->size()) return false;
  *bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

// Sequence numbers share eight bytes with a type in LevelDB's internal keys.
inline constexpr uint64_t kLevelDbSequenceMax = (uint64_t{1} << 56) - 1;
// An internal key is a user key and those eight bytes.
inline constexpr size_t kInternalKeyTrailerBytes = 8;

}  // namespace dovetail
