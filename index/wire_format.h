// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The Protobuf wire format, read as the generated parsers read it: the same
// bytes are accepted and the same bits of overlong integers are dropped.
//
// The readers take a position and the end of what may be read, and return the
// position behind what they read, or null if the bytes are malformed or end
// too early.

#pragma once

#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "google/protobuf/descriptor.h"

namespace dovetail::wire {

enum WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// Messages and groups nest at most this deep below the record.
inline constexpr int kDepthMax = 100;

// Protobuf parses no message longer than this.
inline constexpr size_t kMessageBytesMax = INT_MAX - 16;

inline constexpr ptrdiff_t kVarintBytesMax = 10;
inline constexpr ptrdiff_t kTagBytesMax = 5;
inline constexpr ptrdiff_t kLengthBytesMax = 5;

constexpr uint32_t MakeTag(int number, WireType type) {
  return static_cast<uint32_t>(number) << 3 | type;
}
constexpr WireType TypeOfTag(uint32_t tag) {
  return static_cast<WireType>(tag & 7);
}
constexpr uint32_t NumberOfTag(uint32_t tag) { return tag >> 3; }

// The wire type of one value of the field, not packed.
WireType WireTypeOf(const google::protobuf::FieldDescriptor& field);

// Whether an enum field takes only the values that its enum names. In this
// version of Protobuf the file of the field decides, not that of the enum.
bool IsClosedEnum(const google::protobuf::FieldDescriptor& field);

constexpr size_t VarintSize(uint64_t v) {
  return static_cast<size_t>(std::bit_width(v | 1) + 6) / 7;
}

constexpr int32_t DecodeZigZag32(uint32_t v) {
  return static_cast<int32_t>(v >> 1 ^ (0u - (v & 1)));
}
constexpr int64_t DecodeZigZag64(uint64_t v) {
  return static_cast<int64_t>(v >> 1 ^ (uint64_t{0} - (v & 1)));
}

// Up to ten bytes; bits beyond the 64th are dropped.
const char* ReadVarintSlow(const char* p, const char* end, uint64_t* v);
inline const char* ReadVarint(const char* p, const char* end, uint64_t* v) {
  if (p < end && static_cast<uint8_t>(*p) < 0x80) [[likely]] {
    *v = static_cast<uint8_t>(*p);
    return p + 1;
  }
  return ReadVarintSlow(p, end, v);
}

// Up to five bytes; bits beyond the 32nd are dropped. Whether the tag makes
// sense is for the caller to see.
const char* ReadTagSlow(const char* p, const char* end, uint32_t* tag);
inline const char* ReadTag(const char* p, const char* end, uint32_t* tag) {
  if (p < end && static_cast<uint8_t>(*p) < 0x80) [[likely]] {
    *tag = static_cast<uint8_t>(*p);
    return p + 1;
  }
  return ReadTagSlow(p, end, tag);
}

// A length of up to five bytes that does not reach beyond `end`.
const char* ReadLengthSlow(const char* p, const char* end, size_t* length);
inline const char* ReadLength(const char* p, const char* end, size_t* length) {
  if (p < end && static_cast<uint8_t>(*p) < 0x80) [[likely]] {
    *length = static_cast<uint8_t>(*p);
    return *length <= static_cast<size_t>(end - p - 1) ? p + 1 : nullptr;
  }
  return ReadLengthSlow(p, end, length);
}

inline const char* SkipFixed(const char* p, const char* end, ptrdiff_t size) {
  return end - p >= size ? p + size : nullptr;
}

inline uint32_t LoadFixed32(const char* p) {
  const auto* b = reinterpret_cast<const uint8_t*>(p);
  return uint32_t{b[0]} | uint32_t{b[1]} << 8 | uint32_t{b[2]} << 16 |
         uint32_t{b[3]} << 24;
}
inline uint64_t LoadFixed64(const char* p) {
  return LoadFixed32(p) | uint64_t{LoadFixed32(p + 4)} << 32;
}

// Skips the value behind `tag`, which is a field of no known meaning: null
// too for field number 0, an end-group tag and the unused wire types.
// `depth_left` is how many groups may still be opened inside each other.
const char* SkipValue(const char* p, const char* end, uint32_t tag,
                      int depth_left);

// Skips the rest of a group whose start tag was `start_tag`. `*body_end`, if
// given, becomes the position of its end tag.
const char* SkipGroup(const char* p, const char* end, uint32_t start_tag,
                      int depth_left, const char** body_end = nullptr);

// Whether [p, end) is whole varints.
bool IsPackedVarints(const char* p, const char* end);

}  // namespace dovetail::wire
