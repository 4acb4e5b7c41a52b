// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What asynchronous calls take, apart from the completion token; see async.h.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "dovetail/read.h"

namespace dovetail {

// Runs each task it is given once, later, on a thread of its choice, never
// inside the call. Thread-safe; does not throw. A task may block on the disk. A
// task that is dropped, or comes only after Close, does no harm: Close does its
// work.
using AsyncExecutor = std::function<void(absl::AnyInvocable<void()>)>;

struct AsyncOptions {
  // Operations that may wait for their turn; what has begun does not count.
  size_t writes_queued_max = 10'000;
  size_t write_bytes_queued_max = 64 << 20;
  size_t reads_queued_max = 10'000;

  enum class WhenFull {
    // The operation that is over a bound completes with ResourceExhausted,
    // and nothing was written.
    kReject,
    // It waits in the same queue, in its order. The bounds then hold nobody
    // back: the queue is as long as there are operations outstanding. For
    // callers that bound these themselves, as coroutines do, one each.
    kWait,
  };
  WhenFull when_full = WhenFull::kReject;

  enum class OnClose {
    kDrain,   // Every accepted operation is carried out.
    kCancel,  // What has not begun completes with Cancelled.
  };
  OnClose on_close = OnClose::kDrain;

  // Reads that may run at the same time. At least 1.
  int reads_running_max = 2;

  // Where writes are led and reads run. Null: on threads of the queue's own,
  // one for writes and reads_running_max for reads. If given, it should have a
  // thread to spare for each of these, and none that runs completions: they
  // would wait for the disk.
  AsyncExecutor executor = nullptr;
};

// Deadlines are moments of the engine's clock, Clock::MonotonicMicros;
// AsyncEngine::DeadlineIn makes one. An operation that has not begun by then
// never will: when its turn comes it completes with DeadlineExceeded.
struct AsyncWriteOptions {
  bool sync = false;  // As WriteOptions::sync.
  std::optional<int64_t> deadline_micros = {};
};

struct AsyncReadOptions {
  // Unset: the newest published state when the read begins.
  std::optional<Snapshot> snapshot = {};
  std::optional<int64_t> deadline_micros = {};
};

// What waits at this moment.
struct AsyncStats {
  size_t writes_queued = 0;
  size_t write_bytes_queued = 0;
  size_t reads_queued = 0;
};

}  // namespace dovetail
