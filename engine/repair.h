// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Repair: verifies, then settles each finding through the commit order. The
// finding was made on an older state, so row and entry are looked at again
// inside the serial section, and only what is still wrong is changed.

#pragma once

#include "absl/status/statusor.h"
#include "dovetail/verify.h"
#include "engine/committer.h"

namespace dovetail {

// See Engine::Repair.
absl::StatusOr<RepairReport> Repair(Committer& committer,
                                    const RepairOptions& options);

}  // namespace dovetail
