// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReadTest : public EngineTest {
 protected:
  // o0 to o<n-1> of one seller, times 0 to n-1, statuses in turn.
  void Load(int n, std::string_view seller = "s") {
    WriteBatch batch;
    for (int i = 0; i < n; ++i) {
      batch.Put("orders",
                Bytes(MakeOrder(std::string(seller) + std::to_string(i), seller,
                                i, static_cast<v1::OrderStatus>(i % 3))));
    }
    ASSERT_THAT(engine().Write({}, batch), IsOk());
  }
  // All pages of a request, the ids in order.
  std::vector<std::string> Pages(ScanRequest request, uint64_t page_size) {
    request.table = "orders";
    request.limit = page_size;
    std::vector<std::string> all;
    for (int guard = 0; guard < 10'000; ++guard) {
      const auto page = engine().Scan({}, request);
      EXPECT_THAT(page, IsOk());
      if (!page.ok()) break;
      EXPECT_LE(page->rows.size(), page_size);
      for (std::string& id : Ids(page->rows)) all.push_back(std::move(id));
      if (page->continuation.empty()) return all;
      request.continuation = page->continuation;
    }
    ADD_FAILURE() << "paging does not end";
    return all;
  }
};

TEST_F(ReadTest, RowsCanBeSeenWhereTheyLieAndAScanEndedAtAnyOfThem) {
  Load(9);
  ScanRequest request = {.table = "orders",
                         .index = "by_status",
                         .equal = {"s"},
                         .any_of = {v1::CREATED, v1::INVOICED}};
  std::vector<std::string> seen;
  const auto until = [&](size_t rows) {
    return engine().ForEach({}, request, [&](const RowView& row) {
      v1::Order order;
      EXPECT_TRUE(order.ParseFromString(std::string(row.record)));
      seen.push_back(order.order_id());
      // Reading from inside is allowed.
      EXPECT_THAT(ById(order.order_id()), ElementsAre(order.order_id()));
      return seen.size() < rows;
    });
  };
  auto end = until(3);
  ASSERT_THAT(end, IsOk());
  EXPECT_THAT(seen, ElementsAre("s8", "s6", "s5"));
  EXPECT_EQ(end->work.entries, 3u);
  request.continuation = end->continuation;
  end = until(100);
  ASSERT_THAT(end, IsOk());
  EXPECT_THAT(seen, ElementsAre("s8", "s6", "s5", "s3", "s2", "s0"));
  EXPECT_EQ(end->continuation, "");
}

TEST_F(ReadTest, StatisticsTellWhatReadsCostAndWhichSnapshotsAreHeld) {
  Load(9);
  EXPECT_THAT(ById("s1"), ElementsAre("s1"));
  EXPECT_THAT(ByStatus("s", v1::CREATED), ElementsAre("s6", "s3", "s0"));
  {
    const auto old = engine().GetSnapshot();
    ASSERT_THAT(old, IsOk());
    const Snapshot copy = *old;
    Load(1, "t");
    const auto stats = engine().GetStats();
    ASSERT_THAT(stats, IsOk());
    EXPECT_EQ(stats->snapshots, 1u);
    EXPECT_EQ(stats->oldest_snapshot, SequenceNumber{1});
    for (const IndexStats& index : stats->indexes) {
      if (index.index == "by_status") {
        EXPECT_EQ(index.entries_read, 3u);
      } else if (index.index == "by_order_id") {
        EXPECT_EQ(index.rows_returned, 1u);
      }
    }
  }
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_EQ(stats->snapshots, 0u);
}

TEST_F(ReadTest, StatisticsHaveTheLevelsOfTheStore) {
  options_.write_buffer_bytes = 64 << 10;
  for (int i = 0; i < 20; ++i) Load(500, "seller" + std::to_string(i));
  engine_.reset();
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  ASSERT_FALSE(stats->levels.levels.empty());
  uint64_t bytes = 0;
  for (const StoreStats::Level& level : stats->levels.levels) {
    EXPECT_GT(level.files, 0u);
    bytes += level.bytes;
  }
  EXPECT_GT(bytes, uint64_t{100} << 10);
  EXPECT_GT(stats->levels.memory_bytes, 0u);
}

TEST_F(ReadTest, AColumnThatIsOnlyHashedSelectsItsOwnValueAlone) {
  // Two buckets: of any three sellers two are in one.
  TableBuilder orders("orders", v1::Order::descriptor());
  orders.RowKey({Bucket({"seller_id"}, v1::XXH3, 2), Field("order_id")})
      .Index("by_note", {Bucket({"note"}, v1::XXH3, 2), Field("ts_ms")});
  schema_ = Schema();
  schema_.Add(orders);
  for (int i = 0; i < 30; ++i) {
    v1::Order order =
        MakeOrder("o" + std::to_string(i), "s" + std::to_string(i % 3), i);
    order.set_note("n" + std::to_string(i % 5));
    ASSERT_THAT(Put(order), IsOk());
  }
  EXPECT_THAT(engine().Get({}, "orders", {"s1", "o1"}), IsOk());
  EXPECT_THAT(engine().Get({}, "orders", {"s0", "o1"}),
              StatusIs(StatusCode::kNotFound, "no such row"));
  EXPECT_THAT(BySeller("s1"), ElementsAre("o1", "o10", "o13", "o16", "o19",
                                          "o22", "o25", "o28", "o4", "o7"));
  EXPECT_THAT(Pages({.index = "by_note", .any_of = {"n1", "n4"}}, 2),
              ElementsAre("o1", "o4", "o6", "o9", "o11", "o14", "o16", "o19",
                          "o21", "o24", "o26", "o29"));
  const auto commit = engine().Write(
      {}, WriteBatch().Delete(
              "orders", RowRef::By("by_note", {"n1"}, RowRef::Match::kAll)));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(6u));
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch().Delete("orders", RowRef::Key({"s0", "o4"}))),
              IsOk());
  EXPECT_THAT(engine().Get({}, "orders", {"s1", "o4"}), IsOk());
}

TEST_F(ReadTest, StatusesMergeIntoOneNewestFirstList) {
  Load(9);
  EXPECT_THAT(Scan({.index = "by_status",
                    .equal = {"s"},
                    .any_of = {v1::CREATED, v1::INVOICED},
                    .limit = 4}),
              ElementsAre("s8", "s6", "s5", "s3"));
  // A value given twice does not give its rows twice.
  EXPECT_THAT(Scan({.index = "by_status",
                    .equal = {"s"},
                    .any_of = {v1::CREATED, v1::CREATED}}),
              ElementsAre("s6", "s3", "s0"));
}

TEST_F(ReadTest, RangesAreOfValuesWhateverTheDirectionOfTheKey) {
  Load(10);
  const auto range = [&](Range r) {
    return Scan({.equal = {"s"}, .range = r});
  };
  EXPECT_THAT(range({.min = 7}), ElementsAre("s9", "s8", "s7"));
  EXPECT_THAT(range({.max = 2}), ElementsAre("s2", "s1", "s0"));
  EXPECT_THAT(range({.min = 3, .max = 5}), ElementsAre("s5", "s4", "s3"));
  EXPECT_THAT(range({.min = 3, .max = 5, .min_inclusive = false}),
              ElementsAre("s5", "s4"));
  EXPECT_THAT(range({.min = 3, .max = 5, .max_inclusive = false}),
              ElementsAre("s4", "s3"));
  EXPECT_THAT(range({.min = 5, .max = 5}), ElementsAre("s5"));
  EXPECT_THAT(range({.min = 6, .max = 5}), IsEmpty());
  EXPECT_THAT(range({.min = std::numeric_limits<int64_t>::max(),
                     .min_inclusive = false}),
              IsEmpty());
  EXPECT_THAT(Scan({.index = "by_status",
                    .equal = {"s"},
                    .any_of = {v1::CREATED, v1::APPROVED},
                    .range = Range{.min = 3, .max = 6}}),
              ElementsAre("s6", "s4", "s3"));
}

TEST_F(ReadTest, PagesOfEverySizeAddUpToTheWholeList) {
  Load(50);
  Load(5, "t");
  const std::vector<std::string> whole = BySeller("s");
  ASSERT_EQ(whole.size(), 50u);
  for (const uint64_t size : {1, 7, 49, 50, 51, 1000}) {
    EXPECT_EQ(Pages({.equal = {"s"}}, size), whole) << size;
  }
  const ScanRequest merged{.index = "by_status",
                           .equal = {"s"},
                           .any_of = {v1::CREATED, v1::APPROVED, v1::INVOICED}};
  for (const uint64_t size : {1, 7, 50}) {
    EXPECT_EQ(Pages(merged, size), whole) << size;
  }
}

TEST_F(ReadTest, EqualTimesNeitherRepeatNorSkip) {
  WriteBatch batch;
  for (int i = 0; i < 100; ++i) {
    batch.Put("orders", Bytes(MakeOrder("o" + std::to_string(i), "s", 5,
                                        static_cast<v1::OrderStatus>(i % 2))));
  }
  ASSERT_THAT(engine().Write({}, batch), IsOk());
  const std::vector<std::string> whole = BySeller("s");
  ASSERT_EQ(whole.size(), 100u);
  EXPECT_EQ(Pages({.equal = {"s"}}, 7), whole);
  EXPECT_EQ(Pages({.index = "by_status",
                   .equal = {"s"},
                   .any_of = {v1::CREATED, v1::APPROVED}},
                  7),
            whole);
}

TEST_F(ReadTest, APageHoldsItsPlaceWhileRowsComeAndGo) {
  Load(6);
  ScanRequest request{.table = "orders", .equal = {"s"}, .limit = 2};
  auto page = engine().Scan({}, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(page->rows), ElementsAre("s5", "s4"));
  ASSERT_THAT(DeleteId("s4"), IsOk());  // The row the cursor stands on.
  ASSERT_THAT(Put(MakeOrder("new", "s", 99)), IsOk());
  request.continuation = page->continuation;
  page = engine().Scan({}, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(page->rows), ElementsAre("s3", "s2"));
}

TEST_F(ReadTest, ContinuationsSurviveARestart) {
  Load(6);
  ScanRequest request{.table = "orders", .equal = {"s"}, .limit = 4};
  auto page = engine().Scan({}, request);
  ASSERT_THAT(page, IsOk());
  request.continuation = page->continuation;
  Open();
  page = engine().Scan({}, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(page->rows), ElementsAre("s1", "s0"));
  EXPECT_EQ(page->continuation, "");
}

TEST_F(ReadTest, AContinuationOfAnotherRequestOrADamagedOneIsRefused) {
  Load(6);
  ScanRequest request{.table = "orders", .equal = {"s"}, .limit = 2};
  const auto page = engine().Scan({}, request);
  ASSERT_THAT(page, IsOk());

  ScanRequest other = request;
  other.continuation = page->continuation;
  other.equal = {"t"};
  EXPECT_THAT(engine().Scan({}, other),
              StatusIs(StatusCode::kInvalidArgument, "another request"));
  for (size_t i = 0; i < page->continuation.size(); ++i) {
    request.continuation = page->continuation;
    request.continuation[i] = request.continuation[i] == 'A' ? 'B' : 'A';
    EXPECT_THAT(engine().Scan({}, request),
                StatusIs(StatusCode::kInvalidArgument))
        << i;
    request.continuation = page->continuation.substr(0, i);
    if (i > 0) {
      EXPECT_THAT(engine().Scan({}, request),
                  StatusIs(StatusCode::kInvalidArgument))
          << i;
    }
  }
}

TEST_F(ReadTest, LimitsOfAllSizes) {
  Load(3);
  const auto count = [&](uint64_t limit) {
    return Scan({.equal = {"s"}, .limit = limit}).size();
  };
  EXPECT_EQ(count(0), 0u);
  EXPECT_EQ(count(1), 1u);
  EXPECT_EQ(count(3), 3u);
  EXPECT_EQ(count(uint64_t{1} << 31), 3u);
  EXPECT_EQ(count(std::numeric_limits<uint64_t>::max()), 3u);
}

TEST_F(ReadTest, APageIsCutByBytesAndGoesOn) {
  options_.limits.page_bytes_max = 1000;
  Load(50);
  const auto page =
      engine().Scan({}, {.table = "orders", .equal = {"s"}, .limit = 1000});
  ASSERT_THAT(page, IsOk());
  EXPECT_LT(page->rows.size(), 50u);
  EXPECT_NE(page->continuation, "");
  EXPECT_EQ(Pages({.equal = {"s"}}, 1000), [&] {
    options_.limits.page_bytes_max = 1 << 20;
    Open();
    return BySeller("s");
  }());
}

TEST_F(ReadTest, ASnapshotKeepsRowsAndEntriesOfOneCommit) {
  Load(3);
  const auto snapshot = engine().GetSnapshot();
  ASSERT_THAT(snapshot, IsOk());
  ASSERT_THAT(SetStatus("s0", v1::REFUNDED), IsOk());
  ASSERT_THAT(DeleteId("s1"), IsOk());
  ASSERT_THAT(Put(MakeOrder("s2", "t", 7)), IsOk());

  const ReadOptions then{.snapshot = &*snapshot};
  const auto page = engine().Scan(
      then, {.table = "orders", .index = "by_status", .equal = {"s"}});
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(page->rows), ElementsAre("s0", "s1", "s2"));
  const auto rows = engine().GetBy(then, "orders", "by_order_id", {"s1"});
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->size(), 1u);
  EXPECT_EQ(snapshot->sequence(), SequenceNumber{1});
  EXPECT_THAT(engine().Verify({.snapshot = &*snapshot}), IsOk());
}

TEST_F(ReadTest, ReadersBesideWritersNeverSeeHalfACommit) {
  // Two orders swap sellers in every request: each list always has one.
  ASSERT_THAT(
      engine().Write({}, WriteBatch()
                             .Put("orders", Bytes(MakeOrder("a", "x", 1)))
                             .Put("orders", Bytes(MakeOrder("b", "y", 1)))),
      IsOk());
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; i < 2000; ++i) {
      const bool swap = i % 2 == 0;
      EXPECT_THAT(
          engine().Write(
              {},
              WriteBatch()
                  .Put("orders", Bytes(MakeOrder("a", swap ? "y" : "x", 1)))
                  .Put("orders", Bytes(MakeOrder("b", swap ? "x" : "y", 1)))),
          IsOk());
    }
    stop = true;
  });
  while (!stop) {
    EXPECT_EQ(BySeller("x").size(), 1u);
    EXPECT_EQ(ByStatus("y", v1::CREATED).size(), 1u);
    EXPECT_EQ(ById("a").size(), 1u);
  }
  writer.join();
}

TEST_F(ReadTest, BadReadsNameTheirCause) {
  Load(1);
  const auto scan = [&](ScanRequest request) {
    return engine().Scan({}, request).status();
  };
  EXPECT_THAT(scan({.table = "nope"}),
              StatusIs(StatusCode::kNotFound, "tables=orders"));
  EXPECT_THAT(scan({.table = "orders", .index = "nope"}),
              StatusIs(StatusCode::kNotFound, "indexes=by_status"));
  EXPECT_THAT(scan({.table = "orders", .equal = {5}}),
              StatusIs(StatusCode::kInvalidArgument, "seller_id"));
  EXPECT_THAT(scan({.table = "orders", .equal = {"s", 1, "o", "too many"}}),
              StatusIs(StatusCode::kInvalidArgument, "more values"));
  EXPECT_THAT(
      scan({.table = "orders", .equal = {}, .range = Range{.min = "a"}}),
      StatusIs(StatusCode::kInvalidArgument, "next_part=hash(seller_id)"));
  EXPECT_THAT(scan({.table = "orders",
                    .index = "by_status",
                    .equal = {"s"},
                    .any_of = std::vector<Value>(5000, 1)}),
              StatusIs(StatusCode::kInvalidArgument, "max=1024"));
  EXPECT_THAT(engine().GetBy({}, "orders", "by_order_id", {}),
              StatusIs(StatusCode::kInvalidArgument, "first column"));
  EXPECT_THAT(engine().Get({}, "orders", {"s"}),
              StatusIs(StatusCode::kInvalidArgument, "columns=3"));
}

TEST_F(ReadTest, AWholeTableCanBeScannedInKeyOrder) {
  Load(3, "a");
  Load(3, "b");
  EXPECT_EQ(Scan({}).size(), 6u);
  EXPECT_EQ(Pages({.index = "by_order_id"}, 4).size(), 6u);
}

TEST_F(ReadTest, KeysCanBeShownInWords) {
  Load(1);
  const auto row = engine().Get({}, "orders", {"s", 0, "s0"});
  ASSERT_THAT(row, IsOk());
  const auto words = engine().DecodeKey("orders", row->key);
  ASSERT_THAT(words, IsOk());
  EXPECT_THAT(*words, ::testing::ContainsRegex(
                          "^hash\\(seller_id\\)=0x[0-9a-f]{8} "
                          "seller_id=\"s\" ts_ms=0 order_id=\"s0\"$"));
  EXPECT_THAT(engine().DecodeKey("orders", row->key + "x"),
              StatusIs(StatusCode::kInvalidArgument));
}

// Rows spread over random salts and over sub-buckets of one giant seller.
class FanOutTest : public EngineTest {
 protected:
  FanOutTest() {
    schema_ = Schema();
    schema_.Add(TableBuilder("orders", v1::Order::descriptor())
                    .RowKey({Salt(8), Field("seller_id"),
                             SubBucket("seller_id", {"giant"}, {"order_id"}, 4),
                             Field("ts_ms").Desc(), Field("order_id")})
                    .Unique("by_order_id", {Field("order_id")})
                    .Index("by_status", {Field("status"), Field("seller_id")})
                    .Identity("by_order_id"));
  }
};

TEST_F(FanOutTest, ReadsMergeOverSaltsAndSubBuckets) {
  for (int i = 0; i < 60; ++i) {
    ASSERT_THAT(Put(MakeOrder("o" + std::to_string(i),
                              i % 2 == 0 ? "giant" : "small", i)),
                IsOk());
  }
  const std::vector<std::string> newest =
      Scan({.equal = {"giant"}, .limit = 4});
  EXPECT_THAT(newest, ElementsAre("o58", "o56", "o54", "o52"));
  EXPECT_THAT(Scan({.equal = {"small"}, .limit = 2}),
              ElementsAre("o59", "o57"));
  EXPECT_THAT(ById("o7"), ElementsAre("o7"));
  EXPECT_THAT(engine().Get({}, "orders", {"giant", 10, "o10"}), IsOk());
}

TEST_F(FanOutTest, ARowKeepsItsSaltWhileItIsRewritten) {
  ASSERT_THAT(Put(MakeOrder("o", "s", 1)), IsOk());
  const auto before = engine().Get({}, "orders", {"s", 1, "o"});
  ASSERT_THAT(before, IsOk());
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(Put(MakeOrder("o", "s", 1, v1::SHIPPED)), IsOk());
  }
  const auto after = engine().Get({}, "orders", {"s", 1, "o"});
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(after->key, before->key);
  const auto report = engine().Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->rows, 1u);
}

// Nothing but its key tells the row, and a put does not know the salt.
TEST_F(FanOutTest, APutReplacesARowWithoutIdentityUnderWhicheverSaltItIs) {
  schema_ = Schema();
  schema_.Add(TableBuilder("orders", v1::Order::descriptor())
                  .RowKey({Salt(16), Field("seller_id"), Field("order_id")}));
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(Put(MakeOrder("o", "s", i)), IsOk());
  }
  EXPECT_THAT(Scan({.equal = {"s"}}), ElementsAre("o"));
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch().Insert("orders",
                                  MakeOrder("o", "s", 99).SerializeAsString())),
      StatusIs(StatusCode::kAlreadyExists));
}

}  // namespace
}  // namespace dovetail::test
