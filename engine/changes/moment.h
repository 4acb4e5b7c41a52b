// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Moments as foreign streams write them. A number's unit is what the stream or
// the mapping says, never what its size suggests.

#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dovetail/change_stream.h"
#include "dovetail/v1/change_mapping.pb.h"

namespace dovetail::changes {

// InvalidArgument: no moment, a number without a unit or with two that differ,
// a moment outside the mapping's years.
absl::StatusOr<absl::Time> MomentOf(const ForeignValue& value,
                                    const v1::FieldMapping::Time& time,
                                    const absl::TimeZone& zone);

// Units since 1970, for an integer field of that name; finer digits are cut
// off, towards the past.
int64_t CountOf(absl::Time moment, const v1::FieldMapping::Time& time,
                std::string_view field);

}  // namespace dovetail::changes
