// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Compacts the key ranges in which many keys died, by the sample of the
// newest view (live_keeper.h): LevelDB does it of itself only where writes
// come by, and walks over every dead key until then.
//
// Compacting a range moves it to the level below, and what is dead there
// already stays. So each edge of a range first gets a new deletion of the dead
// key that is there: once that is in a file of its own, LevelDB has something
// to move down through the range, and rewrites all of it.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/dead_entries.h"
#include "dovetail/environment.h"
#include "engine/committer.h"
#include "engine/disk_guard.h"
#include "engine/live_keeper.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-safe.
class Reclaimer {
 public:
  // All must outlive the reclaimer.
  struct Services {
    Committer* committer;
    Store* store;
    LiveKeeper* live;
    Clock* clock;
    DiskGuard* disk;  // Null: no disk.
    // The sequence of the oldest snapshot that somebody holds, if one does.
    std::function<std::optional<uint64_t>()> oldest_snapshot;
  };
  explicit Reclaimer(Services services);
  ~Reclaimer();

  void StartBackgroundWork();
  // Ends the thread, and calls of Reclaim once the range that is being
  // compacted is done: they return Cancelled.
  void Stop();
  // There may be something to reclaim.
  void Wake();

  // One round over all ranges in which at least so many keys died.
  absl::StatusOr<ReclaimReport> Reclaim(uint64_t dead_min);
  // Of all rounds.
  ReclaimReport total() const;

 private:
  struct Range {
    std::string first;  // Dead keys.
    std::string last;
    uint64_t dead = 0;
    uint64_t bytes = 0;
  };
  // `rest` is called behind each range with the time it took.
  using Rest = std::function<void(std::chrono::microseconds)>;
  absl::StatusOr<ReclaimReport> Round(uint64_t dead_min, const Rest& rest);
  std::vector<Range> Choose(const LiveView& view, uint64_t up_to);
  absl::Status Compact(const Range& range, ReclaimReport* report)
      REQUIRES(round_mu_);
  absl::Status MarkEdges(const Range& range);
  void BackgroundLoop();
  void Wait(std::chrono::microseconds time);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  const Services services_;
  std::atomic<bool> stopping_{false};

  Mutex round_mu_;  // One round at a time. Outermost.
  // Ranges that did not get smaller the last time, by their first keys.
  std::set<std::string> tried_ GUARDED_BY(round_mu_);

  mutable Mutex mu_;
  CondVar wake_;
  bool work_to_do_ GUARDED_BY(mu_) = false;
  ReclaimReport total_ GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace dovetail
