// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/regions.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/keyspace.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// "1/1[,m)@a 2/1[m,)@b": id, epoch, range, node.
std::string Text(const std::vector<Region>& regions) {
  std::vector<std::string> words;
  for (const Region& r : regions) {
    words.push_back(absl::StrCat(static_cast<uint64_t>(r.id), "/", r.epoch, "[",
                                 r.start, ",", r.end, ")", "@", r.node));
  }
  return absl::StrJoin(words, " ");
}

class RegionsTest : public EngineTest {
 protected:
  Regions& regions() { return engine().regions(); }
  std::string Map() {
    const auto map = regions().Map("orders");
    EXPECT_THAT(map, IsOk());
    return map.ok() ? Text((*map)->List()) : "";
  }
};

TEST_F(RegionsTest, ATableBeginsAsOneRegion) {
  EXPECT_EQ(Map(), "1/1[,)@");
  EXPECT_THAT(regions().Map("carts"), StatusIs(StatusCode::kNotFound, "table"));
  EXPECT_EQ((*regions().Map("orders"))->version(), 0u);
}

TEST_F(RegionsTest, SplitKeepsTheLeftIdAndMergeTakesItBack) {
  ASSERT_THAT(regions().Split("orders", RegionId{1}, "m"), IsOk());
  ASSERT_THAT(regions().Split("orders", RegionId{2}, "t"), IsOk());
  ASSERT_THAT(regions().Move("orders", RegionId{2}, "b"), IsOk());
  EXPECT_EQ(Map(), "1/2[,m)@ 2/3[m,t)@b 3/1[t,)@");
  ASSERT_THAT(regions().Merge("orders", RegionId{2}, RegionId{3}), IsOk());
  EXPECT_EQ(Map(), "1/2[,m)@ 2/4[m,)@b");
}

TEST_F(RegionsTest, ChangesSurviveReopening) {
  ASSERT_THAT(regions().PreSplit("orders", {"g", "p"}, {.nodes = {"a", "b"}}),
              IsOk());
  ASSERT_THAT(regions().Split("orders", RegionId{3}, "k"), IsOk());
  ASSERT_THAT(regions().Merge("orders", RegionId{2}, RegionId{3}), IsOk());
  const std::string before = Map();
  EXPECT_EQ(before, "2/3[,k)@a 5/1[k,p)@b 4/1[p,)@a");
  const uint64_t version = (*regions().Map("orders"))->version();
  Open();
  EXPECT_EQ(Map(), before);
  EXPECT_EQ((*regions().Map("orders"))->version(), version);
  // Ids of regions that are gone do not come again.
  EXPECT_EQ(regions().Split("orders", RegionId{4}, "x")->id, RegionId{6});
}

TEST_F(RegionsTest, RefusesWhatIsNotValid) {
  ASSERT_THAT(regions().PreSplit("orders", {"g", "p"}), IsOk());
  const std::string before = Map();
  const auto split = [&](uint64_t id, std::string_view key) {
    return regions().Split("orders", RegionId{id}, key).status();
  };
  EXPECT_THAT(split(1, "a"), StatusIs(StatusCode::kNotFound, "region"));
  EXPECT_THAT(split(3, "g"), StatusIs(StatusCode::kInvalidArgument, "inside"));
  EXPECT_THAT(split(3, "p"), StatusIs(StatusCode::kInvalidArgument, "inside"));
  EXPECT_THAT(split(3, "a"), StatusIs(StatusCode::kInvalidArgument, "inside"));
  EXPECT_THAT(split(2, ""), StatusIs(StatusCode::kInvalidArgument, "bytes"));
  EXPECT_THAT(split(2, std::string(5000, 'a')),
              StatusIs(StatusCode::kInvalidArgument, "bytes"));
  EXPECT_THAT(regions().Merge("orders", RegionId{2}, RegionId{4}),
              StatusIs(StatusCode::kInvalidArgument, "neighbours"));
  EXPECT_THAT(regions().Merge("orders", RegionId{3}, RegionId{2}),
              StatusIs(StatusCode::kInvalidArgument, "neighbours"));
  EXPECT_THAT(regions().Move("orders", RegionId{2}, std::string(65, 'n')),
              StatusIs(StatusCode::kInvalidArgument, "node"));
  EXPECT_THAT(regions().Move("orders", RegionId{2}, "a\n"),
              StatusIs(StatusCode::kInvalidArgument, "node"));
  EXPECT_THAT(regions().PreSplit("orders", {"x"}),
              StatusIs(StatusCode::kFailedPrecondition, "already"));
  EXPECT_THAT(regions().PreSplit("orders", {"x", "x"}, {.replace = true}),
              StatusIs(StatusCode::kInvalidArgument, "ascend"));
  EXPECT_EQ(Map(), before);
}

TEST_F(RegionsTest, AnEpochThatHasPassedAborts) {
  const Region first = *regions().Locate("orders", "a");
  ASSERT_THAT(regions().Move("orders", {first.id, first.epoch}, "a"), IsOk());
  EXPECT_THAT(regions().Move("orders", {first.id, first.epoch}, "b"),
              StatusIs(StatusCode::kAborted, "changed"));
  EXPECT_EQ(Map(), "1/2[,)@a");
}

TEST_F(RegionsTest, NoMoreThanTheLimit) {
  auto keys = UniformSplits(kRegionsMax);
  ASSERT_THAT(keys, IsOk());
  std::vector<std::string> more = *keys;
  more.push_back("\xFF\xFF\xFF");
  EXPECT_THAT(regions().PreSplit("orders", more),
              StatusIs(StatusCode::kResourceExhausted, "regions"));
  ASSERT_THAT(regions().PreSplit("orders", *keys), IsOk());
  const auto map = *regions().Map("orders");
  EXPECT_EQ(map->size(), kRegionsMax);
  EXPECT_EQ(map->PositionOf("\x80"), kRegionsMax / 2);
  EXPECT_THAT(regions().Split("orders", map->at(5).id,
                              absl::StrCat(map->at(5).start, "x")),
              StatusIs(StatusCode::kResourceExhausted, "regions"));
  Open();
  EXPECT_EQ((*regions().Map("orders"))->size(), kRegionsMax);
}

TEST_F(RegionsTest, ASampleGivesEachRegionTheSameNumberOfRows) {
  WriteBatch batch;
  for (int i = 0; i < 1000; ++i) {
    batch.Put("orders", Bytes(MakeOrder(absl::StrCat("o-", i),
                                        absl::StrCat("s-", i % 9), i)));
  }
  ASSERT_THAT(engine().Write({}, std::move(batch)), IsOk());
  const auto keys = regions().SampleSplits("orders", 4);
  ASSERT_THAT(keys, IsOk());
  ASSERT_THAT(regions().PreSplit("orders", *keys), IsOk());
  const auto map = *regions().Map("orders");
  std::vector<int> rows(map->size());
  ASSERT_THAT(engine().ForEach({}, {.table = "orders", .limit = 2000},
                               [&](const RowView& row) {
                                 ++rows[map->PositionOf(row.key)];
                                 return true;
                               }),
              IsOk());
  EXPECT_THAT(rows, ElementsAre(250, 250, 250, 250));
  EXPECT_THAT(regions().SampleSplits("orders", 1001),
              StatusIs(StatusCode::kFailedPrecondition, "fewer"));
  EXPECT_THAT(regions().SampleSplits("orders", 4, {.keys_max = 100}),
              IsOkAndHolds(SizeIs(3)));
}

TEST_F(RegionsTest, AReadOnlyEngineRefusesChanges) {
  ASSERT_THAT(regions().Split("orders", RegionId{1}, "m"), IsOk());
  options_.read_only = true;
  Open();
  EXPECT_THAT(regions().Split("orders", RegionId{1}, "c"),
              StatusIs(StatusCode::kFailedPrecondition, "read-only"));
  EXPECT_EQ(Map(), "1/2[,m)@ 2/1[m,)@");
}

TEST_F(RegionsTest, DigestsAndFormatDoNotKnowOfRegions) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s-1", 1)), IsOk());
  const auto before = engine().Digest();
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(regions().PreSplit("orders", *UniformSplits(100)), IsOk());
  const auto after = engine().Digest();
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(before->spaces[0].sum, after->spaces[0].sum);
  EXPECT_EQ(before->sequence, after->sequence);
}

TEST_F(RegionsTest, ADamagedMapIsReportedAndReplaced) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s-1", 1)), IsOk());
  ASSERT_THAT(regions().PreSplit("orders", {"g", "p"}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Damage([](Store&, StoreBatch& batch) {
    batch.Delete(RegionsPrefix(kFirstTableSpace) + "g");
  }));
  EXPECT_THAT(regions().Map("orders"),
              StatusIs(StatusCode::kDataLoss, "regions=2 should be 3"));
  EXPECT_THAT(regions().Split("orders", RegionId{2}, "c"),
              StatusIs(StatusCode::kDataLoss, "damaged"));
  EXPECT_THAT(ById("o-1"), ElementsAre("o-1"));
  ASSERT_THAT(regions().PreSplit("orders", {"k"}, {.replace = true}), IsOk());
  EXPECT_EQ(Map(), "5/1[,k)@ 6/1[k,)@");
  Open();
  EXPECT_EQ(Map(), "5/1[,k)@ 6/1[k,)@");
}

TEST_F(RegionsTest, ReadersLocateWhileTheMapChanges) {
  Regions& all = regions();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] {
      for (uint64_t i = 0; !stop.load(); ++i) {
        const auto map = *all.Map("orders");
        const std::string key = absl::StrCat(i % 1000, "-", t);
        if (!map->Locate(key).Contains(key)) ++wrong;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const std::string key = absl::StrCat(i * 7 % 1000, "x");
    const Region home = *regions().Locate("orders", key);
    ASSERT_THAT(regions().Split("orders", home.id, key), IsOk());
    if (i % 3 == 0) {
      const auto map = *regions().Map("orders");
      ASSERT_THAT(regions().Merge("orders", map->at(0).id, map->at(1).id),
                  IsOk());
    }
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0u);
}

class LocatingObserver : public Observer {
 public:
  ObserverTraits traits() const override {
    return {.name = "locating", .hooks = kPostPut};
  }
  absl::Status PostPut(HookContext&, const RowChange& change) override {
    EXPECT_THAT(regions->Map(change.table), IsOk());
    changed = regions->Split(change.table, RegionId{1}, "m").status();
    return absl::OkStatus();
  }
  Regions* regions = nullptr;
  absl::Status changed;
};

TEST_F(RegionsTest, AHookMayLookButNotChange) {
  const auto observer = std::make_shared<LocatingObserver>();
  options_.observers = {observer};
  observer->regions = &regions();
  ASSERT_THAT(Put(MakeOrder("o-1", "s-1", 1)), IsOk());
  EXPECT_THAT(observer->changed,
              StatusIs(StatusCode::kFailedPrecondition, "hook"));
}

TEST(RegionMapTest, CutsRefuseWhatDoesNotAscend) {
  EXPECT_THAT(RegionMap::Cut({"b", "a"}, {}, 1),
              StatusIs(StatusCode::kInvalidArgument, "ascend"));
  EXPECT_THAT(RegionMap::Cut({""}, {}, 1),
              StatusIs(StatusCode::kInvalidArgument, "ascend"));
  Region gap;
  gap.id = RegionId{1};
  gap.start = "b";
  EXPECT_THAT(RegionMap::Of({gap}, 1),
              StatusIs(StatusCode::kInvalidArgument, "gap"));
}

TEST(RegionSplitsTest, UniformKeysAreAsShortAsTheyCanBe) {
  EXPECT_THAT(UniformSplits(4),
              IsOkAndHolds(ElementsAre("\x40", "\x80", "\xC0")));
  EXPECT_THAT(UniformSplits(1), IsOkAndHolds(SizeIs(0)));
  EXPECT_THAT(UniformSplits(0), StatusIs(StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(UniformSplits(kRegionsMax + 1),
              StatusIs(StatusCode::kInvalidArgument, "regions"));
}

TEST(RegionSplitsTest, HexAndDecimalKeysAreTextOfOneWidth) {
  EXPECT_THAT(HexSplits(4),
              IsOkAndHolds(ElementsAre("40000000", "80000000", "c0000000")));
  EXPECT_THAT(HexSplits(3), IsOkAndHolds(ElementsAre("55555555", "aaaaaaaa")));
  EXPECT_THAT(DecimalSplits(4, 2), IsOkAndHolds(ElementsAre("25", "50", "75")));
  EXPECT_THAT(DecimalSplits(3, 3), IsOkAndHolds(ElementsAre("333", "666")));
  EXPECT_THAT(DecimalSplits(11, 1),
              StatusIs(StatusCode::kInvalidArgument, "digits"));
  EXPECT_THAT(DecimalSplits(2, 19),
              StatusIs(StatusCode::kInvalidArgument, "digits"));
}

}  // namespace
}  // namespace dovetail::test
