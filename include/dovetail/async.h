// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Asynchronous reads and writes with Boost.Asio completion tokens. The only
// public header that includes Boost; link dovetail::asio.
//
//   dovetail::AsyncEngine async(engine.get());
//   absl::StatusOr<dovetail::Commit> commit = co_await async.Write(
//       {.sync = true}, std::move(batch), boost::asio::use_awaitable);
//
// The token may as well be a callback, use_future, deferred, or any other.
//
// Results. Completion signatures are void(absl::StatusOr<T>), not
// void(error_code, T). A status says in words and facts what was refused and
// why, an error_code would keep a number of it; and WriteOutcome, committed or
// not or unknown, is read from the status. Nor is there an exception for a
// token to make of an error_code: nothing here throws.
//
// Completions. Each operation completes exactly once, on the associated
// executor of its handler (that of the coroutine, of bind_executor, else the
// one given to AsyncEngine), by way of post: never inside the initiating call,
// never on a thread of the engine. Until then there is outstanding work on
// that executor, whose context must live as long. What a handler throws goes
// where its executor lets it go; the engine does not notice.
//
// Order. Writes initiated one after the other commit in that order. (Lazy
// tokens, use_awaitable and deferred among them, initiate when the result is
// awaited or launched.) Those that wait at the same time form one commit
// group: one store write, one sync. Reads are concurrent: one that is
// initiated after a write has completed sees it.
//
// Cancellation. The associated cancellation slot is honoured, for every type
// of cancellation: an operation that has not begun completes with Cancelled,
// and nothing was written. One that has begun runs to its end and tells its
// true outcome. As always with Asio, emit on the handler's executor only.
// (A coroutine that was cancelled throws at its next co_await, unless it has
// called this_coro::reset_cancellation_state or throw_if_cancelled(false).)
//
// Deadlines and the bounded queue: see async_options.h.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/associated_allocator.hpp"
#include "boost/asio/associated_cancellation_slot.hpp"
#include "boost/asio/async_result.hpp"
#include "boost/asio/bind_allocator.hpp"
#include "boost/asio/cancellation_type.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/system_executor.hpp"
#include "dovetail/async_options.h"
#include "dovetail/engine.h"
#include "dovetail/internal/async_core.h"
#include "dovetail/read.h"
#include "dovetail/value.h"
#include "dovetail/write_batch.h"

namespace dovetail {

namespace internal {

// A handler on its way through the engine, with work outstanding on its
// executor. Call it once.
template <typename Result, typename Handler>
class AsyncCompletion {
 public:
  AsyncCompletion(Handler handler, const boost::asio::any_io_executor& executor)
      : work_(boost::asio::make_work_guard(handler, executor)),
        handler_(std::move(handler)) {}

  // Lets the handler's cancellation slot cancel operation `id`. The slot is
  // not cleared at the end, which may come while somebody emits: what stays
  // in it finds nothing to cancel.
  void ConnectCancellation(const std::shared_ptr<AsyncCore>& core,
                           uint64_t id) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([core = std::weak_ptr(core),
                 id](boost::asio::cancellation_type_t type) {
      if (type == boost::asio::cancellation_type_t::none) return;
      if (const auto queue = core.lock()) queue->Cancel(id);
    });
  }

  void operator()(Result result) {
    auto allocator = boost::asio::get_associated_allocator(handler_);
    boost::asio::post(work_.get_executor(),
                      boost::asio::bind_allocator(
                          allocator, [handler = std::move(handler_),
                                      result = std::move(result)]() mutable {
                            std::move(handler)(std::move(result));
                          }));
    // Not earlier: while there is work the context stays, and post touches it
    // to the last.
    work_.reset();
  }

 private:
  using Executor =
      boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>;

  boost::asio::executor_work_guard<Executor> work_;
  Handler handler_;
};

}  // namespace internal

// Leads writes and runs reads on `executor`, for AsyncOptions::executor.
inline AsyncExecutor RunOn(boost::asio::any_io_executor executor) {
  return [executor = std::move(executor)](absl::AnyInvocable<void()> task) {
    boost::asio::post(executor, std::move(task));
  };
}

// A front of an engine; there may be several, each with a queue of its own.
// Thread-safe.
class AsyncEngine {
 public:
  // Completions whose handlers have no executor of their own run on
  // `executor`.
  explicit AsyncEngine(
      Engine* engine, AsyncOptions options = {},
      boost::asio::any_io_executor executor = boost::asio::system_executor())
      : engine_(engine),
        core_(engine->NewAsyncCore(std::move(options))),
        executor_(std::move(executor)) {}

  // Completes what has not begun with Cancelled, waits for what has. The
  // engine may be destroyed before or after, not at the same time. REQUIRES:
  // no other call is running; not called from an observer's hook.
  ~AsyncEngine() { core_->Close(AsyncOptions::OnClose::kCancel).IgnoreError(); }

  AsyncEngine(const AsyncEngine&) = delete;
  AsyncEngine& operator=(const AsyncEngine&) = delete;

  // Each operation completes with what the call of the same name of Engine
  // returns, or with
  //   Cancelled           by its slot, by Close or destruction
  //   DeadlineExceeded    its deadline passed
  //   ResourceExhausted   the queue is full
  //   FailedPrecondition  closed
  // In all four nothing was written or read.

  // Signature void(absl::StatusOr<Commit>).
  template <
      boost::asio::completion_token_for<void(absl::StatusOr<Commit>)> Token>
  auto Write(const AsyncWriteOptions& options, WriteBatch batch,
             Token&& token) {
    return boost::asio::async_initiate<Token, void(absl::StatusOr<Commit>)>(
        [](auto handler, std::shared_ptr<internal::AsyncCore> core,
           const boost::asio::any_io_executor& executor,
           const AsyncWriteOptions& given, WriteBatch mutations) {
          internal::AsyncCompletion<absl::StatusOr<Commit>, decltype(handler)>
              done(std::move(handler), executor);
          const uint64_t id = core->NextId();
          done.ConnectCancellation(core, id);
          core->Write(id, given, std::move(mutations), std::move(done));
        },
        token, core_, executor_, options, std::move(batch));
  }

  // Signature void(absl::StatusOr<Row>).
  template <boost::asio::completion_token_for<void(absl::StatusOr<Row>)> Token>
  auto Get(const AsyncReadOptions& options, std::string_view table,
           std::vector<Value> key, Token&& token) {
    return Read<absl::StatusOr<Row>>(
        options,
        [engine = engine_, table = std::string(table),
         key = std::move(key)](const ReadOptions& given) {
          return engine->Get(given, table, key);
        },
        std::forward<Token>(token));
  }

  // Signature void(absl::StatusOr<std::vector<Row>>).
  template <
      boost::asio::completion_token_for<void(absl::StatusOr<std::vector<Row>>)>
          Token>
  auto GetBy(const AsyncReadOptions& options, std::string_view table,
             std::string_view index, std::vector<Value> values, Token&& token) {
    return Read<absl::StatusOr<std::vector<Row>>>(
        options,
        [engine = engine_, table = std::string(table),
         index = std::string(index),
         values = std::move(values)](const ReadOptions& given) {
          return engine->GetBy(given, table, index, values);
        },
        std::forward<Token>(token));
  }

  // Signature void(absl::StatusOr<Page>).
  template <boost::asio::completion_token_for<void(absl::StatusOr<Page>)> Token>
  auto Scan(const AsyncReadOptions& options, ScanRequest request,
            Token&& token) {
    return Read<absl::StatusOr<Page>>(
        options,
        [engine = engine_, request = std::move(request)](
            const ReadOptions& given) { return engine->Scan(given, request); },
        std::forward<Token>(token));
  }

  // A deadline so far from now.
  int64_t DeadlineIn(std::chrono::microseconds delay) const {
    return core_->NowMicros() + delay.count();
  }

  // Refuses new operations, carries out those accepted (or cancels those that
  // have not begun, by AsyncOptions::on_close), and returns once every
  // completion has been posted. Blocks, and works on the calling thread: not
  // for an I/O thread. Engine::Close does the same to all its fronts first.
  // OK, again too; FailedPrecondition if an observer's hook calls it, and
  // nothing is done.
  absl::Status Close() { return core_->Close(core_->on_close()); }

  AsyncStats GetStats() const { return core_->GetStats(); }

  boost::asio::any_io_executor get_executor() const { return executor_; }

 private:
  template <typename Result, typename Call, typename Token>
  auto Read(const AsyncReadOptions& options, Call call, Token&& token) {
    return boost::asio::async_initiate<Token, void(Result)>(
        [](auto handler, std::shared_ptr<internal::AsyncCore> core,
           const boost::asio::any_io_executor& executor, AsyncReadOptions given,
           Call read) {
          internal::AsyncCompletion<Result, decltype(handler)> done(
              std::move(handler), executor);
          const uint64_t id = core->NextId();
          done.ConnectCancellation(core, id);
          core->Read(id, given.deadline_micros,
                     [given, read = std::move(read), done = std::move(done)](
                         const absl::Status& turn) mutable {
                       if (!turn.ok()) return done(turn);
                       const Snapshot* snapshot = given.snapshot.has_value()
                                                      ? &*given.snapshot
                                                      : nullptr;
                       done(read({snapshot}));
                     });
        },
        token, core_, executor_, options, std::move(call));
  }

  Engine* const engine_;  // Used by operations that begin before its end.
  const std::shared_ptr<internal::AsyncCore> core_;
  const boost::asio::any_io_executor executor_;
};

}  // namespace dovetail
