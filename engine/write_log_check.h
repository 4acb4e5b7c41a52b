// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a write log takes, for whoever has to know before it is appended.

#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/v1/write_log.pb.h"

namespace dovetail {

// ResourceExhausted, with `what` in words, if a payload is too large.
absl::Status CheckWriteLogBytes(uint64_t bytes, std::string_view what);

// The same of a record; InvalidArgument if a text in it is not UTF-8, which
// Protobuf writes but does not read.
absl::Status CheckWriteLogRecord(const v1::WriteLogRecord& record);

// The same of a schema that is to stand in a file's header.
absl::Status CheckWriteLogSchema(const v1::Schema& schema);

}  // namespace dovetail
