// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Bytes that a stream writes as text.

#pragma once

#include "absl/status/status.h"
#include "dovetail/change_stream.h"
#include "dovetail/v1/change_mapping.pb.h"

namespace dovetail::changes {

// Makes of `value` the bytes, or the number, that its text stands for. What
// the stream itself marked as bytes is not decoded twice, except as a number.
// InvalidArgument if it stands for none.
absl::Status DecodeBinary(v1::FieldMapping::Binary::Form form,
                          ForeignValue* value);

}  // namespace dovetail::changes
