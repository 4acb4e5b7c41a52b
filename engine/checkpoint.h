// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Inside of Engine::Checkpoint.

#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "dovetail/checkpoint.h"
#include "dovetail/environment.h"
#include "engine/committer.h"
#include "engine/storage/store.h"

namespace dovetail {

// Copies `store`, which `committer` writes, to `directory`.
absl::StatusOr<CheckpointReport> TakeCheckpoint(
    Committer& committer, Store& store, Clock& clock,
    const std::string& directory, const CheckpointOptions& options);

}  // namespace dovetail
