// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/async.h"

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/bind_executor.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/deferred.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/thread_pool.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "boost/asio/use_future.hpp"
#include "tests/engine/engine_fixture.h"
#include "dovetail/testing/faulty_file_system.h"

namespace dovetail::test {
namespace {

namespace asio = boost::asio;
using absl::StatusCode;

// Holds up the first request or read that meets it while it is shut.
class Gate : public Observer {
 public:
  ObserverTraits traits() const override {
    return {.name = "gate", .hooks = kPreBatchMutate | kPreGet};
  }
  absl::Status PreBatchMutate(HookContext&,
                              const std::vector<RowChange>&) override {
    Pass();
    return absl::OkStatus();
  }
  absl::Status PreGet(const ReadEvent&) override {
    Pass();
    return absl::OkStatus();
  }

  void Shut() {
    MutexLock lock(mu_);
    shut_ = true;
  }
  void Open() {
    MutexLock lock(mu_);
    shut_ = false;
    changed_.SignalAll();
  }
  // Until somebody has been held up.
  void AwaitGuest() {
    MutexLock lock(mu_);
    while (!guest_) changed_.Wait(mu_);
  }

 private:
  void Pass() {
    MutexLock lock(mu_);
    if (!shut_) return;
    guest_ = true;
    changed_.SignalAll();
    while (shut_) changed_.Wait(mu_);
  }

  Mutex mu_;
  CondVar changed_;
  bool shut_ GUARDED_BY(mu_) = false;
  bool guest_ GUARDED_BY(mu_) = false;
};

class FakeClock : public Clock {
 public:
  int64_t NowMicros() override { return now; }
  int64_t MonotonicMicros() override { return now; }
  std::atomic<int64_t> now{1000};
};

// What operations completed with, by name. Thread-safe.
class Outcomes {
 public:
  // A handler that notes the outcome of operation `name`.
  auto Note(std::string name) {
    return [this, name = std::move(name)](const auto& result) {
      MutexLock lock(mu_);
      codes_[name].push_back(StatusOf(result).code());
      ++count_;
      changed_.SignalAll();
    };
  }
  void Await(size_t count) {
    MutexLock lock(mu_);
    while (count_ < count) changed_.Wait(mu_);
  }
  // Nothing if it has none yet, or several.
  std::optional<StatusCode> Of(const std::string& name) {
    MutexLock lock(mu_);
    const std::vector<StatusCode>& codes = codes_[name];
    if (codes.size() != 1) return std::nullopt;
    return codes[0];
  }
  size_t count() {
    MutexLock lock(mu_);
    return count_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::map<std::string, std::vector<StatusCode>> codes_ GUARDED_BY(mu_);
  size_t count_ GUARDED_BY(mu_) = 0;
};

WriteBatch Insert(std::string_view id, int64_t ts = 1) {
  WriteBatch batch;
  batch.Insert("orders", Bytes(MakeOrder(id, "s", ts)));
  return batch;
}

std::string Name(int number) { return "o-" + std::to_string(number); }

class AsyncTest : public EngineTest {
 protected:
  AsyncTest() : gate_(std::make_shared<Gate>()) {
    options_.observers = {gate_};
    options_.clock = &clock_;
  }

  AsyncEngine& async() {
    if (async_ == nullptr) Start({});
    return *async_;
  }
  void Start(AsyncOptions options) {
    async_.reset();
    async_ = std::make_unique<AsyncEngine>(&engine(), std::move(options));
  }
  // Begins a write named "held", which then waits at the shut gate.
  void HoldWrites() {
    gate_->Shut();
    async().Write({}, Insert("held"), outcomes_.Note("held"));
    gate_->AwaitGuest();
  }
  Stats GetStats() { return engine().GetStats().value(); }

  std::shared_ptr<Gate> gate_;
  FakeClock clock_;
  Outcomes outcomes_;
  std::unique_ptr<AsyncEngine> async_;
};

TEST_F(AsyncTest, ACallbackGetsTheCommit) {
  std::promise<absl::StatusOr<Commit>> promise;
  // Handlers need only be movable.
  auto owned = std::make_unique<int>(7);
  async().Write(
      {.sync = true}, Insert("o-1"),
      [&promise, owned = std::move(owned)](absl::StatusOr<Commit> commit) {
        EXPECT_EQ(*owned, 7);
        promise.set_value(std::move(commit));
      });
  const absl::StatusOr<Commit> commit = promise.get_future().get();
  ASSERT_THAT(commit, IsOk());
  EXPECT_EQ(commit->sequence, SequenceNumber{1});
  EXPECT_EQ(commit->rows_changed, std::vector<uint64_t>{1});
  EXPECT_EQ(GetStats().syncs, 1u);
  EXPECT_EQ(ById("o-1"), std::vector<std::string>{"o-1"});
}

TEST_F(AsyncTest, AFutureGetsTheCommit) {
  auto future = async().Write({}, Insert("o-1"), asio::use_future);
  EXPECT_THAT(future.get(), IsOk());
  auto rows =
      async().GetBy({}, "orders", "by_order_id", {"o-1"}, asio::use_future);
  EXPECT_EQ(Ids(rows.get().value()), std::vector<std::string>{"o-1"});
}

TEST_F(AsyncTest, ADeferredWriteBeginsWhenItIsLaunched) {
  auto first = async().Write({}, Insert("o-1"), asio::deferred);
  auto second = async().Write({}, Insert("o-2"), asio::deferred);
  EXPECT_EQ(std::move(second)(asio::use_future).get()->sequence,
            SequenceNumber{1});
  EXPECT_EQ(std::move(first)(asio::use_future).get()->sequence,
            SequenceNumber{2});
}

TEST_F(AsyncTest, ACoroutineWritesAndReads) {
  asio::io_context context;
  bool ended = false;
  auto body = [&]() -> asio::awaitable<void> {
    const absl::StatusOr<Commit> first =
        co_await async().Write({}, Insert("o-1", 5), asio::use_awaitable);
    EXPECT_THAT(first, IsOk());
    AsyncReadOptions then;
    then.snapshot = engine().GetSnapshot().value();
    const absl::StatusOr<Commit> again =
        co_await async().Write({}, Insert("o-1", 6), asio::use_awaitable);
    EXPECT_THAT(again, StatusIs(StatusCode::kAlreadyExists));
    EXPECT_THAT(
        co_await async().Write({}, Insert("o-2", 7), asio::use_awaitable),
        IsOk());

    std::vector<Value> key;
    for (const Value& value : {Value("s"), Value(5), Value("o-1")}) {
      key.push_back(value);
    }
    const absl::StatusOr<Row> row =
        co_await async().Get({}, "orders", key, asio::use_awaitable);
    EXPECT_EQ(row.value().version, first.value().sequence);

    ScanRequest all;
    all.table = "orders";
    all.equal.emplace_back("s");
    const absl::StatusOr<Page> newest =
        co_await async().Scan({}, all, asio::use_awaitable);
    EXPECT_EQ(Ids(newest->rows), (std::vector<std::string>{"o-2", "o-1"}));
    const absl::StatusOr<Page> before =
        co_await async().Scan(then, all, asio::use_awaitable);
    EXPECT_EQ(Ids(before->rows), std::vector<std::string>{"o-1"});
    ended = true;
  };
  asio::co_spawn(context, body(), asio::detached);
  // Returns when there is no work left: an operation in the engine is work.
  context.run();
  EXPECT_TRUE(ended);
}

TEST_F(AsyncTest, CompletionsRunOnTheHandlersExecutorAndNeverAtOnce) {
  asio::io_context own;
  asio::io_context common;
  async_ = std::make_unique<AsyncEngine>(&engine(), AsyncOptions(),
                                         common.get_executor());
  int in_own = 0;
  int in_common = 0;
  const auto start = [&] {
    async().Write({}, Insert("o-1"),
                  asio::bind_executor(own, [&](absl::StatusOr<Commit>) {
                    in_own += own.get_executor().running_in_this_thread();
                  }));
    async().Scan({}, {.table = "orders"}, [&](absl::StatusOr<Page>) {
      in_common += common.get_executor().running_in_this_thread();
    });
  };
  start();
  ASSERT_THAT(async().Close(), IsOk());
  start();  // Refused, and yet not inside the call.
  EXPECT_EQ(in_own + in_common, 0);
  own.run();
  common.run();
  EXPECT_EQ(in_own, 2);
  EXPECT_EQ(in_common, 2);
}

TEST_F(AsyncTest, WhatWaitsTogetherCommitsTogetherInItsOrder) {
  HoldWrites();
  std::vector<std::future<absl::StatusOr<Commit>>> commits;
  for (int i = 0; i < 100; ++i) {
    commits.push_back(
        async().Write({.sync = true}, Insert(Name(i)), asio::use_future));
  }
  EXPECT_EQ(async().GetStats().writes_queued, 100u);
  gate_->Open();
  for (int i = 0; i < 100; ++i) {
    const absl::StatusOr<Commit> commit = commits[i].get();
    ASSERT_THAT(commit, IsOk());
    EXPECT_EQ(static_cast<uint64_t>(commit->sequence), i + 2u);
  }
  const Stats stats = GetStats();
  EXPECT_EQ(stats.requests, 101u);
  EXPECT_EQ(stats.groups, 2u);
  EXPECT_EQ(stats.syncs, 1u);
  EXPECT_EQ(async().GetStats().write_bytes_queued, 0u);
}

TEST_F(AsyncTest, GroupsEndAtTheirLimitOfBytes) {
  options_.limits.group_bytes_max = 1000;
  HoldWrites();
  v1::Order order = MakeOrder("", "s", 1);
  order.set_buyer_id(std::string(600, 'b'));
  std::vector<std::future<absl::StatusOr<Commit>>> commits;
  for (int i = 0; i < 5; ++i) {
    order.set_order_id(Name(i));
    WriteBatch batch;
    batch.Insert("orders", Bytes(order));
    commits.push_back(async().Write({}, std::move(batch), asio::use_future));
  }
  gate_->Open();
  for (auto& commit : commits) EXPECT_THAT(commit.get(), IsOk());
  EXPECT_EQ(GetStats().groups, 6u);
}

TEST_F(AsyncTest, ARefusedRequestOfAGroupIsUndoneAlone) {
  HoldWrites();
  async().Write({}, Insert("o-1"), outcomes_.Note("first"));
  async().Write({}, Insert("o-1"), outcomes_.Note("again"));
  async().Write({}, WriteBatch().Put("orders", "no record"),
                outcomes_.Note("bytes"));
  async().Write({}, Insert("o-2"), outcomes_.Note("last"));
  gate_->Open();
  outcomes_.Await(5);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("first"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("again"), StatusCode::kAlreadyExists);
  EXPECT_EQ(outcomes_.Of("bytes"), StatusCode::kInvalidArgument);
  EXPECT_EQ(outcomes_.Of("last"), StatusCode::kOk);
  EXPECT_EQ(GetStats().groups, 2u);
}

TEST_F(AsyncTest, OnlyWhatHasNotBegunIsCancelled) {
  gate_->Shut();
  asio::cancellation_signal begun;
  async().Write(
      {}, Insert("o-1"),
      asio::bind_cancellation_slot(begun.slot(), outcomes_.Note("begun")));
  gate_->AwaitGuest();
  asio::cancellation_signal queued;
  async().Write(
      {}, Insert("o-2"),
      asio::bind_cancellation_slot(queued.slot(), outcomes_.Note("queued")));
  async().Write({}, Insert("o-3"), outcomes_.Note("other"));
  begun.emit(asio::cancellation_type::terminal);
  queued.emit(asio::cancellation_type::total);
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("queued"), StatusCode::kCancelled);
  EXPECT_EQ(async().GetStats().writes_queued, 1u);
  gate_->Open();
  outcomes_.Await(3);
  EXPECT_EQ(outcomes_.Of("begun"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("other"), StatusCode::kOk);
  EXPECT_EQ(ById("o-1"), std::vector<std::string>{"o-1"});
  EXPECT_EQ(ById("o-2"), std::vector<std::string>());
}

TEST_F(AsyncTest, AQueuedReadIsCancelled) {
  Start({.reads_running_max = 1});
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  gate_->Shut();
  async().GetBy({}, "orders", "by_order_id", {"o-1"}, outcomes_.Note("held"));
  gate_->AwaitGuest();
  asio::cancellation_signal signal;
  async().GetBy(
      {}, "orders", "by_order_id", {"o-1"},
      asio::bind_cancellation_slot(signal.slot(), outcomes_.Note("queued")));
  signal.emit(asio::cancellation_type::partial);
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("queued"), StatusCode::kCancelled);
  gate_->Open();
  outcomes_.Await(2);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
}

TEST_F(AsyncTest, WhatHasNotBegunByItsDeadlineNeverDoes) {
  HoldWrites();
  const int64_t deadline = async().DeadlineIn(std::chrono::microseconds(500));
  EXPECT_EQ(deadline, 1500);
  async().Write({.deadline_micros = deadline}, Insert("o-1"),
                outcomes_.Note("late"));
  async().Write({.deadline_micros = deadline + 1}, Insert("o-2"),
                outcomes_.Note("in time"));
  AsyncReadOptions past;
  past.deadline_micros = 999;
  async().Scan(past, {.table = "orders"}, outcomes_.Note("read"));
  clock_.now = deadline;
  gate_->Open();
  outcomes_.Await(4);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("late"), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(outcomes_.Of("in time"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("read"), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ById("o-1"), std::vector<std::string>());
}

TEST_F(AsyncTest, AFullQueueRejects) {
  Start({.writes_queued_max = 2});
  HoldWrites();
  async().Write({}, Insert("o-1"), outcomes_.Note("1"));
  async().Write({}, Insert("o-2"), outcomes_.Note("2"));
  async().Write({}, Insert("o-3"), outcomes_.Note("3"));
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("3"), StatusCode::kResourceExhausted);
  gate_->Open();
  outcomes_.Await(4);
  EXPECT_EQ(outcomes_.Of("1"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("2"), StatusCode::kOk);
  EXPECT_EQ(ById("o-3"), std::vector<std::string>());
}

TEST_F(AsyncTest, AQueueFullOfBytesRejects) {
  Start({.write_bytes_queued_max = 2000});
  HoldWrites();
  v1::Order order = MakeOrder("o-1", "s", 1);
  order.set_buyer_id(std::string(2000, 'b'));
  async().Write({}, WriteBatch().Put("orders", Bytes(order)),
                outcomes_.Note("large"));
  async().Write({}, Insert("o-2"), outcomes_.Note("small"));
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("large"), StatusCode::kResourceExhausted);
  gate_->Open();
  outcomes_.Await(3);
  EXPECT_EQ(outcomes_.Of("small"), StatusCode::kOk);
}

TEST_F(AsyncTest, AFullQueueMayMakeWait) {
  Start({.writes_queued_max = 1, .when_full = AsyncOptions::WhenFull::kWait});
  HoldWrites();
  std::vector<std::future<absl::StatusOr<Commit>>> commits;
  for (int i = 0; i < 20; ++i) {
    commits.push_back(async().Write({}, Insert(Name(i)), asio::use_future));
  }
  gate_->Open();
  for (int i = 0; i < 20; ++i) {
    const absl::StatusOr<Commit> commit = commits[i].get();
    ASSERT_THAT(commit, IsOk());
    EXPECT_EQ(static_cast<uint64_t>(commit->sequence), i + 2u);
  }
}

TEST_F(AsyncTest, CloseCarriesOutWhatWasAccepted) {
  HoldWrites();
  for (int i = 0; i < 10; ++i) {
    async().Write({}, Insert(Name(i)), outcomes_.Note(Name(i)));
    async().Scan({}, {.table = "orders"}, outcomes_.Note("r" + Name(i)));
  }
  std::thread closer([&] { EXPECT_THAT(engine().Close(), IsOk()); });
  // From when on new operations are refused is up to the closing thread.
  while (true) {
    auto probe = async().Scan({.deadline_micros = 0}, {.table = "orders"},
                              asio::use_future);
    if (probe.get().status().code() == StatusCode::kFailedPrecondition) break;
  }
  async().Write({}, Insert("after"), outcomes_.Note("after"));
  gate_->Open();
  closer.join();
  outcomes_.Await(22);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(outcomes_.Of(Name(i)), StatusCode::kOk);
    EXPECT_EQ(outcomes_.Of("r" + Name(i)), StatusCode::kOk);
  }
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("after"), StatusCode::kFailedPrecondition);
  EXPECT_THAT(async().Write({}, Insert("later"), asio::use_future).get(),
              StatusIs(StatusCode::kFailedPrecondition, "closed"));
  Open();
  EXPECT_EQ(BySeller("s").size(), 11u);
}

TEST_F(AsyncTest, CloseMayCancelWhatHasNotBegun) {
  Start({.on_close = AsyncOptions::OnClose::kCancel});
  HoldWrites();
  async().Write({}, Insert("o-1"), outcomes_.Note("queued"));
  std::thread closer([&] {
    EXPECT_THAT(async().Close(), IsOk());
    EXPECT_THAT(async().Close(), IsOk());
  });
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("queued"), StatusCode::kCancelled);
  gate_->Open();
  closer.join();
  outcomes_.Await(2);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_EQ(ById("o-1"), std::vector<std::string>());
}

TEST_F(AsyncTest, TheFrontMayGoWithOperationsOutstanding) {
  HoldWrites();
  async().Write({}, Insert("o-1"), outcomes_.Note("queued"));
  auto launched_later = async().Write({}, Insert("o-2"), asio::deferred);
  std::thread destroyer([&] { async_.reset(); });
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("queued"), StatusCode::kCancelled);
  gate_->Open();
  destroyer.join();
  outcomes_.Await(2);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_THAT(std::move(launched_later)(asio::use_future).get(),
              StatusIs(StatusCode::kFailedPrecondition));
}

TEST_F(AsyncTest, TheEngineMayGoWithOperationsOutstanding) {
  HoldWrites();
  async().Write({}, Insert("o-1"), outcomes_.Note("queued"));
  std::thread destroyer([&] { engine_.reset(); });
  outcomes_.Await(1);
  EXPECT_EQ(outcomes_.Of("queued"), StatusCode::kCancelled);
  gate_->Open();
  destroyer.join();
  outcomes_.Await(2);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_THAT(async_->Write({}, Insert("o-2"), asio::use_future).get(),
              StatusIs(StatusCode::kFailedPrecondition));
}

TEST_F(AsyncTest, AHandlerThatThrowsIsItsExecutorsAffair) {
  asio::io_context context;
  async().Write({}, Insert("o-1"),
                asio::bind_executor(context, [](absl::StatusOr<Commit>) {
                  throw std::runtime_error("a handler's own");
                }));
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_THAT(async().Write({}, Insert("o-2"), asio::use_future).get(), IsOk());
  EXPECT_EQ(BySeller("s").size(), 2u);
}

TEST_F(AsyncTest, WorkRunsOnTheExecutorGiven) {
  asio::thread_pool pool(1);
  std::atomic<int> tasks{0};
  Start({.executor = [&, on = RunOn(pool.get_executor())](
                         absl::AnyInvocable<void()> task) {
    ++tasks;
    on(std::move(task));
  }});
  EXPECT_THAT(async().Write({}, Insert("o-1"), asio::use_future).get(), IsOk());
  EXPECT_THAT(async().Scan({}, {.table = "orders"}, asio::use_future).get(),
              IsOk());
  EXPECT_GE(tasks, 2);
  async_.reset();
  pool.join();
}

TEST_F(AsyncTest, CloseNeedsNothingOfAnExecutorThatStopped) {
  Start({.executor = [](absl::AnyInvocable<void()>) {}});
  for (int i = 0; i < 10; ++i) {
    async().Write({}, Insert(Name(i)), outcomes_.Note(Name(i)));
  }
  EXPECT_EQ(outcomes_.count(), 0u);
  ASSERT_THAT(async().Close(), IsOk());
  outcomes_.Await(10);
  EXPECT_EQ(BySeller("s").size(), 10u);
  EXPECT_EQ(GetStats().groups, 1u);
}

TEST_F(AsyncTest, AFailedStoreWriteIsUnknownToItsGroupAndRefusesTheRest) {
  FaultyFileSystem files(FileSystem::Posix());
  options_.file_system = &files;
  HoldWrites();
  async().Write({.sync = true}, Insert("o-1"), outcomes_.Note("1"));
  async().Write({}, Insert("o-2"), outcomes_.Note("2"));
  async().Write({}, WriteBatch().Put("none", ""), outcomes_.Note("refused"));
  files.SetHook([](const std::string& call) {
    return call.starts_with("sync ") ? absl::InternalError("I/O error")
                                     : absl::OkStatus();
  });
  gate_->Open();
  outcomes_.Await(4);
  EXPECT_EQ(outcomes_.Of("held"), StatusCode::kOk);
  EXPECT_EQ(outcomes_.Of("1"), StatusCode::kUnknown);
  EXPECT_EQ(outcomes_.Of("2"), StatusCode::kUnknown);
  EXPECT_EQ(outcomes_.Of("refused"), StatusCode::kInvalidArgument);
  EXPECT_THAT(async().Write({}, Insert("o-3"), asio::use_future).get(),
              StatusIs(StatusCode::kFailedPrecondition, "read-only"));
  async_.reset();
  engine_.reset();
}

// It would wait for the group that it is a part of.
TEST_F(AsyncTest, AHookCannotClose) {
  class Closer : public Observer {
   public:
    ObserverTraits traits() const override {
      return {.name = "closer", .hooks = kPrePut};
    }
    absl::Status PrePut(HookContext&, const RowChange&) override {
      return async->Close();
    }
    AsyncEngine* async = nullptr;
  };
  auto closer = std::make_shared<Closer>();
  options_.observers = {closer};
  closer->async = &async();
  EXPECT_THAT(async().Write({}, Insert("o-1"), asio::use_future).get(),
              StatusIs(StatusCode::kFailedPrecondition, "closer"));
}

// Four threads, each with its own context and signals, beside synchronous
// writers, and a close in the middle.
TEST_F(AsyncTest, EachOperationCompletesOnceWhateverHappens) {
  constexpr int kThreads = 4;
  constexpr int kWrites = 250;
  Start({.writes_queued_max = 100});
  engine();
  std::atomic<int> completed{0};
  std::atomic<int> committed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      asio::io_context context;
      std::vector<asio::cancellation_signal> signals(kWrites);
      for (int i = 0; i < kWrites; ++i) {
        async().Write(
            {}, Insert(std::to_string(t) + "-" + std::to_string(i)),
            asio::bind_executor(context,
                                asio::bind_cancellation_slot(
                                    signals[i].slot(),
                                    [&](const absl::StatusOr<Commit>& commit) {
                                      ++completed;
                                      committed += commit.ok();
                                    })));
        signals[random() % (i + 1)].emit(asio::cancellation_type::all);
        context.poll();
        if (t == 0 && i == kWrites / 2) {
          EXPECT_THAT(async().Close(), IsOk());
        }
        if (t == 1 && i % 10 == 0) {
          EXPECT_THAT(Put(MakeOrder(Name(i), "sync", i)), IsOk());
        }
      }
      context.restart();
      context.run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completed, kThreads * kWrites);
  EXPECT_EQ(Scan({.equal = {"s"}, .limit = 2000}).size(),
            static_cast<size_t>(committed));
}

}  // namespace
}  // namespace dovetail::test
