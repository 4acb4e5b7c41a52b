// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Attaches to a status what dovetail/errors.h reads back. Whoever makes a new
// status out of another one in between loses it.

#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace dovetail {

// `cause`, said of the mutation at `position` of a batch, from 0.
// REQUIRES: !cause.ok().
absl::Status FailedMutationError(const absl::Status& cause, size_t position);
// `pid` 0: not known.
absl::Status WithHolder(absl::Status status, int64_t pid);

}  // namespace dovetail
