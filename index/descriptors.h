// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Record types as the catalog keeps them: the file of the message and all that
// it imports.

#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"

namespace dovetail {

// The files `record` needs, imports before the files that import them.
google::protobuf::FileDescriptorSet DescriptorsOf(
    const google::protobuf::Descriptor& record);

// A record type out of a set of files. The descriptor lives as long as the
// pool.
struct RecordType {
  std::unique_ptr<google::protobuf::DescriptorPool> pool;
  const google::protobuf::Descriptor* descriptor = nullptr;
};

// InvalidArgument, with protoc's own words, if the files do not form a pool or
// do not define `full_name`.
absl::StatusOr<RecordType> LoadRecordType(
    const google::protobuf::FileDescriptorSet& files,
    const std::string& full_name);

}  // namespace dovetail
