// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The selected fields of a record, copied on its wire bytes: the result is a
// smaller record of the same type.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace dovetail {

// Thread-compatible: Apply may run concurrently.
class Projection {
 public:
  // InvalidArgument for a path that ResolvePath does not take. A path to a
  // message keeps all of it.
  static absl::StatusOr<Projection> Compile(
      const google::protobuf::Descriptor& record,
      const std::vector<std::string>& paths);

  // Replaces `*out`. DataLoss if `record` is no message.
  absl::Status Apply(std::string_view record, std::string* out) const;

 private:
  // What is kept of one field.
  struct Node {
    uint32_t number = 0;
    bool whole = false;
    std::vector<Node> fields;  // Of its message.
  };
  static bool Copy(const Node& node, std::string_view message,
                   std::string* out);

  Node root_;
};

}  // namespace dovetail
