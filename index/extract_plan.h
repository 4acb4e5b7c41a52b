// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the extractor does with each field of each message type, compiled from
// descriptors. Internal to the extractor.
//
// A plan is a graph of message plans. Types that occur off the tracked paths
// are there to be validated only; they share one plan per type, so a
// recursive type is a cycle in the graph. On the tracked paths every place
// has a plan of its own, which knows the slots of the leaves below it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "index/number_table.h"

namespace dovetail::internal {

// How the value behind a tag is read.
enum class FieldOp : uint8_t {
  kUnknown,
  // Checked, but of no further interest.
  kSkipVarint,
  kSkipFixed32,
  kSkipFixed64,
  kSkipBytes,
  kCheckUtf8,
  // Descended into.
  kMessage,
  kGroup,
  // Kept in slots, or clearing those of a oneof.
  kBool,
  kInt32,  // Also an open enum.
  kUint32,
  kVarint64,
  kZigZag32,
  kZigZag64,
  kClosedEnum,
  kFixed32,
  kSfixed32,
  kFixed64,
  kBytes,
  kUtf8,
  // Of a repeated field whose elements are kept.
  kElement,
};

// The part of a slot that a field fills.
enum class SlotPart : uint8_t { kValue, kSeconds, kNanos };

struct Target {
  uint32_t slot;
  SlotPart part;
};

// A range of one of the plan's arrays.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct FieldPlan {
  // Of one value, not packed. 0: no such field.
  uint32_t tag = 0;
  FieldOp op = FieldOp::kUnknown;
  // A repeated field of numbers: may also come as one packed value.
  bool packable = false;
  // kMessage, kGroup: index in messages. kClosedEnum: index in enums.
  // kElement: index in elements.
  uint32_t child = 0;
  Range targets;  // In `targets`.
  Range clears;   // In `clears`: slots below the other members of the oneof.
};

struct MessagePlan {
  std::string type_name;
  NumberTable<FieldPlan> fields;
  // Slots that get their default when the message is there: leaves without
  // presence, and the message itself if it is a tracked Timestamp.
  std::vector<uint32_t> entered;
};

// The values of a closed enum, sorted.
using EnumValues = std::vector<int32_t>;
EnumValues ValuesOf(const google::protobuf::EnumDescriptor& type);
bool Contains(const EnumValues& values, int32_t v);

struct ExtractPlan {
  std::vector<MessagePlan> messages;  // [0] is the record.
  std::vector<Target> targets;
  std::vector<uint32_t> clears;
  std::vector<EnumValues> enums;
  // How one element is read, as if it were a single field.
  std::vector<FieldPlan> elements;
};

using FieldPath = std::vector<const google::protobuf::FieldDescriptor*>;

// REQUIRES: the paths are ResolvePath's, and end in single leaves or repeated
// fields of scalars.
ExtractPlan CompileExtractPlan(const google::protobuf::Descriptor& record,
                               const std::vector<FieldPath>& paths);

}  // namespace dovetail::internal
