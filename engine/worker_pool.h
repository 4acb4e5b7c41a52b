// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A few threads that run tasks in the order they come.

#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/mutex.h"

namespace dovetail {

// Thread-safe, apart from Stop and destruction.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `task` on one of the threads; drops it after Stop.
  void Post(absl::AnyInvocable<void()> task);

  // Waits for the tasks that run; drops the others. REQUIRES: not called from
  // a task.
  void Stop();

 private:
  void Work();

  Mutex mu_;
  std::deque<absl::AnyInvocable<void()>> tasks_ GUARDED_BY(mu_);
  bool stopped_ GUARDED_BY(mu_) = false;
  CondVar wake_;

  std::vector<std::thread> threads_;
};

}  // namespace dovetail
