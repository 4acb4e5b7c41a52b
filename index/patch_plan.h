// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a patch knows of each field of each message type, compiled from
// descriptors and paths. Internal to WirePatch.
//
// Like the extractor's, the plan is a graph: a message on the way to a nested
// path has a plan of its own, all others share one per type, which is used
// only to fold several occurrences of a message into one.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "index/extract_plan.h"

namespace dovetail::internal {

// How the bits of a varint become the value they stand for.
enum class VarintForm : uint8_t { kBool, kSigned32, kUnsigned32, k64 };

enum class PatchRole : uint8_t {
  kKept,   // From the record.
  kTaken,  // From the values, as a whole.
  kMixed,  // A message on the way to a nested path.
};

struct PatchField {
  uint32_t tag = 0;  // Of one value, not packed. 0: no such field.
  PatchRole role = PatchRole::kKept;
  VarintForm form = VarintForm::k64;
  bool is_message = false;
  bool is_repeated = false;
  bool is_packable = false;
  bool has_presence = false;
  // Of the field; of a map's value. Index in enums, or -1.
  int closed_enum = -1;
  bool is_map = false;
  int oneof = -1;      // Index in the message's oneofs, or -1.
  uint32_t child = 0;  // Of a singular message: index in messages.
};

struct PatchMessage {
  std::string type_name;
  NumberTable<PatchField> fields;
  size_t oneof_count = 0;
};

struct PatchPlan {
  std::vector<PatchMessage> messages;  // [0] is the record.
  std::vector<EnumValues> enums;
};

// REQUIRES: the paths are ResolvePath's, and none is a prefix of another.
PatchPlan CompilePatchPlan(const google::protobuf::Descriptor& record,
                           const std::vector<FieldPath>& paths);

}  // namespace dovetail::internal
