// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/row_cache.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What the cache has for a state; "-" for nothing.
std::string Found(RowCache* cache, std::string_view key, uint64_t sequence) {
  std::string value;
  return cache->Find(key, sequence, &value) ? value : "-";
}

TEST(RowCacheTest, ARowIsForItsStateAndLaterOnes) {
  RowCache cache(1 << 20);
  cache.Insert("k", "v", 7);
  EXPECT_EQ(Found(&cache, "k", 6), "-");
  EXPECT_EQ(Found(&cache, "k", 7), "v");
  EXPECT_EQ(Found(&cache, "k", 8), "v");
  EXPECT_EQ(Found(&cache, "other", 8), "-");
}

TEST(RowCacheTest, AChangeIsSeenFromItsSequenceOn) {
  RowCache cache(1 << 20);
  cache.Insert("k", "old", 7);
  cache.Changed("k", "new", 9);
  EXPECT_EQ(Found(&cache, "k", 8), "-");
  EXPECT_EQ(Found(&cache, "k", 9), "new");
  cache.Changed("k", "longer than before", 10);
  EXPECT_EQ(Found(&cache, "k", 10), "-");
  cache.Insert("k", "longer than before", 10);
  EXPECT_EQ(Found(&cache, "k", 10), "longer than before");
  cache.Changed("k", std::nullopt, 11);
  EXPECT_EQ(Found(&cache, "k", 11), "-");
}

TEST(RowCacheTest, AReaderOfAnOlderStateBringsNothingBack) {
  RowCache cache(1 << 20);
  cache.Changed("k", "new", 9);  // Not kept, but changed.
  cache.Insert("k", "old", 8);
  EXPECT_EQ(Found(&cache, "k", 9), "-");
  cache.Insert("k", "new", 9);
  EXPECT_EQ(Found(&cache, "k", 9), "new");
}

TEST(RowCacheTest, BytesAreBoundedAndTheLastUsedStay) {
  RowCache cache(1 << 20);
  const std::string value(100, 'v');
  cache.Insert("used", value, 1);
  for (int i = 0; i < 20'000; ++i) {
    cache.Insert("key" + std::to_string(i), value, 1);
    ASSERT_EQ(Found(&cache, "used", 1), value) << i;
  }
  const RowCacheStats stats = cache.GetStats();
  EXPECT_LE(stats.bytes, 1u << 20);
  EXPECT_GT(stats.bytes, 900'000u);
  EXPECT_GT(stats.rows, 3'000u);
  EXPECT_EQ(stats.hits, 20'000u);
  // One that would drive out the rest of its shard.
  cache.Insert("large", std::string(100'000, 'l'), 1);
  EXPECT_EQ(Found(&cache, "large", 1), "-");
}

TEST(RowCacheTest, NoneKeepsNothing) {
  RowCache cache(0);
  cache.Insert("k", "", 1);
  cache.Changed("k", "v", 2);
  EXPECT_EQ(Found(&cache, "k", 2), "-");
  EXPECT_EQ(cache.GetStats().rows, 0u);
}

class RowCacheEngineTest : public EngineTest {
 protected:
  RowCacheEngineTest() { Open(); }

  void Write(const WriteBatch& batch) {
    ASSERT_THAT(engine().Write({}, batch), IsOk());
  }
  Page InStatus(v1::OrderStatus status, ReadOptions options = {}) {
    ScanRequest request;
    request.table = "orders";
    request.index = "by_status";
    request.equal = {"s", status};
    auto page = engine().Scan(options, request);
    EXPECT_THAT(page, IsOk());
    return page.ok() ? *std::move(page) : Page{};
  }
};

TEST_F(RowCacheEngineTest, RowsReadAgainCostNoReadOfTheStore) {
  Write(WriteBatch()
            .Put("orders", Bytes(MakeOrder("a", "s", 1)))
            .Put("orders", Bytes(MakeOrder("b", "s", 2))));
  const Page first = InStatus(v1::CREATED);
  EXPECT_THAT(Ids(first.rows), ElementsAre("b", "a"));
  EXPECT_EQ(first.work.gets, 1u);
  const Page second = InStatus(v1::CREATED);
  EXPECT_THAT(Ids(second.rows), ElementsAre("b", "a"));
  EXPECT_EQ(second.work.gets, 0u);
  EXPECT_EQ(second.work.seeks, 1u);
  EXPECT_EQ(engine().GetStats()->row_cache.hits, 2u);
}

TEST_F(RowCacheEngineTest, ChangesAreSeenAtOnceAndSnapshotsSeeTheirOwn) {
  Write(WriteBatch().Put("orders", Bytes(MakeOrder("a", "s", 1))));
  EXPECT_THAT(Ids(InStatus(v1::CREATED).rows), ElementsAre("a"));
  const absl::StatusOr<Snapshot> before = engine().GetSnapshot();
  ASSERT_THAT(before, IsOk());
  Write(WriteBatch().Patch("orders", RowRef::By("by_order_id", {"a"}),
                           StatusOnly(v1::SHIPPED), {"status"}));
  const Page paid = InStatus(v1::SHIPPED);
  ASSERT_THAT(Ids(paid.rows), ElementsAre("a"));
  v1::Order order;
  ASSERT_TRUE(order.ParseFromString(paid.rows[0].record));
  EXPECT_EQ(order.status(), v1::SHIPPED);

  const Page old = InStatus(v1::CREATED, {.snapshot = &*before});
  ASSERT_THAT(Ids(old.rows), ElementsAre("a"));
  ASSERT_TRUE(order.ParseFromString(old.rows[0].record));
  EXPECT_EQ(order.status(), v1::CREATED);

  Write(WriteBatch().Delete("orders", RowRef::By("by_order_id", {"a"})));
  EXPECT_THAT(Ids(InStatus(v1::SHIPPED).rows), IsEmpty());
  EXPECT_THAT(Ids(InStatus(v1::SHIPPED).rows), IsEmpty());
}

// Each order's time goes up with every write, so that a reader that is given
// an old row sees it go down.
TEST_F(RowCacheEngineTest, ReadersBesideAWriterNeverSeeAnOldRow) {
  const std::vector<std::string> ids = {"a", "b", "c", "d"};
  std::atomic<int64_t> written{0};
  std::atomic<bool> stop{false};
  const auto write = [&](int64_t n) {
    v1::Order order = MakeOrder(ids[static_cast<size_t>(n) % ids.size()], "s",
                                /*ts=*/1);
    order.set_amount_cents(n);
    Write(WriteBatch().Put("orders", Bytes(order)));
    written = n;
  };
  for (int64_t n = 0; n < 4; ++n) write(n);
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const int64_t at_least = written - static_cast<int64_t>(ids.size()) + 1;
        for (const std::string& id : ids) {
          const auto rows = engine().GetBy({}, "orders", "by_order_id", {id});
          ASSERT_THAT(rows, IsOk());
          v1::Order order;
          ASSERT_EQ(rows->size(), 1u);
          ASSERT_TRUE(order.ParseFromString((*rows)[0].record));
          ASSERT_EQ(order.order_id(), id);
          ASSERT_GE(order.amount_cents(), at_least);
        }
      }
    });
  }
  for (int64_t n = 4; n < 4000; ++n) write(n);
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(engine().GetStats()->row_cache.hits, 0u);
}

}  // namespace
}  // namespace dovetail::test
