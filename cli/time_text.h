// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Dates and times as people write them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/field_path.h"
#include "google/protobuf/descriptor.h"

namespace dovetail::cli {

// Of a count since 1970 in an integer field. By name: "_s", "_us", else
// milliseconds.
enum class TimeUnit { kByName, kSeconds, kMillis, kMicros };

// `unit`, or what the field's name says.
TimeUnit UnitOf(const google::protobuf::FieldDescriptor* field, TimeUnit unit);
// REQUIRES: the unit is not kByName.
int64_t CountOf(absl::Time time, TimeUnit unit);

// An instant, UTC where the text names no zone. The first format that takes
// the whole text counts. InvalidArgument: none does.
absl::StatusOr<absl::Time> ParseTimeText(
    std::string_view text, const std::vector<std::string>& formats);

// A date or time in the field's own form: a count in its unit for an integer
// field, RFC 3339 for a Timestamp. Any other text, and text for any other
// field, as it is. For arguments such as "2026-11-30" that mean a column of
// milliseconds.
std::string TimeArgument(const FieldPath& field, std::string_view text);

// UTC, as RFC 3339 has it.
std::string Rfc3339(absl::Time time);

}  // namespace dovetail::cli
