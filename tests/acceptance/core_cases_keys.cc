// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reports from the field about keys and ranges, as tests: separators,
// prefixes, signs, upper bounds, limits, buckets.

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "tests/acceptance/core_cases.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using namespace std::string_literals;  // NOLINT: "a\0b"s.

constexpr int64_t kMinTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxTime = std::numeric_limits<int64_t>::max();

std::string Text(const std::string& order, const std::string& seller,
                 int64_t ts_ms, const std::string& status = "PAID") {
  return MakeOrder<TextOrder>(order, seller, ts_ms, status);
}

// tendermint #2907: keys built as a/b/c break once a part holds the
// separator, and numbers as text sort 10 before 9.
TEST_F(Cases, Case04_SeparatorsInsideIdsStayInsideThem) {
  Open({TextOrders("orders")});
  const std::vector<std::string> sellers = {"a",     "a-", "a-1", "a/b",
                                            "a\0b"s, "-",  "",    "\0"s};
  std::set<std::string> keys;
  for (const std::string& seller : sellers) {
    // In time order: 1000 is newer than 999.
    const std::vector<std::pair<std::string, int64_t>> orders = {
        {"1-2", 1000}, {"2", 1000}, {"a\0b"s, 999}, {"x/", 999}};
    for (const auto& [order, ts_ms] : orders) {
      Write(WriteBatch().Put("orders",
                             Text(seller + "|" + order, seller, ts_ms)));
    }
  }
  // The pair that a separator would make equal.
  Write(WriteBatch()
            .Put("orders", Text("1-2", "a", 5))
            .Put("orders", Text("2", "a-1", 5)));
  for (const std::string& seller : sellers) {
    std::vector<std::string> expected = {seller + "|1-2", seller + "|2",
                                         seller + "|a\0b"s, seller + "|x/"};
    if (seller == "a") expected.push_back("1-2");
    if (seller == "a-1") expected.push_back("2");
    EXPECT_THAT(Orders<TextOrder>({.table = "orders", .equal = {seller}}, 3),
                ElementsAreArray(expected));
    for (const std::string& order : expected) {
      absl::StatusOr<std::vector<Row>> rows =
          engine_->GetBy({}, "orders", "by_order_id", {order});
      ASSERT_THAT(rows, IsOkAndHolds(SizeIs(1)));
      EXPECT_TRUE(keys.insert((*rows)[0].key).second);
    }
  }
  EXPECT_THAT(keys, SizeIs(4 * sellers.size() + 2));
}

TEST_F(Cases, Case04_NamesAndCodesFromRealDataAreKeptApart) {
  SKIP_WITHOUT_DATA("scms-shipments/deliveries.csv.xz");
  SKIP_WITHOUT_DATA("online-retail/lines.csv.xz");
  std::set<std::string> sellers;
  const auto add = [&](std::vector<std::string>& row) {
    sellers.insert(row[0]);
    return absl::OkStatus();
  };
  ASSERT_THAT(
      ReadCsv(SharedData("scms-shipments/deliveries.csv.xz"), {"Vendor"}, add),
      IsOk());
  ASSERT_THAT(
      ReadCsv(SharedData("online-retail/lines.csv.xz"), {"StockCode"}, add),
      IsOk());
  ASSERT_GT(sellers.size(), 4'000u);
  Open({TextOrders("orders")});
  WriteBatch batch;
  for (const std::string& seller : sellers) {
    batch.Put("orders", Text(seller + "#1", seller, 10));
    batch.Put("orders", Text(seller + "#2", seller, 9));
    if (batch.count() >= 500) {
      Write(batch);
      batch.Clear();
    }
  }
  Write(batch);
  for (const std::string& seller : sellers) {
    ASSERT_THAT(Orders<TextOrder>({.table = "orders", .equal = {seller}}),
                ElementsAre(seller + "#1", seller + "#2"));
    ASSERT_THAT(engine_->GetBy({}, "orders", "by_order_id", {seller + "#1"}),
                IsOkAndHolds(SizeIs(1)));
  }
}

// helix-db #1065: without an end mark, a scan of the short value meets the
// rows of the longer one that it is the beginning of.
TEST_F(Cases, Case05_ValuesThatBeginOthersAreKeptApart) {
  // No hash in front, so that neighbours are neighbours.
  TableBuilder orders("orders", TextOrder::descriptor());
  orders.RowKey({Field("seller_id"), Field("ts_ms").Desc(), Field("order_id")})
      .Index("by_status", {Field("status"), Field("order_id")});
  Open({orders});
  const std::vector<std::string> sellers = {"s", "s1", "s10", "s100"};
  const std::vector<std::string> statuses = {"", "PAID", "PAID2", "PAIDX"};
  std::map<std::string, std::vector<std::string>> by_seller, by_status;
  for (const std::string& seller : sellers) {
    for (const std::string& status : statuses) {
      for (const char* rest : {"", "2", "X", "0", "00", "\1"}) {
        const std::string order = rest + seller + "/" + status;
        Write(WriteBatch().Put("orders", Text(order, seller, 1, status)));
        by_seller[seller].push_back(order);
        by_status[status].push_back(order);
      }
    }
  }
  for (auto& [seller, expected] : by_seller) {
    std::sort(expected.begin(), expected.end());
    EXPECT_THAT(Orders<TextOrder>({.table = "orders", .equal = {seller}}, 5),
                ElementsAreArray(expected));
  }
  std::vector<std::string> all;
  for (auto& [status, expected] : by_status) {
    std::sort(expected.begin(), expected.end());
    EXPECT_THAT(
        Orders<TextOrder>(
            {.table = "orders", .index = "by_status", .equal = {status}}, 5),
        ElementsAreArray(expected));
    all.insert(all.end(), expected.begin(), expected.end());
  }
  // The order of values is that of their bytes, whatever follows them.
  EXPECT_THAT(Orders<TextOrder>({.table = "orders", .index = "by_status"}, 7),
              ElementsAreArray(all));
}

// cw-plus #489: two's complement bytes put -1 above 1, and ranges that cross
// zero miss rows.
TEST_F(Cases, Case06_NegativeTimesAreOlderThanPositiveOnes) {
  TableBuilder events("events", Event::descriptor());
  events.RowKey({Hash({"waybill"}), Field("waybill"), Field("ts_ms").Desc(),
                 Field("position")});
  TableBuilder oldest_first("orders", TextOrder::descriptor());
  oldest_first.RowKey({Field("seller_id"), Field("ts_ms"), Field("order_id")});
  Open({events, oldest_first});
  const std::vector<int64_t> times = {kMinTime, -692'067'660'000,  -1,      0,
                                      1,        1'514'897'580'000, kMaxTime};
  for (const int64_t ts_ms : times) {
    Event event;
    event.set_waybill("w");
    event.set_ts_ms(ts_ms);
    Write(WriteBatch()
              .Put("events", event.SerializeAsString())
              .Put("orders", Text(absl::StrCat(ts_ms), "s", ts_ms)));
  }
  const auto listed = [&](std::optional<Range> range) {
    std::vector<int64_t> result;
    absl::StatusOr<Page> page = engine_->Scan(
        {}, {.table = "events", .equal = {"w"}, .range = std::move(range)});
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) return result;
    for (const Row& row : page->rows) {
      Event event;
      EXPECT_TRUE(event.ParseFromString(row.record));
      result.push_back(event.ts_ms());
    }
    return result;
  };
  EXPECT_THAT(listed(std::nullopt),
              ElementsAreArray(times.rbegin(), times.rend()));
  EXPECT_THAT(listed(Range{.min = -10, .max = 0}), ElementsAre(0, -1));
  EXPECT_THAT(listed(Range{.min = -10, .max = 1}), ElementsAre(1, 0, -1));
  EXPECT_THAT(listed(Range{.min = 0, .max = 0}), ElementsAre(0));
  EXPECT_THAT(listed(Range{.max = -692'067'660'000}),
              ElementsAre(-692'067'660'000, kMinTime));
  EXPECT_THAT(listed(Range{.min = 1, .max = -1}), IsEmpty());
  EXPECT_THAT(listed(Range{.min = kMaxTime, .min_inclusive = false}),
              IsEmpty());
  EXPECT_THAT(listed(Range{.max = kMinTime, .max_inclusive = false}),
              IsEmpty());
  EXPECT_THAT(Orders<TextOrder>({.table = "orders",
                                 .equal = {"s"},
                                 .range = Range{.min = -10, .max = 1}}),
              ElementsAre("-1", "0", "1"));
}

// muninndb #816: the upper bound of a prefix that ends in 0xFF takes in the
// next prefix, or there is none and nothing is found.
TEST_F(Cases, Case07_PrefixesThatEndInFF) {
  const auto layout = [](std::string_view name, bool descending) {
    TableBuilder table(name, RawOrder::descriptor());
    Part seller = Field("seller_id");
    if (descending) seller = Field("seller_id").Desc();
    table.RowKey({seller, Field("order_id")})
        .Index("by_time", {Field("ts_ms"), Field("order_id")});
    return table;
  };
  Open({layout("asc", false), layout("desc", true)});
  // Descending, the empty id is the one whose bytes are all 0xFF.
  const std::vector<std::string> ids = {
      "",  "\xff", "\xff\xff", "\xff\xff\xff", "a",       "a\xff", "a\xff\xff",
      "b", "\xfe", "\xfe\xff", "\0"s,          "\0\xff"s, "\1"s,   "\xff\0"s};
  for (const char* table : {"asc", "desc"}) {
    for (const std::string& seller : ids) {
      WriteBatch batch;
      for (const std::string& order : ids) {
        batch.Put(table, MakeOrder<RawOrder>(
                             order, seller,
                             seller == "\xff" ? kMaxTime : kMinTime, "x"));
      }
      Write(batch);
    }
  }
  std::vector<std::string> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  for (const char* table : {"asc", "desc"}) {
    for (const std::string& seller : ids) {
      EXPECT_THAT(Orders<RawOrder>({.table = table, .equal = {seller}}, 4),
                  ElementsAreArray(sorted))
          << table << " " << absl::CHexEscape(seller);
      EXPECT_THAT(
          Orders<RawOrder>({.table = table,
                            .equal = {seller},
                            .range = Range{.min = "\xff", .max = "\xff"}}),
          ElementsAre("\xff"));
    }
    // The last possible prefix of eight bytes: the latest time of all.
    EXPECT_THAT(Orders<RawOrder>(
                    {.table = table, .index = "by_time", .equal = {kMaxTime}}),
                ElementsAreArray(sorted));
    EXPECT_THAT(Orders<RawOrder>({.table = table}, 10),
                SizeIs(ids.size() * ids.size()));
  }
}

// kvrocks #434: a range whose upper bound is the time of several rows returns
// one of them.
TEST_F(Cases, Case08_AllRowsAtTheHighestBoundAreInIt) {
  Open({presets::SellerOrders("orders")});
  constexpr int64_t kT = 1'772'452'800'000;
  for (int i = 0; i < 7; ++i) {
    Write(WriteBatch().Put(
        "orders", MakeOrder<v1::Order>(absl::StrCat("o", i), "s",
                                       i < 5 ? kT : kT - 1, v1::CREATED)));
  }
  const auto listed = [&](std::string index, std::vector<Value> equal,
                          Range range) {
    return Orders<v1::Order>({.table = "orders",
                              .index = std::move(index),
                              .equal = std::move(equal),
                              .range = std::move(range)},
                             2);
  };
  for (const bool by_status : {false, true}) {
    const std::string index = by_status ? "by_status" : "";
    std::vector<Value> equal = {"s"};
    if (by_status) equal.push_back(v1::CREATED);
    EXPECT_THAT(listed(index, equal, Range{.max = kT}),
                ElementsAre("o0", "o1", "o2", "o3", "o4", "o5", "o6"));
    EXPECT_THAT(listed(index, equal, Range{.max = kT, .max_inclusive = false}),
                ElementsAre("o5", "o6"));
    EXPECT_THAT(listed(index, equal, Range{.min = kT, .max = kT}),
                ElementsAre("o0", "o1", "o2", "o3", "o4"));
    EXPECT_THAT(
        listed(index, equal, Range{.min = kT - 1, .min_inclusive = false}),
        ElementsAre("o0", "o1", "o2", "o3", "o4"));
  }
}

// kvrocks #1483: limit 0 is taken as "no limit".
TEST_F(Cases, Case09_LimitZeroReturnsNothingAndHugeLimitsEverything) {
  Open({presets::SellerOrders("orders")});
  WriteBatch batch;
  for (int i = 0; i < 5; ++i) {
    batch.Put("orders",
              MakeOrder<v1::Order>(absl::StrCat("o", i), "s", 1, v1::CREATED));
  }
  Write(batch);
  ScanRequest request{.table = "orders", .equal = {"s"}};
  const std::pair<uint64_t, size_t> limits[] = {
      {0, 0},
      {1, 1},
      {4, 4},
      {5, 5},
      {6, 5},
      {uint64_t{1} << 31, 5},
      {std::numeric_limits<uint64_t>::max(), 5}};
  for (const auto& [limit, rows] : limits) {
    request.limit = limit;
    absl::StatusOr<Page> page = engine_->Scan({}, request);
    ASSERT_THAT(page, IsOk());
    EXPECT_THAT(page->rows, SizeIs(rows)) << limit;
  }
}

// A page of no rows in the middle keeps the place.
TEST_F(Cases, Case09_LimitZeroWithAContinuationKeepsThePlace) {
  Open({presets::SellerOrders("orders")});
  WriteBatch batch;
  for (int i = 0; i < 5; ++i) {
    batch.Put("orders",
              MakeOrder<v1::Order>(absl::StrCat("o", i), "s", 1, v1::CREATED));
  }
  Write(batch);
  ScanRequest request{.table = "orders", .equal = {"s"}, .limit = 2};
  absl::StatusOr<Page> page = engine_->Scan({}, request);
  ASSERT_THAT(page, IsOk());
  ASSERT_FALSE(page->continuation.empty());
  request.continuation = page->continuation;
  request.limit = 0;
  page = engine_->Scan({}, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(page->rows, IsEmpty());
  ASSERT_FALSE(page->continuation.empty());
  request.continuation = page->continuation;
  EXPECT_THAT(Orders<v1::Order>(request), ElementsAre("o2", "o3", "o4"));
}

// akka #25034: abs(INT_MIN) % n is negative, so that reads look in a bucket
// that writes do not use. The first three texts have Java's hash INT_MIN, the
// fourth -1.
TEST_F(Cases, Case12_BucketsAreInRangeForEveryHash) {
  struct Expected {
    uint32_t count;
    int of_min;        // floorMod(INT_MIN, count)
    int of_minus_one;  // floorMod(-1, count)
  };
  const Expected table_of[] = {
      {1, 0, 0}, {7, 5, 6}, {16, 0, 15}, {256, 0, 255}};
  std::vector<TableBuilder> tables;
  for (const Expected& e : table_of) {
    for (const v1::HashAlgorithm algorithm :
         {v1::JAVA_STRING, v1::XXH3, v1::MURMUR3, v1::CRC32}) {
      TableBuilder table(absl::StrCat("t", e.count, "_", algorithm),
                         TextOrder::descriptor());
      table.RowKey({Bucket({"seller_id"}, algorithm, e.count),
                    Field("seller_id"), Field("order_id")});
      tables.push_back(table);
    }
  }
  Open(tables);
  const std::vector<std::string> sellers = {"polygenelubricants",
                                            "GydZG_",
                                            "DESIGNING WORKHOUSES",
                                            "bmgkAG4",
                                            "",
                                            "\xc3\xa9"};
  for (const TableBuilder& builder : tables) {
    const std::string& table = builder.proto().name();
    for (const std::string& seller : sellers) {
      Write(WriteBatch().Put(table, Text("o", seller, 1)));
      EXPECT_THAT(Orders<TextOrder>({.table = table, .equal = {seller}}),
                  ElementsAre("o"));
      EXPECT_THAT(engine_->Get({}, table, {seller, "o"}), IsOk());
    }
  }
  for (const Expected& e : table_of) {
    const std::string table = absl::StrCat("t", e.count, "_", v1::JAVA_STRING);
    for (size_t i = 0; i < 4; ++i) {
      absl::StatusOr<Row> row = engine_->Get({}, table, {sellers[i], "o"});
      ASSERT_THAT(row, IsOk());
      EXPECT_EQ(static_cast<uint8_t>(row->key[0]),
                i < 3 ? e.of_min : e.of_minus_one)
          << table << " " << sellers[i];
    }
  }
}

}  // namespace
}  // namespace dovetail::test
