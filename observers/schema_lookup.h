// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The record type of a table, for observers that are made from a schema.

#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/schema.h"
#include "index/descriptors.h"

namespace dovetail::internal {

// InvalidArgument if `schema` has no such table, or its descriptors do not
// define the record type.
absl::StatusOr<RecordType> RecordTypeOf(const Schema& schema,
                                        std::string_view table);

}  // namespace dovetail::internal
