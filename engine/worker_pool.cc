// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/worker_pool.h"

#include <utility>

namespace dovetail {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Post(absl::AnyInvocable<void()> task) {
  MutexLock lock(mu_);
  if (stopped_) return;
  tasks_.push_back(std::move(task));
  wake_.Signal();
}

void WorkerPool::Stop() {
  std::deque<absl::AnyInvocable<void()>> dropped;
  {
    MutexLock lock(mu_);
    stopped_ = true;
    dropped.swap(tasks_);
    wake_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerPool::Work() {
  while (true) {
    absl::AnyInvocable<void()> task;
    {
      MutexLock lock(mu_);
      while (tasks_.empty() && !stopped_) wake_.Wait(mu_);
      if (stopped_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace dovetail
