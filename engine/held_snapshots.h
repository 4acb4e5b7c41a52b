// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which snapshots callers hold, for the statistics.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "dovetail/write_batch.h"

namespace dovetail {

// Thread-safe. Shared with the snapshots, which may outlive the engine's use
// of it.
class HeldSnapshots {
 public:
  using Taken = std::pair<SequenceNumber, int64_t>;  // When, in microseconds.

  void Add(const Taken& taken) {
    MutexLock lock(mu_);
    held_.insert(taken);
  }
  void Remove(const Taken& taken) {
    MutexLock lock(mu_);
    held_.erase(held_.find(taken));
  }
  std::pair<size_t, std::optional<Taken>> CountAndOldest() const {
    MutexLock lock(mu_);
    if (held_.empty()) return {0, std::nullopt};
    return {held_.size(), *held_.begin()};
  }

 private:
  mutable Mutex mu_;
  std::multiset<Taken> held_ GUARDED_BY(mu_);
};

namespace internal {

// Of one snapshot and its copies.
class HeldSnapshot {
 public:
  HeldSnapshot(std::shared_ptr<HeldSnapshots> all, HeldSnapshots::Taken taken)
      : all_(std::move(all)), taken_(taken) {
    all_->Add(taken_);
  }
  ~HeldSnapshot() { all_->Remove(taken_); }
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;

 private:
  const std::shared_ptr<HeldSnapshots> all_;
  const HeldSnapshots::Taken taken_;
};

}  // namespace internal
}  // namespace dovetail
