// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An observer made of functions; the unset ones do nothing.
class Scripted : public Observer {
 public:
  explicit Scripted(ObserverTraits traits) : traits_(std::move(traits)) {}

  ObserverTraits traits() const override { return traits_; }
  absl::Status PrePut(HookContext& ctx, const RowChange& c) override {
    return pre_put ? pre_put(ctx, c) : absl::OkStatus();
  }
  absl::Status PostPut(HookContext& ctx, const RowChange& c) override {
    return post_put ? post_put(ctx, c) : absl::OkStatus();
  }
  absl::Status PreDelete(HookContext& ctx, const RowChange& c) override {
    return pre_delete ? pre_delete(ctx, c) : absl::OkStatus();
  }
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& all) override {
    return pre_batch ? pre_batch(ctx, all) : absl::OkStatus();
  }
  absl::Status PostBatchMutate(HookContext& ctx,
                               const std::vector<RowChange>& all) override {
    return post_batch ? post_batch(ctx, all) : absl::OkStatus();
  }
  void PostBatchMutateIndispensably(const absl::Status& outcome) override {
    outcomes.push_back(outcome.code());
  }
  absl::Status PreGet(const ReadEvent& event) override {
    return pre_get ? pre_get(event) : absl::OkStatus();
  }

  using OnRow = std::function<absl::Status(HookContext&, const RowChange&)>;
  using OnBatch =
      std::function<absl::Status(HookContext&, const std::vector<RowChange>&)>;
  OnRow pre_put, post_put, pre_delete;
  OnBatch pre_batch, post_batch;
  std::function<absl::Status(const ReadEvent&)> pre_get;
  std::vector<absl::StatusCode> outcomes;

 private:
  ObserverTraits traits_;
};

constexpr uint32_t kWriteHooks = kPrePut | kPostPut | kPreDelete |
                                 kPreBatchMutate | kPostBatchMutate |
                                 kPostBatchMutateIndispensably;

class ObserverTest : public EngineTest {
 protected:
  ObserverTest() {
    schema_.Add(TableBuilder("audit", v1::Order::descriptor())
                    .RowKey({Field("order_id"), Field("ts_ms")})
                    .Unique("by_note", {Field("note")}));
  }
  std::shared_ptr<Scripted> Observe(std::string name, int priority = 0,
                                    uint32_t hooks = kWriteHooks) {
    ObserverTraits traits;
    traits.name = std::move(name);
    traits.hooks = hooks;
    traits.priority = priority;
    traits.reads = {"orders", "audit"};
    traits.writes = {"audit"};
    auto observer = std::make_shared<Scripted>(std::move(traits));
    options_.observers.push_back(observer);
    return observer;
  }
  static Mutation AuditPut(std::string_view id, std::string_view note) {
    v1::Order record = MakeOrder(id, "", 1);
    record.set_note(std::string(note));
    return {Mutation::Kind::kPut, "audit", Bytes(record),
            RowRef::Key({}),      {},      {}};
  }
  void ExpectUntouched() {
    EXPECT_THAT(BySeller("s"), IsEmpty());
    const auto stats = engine().GetStats();
    ASSERT_THAT(stats, IsOk());
    EXPECT_EQ(stats->sequence, SequenceNumber{0});
    for (const IndexStats& index : stats->indexes) {
      EXPECT_EQ(index.entries_written, 0u) << index.table << index.index;
    }
  }
};

TEST_F(ObserverTest, HooksSeeBothImagesInPriorityOrder) {
  std::vector<std::string> calls;
  for (const auto& [name, priority] :
       {std::pair{"second", 2}, std::pair{"first", 1}}) {
    Observe(name, priority)->pre_put = [&calls, name = std::string(name)](
                                           HookContext&, const RowChange& c) {
      v1::Order old_order, new_order;
      if (c.old_record) old_order.ParseFromString(std::string(*c.old_record));
      new_order.ParseFromString(std::string(*c.new_record));
      calls.push_back(name + ":" + old_order.seller_id() + ">" +
                      new_order.seller_id() +
                      (c.old_key == c.new_key ? "" : " moved"));
      return absl::OkStatus();
    };
  }
  ASSERT_THAT(Put(MakeOrder("o-1", "a", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-1", "b", 1)), IsOk());
  EXPECT_THAT(calls, ElementsAre("first:>a", "second:>a", "first:a>b moved",
                                 "second:a>b moved"));
}

TEST_F(ObserverTest, AVetoIsTheObserversOwnErrorAndLeavesNoTrace) {
  auto guard = Observe("guard");
  guard->pre_put = [](HookContext&, const RowChange&) {
    return absl::ResourceExhaustedError("seller is blocked");
  };
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kResourceExhausted,
                       "observer=guard hook=PrePut: seller is blocked"));
  ExpectUntouched();
  EXPECT_THAT(guard->outcomes, ElementsAre(StatusCode::kResourceExhausted));
}

TEST_F(ObserverTest, AVetoUndoesOnlyItsOwnRequestOfTheGroup) {
  Observe("guard")->pre_put = [](HookContext&, const RowChange& c) {
    v1::Order order;
    order.ParseFromString(std::string(*c.new_record));
    return order.note() == "bad" ? absl::AbortedError("no") : absl::OkStatus();
  };
  Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 200; ++i) {
        v1::Order order = MakeOrder(std::to_string(t * 1000 + i), "s", i);
        if (i % 3 == 0) order.set_note("bad");
        EXPECT_EQ(Put(order).ok(), i % 3 != 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto report = engine().Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->rows, 4u * 133);
}

TEST_F(ObserverTest, AnExceptionBecomesAnErrorAndTheObserverStays) {
  auto thrower = Observe("thrower");
  int calls = 0;
  thrower->pre_put = [&calls](HookContext&, const RowChange&) -> absl::Status {
    if (++calls == 1) throw std::runtime_error("out of paper");
    if (calls == 2) throw 42;
    return absl::OkStatus();
  };
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kInternal, "observer=thrower"));
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kInternal, "no std::exception"));
  ExpectUntouched();
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
}

TEST_F(ObserverTest, AnUnknownErrorOfAHookIsNotAnUnknownOutcome) {
  Observe("vague")->pre_put = [](HookContext&, const RowChange&) {
    return absl::UnknownError("hm");
  };
  const auto commit = Put(MakeOrder("o-1", "s", 1));
  EXPECT_EQ(OutcomeOf(commit.status()), WriteOutcome::kNotCommitted);
  ExpectUntouched();
}

TEST_F(ObserverTest, AnUndeclaredWriteFailsTheRequestEvenIfIgnored) {
  Observe("sneaky")->pre_put = [](HookContext& ctx, const RowChange&) {
    Mutation mutation = AuditPut("x", "n");
    mutation.table = "orders";
    EXPECT_THAT(ctx.Add(mutation), StatusIs(StatusCode::kPermissionDenied));
    return absl::OkStatus();
  };
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kPermissionDenied, "observer=sneaky"));
  ExpectUntouched();
}

TEST_F(ObserverTest, AnUndeclaredReadIsRefused) {
  ObserverTraits traits{.name = "curious", .hooks = kPrePut};
  auto curious = std::make_shared<Scripted>(traits);
  curious->pre_put = [](HookContext& ctx, const RowChange&) {
    return ctx.ReadRow("orders", {"s", 1, "o-1"}).status();
  };
  options_.observers.push_back(curious);
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kPermissionDenied, "observer=curious"));
}

TEST_F(ObserverTest, AHookThatCallsItsEngineIsRefusedNotDeadlocked) {
  std::vector<absl::Status> inner;
  Observe("reentrant", 0, kWriteHooks | kPreGet)->pre_put =
      [&](HookContext&, const RowChange&) {
        inner.push_back(engine_->Write({}, WriteBatch()).status());
        inner.push_back(engine_->Get({}, "orders", {"s", 1, "o"}).status());
        inner.push_back(engine_->Close());
        return absl::OkStatus();
      };
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  ASSERT_EQ(inner.size(), 3u);
  for (const absl::Status& status : inner) {
    EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "hook"));
  }
}

// A clock that only tests move.
class ManualClock : public Clock {
 public:
  int64_t NowMicros() override { return now; }
  int64_t MonotonicMicros() override { return now; }
  int64_t now = 0;
};

TEST_F(ObserverTest, AStrictObserverOverItsBudgetFailsTheRequest) {
  ManualClock clock;
  options_.clock = &clock;
  for (const bool strict : {false, true}) {
    options_.observers.clear();
    ObserverTraits traits{.name = "slow", .hooks = kPrePut};
    traits.budget_micros = 1000;
    traits.strict = strict;
    auto slow = std::make_shared<Scripted>(traits);
    slow->pre_put = [&clock](HookContext&, const RowChange&) {
      clock.now += 1001;
      return absl::OkStatus();
    };
    options_.observers.push_back(slow);
    Open();
    const auto commit = Put(MakeOrder(strict ? "o-2" : "o-1", "s", 1));
    if (strict) {
      EXPECT_THAT(commit, StatusIs(StatusCode::kDeadlineExceeded,
                                   "observer=slow hook=PrePut"));
    } else {
      EXPECT_THAT(commit, IsOk());
    }
    const auto stats = engine().GetStats();
    ASSERT_THAT(stats, IsOk());
    EXPECT_EQ(stats->observers[0].overruns, 1u);
  }
  EXPECT_THAT(BySeller("s"), ElementsAre("o-1"));
}

TEST_F(ObserverTest, AddedMutationsCommitWithTheRequestAndAreIndexed) {
  auto audit = Observe("audit");
  std::vector<std::string> seen;
  audit->pre_put = [&seen](HookContext& ctx, const RowChange& c) {
    seen.emplace_back(c.table);
    ctx.Annotate("audited");
    return ctx.Add(AuditPut("a", "n-1"));
  };
  std::vector<std::string> in_batch;
  audit->pre_batch = [&in_batch](HookContext&,
                                 const std::vector<RowChange>& all) {
    for (const RowChange& c : all) {
      in_batch.push_back(std::string(c.table) + "/" + std::string(c.added_by));
    }
    return absl::OkStatus();
  };
  const auto commit = Put(MakeOrder("o-1", "s", 1));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->annotations, ElementsAre("audited"));
  // No user hook for the addition, but it is part of the batch.
  EXPECT_THAT(seen, ElementsAre("orders"));
  EXPECT_THAT(in_batch, ElementsAre("orders/", "audit/audit"));
  const auto rows = engine().GetBy({}, "audit", "by_note", {"n-1"});
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->size(), 1u);
}

TEST_F(ObserverTest, AnAdditionThatViolatesAUniqueIndexNamesItsObserver) {
  Observe("audit")->pre_put = [](HookContext& ctx, const RowChange&) {
    EXPECT_THAT(ctx.Add(AuditPut("a", "same")), IsOk());
    return ctx.Add(AuditPut("b", "same"));
  };
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kAlreadyExists, "added_by_observer=audit"));
  ExpectUntouched();
}

TEST_F(ObserverTest, AnAdditionThatIsNoRecordFailsTheRequest) {
  Observe("audit")->pre_batch = [](HookContext& ctx,
                                   const std::vector<RowChange>&) {
    Mutation mutation = AuditPut("a", "n");
    mutation.record = "\xff";
    return ctx.Add(std::move(mutation));
  };
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)),
              StatusIs(StatusCode::kInvalidArgument, "observer=audit"));
  ExpectUntouched();
}

TEST_F(ObserverTest, AHookReadsWhatTheRequestHasDoneSoFar) {
  std::vector<size_t> found;
  Observe("reader")->pre_put = [&found](HookContext& ctx, const RowChange&) {
    const auto rows = ctx.ReadBy("orders", "by_status", {"s"});
    EXPECT_THAT(rows, IsOk());
    found.push_back(rows.ok() ? rows->size() : 99);
    return absl::OkStatus();
  };
  ASSERT_THAT(
      engine().Write({}, WriteBatch()
                             .Put("orders", Bytes(MakeOrder("o-1", "s", 1)))
                             .Put("orders", Bytes(MakeOrder("o-2", "s", 2)))
                             .Put("orders", Bytes(MakeOrder("o-3", "s", 3)))),
      IsOk());
  EXPECT_THAT(found, ElementsAre(0, 1, 2));
}

TEST_F(ObserverTest, AFailedPostHookIsReportedAndUndoesNothing) {
  auto post = Observe("post");
  post->post_put = [](HookContext& ctx, const RowChange&) {
    EXPECT_THAT(ctx.Add(AuditPut("a", "late")),
                StatusIs(StatusCode::kFailedPrecondition, "pre hooks"));
    return absl::UnavailableError("mail server is down");
  };
  const auto commit = Put(MakeOrder("o-1", "s", 1));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->post_commit,
              StatusIs(StatusCode::kUnavailable, "observer=post"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o-1"));
  EXPECT_THAT(post->outcomes, ElementsAre(StatusCode::kOk));
}

TEST_F(ObserverTest, PostHooksRunInCommitOrder) {
  std::vector<uint64_t> order;
  Observe("log")->post_batch = [&order](HookContext& ctx,
                                        const std::vector<RowChange>&) {
    order.push_back(static_cast<uint64_t>(ctx.sequence()));
    return absl::OkStatus();
  };
  Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_THAT(Put(MakeOrder(std::to_string(t * 1000 + i), "s", i)),
                    IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(order.size(), 400u);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i + 1);
}

TEST_F(ObserverTest, DeletesAndMovesOfAllKindsReachTheirHooks) {
  std::vector<std::string> deleted;
  Observe("log")->pre_delete = [&deleted](HookContext&, const RowChange& c) {
    EXPECT_FALSE(c.new_record.has_value());
    v1::Order order;
    order.ParseFromString(std::string(*c.old_record));
    deleted.push_back(order.order_id());
    return absl::OkStatus();
  };
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-1", "t", 1)), IsOk());  // A move, no delete.
  ASSERT_THAT(DeleteId("o-1"), IsOk());
  EXPECT_THAT(deleted, ElementsAre("o-1"));
}

TEST_F(ObserverTest, AReadHookMayRefuseARead) {
  Observe("privacy", 0, kPreGet)->pre_get = [](const ReadEvent& event) {
    EXPECT_EQ(event.index, "by_order_id");
    return absl::PermissionDeniedError("not yours");
  };
  EXPECT_THAT(engine().GetBy({}, "orders", "by_order_id", {"o-1"}),
              StatusIs(StatusCode::kPermissionDenied, "observer=privacy"));
}

TEST_F(ObserverTest, ObserversWithoutANameOrWithOneNameTwiceAreRefused) {
  Observe("twin");
  Observe("twin");
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kInvalidArgument, "twin"));
  options_.observers = {nullptr};
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kInvalidArgument, "null"));
}

}  // namespace
}  // namespace dovetail::test
