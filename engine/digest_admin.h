// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Digests of a whole database: shown, turned on, turned off.

#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/digest.h"
#include "engine/committer.h"
#include "engine/published_state.h"

namespace dovetail {

// See Engine::Digest.
absl::StatusOr<DigestReport> DigestOf(const internal::PublishedState& state,
                                      const DigestOptions& options);

// See Engine::EnableDigests, Engine::DisableDigests.
absl::Status EnableDigests(Committer& committer, Store& store);
absl::Status DisableDigests(Committer& committer);

}  // namespace dovetail
