// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Idle iterators of one published state, for the next read of it. Making one
// costs as much as several rows: it opens every level anew.
//
// Idle iterators keep the files of their state from being deleted, so there
// are few, and they go with the state: at the next commit, once its readers
// are done.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-safe.
class IteratorPool {
 public:
  // Null if none is idle.
  std::unique_ptr<StoreIterator> Take() {
    MutexLock lock(mu_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<StoreIterator> it = std::move(idle_.back());
    idle_.pop_back();
    return it;
  }
  // Keeps the iterator if it is sound and there is room; else destroys it.
  void Give(std::unique_ptr<StoreIterator> it) {
    if (!it->status().ok()) return;
    MutexLock lock(mu_);
    if (idle_.size() < kIdleMax) idle_.push_back(std::move(it));
  }

 private:
  static constexpr size_t kIdleMax = 4;

  Mutex mu_;
  std::vector<std::unique_ptr<StoreIterator>> idle_ GUARDED_BY(mu_);
};

}  // namespace dovetail
