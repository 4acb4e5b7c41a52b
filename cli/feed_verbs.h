// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail feed ...`: the change feed of a database.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct FeedEnableOptions {
  std::string db;
  uint64_t keep = 1'000'000;  // Commits; 0: all.
};

struct FeedDisableOptions {
  std::string db;
  bool yes = false;
};

struct FeedTailOptions {
  std::string db;
  std::string consumer;
  std::string start = "oldest";  // "oldest" or "now", for a new consumer.
  uint64_t limit = 0;            // Commits; 0: all there are.
  bool peek = false;             // Do not acknowledge.
};

absl::Status RunFeedEnable(const FeedEnableOptions& options,
                           const Console& console);
absl::Status RunFeedDisable(const FeedDisableOptions& options,
                            const Console& console);
absl::Status RunFeedList(const std::string& db, const Console& console);
// A JSON object a commit, whatever the format: those that the consumer has not
// acknowledged, which it then has.
absl::Status RunFeedTail(const FeedTailOptions& options,
                         const Console& console);

}  // namespace dovetail::cli
