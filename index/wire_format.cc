// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/wire_format.h"

namespace dovetail::wire {

using google::protobuf::FieldDescriptor;

WireType WireTypeOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return kFixed64;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return kFixed32;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
    case FieldDescriptor::TYPE_MESSAGE:
      return kLengthDelimited;
    case FieldDescriptor::TYPE_GROUP:
      return kStartGroup;
    default:
      return kVarint;
  }
}

bool IsClosedEnum(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_ENUM &&
         field.file()->syntax() !=
             google::protobuf::FileDescriptor::SYNTAX_PROTO3;
}

const char* ReadVarintSlow(const char* p, const char* end, uint64_t* v) {
  if (end - p > kVarintBytesMax) end = p + kVarintBytesMax;
  uint64_t result = 0;
  for (int shift = 0; p < end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*p++);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *v = result;
      return p;
    }
  }
  return nullptr;
}

const char* ReadTagSlow(const char* p, const char* end, uint32_t* tag) {
  uint64_t v;
  p = ReadVarintSlow(p, end - p > kTagBytesMax ? p + kTagBytesMax : end, &v);
  if (p != nullptr) *tag = static_cast<uint32_t>(v);
  return p;
}

const char* ReadLengthSlow(const char* p, const char* end, size_t* length) {
  uint64_t v;
  p = ReadVarintSlow(p, end - p > kLengthBytesMax ? p + kLengthBytesMax : end,
                     &v);
  if (p == nullptr || v > static_cast<size_t>(end - p)) return nullptr;
  *length = v;
  return p;
}

const char* SkipValue(const char* p, const char* end, uint32_t tag,
                      int depth_left) {
  if (NumberOfTag(tag) == 0) return nullptr;
  switch (TypeOfTag(tag)) {
    case kVarint: {
      uint64_t v;
      return ReadVarint(p, end, &v);
    }
    case kFixed64:
      return SkipFixed(p, end, 8);
    case kLengthDelimited: {
      size_t length;
      p = ReadLength(p, end, &length);
      return p == nullptr ? nullptr : p + length;
    }
    case kStartGroup:
      return SkipGroup(p, end, tag, depth_left);
    case kFixed32:
      return SkipFixed(p, end, 4);
    default:
      return nullptr;
  }
}

const char* SkipGroup(const char* p, const char* end, uint32_t start_tag,
                      int depth_left, const char** body_end) {
  if (depth_left <= 0) return nullptr;
  while (p < end) {
    const char* start = p;
    uint32_t tag;
    p = ReadTag(p, end, &tag);
    if (p == nullptr) return nullptr;
    if (TypeOfTag(tag) == kEndGroup) {
      if (body_end != nullptr) *body_end = start;
      return tag == start_tag + 1 ? p : nullptr;
    }
    p = SkipValue(p, end, tag, depth_left - 1);
    if (p == nullptr) return nullptr;
  }
  return nullptr;
}

bool IsPackedVarints(const char* p, const char* end) {
  while (p != nullptr && p < end) {
    uint64_t v;
    p = ReadVarint(p, end, &v);
  }
  return p != nullptr;
}

}  // namespace dovetail::wire
