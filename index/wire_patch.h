// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A patch on wire bytes: named fields of one record replaced by their values
// in another, everything else kept, unknown fields included.
//
// The result is in canonical order, so that equal content written by patches
// gives equal bytes: fields by ascending number at every level the patch
// touches, integers in their shortest form, of a singular scalar field only
// its last occurrence and none if that is the default of a field without
// presence, of a oneof only the member that counts, all occurrences of a
// singular message folded into one.
//
// What a patch does not touch keeps its bytes: the inside of messages that no
// path leads into (unless folded), the order and packing of the elements of
// repeated fields, the order of map entries, the inside of unknown fields.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace dovetail {

// The compiled form of one set of paths. Thread-compatible.
class WirePatch {
 public:
  // `paths` may name any field of the record: scalars, whole messages,
  // repeated fields (replaced as a whole), fields inside singular messages.
  // `record` need not outlive the patch. InvalidArgument for a path that is
  // unknown, goes through a repeated field, is given twice, or is a prefix of
  // another one; for an empty list.
  static absl::StatusOr<WirePatch> Compile(
      const google::protobuf::Descriptor& record,
      const std::vector<std::string>& paths);
  WirePatch(WirePatch&&) noexcept;
  WirePatch& operator=(WirePatch&&) noexcept;
  ~WirePatch();

  // Replaces `*out` by `record` with the patch's fields taken from `values`;
  // a field that `values` does not set is removed. Setting a oneof member
  // removes the other members. A message on the way to a nested path is
  // created if `values` sets one of the paths' fields in it. Removing a field
  // that is required is not refused here.
  //
  // Of both messages only the levels that the patch touches are read: they
  // must be well formed (InvalidArgument, with the byte offset), the rest is
  // copied unseen.
  // REQUIRES: both are valid messages of the type (Extractor accepted them),
  // and neither is a view of `*out`.
  absl::Status Apply(std::string_view record, std::string_view values,
                     std::string* out) const;

 private:
  struct Plan;
  explicit WirePatch(std::unique_ptr<const Plan> plan);

  std::unique_ptr<const Plan> plan_;
};

}  // namespace dovetail
