// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Record types from .proto files, read when the command runs.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace dovetail::cli {

// Thread-compatible. Must outlive the descriptors it hands out.
class ProtoFiles {
 public:
  // Reads `files` and what they import. `roots` are the directories that
  // imports are relative to, as protoc's -I; none: the directory of each
  // file. google/protobuf/*.proto and dovetail/v1/*.proto are always there.
  // InvalidArgument lists each error as FILE:LINE:COLUMN: cause.
  static absl::StatusOr<std::unique_ptr<ProtoFiles>> Load(
      const std::vector<std::string>& files,
      const std::vector<std::string>& roots);

  ~ProtoFiles();
  ProtoFiles(const ProtoFiles&) = delete;
  ProtoFiles& operator=(const ProtoFiles&) = delete;

  const google::protobuf::DescriptorPool& pool() const;

 private:
  struct State;
  explicit ProtoFiles(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dovetail::cli
