// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Integers as bytes: big-endian for keys, varints (base 128, low group first,
// as Protobuf writes them) for values.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dovetail {

// Appends the low `bytes` bytes of `v`, most significant first.
inline void AppendBigEndian(uint64_t v, int bytes, std::string* out) {
  char buffer[8];
  for (int i = 0; i < bytes; ++i) {
    buffer[i] = static_cast<char>(v >> (8 * (bytes - 1 - i)));
  }
  out->append(buffer, static_cast<size_t>(bytes));
}

// REQUIRES: `p` has `bytes` bytes.
inline uint64_t DecodeBigEndian(const char* p, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; ++i) v = v << 8 | static_cast<uint8_t>(p[i]);
  return v;
}

inline void AppendVarint(uint64_t v, std::string* out) {
  while (v >= 0x80) {
    out->push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out->push_back(static_cast<char>(v));
}

// Takes a varint from the front of `in`. False, with `in` unchanged, if it is
// cut off or longer than ten bytes; bits beyond 64 are dropped, as Protobuf
// drops them.
inline bool ConsumeVarint(std::string_view* in, uint64_t* v) {
  uint64_t result = 0;
  for (size_t i = 0; i < in->size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>((*in)[i]);
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *v = result;
      in->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace dovetail
