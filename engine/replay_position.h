// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The places of replayed sources, as metadata values of the database.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/replay.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/committer.h"

namespace dovetail {

// InvalidArgument if it cannot be the name of a source.
absl::Status CheckSourceName(std::string_view source);

// The place in the newest state; nullopt if the source has none.
absl::StatusOr<std::optional<v1::ReplayPosition>> LoadReplayPosition(
    const Committer& committer, std::string_view source);

// Commits the place alone.
absl::Status StoreReplayPosition(Committer& committer, std::string_view source,
                                 const v1::ReplayPosition& position, bool sync);

absl::StatusOr<std::vector<ReplayedSource>> ListReplayPositions(
    const Committer& committer);

// NotFound if the source has none.
absl::Status DropReplayPosition(Committer& committer, std::string_view source);

}  // namespace dovetail
