// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/query.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

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
                    .Index("by_amount", {Field("seller_id"),
                                         Field("amount_cents").Desc()}));
  }

  // Ten orders of two sellers: o-0 the oldest, statuses and buyers in turn.
  void PutTen() {
    for (int i = 0; i < 10; ++i) {
      v1::Order order = MakeOrder(absl::StrCat("o-", i),
                                  absl::StrCat("s-", i % 2), 1000 + i / 4,
                                  static_cast<v1::OrderStatus>(i % 3));
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
  EXPECT_THAT(Ask(query), ElementsAre("o-6", "o-0"));
  const std::string plan = Plan(query, true);
  EXPECT_THAT(plan, HasSubstr("read: index by_status of orders\n"
                              "  range: seller_id = \"s-0\", status = CREATED"));
  EXPECT_THAT(plan, HasSubstr("bound: seeks=21 entries=20 gets=20"));
  EXPECT_THAT(plan, HasSubstr("entries=2 gets=1 rows=2"));
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
  const Query query =
      Orders().Where(Filter::Or({Filter::Equal("buyer_id", "b-1"),
                                 Filter::Equal("currency", "EUR")}));
  EXPECT_THAT(Ask(query), UnorderedElementsAre("o-1", "o-5", "o-9", "o-0"));
  EXPECT_THAT(Plan(query), HasSubstr("union"));
}

}  // namespace
}  // namespace dovetail::test
