// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Kafka Connect's JSON converter may send a schema beside each payload. It
// says what the payload's numbers and texts mean: that a text is the bytes of
// a decimal, what a number counts since 1970.

#pragma once

#include "absl/status/status.h"
#include "dovetail/change_stream.h"
#include "engine/changes/decoder.h"

namespace dovetail::changes {

// Makes of the members of `row` what `schema`, a struct's, says of them:
// decimals become numbers, bytes become bytes, moments get their unit. Members
// that it does not speak of stay. InvalidArgument if one is not what it says.
absl::Status ApplyConnectSchema(Line* line, const ForeignValue& schema,
                                ForeignValue* row);

// The schema of the member `field` of the struct that `schema` is; nullptr if
// it has none.
const ForeignValue* FieldSchema(const ForeignValue& schema,
                                std::string_view field);

}  // namespace dovetail::changes
