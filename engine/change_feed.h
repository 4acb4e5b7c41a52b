// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The change feed's bytes, and its consumers' places.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/change_feed.h"
#include "engine/request_runner.h"

namespace dovetail {

std::string FeedKey(std::string_view prefix, SequenceNumber sequence);

// Starts recording with the next commit. AlreadyExists if it is on.
absl::Status EnableChangeFeed(Committer& committer,
                              const ChangeFeedOptions& options);
// Forgets the feed and its consumers' places. NotFound if it is off.
absl::Status DisableChangeFeed(Committer& committer);

// The place of a consumer, made if it has none.
absl::StatusOr<SequenceNumber> OpenFeedCursor(Committer& committer,
                                              std::string_view consumer,
                                              FeedStart start);
absl::Status DropFeedCursor(Committer& committer, std::string_view consumer);
absl::StatusOr<std::vector<FeedConsumer>> ListFeedConsumers(
    Committer& committer);

}  // namespace dovetail
