// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/query.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class QueryTest : public EngineTest {
 protected:
  QueryTest() {
    schema_ = Schema();
    schema_.Add(presets::SellerOrders("orders")
                    .Index("by_buyer", {Field("buyer_id")})
                    .Index("by_currency", {Field("currency")})
                    .Index("by_amount",
                           {Field("seller_id"), Field("amount_cents").Desc()}));
  }

  // Ten orders of two sellers: o-0 the oldest, statuses and buyers in turn.
  void PutTen() {
    for (int i = 0; i < 10; ++i) {
      v1::Order order =
          MakeOrder(absl::StrCat("o-", i), absl::StrCat("s-", i % 2),
                    1000 + i / 4, static_cast<v1::OrderStatus>(i % 3));
      order.set_buyer_id(absl::StrCat("b-", i % 4));
      order.set_currency(i % 5 == 0 ? "EUR" : "USD");
      order.set_amount_cents(i * 100);
      ASSERT_THAT(Put(order), IsOk());
    }
  }

  std::vector<std::string> Ask(const Query& query) {
    const auto page = engine().Query({}, query);
    EXPECT_THAT(page, IsOk());
    return page.ok() ? Ids(page->rows) : std::vector<std::string>();
  }
  std::string Plan(const Query& query, bool run = false) {
    const auto plan = engine().Explain({}, query, {.run = run});
    EXPECT_THAT(plan, IsOk());
    return plan.ok() ? PlanText(*plan) : "";
  }
  absl::Status Refusal(const Query& query) {
    return engine().Query({}, query).status();
  }
};

Query Orders() { return Query("orders"); }

TEST_F(QueryTest, EqualitiesAndAnOrderAreOneRangeOfAnIndex) {
  PutTen();
  const Query query = Orders()
                          .Where(Filter::Equal("seller_id", "s-0"))
                          .Where(Filter::Equal("status", "CREATED"))
                          .OrderBy("ts_ms", Query::kDescending)
                          .Limit(20);
  const std::string plan = Plan(query, true);
  EXPECT_THAT(Ask(query), ElementsAre("o-6", "o-0"));
  EXPECT_THAT(plan,
              HasSubstr("read: index by_status of orders\n"
                        "  range: seller_id = \"s-0\", status = CREATED"));
  EXPECT_THAT(plan, HasSubstr("bound: seeks=21 entries=20 gets=20"));
  EXPECT_THAT(plan, HasSubstr("entries=2 gets=1 rows=2"));
}

// The plan of the first query is kept; what the others ask must reach it.
TEST_F(QueryTest, AKeptPlanServesOtherValues) {
  PutTen();
  const auto query = [](const Value& seller, int64_t from, int64_t to) {
    Range cents;
    cents.min = from;
    cents.max = to;
    return Orders()
        .Where(Filter::Equal("seller_id", seller))
        .Where(Filter::InRange("amount_cents", cents))
        .OrderBy("amount_cents", Query::kDescending);
  };
  EXPECT_THAT(Ask(query("s-0", 0, 400)), ElementsAre("o-4", "o-2", "o-0"));
  EXPECT_THAT(Ask(query("s-1", 300, 700)), ElementsAre("o-7", "o-5", "o-3"));
  EXPECT_THAT(Ask(query("s-9", 0, 400)), IsEmpty());
  EXPECT_THAT(Ask(query("s-0", 200, 200)), ElementsAre("o-2"));
  EXPECT_THAT(Ask(query("s-0", 400, 0)), IsEmpty());
  EXPECT_THAT(Refusal(query(5, 0, 400)),
              StatusIs(StatusCode::kInvalidArgument, "seller_id"));

  // A page of one query goes on with its own values.
  Query pages = query("s-1", 100, 700).Limit(3);
  const auto first = engine().Query({}, pages);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(Ids(first->rows), ElementsAre("o-7", "o-5", "o-3"));
  EXPECT_THAT(Ask(pages.Continuation(first->continuation)), ElementsAre("o-1"));
  EXPECT_THAT(Refusal(query("s-0", 100, 700).Continuation(first->continuation)),
              StatusIs(StatusCode::kInvalidArgument));
}

TEST_F(QueryTest, AKeptFilterServesOtherValues) {
  PutTen();
  const auto query = [](std::string_view seller, std::string_view buyer) {
    return Orders()
        .Where(Filter::Equal("seller_id", seller))
        .Where(Filter::Equal("buyer_id", buyer))
        .UseIndex(Query::kRowKey);
  };
  EXPECT_THAT(Ask(query("s-0", "b-0")),
              UnorderedElementsAre("o-0", "o-4", "o-8"));
  EXPECT_THAT(Ask(query("s-0", "b-2")), UnorderedElementsAre("o-2", "o-6"));
  EXPECT_THAT(Ask(query("s-1", "b-1")),
              UnorderedElementsAre("o-1", "o-5", "o-9"));
  EXPECT_THAT(Ask(query("s-1", "b-0")), IsEmpty());
}

// by_status begins with the seller, too, and by_amount tells the seller alone;
// but each of their entries costs a row.
TEST_F(QueryTest, AnIndexThatNarrowsNoMoreIsNoRivalOfTheRowKey) {
  PutTen();
  const Query query = Orders()
                          .Where(Filter::Equal("seller_id", "s-0"))
                          .Where(Filter::AtLeast("ts_ms", 1001))
                          .Where(Filter::Equal("note", ""));
  EXPECT_THAT(Ask(query), UnorderedElementsAre("o-4", "o-6", "o-8"));
  const std::string plan = Plan(query);
  EXPECT_THAT(plan, HasSubstr("best of 1"));
  EXPECT_THAT(plan, HasSubstr("read: rows of orders"));
}

TEST_F(QueryTest, AlternativesOfOneFieldAreMergedByTheOrder) {
  PutTen();
  const Query query =
      Orders()
          .Where(Filter::Equal("seller_id", "s-1"))
          .Where(Filter::In("status", {v1::CREATED, v1::APPROVED}))
          .OrderBy("ts_ms", Query::kDescending);
  EXPECT_THAT(Ask(query), ElementsAre("o-9", "o-7", "o-1", "o-3"));
  EXPECT_THAT(Plan(query), HasSubstr("ranges merged by the order"));
}

// An index of the orders of 100 to 600 cents in EUR: of use only to who asks
// for no others.
TEST_F(QueryTest, APartialIndexServesWhatImpliesItsPredicate) {
  PutTen();
  Range cents;
  cents.min = 100;
  cents.max = 600;
  ASSERT_THAT(
      engine().AddIndex("orders",
                        IndexBuilder::Value("some", {Field("note")})
                            .Where({RowTest::Equal("currency", "EUR"),
                                    RowTest::Between("amount_cents", cents)})
                            .proto()),
      IsOk());
  ASSERT_THAT(engine().BuildIndex("orders", "some", {}), IsOk());
  const auto query = [](std::string_view currency, int from, int to) {
    return Orders()
        .Where(Filter::Equal("currency", currency))
        .Where(Filter::AtLeast("amount_cents", from))
        .Where(Filter::AtMost("amount_cents", to))
        .OrderBy("note")
        .UseIndex("some")
        .AllowFullScan();
  };
  EXPECT_THAT(Ask(query("EUR", 100, 600)), ElementsAre("o-5"));
  EXPECT_THAT(Ask(query("EUR", 101, 599)), ElementsAre("o-5"));
  for (const Query& wider : {query("USD", 100, 600), query("EUR", 99, 600),
                             query("EUR", 100, 601)}) {
    EXPECT_THAT(Refusal(wider), StatusIs(StatusCode::kFailedPrecondition));
  }
}

// Their entries are not those of one row each.
TEST_F(QueryTest, AnAggregateServesNoRows) {
  PutTen();
  ASSERT_THAT(engine().AddIndex(
                  "orders", IndexBuilder::Count(
                                "notes", {Field("note"), Field("seller_id")})
                                .proto()),
              IsOk());
  ASSERT_THAT(engine().BuildIndex("orders", "notes", {}), IsOk());
  EXPECT_THAT(
      Refusal(Orders().Where(Filter::Equal("note", "")).UseIndex("notes")),
      StatusIs(StatusCode::kInvalidArgument, "counts rows"));
  EXPECT_THAT(Ask(Orders().Where(Filter::Equal("note", "")).AllowFullScan()),
              SizeIs(10));
}

TEST_F(QueryTest, IndexesOfSeveralFieldsAreIntersected) {
  PutTen();
  const Query query = Orders()
                          .Where(Filter::Equal("buyer_id", "b-1"))
                          .Where(Filter::Equal("currency", "EUR"));
  EXPECT_THAT(Ask(query), ElementsAre("o-5"));
  EXPECT_THAT(Plan(query), HasSubstr("intersect"));
}

TEST_F(QueryTest, AlternativesOfSeveralFieldsAreUnited) {
  PutTen();
  const Query query = Orders().Where(Filter::Or(
      {Filter::Equal("buyer_id", "b-1"), Filter::Equal("currency", "EUR")}));
  EXPECT_THAT(Ask(query), UnorderedElementsAre("o-1", "o-5", "o-9", "o-0"));
  EXPECT_THAT(Plan(query), HasSubstr("union"));
}

TEST_F(QueryTest, NotHoldsForNullsToo) {
  Schema schema;
  schema.Add(TableBuilder("assets", Asset::descriptor())
                 .RowKey({Field("id")})
                 .Index("by_slot", {Field("slot")}));
  Options options;
  options.in_memory = true;
  auto engine = Engine::Open("assets", schema, options);
  ASSERT_THAT(engine, IsOk());
  WriteBatch batch;
  for (int i = 0; i < 3; ++i) {
    Asset asset;
    asset.set_id(absl::StrCat(i));
    if (i > 0) asset.set_slot(i);
    batch.Put("assets", asset.SerializeAsString());
  }
  ASSERT_THAT((*engine)->Write({}, std::move(batch)), IsOk());
  const auto ids = [&](Filter filter) {
    std::vector<std::string> out;
    const auto page = (*engine)->Query(
        {},
        Query("assets").Where(std::move(filter)).OrderByRowKey().AllowSort());
    EXPECT_THAT(page, IsOk());
    for (const Row& row : page->rows) {
      Asset asset;
      asset.ParseFromString(row.record);
      out.push_back(asset.id());
    }
    return out;
  };
  EXPECT_THAT(ids(Filter::Not(Filter::Equal("slot", 1))),
              ElementsAre("0", "2"));
  EXPECT_THAT(ids(Filter::Not(Filter::AtLeast("slot", 2))),
              ElementsAre("0", "1"));
  EXPECT_THAT(ids(Filter::IsNull("slot")), ElementsAre("0"));
  EXPECT_THAT(ids(Filter::Not(Filter::IsNull("slot"))), ElementsAre("1", "2"));
  EXPECT_THAT(ids(Filter::InRange("slot", {})), ElementsAre("1", "2"));
}

TEST_F(QueryTest, EachBudgetStopsAPageWithItsReason) {
  PutTen();
  const Query all = Orders().Where(Filter::Equal("seller_id", "s-0"));
  const auto stop = [&](std::optional<uint64_t> Query::Budget::*limit,
                        uint64_t value) {
    Query::Budget budget;
    budget.*limit = value;
    const auto page = engine().Query({}, Query(all).WithBudget(budget));
    EXPECT_THAT(page, IsOk());
    EXPECT_THAT(page->rows, Not(IsEmpty()));
    EXPECT_THAT(page->continuation, Not(IsEmpty()));
    return page->stop;
  };
  EXPECT_EQ(stop(&Query::Budget::rows, 2), StopReason::kRows);
  EXPECT_EQ(stop(&Query::Budget::entries, 2), StopReason::kEntries);
  EXPECT_EQ(stop(&Query::Budget::bytes, 1), StopReason::kBytes);
  const auto limited = engine().Query({}, Query(all).Limit(2));
  EXPECT_EQ(limited->stop, StopReason::kLimit);
  const auto whole = engine().Query({}, Query(all).Limit(5));
  EXPECT_EQ(whole->stop, StopReason::kEnd);
  EXPECT_THAT(whole->continuation, IsEmpty());
  const auto end =
      engine().ForEach({}, all, [](const RowView&) { return false; });
  EXPECT_EQ(end->stop, StopReason::kVisitor);
  EXPECT_THAT(end->continuation, Not(IsEmpty()));
}

// The time of a test's clock, which goes on by a second at each look.
class SteppingClock final : public Clock {
 public:
  int64_t NowMicros() override { return 0; }
  int64_t MonotonicMicros() override { return now_ += 1'000'000; }

 private:
  std::atomic<int64_t> now_ = 0;
};

TEST_F(QueryTest, ATimeBudgetStopsAPage) {
  SteppingClock clock;
  options_.clock = &clock;
  PutTen();
  Query::Budget budget;
  budget.micros = 1;
  const auto page = engine().Query(
      {}, Orders().Where(Filter::Equal("seller_id", "s-0")).WithBudget(budget));
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->stop, StopReason::kTime);
  EXPECT_THAT(page->rows, SizeIs(1));
  engine_.reset();  // Before the clock.
}

TEST_F(QueryTest, AContinuationOutlivesAReopen) {
  PutTen();
  Query query = Orders()
                    .Where(Filter::Equal("seller_id", "s-0"))
                    .OrderBy("ts_ms", Query::kDescending)
                    .Limit(2);
  std::vector<std::string> ids;
  for (int pages = 0; pages < 5; ++pages) {
    const auto page = engine().Query({}, query);
    ASSERT_THAT(page, IsOk());
    for (const std::string& id : Ids(page->rows)) ids.push_back(id);
    if (page->continuation.empty()) break;
    query.Continuation(page->continuation);
    Open();
  }
  EXPECT_THAT(ids, ElementsAre("o-8", "o-4", "o-6", "o-0", "o-2"));
}

TEST_F(QueryTest, AnOrderedQueryOutlivesItsIndex) {
  PutTen();
  Query ordered = Orders()
                      .Where(Filter::Equal("seller_id", "s-0"))
                      .OrderBy("amount_cents", Query::kDescending)
                      .AllowSort()
                      .Limit(2);
  Query unordered =
      Orders().Where(Filter::Equal("buyer_id", "b-0")).AllowFullScan().Limit(1);
  const auto first = engine().Query({}, ordered);
  const auto any = engine().Query({}, unordered);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(any, IsOk());
  EXPECT_THAT(Ids(first->rows), ElementsAre("o-8", "o-6"));
  ASSERT_THAT(engine().DropIndex("orders", "by_amount"), IsOk());
  ASSERT_THAT(engine().DropIndex("orders", "by_buyer"), IsOk());
  EXPECT_THAT(Ask(ordered.Continuation(first->continuation)),
              ElementsAre("o-4", "o-2"));
  EXPECT_THAT(Plan(ordered), HasSubstr("sort"));
  EXPECT_THAT(Refusal(unordered.Continuation(any->continuation)),
              StatusIs(absl::StatusCode::kFailedPrecondition, "start again"));
}

TEST_F(QueryTest, ASortOfLittleMemoryHasShorterPages) {
  PutTen();
  Query query = Orders()
                    .OrderBy("amount_cents", Query::kDescending)
                    .AllowFullScan()
                    .AllowSort(1);
  std::vector<std::string> ids;
  for (int pages = 0; pages < 20; ++pages) {
    const auto page = engine().Query({}, query);
    ASSERT_THAT(page, IsOk());
    EXPECT_THAT(page->rows, SizeIs(1));
    ids.push_back(Ids(page->rows)[0]);
    if (page->continuation.empty()) break;
    EXPECT_EQ(page->stop, StopReason::kBytes);
    query.Continuation(page->continuation);
  }
  EXPECT_THAT(ids, ElementsAre("o-9", "o-8", "o-7", "o-6", "o-5", "o-4", "o-3",
                               "o-2", "o-1", "o-0"));
}

TEST_F(QueryTest, ASnapshotAnswersAsOfThen) {
  PutTen();
  const auto snapshot = engine().GetSnapshot();
  ASSERT_THAT(snapshot, IsOk());
  ASSERT_THAT(DeleteId("o-1"), IsOk());
  const Query query = Orders().Where(Filter::Equal("buyer_id", "b-1"));
  EXPECT_THAT(Ask(query), SizeIs(2));
  const auto then = engine().Query({.snapshot = &*snapshot}, query);
  ASSERT_THAT(then, IsOk());
  EXPECT_THAT(then->rows, SizeIs(3));
}

TEST_F(QueryTest, SelectedFieldsMakeASmallerRecord) {
  PutTen();
  const auto page =
      engine().Query({}, Orders()
                             .Where(Filter::Equal("seller_id", "s-0"))
                             .Where(Filter::Equal("order_id", "o-4"))
                             .Select({"order_id", "amount_cents"}));
  ASSERT_THAT(page, IsOk());
  ASSERT_THAT(page->rows, SizeIs(1));
  v1::Order expected;
  expected.set_order_id("o-4");
  expected.set_amount_cents(400);
  EXPECT_EQ(page->rows[0].record, expected.SerializeAsString());
}

TEST_F(QueryTest, ASelectionThatAnIndexHoldsReadsNoRow) {
  schema_ = Schema();
  schema_.Add(presets::SellerOrders("orders").Add(
      IndexBuilder::Value("by_buyer",
                          {Field("buyer_id"), Field("amount_cents").Desc()})
          .Covering({"currency"})));
  PutTen();
  const Query query = Orders()
                          .Where(Filter::Equal("buyer_id", "b-1"))
                          .Where(Filter::Equal("currency", "USD"))
                          .OrderBy("amount_cents", Query::kDescending)
                          .Select({"order_id", "currency"});
  const auto page = engine().Query({}, query);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(page->rows), ElementsAre("o-9", "o-1"));
  EXPECT_EQ(page->work.gets, 0U);
  for (const Row& row : page->rows) {
    v1::Order order;
    ASSERT_TRUE(order.ParseFromString(row.record));
    EXPECT_EQ(order.currency(), "USD");
    EXPECT_EQ(order.seller_id(), "");
    EXPECT_EQ(row.version, SequenceNumber{});
  }
  const std::string plan = Plan(query);
  EXPECT_THAT(plan, HasSubstr("read: index by_buyer of orders, covering\n"));
  EXPECT_THAT(plan, Not(HasSubstr("fetch:")));
  // A field that the entries lack needs the row.
  const std::string two_hop = Plan(Query(query).Select({"note"}));
  EXPECT_THAT(two_hop, Not(HasSubstr("covering")));
  EXPECT_THAT(two_hop, HasSubstr("fetch:"));
}

TEST_F(QueryTest, TheIndexThatHoldsTheSelectionIsPreferred) {
  schema_ = Schema();
  schema_.Add(presets::SellerOrders("orders")
                  .Index("a_plain", {Field("buyer_id")})
                  .Add(IndexBuilder::Value("b_covering", {Field("buyer_id")})
                           .Covering({"currency"})));
  PutTen();
  const Query query = Orders().Where(Filter::Equal("buyer_id", "b-1"));
  EXPECT_THAT(Plan(query), HasSubstr("index a_plain"));
  EXPECT_THAT(Plan(Query(query).Select({"currency"})),
              HasSubstr("index b_covering of orders, covering"));
}

TEST_F(QueryTest, AQueryAskedAgainFollowsTheSchema) {
  PutTen();
  const Query query =
      Orders().Where(Filter::Equal("buyer_id", "b-1")).AllowFullScan();
  const auto entries = [&] {
    const auto page = engine().Query({}, query);
    EXPECT_THAT(page, IsOk());
    EXPECT_THAT(page->rows, SizeIs(3));
    return page->work.entries;
  };
  EXPECT_EQ(entries(), 3U);
  EXPECT_EQ(entries(), 3U);
  ASSERT_THAT(engine().HideIndex("orders", "by_buyer"), IsOk());
  EXPECT_EQ(entries(), 10U);
  ASSERT_THAT(engine().ShowIndex("orders", "by_buyer"), IsOk());
  EXPECT_EQ(entries(), 3U);
}

TEST_F(QueryTest, ThreadsThatAskTheSameSeeOneStateEach) {
  PutTen();
  const Query query =
      Orders().Where(Filter::Equal("buyer_id", "b-1")).AllowFullScan();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto page = engine().Query({}, query);
        if (!page.ok() || page->rows.size() != 3) ++wrong;
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Put(MakeOrder(absl::StrCat("n-", i), "s-9", 1000)), IsOk());
    EXPECT_THAT(engine().HideIndex("orders", "by_buyer"), IsOk());
    EXPECT_THAT(engine().ShowIndex("orders", "by_buyer"), IsOk());
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(QueryTest, AQueryAskedAgainSeesWhatIsNew) {
  const Query query = Orders()
                          .Where(Filter::Equal("seller_id", "s-0"))
                          .OrderBy("ts_ms", Query::kDescending);
  ASSERT_THAT(Put(MakeOrder("o-1", "s-0", 1000)), IsOk());
  EXPECT_THAT(Ask(query), ElementsAre("o-1"));
  ASSERT_THAT(Put(MakeOrder("o-2", "s-0", 2000)), IsOk());
  EXPECT_THAT(Ask(query), ElementsAre("o-2", "o-1"));
  // A smaller page of it is another call.
  EXPECT_THAT(Ask(Query(query).Limit(1)), ElementsAre("o-2"));
}

TEST_F(QueryTest, AHiddenIndexIsNotRead) {
  PutTen();
  const Query query = Orders().Where(Filter::Equal("buyer_id", "b-1"));
  ASSERT_THAT(engine().HideIndex("orders", "by_buyer"), IsOk());
  EXPECT_THAT(Refusal(query), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       "allow_full_scan"));
  EXPECT_THAT(Refusal(Query(query).UseIndex("by_buyer")),
              StatusIs(absl::StatusCode::kFailedPrecondition, "by_buyer"));
  EXPECT_THAT(Ask(Query(query).AllowFullScan()), SizeIs(3));
}

TEST_F(QueryTest, AdviceIsAnIndexThatServesTheQuery) {
  PutTen();
  const Query served = Orders().Where(Filter::Equal("buyer_id", "b-1"));
  const Query unserved = Orders()
                             .Where(Filter::Equal("buyer_id", "b-1"))
                             .Where(Filter::Equal("status", "SHIPPED"))
                             .OrderBy("ts_ms", Query::kDescending);
  const auto advice = engine().Advise({served, unserved, unserved});
  ASSERT_THAT(advice, IsOk());
  ASSERT_THAT(*advice, SizeIs(1));
  EXPECT_THAT((*advice)[0].queries, ElementsAre(1, 2));
  EXPECT_THAT((*advice)[0].plan, HasSubstr("bound: seeks=101 entries=100"));
  ASSERT_THAT(engine().AddIndex("orders", (*advice)[0].index), IsOk());
  ASSERT_THAT(engine().BuildIndex("orders", (*advice)[0].index.name(), {}),
              IsOk());
  EXPECT_THAT(Plan(unserved), HasSubstr((*advice)[0].index.name()));
}

TEST_F(QueryTest, JsonAndTextAreTheSameQuery) {
  const Query query = Orders()
                          .Where(Filter::Prefix("note", "\xff\xfe"))
                          .Where(Filter::In("status", {"CREATED", 3}))
                          .OrderBy("ts_ms", Query::kDescending)
                          .Limit(7);
  const auto json = Query::FromJson(query.ToJson());
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ(json->proto().SerializeAsString(),
            query.proto().SerializeAsString());
  const auto text = Query::FromText(query.proto().DebugString());
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(text->proto().SerializeAsString(),
            query.proto().SerializeAsString());
}

// Tables whose keys are spread over salts.
class SaltedQueryTest : public QueryTest {
 protected:
  void Use(TableBuilder table) {
    table.Unique("by_order_id", {Field("order_id")}).Identity("by_order_id");
    schema_ = Schema();
    schema_.Add(table);
    PutTen();
  }
};

TEST_F(SaltedQueryTest, ReadingEverySaltIsAFullScan) {
  Use(TableBuilder("orders", v1::Order::descriptor())
          .RowKey({Salt(4), Field("ts_ms").Desc(), Field("order_id")}));
  const Query query = Orders()
                          .Where(Filter::Equal("seller_id", "s-0"))
                          .OrderBy("ts_ms", Query::kDescending);
  EXPECT_THAT(Refusal(query), StatusIs(StatusCode::kFailedPrecondition,
                                       "row key begins with ts_ms"));
  EXPECT_THAT(Ask(Query(query).AllowFullScan()),
              ElementsAre("o-8", "o-4", "o-6", "o-0", "o-2"));
  // All rows are what is asked for: no part of them.
  EXPECT_THAT(Ask(Orders().OrderBy("ts_ms", Query::kDescending).Limit(3)),
              ElementsAre("o-8", "o-9", "o-4"));
}

TEST_F(SaltedQueryTest, AnIndexOfASaltedTextTableHasTheOrder) {
  Use(TableBuilder("orders", v1::Order::descriptor())
          .TextRowKey("_", {Salt(16).Width(2), Field("ts_ms").Desc().Width(19),
                            Field("seller_id"), Field("order_id")})
          .Index("by_seller", {Field("seller_id"), Field("ts_ms").Desc(),
                               Field("order_id")}));
  EXPECT_THAT(Ask(Orders()
                      .Where(Filter::Equal("seller_id", "s-1"))
                      .OrderBy("ts_ms", Query::kDescending)),
              ElementsAre("o-9", "o-5", "o-7", "o-1", "o-3"));
}

TEST_F(SaltedQueryTest, AnIndexOfReversedTextIdsHasTheOrder) {
  Use(TableBuilder("orders", v1::Order::descriptor())
          .TextRowKey("-", {Reverse("order_id")})
          .Index("by_seller", {Field("seller_id"), Field("ts_ms").Desc()}));
  EXPECT_THAT(Ask(Orders()
                      .Where(Filter::Equal("seller_id", "s-1"))
                      .OrderBy("ts_ms", Query::kDescending)),
              ElementsAre("o-9", "o-5", "o-7", "o-1", "o-3"));
}

TEST_F(QueryTest, ARefusedFullScanSaysWhyTheRowKeyDoesNotServe) {
  PutTen();
  EXPECT_THAT(Refusal(Orders().Where(Filter::Above("items", 5))),
              StatusIs(StatusCode::kFailedPrecondition,
                       "the row key begins with hash(seller_id), which takes "
                       "single values and keeps no order"));
  // Here it would narrow the query, but is not asked.
  EXPECT_THAT(
      Refusal(Orders()
                  .Where(Filter::Equal("seller_id", "s-0"))
                  .UseIndex("by_currency"))
          .ToString(),
      AllOf(HasSubstr("allow_full_scan"), Not(HasSubstr("row key begins"))));
}

}  // namespace
}  // namespace dovetail::test
