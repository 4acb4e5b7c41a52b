// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Messages in Protobuf's text format, and schemas that are written in it.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/schema.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {

// InvalidArgument names line, column and cause.
absl::Status ParseTextFormat(std::string_view text,
                             google::protobuf::Message* message);

// The schema in a file; "-" is standard input. InvalidArgument names the
// file, and the place in it or the record type that `pool` lacks.
absl::StatusOr<Schema> ReadSchemaFile(
    const std::string& path, const google::protobuf::DescriptorPool& pool);

}  // namespace dovetail::cli
