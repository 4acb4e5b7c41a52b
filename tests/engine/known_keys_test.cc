// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/known_keys.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "engine/key_filter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_fixture.h"
#include "xxhash.h"

namespace dovetail::test {
namespace {

uint64_t HashOf(uint64_t number) { return XXH3_64bits(&number, 8); }

TEST(KeyFilterTest, FindsAllThatWasAddedAndLittleElse) {
  KeyFilter filter(16 << 20);
  constexpr uint64_t kKeys = 500'000;
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(filter.Add(HashOf(i)));
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(filter.MayContain(HashOf(i))) << i;
    wrong += filter.MayContain(HashOf(i + kKeys)) ? 1 : 0;
  }
  EXPECT_LT(wrong, kKeys / 50);
  EXPECT_GT(filter.keys(), kKeys * 98 / 100);
  EXPECT_LT(filter.bytes(), kKeys * 3);
}

TEST(KeyFilterTest, KeysAddedAgainTakeNoRoom) {
  KeyFilter filter(1 << 20);
  ASSERT_TRUE(filter.Add(HashOf(7)));
  const size_t bytes = filter.bytes();
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(filter.Add(HashOf(7)));
  EXPECT_EQ(filter.keys(), 1);
  EXPECT_EQ(filter.bytes(), bytes);
}

TEST(KeyFilterTest, SaysWhenThereIsNoRoomLeft) {
  KeyFilter filter(512 << 10);
  uint64_t added = 0;
  while (filter.Add(HashOf(added))) ++added;
  EXPECT_GT(added, 200'000);
  EXPECT_LT(added, 400'000);
  EXPECT_LE(filter.bytes(), 512 << 10);
}

TEST(KeyFilterTest, AbsorbedKeysAreFoundWhicheverIsLarger) {
  for (const uint64_t split : {1'000u, 299'000u}) {
    KeyFilter first(8 << 20);
    KeyFilter second(8 << 20);
    for (uint64_t i = 0; i < 300'000; ++i) {
      ASSERT_TRUE((i < split ? first : second).Add(HashOf(i)));
    }
    const size_t bytes = first.bytes() + second.bytes();
    first.Absorb(std::move(second));
    EXPECT_EQ(first.bytes(), bytes);
    for (uint64_t i = 0; i < 400'000; ++i) ASSERT_TRUE(first.Add(HashOf(i)));
    for (uint64_t i = 0; i < 400'000; ++i) {
      ASSERT_TRUE(first.MayContain(HashOf(i))) << i;
    }
  }
}

class KnownKeysTest : public EngineTest {
 protected:
  KeyFilterStats Figures() {
    const auto stats = engine().GetStats();
    EXPECT_THAT(stats, IsOk());
    return stats.ok() ? stats->key_filters : KeyFilterStats();
  }
  void WaitUntilComplete() {
    while (!Figures().complete) std::this_thread::yield();
  }
  static v1::Order Numbered(int i) {
    return MakeOrder("o-" + std::to_string(i), "s-" + std::to_string(i % 7),
                     1000 + i);
  }
  void PutNumbered(int begin, int end) {
    WriteBatch batch;
    for (int i = begin; i < end; ++i) batch.Put("orders", Bytes(Numbered(i)));
    ASSERT_THAT(engine().Write({}, std::move(batch)), IsOk());
  }
};

TEST_F(KnownKeysTest, NewOrdersAreNotLookedFor) {
  PutNumbered(0, 1000);
  const KeyFilterStats first = Figures();
  EXPECT_TRUE(first.complete);
  EXPECT_GT(first.reads_saved, 980);
  PutNumbered(0, 1000);  // All are there, and found.
  EXPECT_EQ(Figures().reads_saved, first.reads_saved);
  EXPECT_EQ(Figures().keys, first.keys);
  EXPECT_EQ(Scan({.equal = {"s-3"}, .limit = 1000}).size(), 143);
}

TEST_F(KnownKeysTest, AfterReopenTheFilterHasTheOldKeysAndTheNew) {
  PutNumbered(0, 1000);
  Open();
  PutNumbered(1000, 1100);  // Perhaps while the old ones are being read.
  WaitUntilComplete();
  const uint64_t before = Figures().reads_saved;
  for (int i = 0; i < 1100; ++i) {
    const auto again =
        engine().Write({}, WriteBatch().Insert("orders", Bytes(Numbered(i))));
    ASSERT_THAT(again, StatusIs(absl::StatusCode::kAlreadyExists)) << i;
  }
  EXPECT_EQ(Figures().reads_saved, before);
  PutNumbered(1100, 2100);
  EXPECT_GT(Figures().reads_saved, before + 980);
}

TEST_F(KnownKeysTest, UniquenessHoldsWhileTheOldKeysAreBeingRead) {
  constexpr int kOld = 20'000;
  for (int i = 0; i < kOld; i += 1000) PutNumbered(i, i + 1000);
  Open();
  // Not waiting for the thread: each old order moves to another seller, which
  // only works if its old place is found.
  for (int i = 0; i < 2000; ++i) {
    v1::Order moved = Numbered(kOld - 1 - i * 3);
    moved.set_seller_id("elsewhere");
    ASSERT_THAT(Put(moved), IsOk());
  }
  WaitUntilComplete();
  const auto report = engine().Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->rows, kOld);
}

TEST_F(KnownKeysTest, WithoutRoomEveryKeyIsLookedFor) {
  options_.key_filter_bytes = 0;
  PutNumbered(0, 1000);  // Into a database that holds nothing.
  const uint64_t saved = Figures().reads_saved;
  PutNumbered(500, 1500);
  EXPECT_EQ(Figures().reads_saved, saved);
  EXPECT_EQ(Figures().bytes, 0);
  const auto report = engine().Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->rows, 1500);
}

TEST_F(KnownKeysTest, ADeletedOrderCanComeBack) {
  PutNumbered(0, 100);
  ASSERT_THAT(DeleteId("o-5"), IsOk());
  ASSERT_THAT(
      engine().Write({}, WriteBatch().Insert("orders", Bytes(Numbered(5)))),
      IsOk());
  EXPECT_THAT(ById("o-5"), ::testing::ElementsAre("o-5"));
}

TEST_F(KnownKeysTest, WithoutBackgroundWorkAnOldDatabaseHasNoFilter) {
  PutNumbered(0, 100);
  options_.background_work = false;
  Open();
  PutNumbered(50, 150);
  EXPECT_EQ(Figures().reads_saved, 0);
  EXPECT_EQ(Figures().bytes, 0);
}

}  // namespace
}  // namespace dovetail::test
