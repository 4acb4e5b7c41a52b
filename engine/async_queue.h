// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where asynchronous operations wait for their turn. Two lanes: writes, one
// group of them at a time, and reads, a few of them at a time.
//
//   accept   into the lane's map, in the order of ids; refused if over a bound
//   post     a task to the executor, unless enough of them are on their way
//   step     a task takes from the front: a group of writes, that go to the
//            committer in one call and so into one commit group; or one read
//   finish   each completion is called, once, by whoever took the operation
//            out of the map: a step, a Cancel, or a Close
//
// "Begun" means taken out by a step. Close steps through what is left on its
// own thread, so it needs nothing of the executor, not even that it lives.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "dovetail/internal/async_core.h"
#include "engine/committer.h"
#include "engine/worker_pool.h"
#include "observers/observer_chain.h"

namespace dovetail {

// Thread-safe.
class AsyncQueue final : public internal::AsyncCore,
                         public std::enable_shared_from_this<AsyncQueue> {
 public:
  struct Services {
    Committer* committer;
    const ObserverChain* observers;
    Clock* clock;
    size_t group_bytes_max;
  };
  // All of `services` must live until the queue has been closed, the clock
  // until the queue is destroyed.
  AsyncQueue(AsyncOptions options, const Services& services);
  // REQUIRES: closed.
  ~AsyncQueue() override;

  uint64_t NextId() override;
  void Write(uint64_t id, const AsyncWriteOptions& options, WriteBatch batch,
             WriteDone done) override;
  void Read(uint64_t id, std::optional<int64_t> deadline_micros,
            ReadTask task) override;
  void Cancel(uint64_t id) override;
  absl::Status Close(AsyncOptions::OnClose on_close) override;
  AsyncOptions::OnClose on_close() const override { return options_.on_close; }
  AsyncStats GetStats() const override;
  int64_t NowMicros() const override;

 private:
  struct Operation {
    std::optional<int64_t> deadline_micros;
    size_t bytes = 0;
    // A write has `done`, a read has `read`.
    WriteOptions options;
    WriteBatch batch;
    WriteDone done;
    ReadTask read;

    // Completes it with an error.
    void Refuse(const absl::Status& why);
  };
  using Operations = std::vector<Operation>;

  enum Kind { kWrites, kReads };
  struct Lane {
    std::map<uint64_t, Operation> waiting;
    size_t bytes = 0;   // Of those.
    int running = 0;    // Steps at this moment.
    int scheduled = 0;  // Tasks given to the executor, and not yet over.
  };

  // Steps that may run at the same time.
  int Width(Kind kind) const;
  void Accept(Kind kind, uint64_t id, Operation operation);
  absl::Status CheckRoom(Kind kind, size_t bytes) const REQUIRES(mu_);
  Operation Remove(Lane& lane, std::map<uint64_t, Operation>::iterator it)
      REQUIRES(mu_);
  void Post(Kind kind);
  void RunTask(Kind kind);
  bool Step(Kind kind);
  void StepWrites();
  void StepReads();
  void CancelAll();
  Operations Take(Kind kind, size_t count_max, size_t bytes_max);

  const AsyncOptions options_;
  const Services services_;
  std::atomic<uint64_t> next_id_{0};
  std::unique_ptr<WorkerPool> workers_;  // Null if an executor was given.
  std::once_flag stop_workers_;

  mutable Mutex mu_;
  Lane lanes_[2] GUARDED_BY(mu_);  // By Kind.
  bool closed_ GUARDED_BY(mu_) = false;
  // Calls that have taken operations out and are completing them.
  int cancelling_ GUARDED_BY(mu_) = 0;
  CondVar stepped_;  // A step or a cancellation has ended.

  // All has been seen to: nothing of `services_` but the clock is used again.
  std::atomic<bool> finished_{false};
};

}  // namespace dovetail
