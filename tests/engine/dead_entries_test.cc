// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads among dead entries: what they walk over, and that they miss nothing.

#include "dovetail/dead_entries.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/index_admin.h"
#include "engine/keyspace.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string IdOf(int n) { return absl::StrCat("o", 1000 + n); }

class DeadEntriesTest : public EngineTest {
 protected:
  DeadEntriesTest() {
    v1::IndexSchema counts =
        ValueIndex("per_status", {Field("status"), Field("seller_id")});
    counts.set_kind(v1::IndexSchema::COUNT);
    TableBuilder orders = presets::SellerOrders("orders");
    schema_ = Schema();
    schema_.Add(orders);
    counts_ = counts;
    options_.background_work = false;
    options_.dead_entries.sample_every = 1;
  }

  // Orders 0 to n - 1 of seller s, the highest newest; those for which `live`
  // is false leave the status CREATED.
  template <typename Live>
  void Churn(int n, Live live) {
    for (int i = 0; i < n; ++i) {
      ASSERT_THAT(Put(MakeOrder(IdOf(i), "s", i)), IsOk());
    }
    for (int i = 0; i < n; ++i) {
      if (live(i)) continue;
      ASSERT_THAT(SetStatus(IdOf(i), v1::SHIPPED), IsOk());
    }
  }
  void AddCounts() {
    ASSERT_THAT(engine().AddIndex("orders", counts_), IsOk());
    ASSERT_THAT(engine().BuildIndex("orders", "per_status", {}), IsOk());
  }

  std::vector<std::string> Top(uint64_t limit,
                               const Snapshot* snapshot = nullptr) {
    ScanRequest request{.table = "orders", .index = "by_status"};
    request.equal = {"s", v1::CREATED};
    request.limit = limit;
    const auto page = engine().Scan({.snapshot = snapshot}, request);
    EXPECT_THAT(page, IsOk());
    return page.ok() ? Ids(page->rows) : std::vector<std::string>();
  }
  DeadEntryStats Figures() { return engine().GetStats()->dead_entries; }
  // Dead keys walked over by `read`.
  template <typename Read>
  uint64_t Walked(Read read) {
    const uint64_t before = Figures().dead_walked;
    read();
    return Figures().dead_walked - before;
  }

  v1::IndexSchema counts_;
};

TEST_F(DeadEntriesTest, TheSecondScanWalksOverNothing) {
  // Dead ones in front, between and behind.
  Churn(400, [](int i) { return i >= 100 && i < 300 && i % 50 == 0; });
  const auto read = [&] {
    EXPECT_THAT(Top(20),
                ElementsAre(IdOf(250), IdOf(200), IdOf(150), IdOf(100)));
  };
  EXPECT_GT(Walked(read), 300u);
  EXPECT_EQ(Walked(read), 0u);
  EXPECT_EQ(
      Walked([&] { EXPECT_THAT(Top(2), ElementsAre(IdOf(250), IdOf(200))); }),
      0u);
}

TEST_F(DeadEntriesTest, WhatIsInsertedAmongDeadKeysIsFound) {
  Churn(400, [](int i) { return i == 200; });
  EXPECT_THAT(Top(20), ElementsAre(IdOf(200)));
  const Snapshot before = *engine().GetSnapshot();
  ASSERT_THAT(SetStatus(IdOf(300), v1::CREATED), IsOk());
  ASSERT_THAT(SetStatus(IdOf(100), v1::CREATED), IsOk());
  ASSERT_THAT(Put(MakeOrder("new", "s", 5000)), IsOk());
  const auto read = [&] {
    EXPECT_THAT(Top(20), ElementsAre("new", IdOf(300), IdOf(200), IdOf(100)));
  };
  EXPECT_EQ(Walked(read), 0u);
  EXPECT_THAT(Top(20, &before), ElementsAre(IdOf(200)));
}

TEST_F(DeadEntriesTest, OlderSnapshotsSeeWhatDiedSince) {
  Churn(300, [](int i) { return i < 3; });
  const Snapshot before = *engine().GetSnapshot();
  EXPECT_THAT(Top(20), ElementsAre(IdOf(2), IdOf(1), IdOf(0)));
  ASSERT_THAT(DeleteId(IdOf(1)), IsOk());
  ASSERT_THAT(SetStatus(IdOf(2), v1::SHIPPED), IsOk());
  EXPECT_THAT(Top(20), ElementsAre(IdOf(0)));
  EXPECT_THAT(Top(20, &before), ElementsAre(IdOf(2), IdOf(1), IdOf(0)));
}

// A queue: what is newest goes first, one by one. What has died since the front
// was last looked for is walked over, until it is worth looking again.
TEST_F(DeadEntriesTest, TheFrontMovesOnWithWhatDies) {
  Churn(400, [](int i) { return i < 200; });
  Top(1);
  for (int i = 199; i >= 20; --i) {
    ASSERT_THAT(SetStatus(IdOf(i), v1::SHIPPED), IsOk());
    EXPECT_LE(Walked([&] { EXPECT_THAT(Top(1), ElementsAre(IdOf(i - 1))); }),
              8u);
  }
}

// What a scan finds in a state that is no longer the newest counts from the
// next scan on, brought up to date.
TEST_F(DeadEntriesTest, BesideWritersTheSecondScanFinds) {
  Churn(400, [](int i) { return i % 100 == 50; });
  const Snapshot older = *engine().GetSnapshot();
  ASSERT_THAT(SetStatus(IdOf(99), v1::CREATED), IsOk());
  Top(20, &older);
  EXPECT_EQ(Figures().ranges_found, 0u);
  const Snapshot old = *engine().GetSnapshot();
  ASSERT_THAT(SetStatus(IdOf(199), v1::CREATED), IsOk());
  ASSERT_THAT(SetStatus(IdOf(150), v1::SHIPPED), IsOk());
  EXPECT_THAT(Top(20, &old),
              ElementsAre(IdOf(350), IdOf(250), IdOf(150), IdOf(99), IdOf(50)));
  EXPECT_GT(Figures().ranges_found, 0u);
  const auto read = [&] {
    EXPECT_THAT(Top(20), ElementsAre(IdOf(350), IdOf(250), IdOf(199), IdOf(99),
                                     IdOf(50)));
  };
  read();
  EXPECT_EQ(Walked(read), 0u);
}

TEST_F(DeadEntriesTest, ACountEndsTheScan) {
  Churn(400, [](int i) { return i >= 398; });
  AddCounts();
  const auto read = [&] {
    EXPECT_THAT(Top(20), ElementsAre(IdOf(399), IdOf(398)));
  };
  EXPECT_EQ(Walked(read), 0u);
  EXPECT_EQ(Figures().count_stops, 1u);
  ASSERT_THAT(SetStatus(IdOf(399), v1::SHIPPED), IsOk());
  ASSERT_THAT(SetStatus(IdOf(398), v1::SHIPPED), IsOk());
  EXPECT_EQ(Walked([&] { EXPECT_THAT(Top(20), IsEmpty()); }), 0u);
}

TEST_F(DeadEntriesTest, PagesEndWhereTheyWould) {
  Churn(300, [](int i) { return i >= 200 && i % 10 == 0; });
  AddCounts();
  for (int round = 0; round < 2; ++round) {
    ScanRequest request{.table = "orders", .index = "by_status"};
    request.equal = {"s", v1::CREATED};
    request.limit = 5;
    const auto first = engine().Scan({}, request);
    ASSERT_THAT(first, IsOk());
    EXPECT_THAT(Ids(first->rows), ElementsAre(IdOf(290), IdOf(280), IdOf(270),
                                              IdOf(260), IdOf(250)));
    ASSERT_FALSE(first->continuation.empty());
    request.continuation = first->continuation;
    const auto second = engine().Scan({}, request);
    ASSERT_THAT(second, IsOk());
    EXPECT_THAT(Ids(second->rows), ElementsAre(IdOf(240), IdOf(230), IdOf(220),
                                               IdOf(210), IdOf(200)));
    EXPECT_EQ(second->continuation, "");
  }
}

TEST_F(DeadEntriesTest, TheSampleIsThereAfterAReopen) {
  Churn(500, [](int i) { return i == 0; });
  const DeadEntryStats before = Figures();
  ASSERT_THAT(engine().Close(), IsOk());
  Open();
  EXPECT_GE(Figures().dead_entries + 128, before.dead_entries);
  const auto read = [&] { EXPECT_THAT(Top(20), ElementsAre(IdOf(0))); };
  EXPECT_GT(Walked(read), 300u);
  EXPECT_EQ(Walked(read), 0u);
}

TEST_F(DeadEntriesTest, ReadOnlyEnginesFindToo) {
  Churn(500, [](int i) { return i == 0; });
  ASSERT_THAT(engine().Close(), IsOk());
  options_.read_only = true;
  Open();
  const auto read = [&] { EXPECT_THAT(Top(20), ElementsAre(IdOf(0))); };
  EXPECT_GT(Walked(read), 300u);
  EXPECT_EQ(Walked(read), 0u);
  EXPECT_THAT(engine().ReclaimDead(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(DeadEntriesTest, ASampleThatDoesNotParseIsPassedOver) {
  Churn(500, [](int i) { return i == 0; });
  Damage([](Store& store, StoreBatch& batch) {
    const auto it = store.NewIterator({});
    it->Seek(DeadKeysPrefix());
    ASSERT_TRUE(it->Valid() && it->key().starts_with(DeadKeysPrefix()));
    batch.Put(it->key(), "\xff\xff");
    batch.Put(DeadKeysPrefix() + "x", "no number");
  });
  EXPECT_THAT(Top(20), ElementsAre(IdOf(0)));
  // The next commits write it anew.
  ASSERT_THAT(SetStatus(IdOf(0), v1::SHIPPED), IsOk());
  EXPECT_THAT(Top(20), IsEmpty());
}

TEST_F(DeadEntriesTest, ReclaimingMakesRangesSmaller) {
  Churn(2000, [](int i) { return i % 500 == 0; });
  const uint64_t dead = Figures().dead_entries;
  const auto report = engine().ReclaimDead();
  ASSERT_THAT(report, IsOk());
  EXPECT_GE(report->ranges, 1u);
  EXPECT_GE(report->dead_entries, dead / 2);
  EXPECT_LT(report->bytes_after, report->bytes_before);
  EXPECT_LT(Figures().dead_entries, dead / 10);
  EXPECT_EQ(Figures().reclaimed.ranges, report->ranges);
  EXPECT_THAT(Top(20), ElementsAre(IdOf(1500), IdOf(1000), IdOf(500), IdOf(0)));
  // Also in what the store has of the sample.
  ASSERT_THAT(SetStatus(IdOf(0), v1::SHIPPED), IsOk());
  ASSERT_THAT(engine().Close(), IsOk());
  Open();
  EXPECT_LT(Figures().dead_entries, dead / 10);
}

TEST_F(DeadEntriesTest, WhatASnapshotHoldsIsReclaimedLater) {
  Churn(1000, [](int i) { return i == 0; });
  {
    const Snapshot held = *engine().GetSnapshot();
    for (int i = 1; i < 1000; ++i) ASSERT_THAT(DeleteId(IdOf(i)), IsOk());
    const auto report = engine().ReclaimDead({.dead_min = 500});
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->ranges_deferred, 1u);
    EXPECT_GT(Figures().dead_entries, 1500u);
    EXPECT_EQ(
        Scan({.index = "by_status", .equal = {"s", v1::SHIPPED}, .limit = 2000})
            .size(),
        0u);
  }
  ASSERT_THAT(engine().ReclaimDead(), IsOk());
  EXPECT_LT(Figures().dead_entries, 500u);
}

TEST_F(DeadEntriesTest, AnIndexThatIsMadeAnewIsAnotherOne) {
  Churn(400, [](int i) { return i % 100 == 0; });
  Top(20);
  ASSERT_THAT(engine().DropIndex("orders", "by_status"), IsOk());
  ASSERT_THAT(engine().AddIndex(
                  "orders", ValueIndex("by_status",
                                       {Hash({"seller_id"}), Field("seller_id"),
                                        Field("status"), Field("ts_ms")})),
              IsOk());
  ASSERT_THAT(engine().BuildIndex("orders", "by_status", {}), IsOk());
  EXPECT_THAT(Top(20), ElementsAre(IdOf(0), IdOf(100), IdOf(200), IdOf(300)));
}

TEST_F(DeadEntriesTest, MemoryStaysWithinItsBounds) {
  options_.dead_entries.sample_bytes_max = 20'000;
  options_.dead_entries.live_bytes_max = 10'000;
  Churn(3000, [](int i) { return i % 20 == 0; });
  for (uint64_t limit = 10; limit <= 150; limit += 10) {
    EXPECT_EQ(Top(limit).size(), limit);
    EXPECT_LE(Figures().sample_bytes, 20'000u);
    EXPECT_LE(Figures().live_bytes, 10'000u);
  }
  EXPECT_GT(Figures().sample_every, 1u);
}

TEST_F(DeadEntriesTest, SwitchedOffNothingIsKept) {
  options_.dead_entries.sample_bytes_max = 0;
  Churn(300, [](int i) { return i == 0; });
  EXPECT_THAT(Top(20), ElementsAre(IdOf(0)));
  EXPECT_EQ(Figures().dead_entries, 0u);
  EXPECT_EQ(Figures().live_ranges, 0u);
}

}  // namespace
}  // namespace dovetail::test
