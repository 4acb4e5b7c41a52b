// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/change_feed.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kNow = std::chrono::microseconds(0);
constexpr auto kLong = std::chrono::seconds(60);

class ChangeFeedTest : public EngineTest {
 protected:
  std::unique_ptr<ChangeFeed> Feed(FeedStart start = FeedStart::kOldest,
                                   std::string_view consumer = "c") {
    auto feed = engine().OpenFeed(consumer, start);
    EXPECT_THAT(feed, IsOk());
    return feed.ok() ? *std::move(feed) : nullptr;
  }
  // What is there now, as "sequence: order ids".
  static std::vector<std::string> Rest(ChangeFeed& feed) {
    std::vector<std::string> rest;
    v1::WriteLogRecord change;
    while (true) {
      const auto more = feed.Next(&change, kNow);
      EXPECT_THAT(more, IsOk());
      if (!more.ok() || !*more) return rest;
      std::string& line =
          rest.emplace_back(absl::StrCat(change.sequence(), ":"));
      for (const v1::RowEffect& effect : change.effects()) {
        v1::Order order;
        EXPECT_TRUE(order.ParseFromString(effect.record()));
        absl::StrAppend(&line, effect.old_key().empty() ? " " : " moved ",
                        effect.has_record() ? order.order_id() : "deleted");
      }
    }
  }
};

TEST_F(ChangeFeedTest, HasEveryCommitInOrderFromItsStartOn) {
  ASSERT_THAT(Put(MakeOrder("before", "s", 1)), IsOk());
  EXPECT_THAT(engine().OpenFeed("c", FeedStart::kOldest),
              StatusIs(StatusCode::kFailedPrecondition, "no change feed"));
  ASSERT_THAT(engine().EnableChangeFeed({}), IsOk());
  EXPECT_THAT(engine().EnableChangeFeed({}),
              StatusIs(StatusCode::kAlreadyExists, "is on"));
  ASSERT_THAT(Put(MakeOrder("a", "s", 2)), IsOk());
  ASSERT_THAT(Put(MakeOrder("a", "other", 2)), IsOk());
  // Refused requests take no sequence and leave nothing here.
  ASSERT_FALSE(engine()
                   .Write({}, WriteBatch().Insert(
                                  "orders", Bytes(MakeOrder("a", "s", 1))))
                   .ok());
  WriteBatch batch;
  batch.Put("orders", Bytes(MakeOrder("b", "s", 3)));
  batch.Delete("orders", RowRef::By("by_order_id", {"a"}));
  batch.Delete("orders", RowRef::By("by_order_id", {"nobody"}));
  ASSERT_THAT(engine().Write({}, batch), IsOk());
  ASSERT_THAT(DeleteId("nobody"), IsOk());
  const auto feed = Feed();
  EXPECT_THAT(Rest(*feed),
              ElementsAre("2: a", "3: moved a", "4: b deleted", "5:"));
}

TEST_F(ChangeFeedTest, GoesOnBehindTheLastAcknowledgedCommitAfterARestart) {
  ASSERT_THAT(engine().EnableChangeFeed({}), IsOk());
  for (const char* id : {"a", "b", "c", "d"}) {
    ASSERT_THAT(Put(MakeOrder(id, "s", 1)), IsOk());
  }
  auto feed = Feed();
  EXPECT_THAT(Rest(*feed), SizeIs(4));
  EXPECT_THAT(feed->Acknowledge(SequenceNumber{9}),
              StatusIs(StatusCode::kInvalidArgument, "not returned"));
  ASSERT_THAT(feed->Acknowledge(SequenceNumber{2}), IsOk());
  ASSERT_THAT(feed->Acknowledge(SequenceNumber{1}), IsOk());  // Done already.
  feed.reset();
  Open();
  EXPECT_THAT(Rest(*Feed()), ElementsAre("3: c", "4: d"));
  // Another consumer has a place of its own.
  EXPECT_THAT(Rest(*Feed(FeedStart::kOldest, "other")), SizeIs(4));
  EXPECT_THAT(Rest(*Feed(FeedStart::kNow, "new")), IsEmpty());
  const auto consumers = engine().ListFeedConsumers();
  ASSERT_THAT(consumers, IsOk());
  ASSERT_THAT(*consumers, SizeIs(3));
  EXPECT_EQ((*consumers)[0].name, "c");
  EXPECT_EQ((*consumers)[0].acknowledged, SequenceNumber{2});
  ASSERT_THAT(engine().DropFeedConsumer("c"), IsOk());
  EXPECT_THAT(engine().DropFeedConsumer("c"),
              StatusIs(StatusCode::kNotFound, "no such consumer"));
  EXPECT_THAT(engine().OpenFeed("", FeedStart::kNow),
              StatusIs(StatusCode::kInvalidArgument, "name"));
}

TEST_F(ChangeFeedTest, WaitsForTheNextCommit) {
  ASSERT_THAT(engine().EnableChangeFeed({}), IsOk());
  const auto feed = Feed();
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_THAT(Put(MakeOrder(absl::StrCat(i), "s", i)), IsOk());
    }
  });
  v1::WriteLogRecord change;
  for (uint64_t i = 1; i <= 100; ++i) {
    ASSERT_THAT(feed->Next(&change, kLong), IsOkAndHolds(true));
    ASSERT_EQ(change.sequence(), i);
  }
  writer.join();
  EXPECT_THAT(feed->Next(&change, kNow), IsOkAndHolds(false));
}

TEST_F(ChangeFeedTest, KeepsAsManyCommitsAsItWasTold) {
  ASSERT_THAT(engine().EnableChangeFeed({.commits_max = 3}), IsOk());
  const auto late = Feed();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_THAT(Put(MakeOrder(absl::StrCat("o", i), "s", i)), IsOk());
  }
  v1::WriteLogRecord change;
  EXPECT_THAT(late->Next(&change, kNow),
              StatusIs(StatusCode::kOutOfRange, "oldest=3"));
  EXPECT_THAT(Rest(*Feed(FeedStart::kOldest, "new")),
              ElementsAre("3: o3", "4: o4", "5: o5"));
}

TEST_F(ChangeFeedTest, IsForgottenWhenItIsDisabled) {
  ASSERT_THAT(engine().EnableChangeFeed({}), IsOk());
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  const auto feed = Feed();
  ASSERT_THAT(engine().DisableChangeFeed(), IsOk());
  v1::WriteLogRecord change;
  EXPECT_THAT(feed->Next(&change, kNow),
              StatusIs(StatusCode::kFailedPrecondition, "no change feed"));
  EXPECT_THAT(engine().DisableChangeFeed(),
              StatusIs(StatusCode::kFailedPrecondition, "no change feed"));
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  ASSERT_THAT(engine().EnableChangeFeed({}), IsOk());
  ASSERT_THAT(Put(MakeOrder("c", "s", 1)), IsOk());
  EXPECT_THAT(Rest(*Feed()), ElementsAre("3: c"));
}

}  // namespace
}  // namespace dovetail::test
