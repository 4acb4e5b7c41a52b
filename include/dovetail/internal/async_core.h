// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the templates of async.h are a front of: a queue of operations with
// their completions, types erased, without Boost. May change without notice.

#pragma once

#include <cstdint>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/async_options.h"
#include "dovetail/engine.h"
#include "dovetail/write_batch.h"

namespace dovetail::internal {

// Thread-safe. After Close it may outlive the engine.
class AsyncCore {
 public:
  // Called exactly once, on the thread of whoever found the outcome; it must
  // only hand the result on.
  using WriteDone = absl::AnyInvocable<void(absl::StatusOr<Commit>)>;
  // Called exactly once: with OK on a thread that may block, then it reads and
  // hands the result on; or with the reason why it may not.
  using ReadTask = absl::AnyInvocable<void(const absl::Status&)>;

  virtual ~AsyncCore() = default;

  // A new operation's place in the order, which is the order of these
  // numbers, and its name for Cancel.
  virtual uint64_t NextId() = 0;

  // REQUIRES: `id` is of NextId, for this operation alone.
  virtual void Write(uint64_t id, const AsyncWriteOptions& options,
                     WriteBatch batch, WriteDone done) = 0;
  virtual void Read(uint64_t id, std::optional<int64_t> deadline_micros,
                    ReadTask task) = 0;

  // Completes the operation with Cancelled if it waits; else does nothing.
  virtual void Cancel(uint64_t id) = 0;

  // Refuses new operations, sees to those accepted, and returns once all
  // have handed on their results. A second Close waits for the same.
  // FailedPrecondition from inside a hook, which it would wait for.
  virtual absl::Status Close(AsyncOptions::OnClose on_close) = 0;

  virtual AsyncOptions::OnClose on_close() const = 0;
  virtual AsyncStats GetStats() const = 0;
  virtual int64_t NowMicros() const = 0;  // Of the engine's clock.
};

}  // namespace dovetail::internal
