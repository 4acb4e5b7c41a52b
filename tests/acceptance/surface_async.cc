// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Coroutines that write through the asynchronous front, with cancellations at
// random moments, deadlines, and a close in the middle.
//
//   surface_async [--coroutines N] [--writes N] [--seed N]
//
// Each write inserts a row of its own. At the end
//   once      every operation has completed exactly once
//   order     what was acknowledged has the sequences 1 to S; those of one
//             coroutine are in its order
//   close     nothing initiated after Close returned is acknowledged, and the
//             last sequence at that moment is S
//   durable   after reopen the rows are those acknowledged, each under its
//             sequence, and no others: nothing is there that was reported
//             cancelled, late or refused
//   clean     verify finds nothing
// Two rounds: Engine::Close, which carries out what was accepted; and a queue
// shorter than it should be, with AsyncEngine::Close, which cancels it.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/strand.hpp"
#include "boost/asio/thread_pool.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "dovetail/async.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

namespace asio = boost::asio;

struct Load {
  uint32_t coroutines = 64;
  uint32_t writes = 10'000;  // Of each coroutine.
  uint64_t seed = 0;
  AsyncOptions::OnClose on_close = AsyncOptions::OnClose::kDrain;
  bool short_queue = false;  // Shorter than needed, so that writes wait.
};

// One write. Touched by its coroutine alone until all have ended.
struct Operation {
  uint32_t completions = 0;
  bool after_close = false;  // Initiated when Close had returned.
  absl::StatusCode code = absl::StatusCode::kUnknown;
  uint64_t sequence = 0;
};

Schema OrdersSchema() {
  Schema schema;
  schema.Add(presets::SellerOrders("orders"));
  return schema;
}

std::string Seller(uint32_t coroutine) { return absl::StrCat("s-", coroutine); }

WriteBatch InsertOf(uint32_t coroutine, uint32_t number) {
  v1::Order order;
  order.set_order_id(absl::StrCat(coroutine, "-", number));
  order.set_seller_id(Seller(coroutine));
  order.set_ts_ms(1'700'000'000'000 + number);
  order.set_status(v1::CREATED);
  WriteBatch batch;
  batch.Insert("orders", order.SerializeAsString());
  return batch;
}

class Round {
 public:
  Round(const Load& load, Checks* checks)
      : load_(load), checks_(*checks), operations_(load.coroutines) {
    for (auto& own : operations_) own.resize(load.writes);
  }

  absl::Status Run() {
    ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), OrdersSchema()));
    RETURN_IF_ERROR(WriteAll());
    CheckOutcomes();
    engine_.reset();
    ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), OrdersSchema()));
    RETURN_IF_ERROR(CheckRows());
    return engine_->Close();
  }

 private:
  using Strand = asio::strand<asio::thread_pool::executor_type>;

  absl::Status WriteAll();
  asio::awaitable<void> WriteOwn(uint32_t coroutine, Strand strand);
  void Completed(Operation& operation, const absl::StatusOr<Commit>& commit);
  void AwaitHalf();
  absl::Status CloseInTheMiddle();
  void CheckOutcomes();
  absl::Status CheckRows();

  const Load load_;
  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<AsyncEngine> async_;
  std::vector<std::vector<Operation>> operations_;  // By coroutine, number.
  std::atomic<bool> closed_{false};
  uint64_t sequence_at_close_ = 0;
  uint64_t requests_ = 0;  // At the moment of close, as is what follows.
  uint64_t groups_ = 0;
  double seconds_ = 0;

  Mutex mu_;
  CondVar half_;
  uint64_t completed_ GUARDED_BY(mu_) = 0;
};

// Emits the signal from the strand, after passing through it a few times, so
// that it meets the operation waiting, begun, or completed.
void EmitLater(asio::strand<asio::thread_pool::executor_type> strand,
               std::shared_ptr<asio::cancellation_signal> signal,
               uint64_t passes) {
  asio::post(strand, [strand, signal = std::move(signal), passes] {
    if (passes == 0) {
      signal->emit(asio::cancellation_type::terminal);
    } else {
      EmitLater(strand, signal, passes - 1);
    }
  });
}

asio::awaitable<void> Round::WriteOwn(uint32_t coroutine, Strand strand) {
  std::mt19937_64 random(load_.seed * 1000 + coroutine);
  for (uint32_t number = 0; number < load_.writes; ++number) {
    Operation& operation = operations_[coroutine][number];
    operation.after_close = closed_.load();
    AsyncWriteOptions options;
    options.sync = random() % 256 == 0;
    if (random() % 16 == 0) {
      options.deadline_micros =
          async_->DeadlineIn(std::chrono::microseconds(random() % 1000));
    }
    WriteBatch batch = InsertOf(coroutine, number);
    // A signal for each: one that comes late must not meet the next.
    auto signal = std::make_shared<asio::cancellation_signal>();
    if (random() % 8 == 0) EmitLater(strand, signal, random() % 8);
    const absl::StatusOr<Commit> commit = co_await async_->Write(
        options, std::move(batch),
        asio::bind_cancellation_slot(signal->slot(), asio::use_awaitable));
    Completed(operation, commit);
  }
}

void Round::Completed(Operation& operation,
                      const absl::StatusOr<Commit>& commit) {
  ++operation.completions;
  operation.code = commit.status().code();
  if (commit.ok()) {
    operation.sequence = static_cast<uint64_t>(commit->sequence);
  }
  MutexLock lock(mu_);
  if (++completed_ == uint64_t{load_.coroutines} * load_.writes / 2) {
    half_.SignalAll();
  }
}

void Round::AwaitHalf() {
  MutexLock lock(mu_);
  while (completed_ < uint64_t{load_.coroutines} * load_.writes / 2) {
    half_.Wait(mu_);
  }
}

absl::Status Round::WriteAll() {
  AsyncOptions options;
  options.writes_queued_max = load_.coroutines;
  if (load_.short_queue) {
    options.writes_queued_max = load_.coroutines / 8;
    options.when_full = AsyncOptions::WhenFull::kWait;
  }
  options.on_close = load_.on_close;
  async_ = std::make_unique<AsyncEngine>(engine_.get(), options);
  const auto start = std::chrono::steady_clock::now();
  asio::thread_pool pool(2);
  for (uint32_t i = 0; i < load_.coroutines; ++i) {
    const Strand strand = asio::make_strand(pool);
    asio::co_spawn(strand, WriteOwn(i, strand), asio::detached);
  }
  AwaitHalf();
  seconds_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  const absl::Status closed = CloseInTheMiddle();
  closed_.store(true);
  pool.join();  // Returns when no coroutine waits any more.
  async_.reset();
  return closed;
}

absl::Status Round::CloseInTheMiddle() {
  if (load_.on_close == AsyncOptions::OnClose::kCancel) {
    RETURN_IF_ERROR(async_->Close());
  }
  ASSIGN_OR_RETURN(const Stats stats, engine_->GetStats());
  requests_ = stats.requests;
  groups_ = stats.groups;
  if (load_.on_close == AsyncOptions::OnClose::kCancel) {
    sequence_at_close_ = static_cast<uint64_t>(stats.sequence);
    return absl::OkStatus();
  }
  // Asked after the fact, since the engine drains in Close: of reopening.
  return engine_->Close();
}

void Round::CheckOutcomes() {
  std::map<absl::StatusCode, uint64_t> counts;
  std::vector<bool> seen;
  uint64_t acknowledged = 0;
  for (const std::vector<Operation>& own : operations_) {
    uint64_t last = 0;
    for (const Operation& operation : own) {
      checks_.Equal(operation.completions, 1u, "completes exactly once");
      ++counts[operation.code];
      if (operation.after_close) {
        checks_.Equal(
            absl::StatusCodeToString(operation.code),
            absl::StatusCodeToString(absl::StatusCode::kFailedPrecondition),
            "initiated after close");
      }
      if (operation.code != absl::StatusCode::kOk) continue;
      ++acknowledged;
      checks_.That(operation.sequence > last, "in the coroutine's order");
      last = operation.sequence;
      if (seen.size() <= last) seen.resize(last + 1);
      checks_.That(!seen[last], "a sequence is one request's");
      seen[last] = true;
    }
  }
  checks_.Equal(seen.size(), acknowledged + 1, "sequences have no holes");
  if (sequence_at_close_ != 0) {
    checks_.Equal(acknowledged, sequence_at_close_, "nothing after close");
  }
  for (const auto& [code, count] : counts) {
    std::printf("%-44s %9llu\n", absl::StatusCodeToString(code).c_str(),
                static_cast<unsigned long long>(count));
    checks_.That(code == absl::StatusCode::kOk ||
                     code == absl::StatusCode::kCancelled ||
                     code == absl::StatusCode::kDeadlineExceeded ||
                     code == absl::StatusCode::kFailedPrecondition,
                 absl::StrCat("an outcome that can be: ",
                              absl::StatusCodeToString(code)));
  }
  for (const absl::StatusCode code :
       {absl::StatusCode::kOk, absl::StatusCode::kCancelled,
        absl::StatusCode::kFailedPrecondition}) {
    checks_.That(
        counts[code] > 0,
        absl::StrCat("the round has some ", absl::StatusCodeToString(code)));
  }
  std::printf("%-44s %9.1f\n", "requests per group until close",
              static_cast<double>(requests_) / static_cast<double>(groups_));
  std::printf("%-44s %9.0f\n", "committed writes/s until close",
              static_cast<double>(requests_) / seconds_);
}

absl::Status Round::CheckRows() {
  uint64_t rows = 0;
  uint64_t acknowledged = 0;
  for (uint32_t i = 0; i < load_.coroutines; ++i) {
    std::map<std::string, uint64_t> versions;  // By order id.
    ScanRequest request;
    request.table = "orders";
    request.equal.emplace_back(Seller(i));
    request.limit = 1000;
    do {
      ASSIGN_OR_RETURN(Page page, engine_->Scan({}, request));
      for (const Row& row : page.rows) {
        v1::Order order;
        if (!order.ParseFromString(row.record)) {
          return absl::DataLossError("a row does not parse");
        }
        versions[order.order_id()] = static_cast<uint64_t>(row.version);
        ++rows;
      }
      request.continuation = std::move(page.continuation);
    } while (!request.continuation.empty());
    for (uint32_t number = 0; number < load_.writes; ++number) {
      const Operation& operation = operations_[i][number];
      const auto found = versions.find(absl::StrCat(i, "-", number));
      acknowledged += operation.code == absl::StatusCode::kOk;
      checks_.Equal(found == versions.end() ? 0 : found->second,
                    operation.sequence,
                    absl::StrCat("the row's version, 0 for none, after ",
                                 absl::StatusCodeToString(operation.code)));
    }
  }
  checks_.Equal(rows, acknowledged, "rows");
  checks_.Equal(static_cast<uint64_t>(engine_->open_report().sequence),
                acknowledged, "the last sequence, and so that at close");
  ASSIGN_OR_RETURN(const VerifyReport verify, engine_->Verify({}));
  checks_.That(verify.clean(), absl::StrCat("verify: ", verify.Summary()));
  checks_.Equal(verify.rows, acknowledged, "verified rows");
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Load load;
  load.seed = std::random_device()();
  bool ok = argc % 2 == 1;
  for (int i = 1; ok && i < argc; i += 2) {
    const std::string_view flag = argv[i];
    ok = (flag == "--coroutines" &&
          absl::SimpleAtoi(argv[i + 1], &load.coroutines)) ||
         (flag == "--writes" && absl::SimpleAtoi(argv[i + 1], &load.writes)) ||
         (flag == "--seed" && absl::SimpleAtoi(argv[i + 1], &load.seed));
  }
  if (!ok || load.coroutines == 0 || load.writes == 0) {
    std::fprintf(stderr,
                 "usage: surface_async [--coroutines N] [--writes N] "
                 "[--seed N]\n");
    return 2;
  }
  std::printf("surface-async: seed=%llu coroutines=%u writes=%u\n",
              static_cast<unsigned long long>(load.seed), load.coroutines,
              load.writes);
  Checks checks("surface-async");
  std::printf("-- Engine::Close, carrying out what was accepted\n");
  std::fflush(stdout);
  checks.Ok(Round(load, &checks).Run(), "run");
  std::printf("-- AsyncEngine::Close, cancelling it\n");
  std::fflush(stdout);
  load.on_close = AsyncOptions::OnClose::kCancel;
  load.short_queue = true;
  checks.Ok(Round(load, &checks).Run(), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
