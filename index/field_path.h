// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Field paths, "ship_to.country", looked up in a descriptor.

#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace dovetail {

// The fields on `path`, from the record down; never empty. The last one may
// be of any kind; those before it are singular messages. InvalidArgument if
// there is no such field (with the message type, the segment, and names that
// were perhaps meant), if the path goes through a repeated field or a scalar,
// or if it is longer than messages may nest.
absl::StatusOr<std::vector<const google::protobuf::FieldDescriptor*>>
ResolvePath(const google::protobuf::Descriptor& record, std::string_view path);

// InvalidArgument if `record`, or a message that can occur in it, has the
// option message_set_wire_format, which is not supported.
absl::Status CheckNoMessageSet(const google::protobuf::Descriptor& record);

// A google.protobuf.Timestamp, and one with the well-known fields: a schema
// may bring its own file under that name.
bool IsTimestamp(const google::protobuf::Descriptor& message);

// The fields of `message` by name and the extensions of it that its pool
// knows: what a parser of the message takes for known.
std::vector<const google::protobuf::FieldDescriptor*> KnownFields(
    const google::protobuf::Descriptor& message);

}  // namespace dovetail
