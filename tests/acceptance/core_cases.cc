// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reports from the field about updates and paging, as tests: old entries that
// survive, writers that race, pages over equal times, fields and statuses
// that the program does not know. core_cases_keys.cc has those about keys.

#include "tests/acceptance/core_cases.h"

#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "google/protobuf/unknown_field_set.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kScale = 10;  // Instrumented code is that much slower.
#else
constexpr int kScale = 1;
#endif

std::string Order(const std::string& order, const std::string& seller,
                  int64_t ts_ms, v1::OrderStatus status) {
  return MakeOrder<v1::Order>(order, seller, ts_ms, status);
}

std::string StatusOnly(int status) {
  v1::Order values;
  values.set_status(static_cast<v1::OrderStatus>(status));
  return values.SerializeAsString();
}

ScanRequest InStatus(const std::string& seller, int status) {
  return {.table = "orders", .index = "by_status", .equal = {seller, status}};
}

// tarantool #3607: a row is indexed twice after put, the same put, delete,
// put with another value, when flushes fall between the steps.
TEST_F(Cases, Case01_OldEntrySurvivesUpdateFlushedApart) {
  Open({presets::SellerOrders("orders")});
  const auto put = [&](v1::OrderStatus status) {
    Write(WriteBatch().Put("orders", Order("o1", "s", 1, status)));
  };
  put(v1::APPROVED);
  FlushWriteBuffer();
  put(v1::APPROVED);
  Write(WriteBatch().Delete("orders", RowRef::By("by_order_id", {"o1"})));
  FlushWriteBuffer();
  put(v1::SHIPPED);
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(Orders<v1::Order>(InStatus("s", v1::APPROVED)), IsEmpty());
    EXPECT_THAT(Orders<v1::Order>(InStatus("s", v1::SHIPPED)),
                ElementsAre("o1"));
    EXPECT_THAT(engine_->GetBy({}, "orders", "by_order_id", {"o1"}),
                IsOkAndHolds(SizeIs(1)));
    ExpectClean();
    for (int i = 0; i < 8; ++i) FlushWriteBuffer();  // Compacts as well.
    Reopen();
  }
}

// The same for a thousand orders at once, with flushes at random points.
TEST_F(Cases, Case01_ManyOrdersWithFlushesAtRandomPoints) {
  Open({presets::SellerOrders("orders")});
  constexpr uint32_t kSeed = 3607;
  std::mt19937 random(kSeed);
  const auto steps = {v1::APPROVED, v1::APPROVED, v1::CANCELED, v1::SHIPPED};
  for (const v1::OrderStatus step : steps) {
    for (int i = 0; i < 1000; ++i) {
      const std::string id = absl::StrCat("o", i);
      if (step == v1::CANCELED) {
        Write(WriteBatch().Delete("orders", RowRef::By("by_order_id", {id})));
      } else {
        Write(WriteBatch().Put("orders", Order(id, "s", i / 10, step)));
      }
      if (random() % 300 == 0) FlushWriteBuffer();
    }
  }
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Orders<v1::Order>(InStatus("s", v1::APPROVED)), IsEmpty());
    EXPECT_THAT(Orders<v1::Order>(InStatus("s", v1::SHIPPED)), SizeIs(1000));
    ExpectClean();
    Reopen();
  }
}

// yugabyte-db #14556: concurrent changes of one row leave the old and the new
// index entry.
TEST_F(Cases, Case03_RacingWritersLeaveOneEntry) {
  Open({presets::SellerOrders("orders")});
  constexpr int kOrders = 20;
  constexpr int kThreads = 8;
  constexpr int kChanges = 10'000 / kScale;
  for (int i = 0; i < kOrders; ++i) {
    Write(WriteBatch().Put("orders",
                           Order(absl::StrCat("o", i), "s", i, v1::CREATED)));
  }
  std::vector<std::thread> threads;
  std::vector<int> failures(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (int i = 0; i < kChanges; ++i) {
        const std::string id = absl::StrCat("o", random() % kOrders);
        absl::StatusOr<Commit> commit = engine_->Write(
            {}, WriteBatch().Patch("orders", RowRef::By("by_order_id", {id}),
                                   StatusOnly(static_cast<int>(random() % 5)),
                                   {"status"}));
        failures[static_cast<size_t>(t)] += !commit.ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, ::testing::Each(0));
  std::multiset<std::string> listed;
  for (int status = 0; status < 10; ++status) {
    for (const std::string& id : Orders<v1::Order>(InStatus("s", status))) {
      absl::StatusOr<std::vector<Row>> rows =
          engine_->GetBy({}, "orders", "by_order_id", {id});
      ASSERT_THAT(rows, IsOkAndHolds(SizeIs(1)));
      v1::Order order;
      ASSERT_TRUE(order.ParseFromString((*rows)[0].record));
      EXPECT_EQ(order.status(), status) << id;
      listed.insert(id);
    }
  }
  EXPECT_THAT(listed, SizeIs(kOrders));
  EXPECT_THAT(std::set<std::string>(listed.begin(), listed.end()),
              SizeIs(kOrders));
}

TableBuilder Events() {
  TableBuilder events("events", Event::descriptor());
  events
      .RowKey({Hash({"waybill"}), Field("waybill"), Field("ts_ms").Desc(),
               Field("position")})
      .Index("by_carrier",
             {Hash({"carrier"}), Field("carrier"), Field("ts_ms").Desc()});
  return events;
}

class PagingCases : public Cases {
 protected:
  void PutEvent(int64_t ts_ms, int position) {
    Event event;
    event.set_waybill("w");
    event.set_carrier("c");
    event.set_ts_ms(ts_ms);
    event.set_position(position);
    Write(WriteBatch().Put("events", event.SerializeAsString()));
  }
  // Pages through a request; `between` runs after each page with its last
  // position.
  template <typename Between>
  std::vector<int> Positions(ScanRequest request, uint64_t page_rows,
                             const Between& between) {
    std::vector<int> positions;
    request.limit = page_rows;
    do {
      absl::StatusOr<Page> page = engine_->Scan({}, request);
      EXPECT_THAT(page, IsOk());
      if (!page.ok()) break;
      EXPECT_LE(page->rows.size(), page_rows);
      for (const Row& row : page->rows) {
        Event event;
        EXPECT_TRUE(event.ParseFromString(row.record));
        positions.push_back(event.position());
      }
      request.continuation = page->continuation;
      if (!page->rows.empty()) between(positions.back());
    } while (!request.continuation.empty());
    return positions;
  }
  static std::vector<ScanRequest> BothWays() {
    return {{.table = "events", .equal = {"w"}},
            {.table = "events", .index = "by_carrier", .equal = {"c"}}};
  }
};

// leapmux #287 and devlink #1103: a cursor that is only a time drops the rest
// of a tie group, or repeats its last row.
TEST_F(PagingCases, Case10_EqualTimesAreNeitherLostNorRepeated) {
  Open({Events()});
  std::vector<int> expected;
  for (int i = 0; i < 300; ++i) {
    PutEvent(-(i / 100), i);
    expected.push_back(i);
  }
  for (const ScanRequest& request : BothWays()) {
    for (const uint64_t page_rows : {1, 7, 100, 299, 300, 301}) {
      EXPECT_THAT(Positions(request, page_rows, [](int) {}),
                  ElementsAreArray(expected))
          << request.index << " " << page_rows;
    }
  }
}

TEST_F(PagingCases, Case10_DeletedCursorRowDoesNotMoveThePlace) {
  Open({Events()});
  for (const ScanRequest& request : BothWays()) {
    for (const uint64_t page_rows : {1, 7}) {
      std::vector<int> expected;
      for (int i = 0; i < 60; ++i) {
        PutEvent(-(i / 30), i);
        expected.push_back(i);
      }
      EXPECT_THAT(
          Positions(request, page_rows,
                    [&](int last) {
                      Write(WriteBatch().Delete(
                          "events", RowRef::Key({"w", -(last / 30), last})));
                    }),
          ElementsAreArray(expected))
          << request.index << " " << page_rows;
    }
  }
}

TEST_F(PagingCases, Case10_NewerRowsBetweenPagesDisturbNothing) {
  Open({Events()});
  std::vector<int> expected;
  for (int i = 0; i < 60; ++i) {
    PutEvent(-(i / 30), i);
    expected.push_back(i);
  }
  int newer = 0;
  for (const ScanRequest& request : BothWays()) {
    const std::vector<int> seen = Positions(
        request, 7, [&](int) { PutEvent(1 + newer, 1000 + newer), ++newer; });
    std::vector<int> old;
    for (const int position : seen) {
      if (position < 1000) old.push_back(position);
    }
    EXPECT_THAT(old, ElementsAreArray(expected)) << request.index;
  }
}

// Two purchase orders with huge tie groups: 990 events, and 48 in a minute.
TEST_F(PagingCases, Case10_RealEventsInPages) {
  constexpr char kFile[] = "bpi2019-purchase-orders/events.csv.xz";
  SKIP_WITHOUT_DATA(kFile);
  Open({Events()});
  std::map<std::string, std::multimap<int64_t, int>> cases;
  WriteBatch batch;
  ASSERT_THAT(ReadCsv(SharedData(kFile), {"case_id", "seq", "ts", "activity"},
                      [&](std::vector<std::string>& row) -> absl::Status {
                        if (row[0] != "4507027474_00010" &&
                            row[0] != "4507001868_00001") {
                          return absl::OkStatus();
                        }
                        absl::StatusOr<int64_t> ts_ms = ParseTimeMs(row[2]);
                        if (!ts_ms.ok()) return ts_ms.status();
                        Event event;
                        event.set_waybill(row[0]);
                        event.set_carrier("bpi2019");
                        event.set_ts_ms(*ts_ms);
                        event.set_position(std::stoi(row[1]));
                        event.set_status(row[3]);
                        batch.Put("events", event.SerializeAsString());
                        cases[row[0]].emplace(-*ts_ms, event.position());
                        return absl::OkStatus();
                      }),
              IsOk());
  ASSERT_THAT(cases, SizeIs(2));
  Write(batch);
  for (const auto& [waybill, events] : cases) {
    std::set<std::pair<int64_t, int>> sorted(events.begin(), events.end());
    std::vector<int> expected;
    for (const auto& [ts, position] : sorted) expected.push_back(position);
    for (const uint64_t page_rows : {1, 7, 100}) {
      EXPECT_THAT(Positions({.table = "events", .equal = {waybill}}, page_rows,
                            [](int) {}),
                  ElementsAreArray(expected));
    }
  }
}

// protobuf.js #775: a program that decodes, changes one field and encodes
// drops the fields of a newer writer.
TEST_F(Cases, Case16_UnknownFieldsOutliveAChange) {
  Open({presets::SellerOrders("orders")});
  v1::Order order;
  order.set_order_id("o1");
  order.set_seller_id("s");
  order.set_ts_ms(7);
  order.set_note("kept");
  google::protobuf::UnknownFieldSet* unknown =
      order.GetReflection()->MutableUnknownFields(&order);
  unknown->AddVarint(100, 1u << 31);
  unknown->AddLengthDelimited(101, std::string("\0\xff raw", 6));
  unknown->AddLengthDelimited(102)->append("\x0a\x02hi\x10\x05");
  unknown->AddFixed64(103, 42);
  std::string before, after;
  ASSERT_TRUE(unknown->SerializeToString(&before));
  Write(WriteBatch().Put("orders", order.SerializeAsString()));
  Write(WriteBatch().Patch("orders", RowRef::By("by_order_id", {"o1"}),
                           StatusOnly(v1::SHIPPED), {"status"}));
  // Moves the row: the new row is made from the old one.
  v1::Order later;
  later.set_ts_ms(8);
  Write(WriteBatch().Patch("orders", RowRef::By("by_order_id", {"o1"}),
                           later.SerializeAsString(), {"ts_ms"}));
  for (int round = 0; round < 2; ++round) {
    absl::StatusOr<Row> row = engine_->Get({}, "orders", {"s", 8, "o1"});
    ASSERT_THAT(row, IsOk());
    v1::Order read;
    ASSERT_TRUE(read.ParseFromString(row->record));
    EXPECT_EQ(read.status(), v1::SHIPPED);
    EXPECT_EQ(read.note(), "kept");
    ASSERT_TRUE(
        read.GetReflection()->GetUnknownFields(read).SerializeToString(&after));
    EXPECT_EQ(after, before);
    Reopen();
  }
}

// rust-protobuf #233: a status number that the program has no name for makes
// the record undecodable, or turns into the first status.
TEST_F(Cases, Case17_UnknownStatusIsAStatus) {
  Open({presets::SellerOrders("orders")});
  Write(
      WriteBatch()
          .Put("orders", Order("o1", "s", 1, static_cast<v1::OrderStatus>(99)))
          .Put("orders",
               Order("o2", "s", 1, static_cast<v1::OrderStatus>(-5))));
  EXPECT_THAT(Orders<v1::Order>(InStatus("s", 99)), ElementsAre("o1"));
  EXPECT_THAT(Orders<v1::Order>(InStatus("s", -5)), ElementsAre("o2"));
  EXPECT_THAT(Orders<v1::Order>(InStatus("s", 0)), IsEmpty());
  EXPECT_THAT(engine_->GetBy({}, "orders", "by_order_id", {"o1"}),
              IsOkAndHolds(SizeIs(1)));
  Write(WriteBatch().Patch("orders", RowRef::By("by_order_id", {"o1"}),
                           StatusOnly(3), {"status"}));
  EXPECT_THAT(Orders<v1::Order>(InStatus("s", 99)), IsEmpty());
  EXPECT_THAT(Orders<v1::Order>(InStatus("s", 0)), IsEmpty());
  EXPECT_THAT(Orders<v1::Order>(InStatus("s", 3)), ElementsAre("o1"));
}

TEST_F(Cases, Case17_TextStatusesAreTakenAsTheyAre) {
  Open({TextOrders("orders")});
  const std::vector<std::string> statuses = {"Shipped",
                                             "Shipped - Returned to Seller",
                                             "Shipped - Rejected by Buyer",
                                             "shipped",
                                             "Shipped ",
                                             "",
                                             "Cancelled",
                                             "\xe5\xb7\xb2\xe5\x8f\x91"};
  for (size_t i = 0; i < statuses.size(); ++i) {
    Write(WriteBatch().Put(
        "orders",
        MakeOrder<TextOrder>(absl::StrCat("o", i), "s", 1, statuses[i])));
  }
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_THAT(Orders<TextOrder>({.table = "orders",
                                   .index = "by_status",
                                   .equal = {"s", statuses[i]}}),
                ElementsAre(absl::StrCat("o", i)));
  }
}

}  // namespace
}  // namespace dovetail::test

// Ends with the line that every acceptance program ends with.
int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  if (unit.skipped_test_count() > 0) {
    std::printf("core-cases: %d skipped for lack of data\n",
                unit.skipped_test_count());
  }
  std::printf("core-cases: %d passed, %d failed\n",
              unit.successful_test_count(), unit.failed_test_count());
  return result;
}
