// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The change feed: every committed request, in commit order, for consumers
// that keep something in step with the database: a cache, a search index, a
// copy.
//
//   engine->EnableChangeFeed({});
//   auto feed = engine->OpenFeed("search", FeedStart::kOldest);
//   dovetail::v1::WriteLogRecord change;
//   while (*(*feed)->Next(&change, std::chrono::seconds(1))) {
//     ... apply change.effects() ...
//     (*feed)->Acknowledge(SequenceNumber{change.sequence()});
//   }
//
// The feed is part of the database: a request's changes are in it in the same
// commit as its rows, or not at all. A consumer's place is kept there too, so
// it goes on behind the last commit it acknowledged, across restarts and
// kills. A commit is delivered again if the consumer dies between applying and
// acknowledging it; a consumer that keeps the sequence together with what it
// makes of it can tell.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/write_log.pb.h"
#include "dovetail/write_batch.h"

namespace dovetail {

class Committer;

struct ChangeFeedOptions {
  // Commits that are kept. Older ones go, read or not: a consumer that comes
  // too late gets OutOfRange, and starts again from a copy. 0: keep all.
  uint64_t commits_max = 1'000'000;
};

// Where a consumer begins that has no place yet.
enum class FeedStart {
  kOldest,  // With the oldest commit that is kept.
  kNow,     // Behind the newest.
};

struct FeedConsumer {
  std::string name;
  SequenceNumber acknowledged{};
};

// One consumer's view. Thread-compatible. The engine must outlive it.
class ChangeFeed {
 public:
  // True, with the commit behind the last one returned, once there is one;
  // false if there is none after `timeout`. The record's `effects` are the
  // rows that the request changed, in its order, those of observers included.
  //   OutOfRange  that commit is no longer kept
  absl::StatusOr<bool> Next(v1::WriteLogRecord* change,
                            std::chrono::microseconds timeout);

  // The consumer is done with every commit up to `sequence`, which Next has
  // returned: it will not see them again. Survives the death of the process;
  // with `sync`, of the machine. InvalidArgument if it was not returned.
  absl::Status Acknowledge(SequenceNumber sequence, bool sync = false);

  SequenceNumber acknowledged() const { return acknowledged_; }

 private:
  friend class Engine;
  ChangeFeed(Committer* committer, std::string consumer, SequenceNumber place)
      : committer_(committer),
        consumer_(std::move(consumer)),
        acknowledged_(place),
        returned_(place) {}

  Committer* committer_;  // Not owned.
  std::string consumer_;
  SequenceNumber acknowledged_;
  SequenceNumber returned_;
};

}  // namespace dovetail
