// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Tables that declare a change order: whatever the order of arrival, the rows
// come to be the same.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OrderedChangeTest : public EngineTest {
 protected:
  // Orders by their time; with `groups`, what was paid by `items`.
  void Declare(bool groups) {
    TableBuilder orders = presets::SellerOrders("orders");
    orders.OrderedBy("ts_ms");
    if (groups) {
      orders.OrderedGroup("items", {"amount_cents", "currency"});
    } else {
      orders.RememberDeletes();
    }
    schema_ = Schema();
    schema_.Add(orders);
  }
  static v1::Order Event(std::string_view id, int64_t ts,
                         v1::OrderStatus status) {
    return MakeOrder(id, "s", ts, status);
  }
  uint64_t Changed(WriteBatch batch) {
    const auto commit = engine().Write({}, std::move(batch));
    EXPECT_THAT(commit, IsOk());
    return commit.ok() ? commit->rows_changed[0] : 99;
  }
  uint64_t PutChanges(const v1::Order& order) {
    return Changed(WriteBatch().Put("orders", Bytes(order)));
  }
  uint64_t Late() {
    const auto stats = engine().GetStats();
    EXPECT_THAT(stats, IsOk());
    return stats.ok() ? stats->late_ignored : 0;
  }
  v1::Order OrderOf(std::string_view id) {
    v1::Order order;
    const auto rows = engine().GetBy({}, "orders", "by_order_id", {id});
    EXPECT_THAT(rows, IsOk());
    EXPECT_EQ(rows->size(), 1);
    if (rows->size() == 1) order.ParseFromString((*rows)[0].record);
    return order;
  }
  static RowRef Id(std::string_view id) {
    return RowRef::By("by_order_id", {id});
  }
  // Records by row key.
  std::map<std::string, std::string> Content() {
    std::map<std::string, std::string> content;
    const auto page = engine().Scan({}, {.table = "orders", .limit = 10'000});
    EXPECT_THAT(page, IsOk());
    for (const Row& row : page->rows) content[row.key] = row.record;
    return content;
  }
};

TEST_F(OrderedChangeTest, AnOlderPutIsIgnoredAndCounted) {
  Declare(/*groups=*/false);
  EXPECT_EQ(PutChanges(Event("o", 20, v1::SHIPPED)), 1);
  EXPECT_EQ(PutChanges(Event("o", 10, v1::CREATED)), 0);
  EXPECT_EQ(PutChanges(Event("o", 20, v1::SHIPPED)), 0);
  EXPECT_EQ(Late(), 2);
  EXPECT_THAT(ByStatus("s", v1::SHIPPED), ElementsAre("o"));
  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
  EXPECT_EQ(PutChanges(Event("o", 30, v1::DELIVERED)), 1);
  EXPECT_THAT(ByStatus("s", v1::DELIVERED), ElementsAre("o"));
  EXPECT_EQ(Late(), 2);
}

TEST_F(OrderedChangeTest, APatchIsIgnoredByTheSameRule) {
  Declare(/*groups=*/false);
  EXPECT_EQ(PutChanges(Event("o", 20, v1::SHIPPED)), 1);
  const auto patch = [&](int64_t ts, v1::OrderStatus status) {
    return Changed(WriteBatch().PatchOrPut(
        "orders", Id("o"), Bytes(Event("o", ts, status)), {"ts_ms", "status"}));
  };
  EXPECT_EQ(patch(10, v1::CREATED), 0);
  EXPECT_EQ(patch(30, v1::DELIVERED), 1);
  EXPECT_EQ(OrderOf("o").status(), v1::DELIVERED);
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch().Patch("orders", Id("o"),
                                         StatusOnly(v1::CREATED), {"status"})),
              StatusIs(StatusCode::kInvalidArgument, "ordered_by=ts_ms"));
}

TEST_F(OrderedChangeTest, ADeletedRowStaysDeletedForOlderChanges) {
  Declare(/*groups=*/false);
  // The delete arrives first.
  EXPECT_EQ(Changed(WriteBatch().DeleteAsOf("orders", Id("o"), int64_t{20})),
            0);
  EXPECT_EQ(PutChanges(Event("o", 20, v1::SHIPPED)), 0);
  EXPECT_THAT(ById("o"), IsEmpty());
  EXPECT_EQ(PutChanges(Event("o", 21, v1::CREATED)), 1);
  // An older delete takes nothing away, a plain one what there is.
  EXPECT_EQ(Changed(WriteBatch().DeleteAsOf("orders", Id("o"), int64_t{5})), 0);
  EXPECT_THAT(ById("o"), ElementsAre("o"));
  EXPECT_THAT(DeleteId("o"), IsOk());
  EXPECT_EQ(PutChanges(Event("o", 21, v1::CREATED)), 0);
  Open();
  EXPECT_EQ(PutChanges(Event("o", 21, v1::CREATED)), 0);
  EXPECT_EQ(PutChanges(Event("o", 22, v1::CREATED)), 1);
}

TEST_F(OrderedChangeTest, GroupsAreOrderedByFieldsOfTheirOwn) {
  Declare(/*groups=*/true);
  v1::Order first = Event("o", 20, v1::SHIPPED);
  first.set_items(1);
  first.set_amount_cents(100);
  v1::Order second = Event("o", 10, v1::CREATED);  // Older, but paid later.
  second.set_items(2);
  second.set_amount_cents(200);
  second.set_currency("BRL");
  for (const bool turned : {false, true}) {
    engine_.reset();
    Open();
    ASSERT_THAT(engine().Write({}, WriteBatch().Delete("orders", Id("o"))),
                IsOk());
    EXPECT_EQ(PutChanges(turned ? second : first), 1);
    EXPECT_EQ(PutChanges(turned ? first : second), 1);
    const v1::Order order = OrderOf("o");
    EXPECT_EQ(order.status(), v1::SHIPPED);
    EXPECT_EQ(order.ts_ms(), 20);
    EXPECT_EQ(order.items(), 2);
    EXPECT_EQ(order.amount_cents(), 200);
    EXPECT_EQ(order.currency(), "BRL");
  }
}

TEST_F(OrderedChangeTest, AnyOrderOfArrivalMakesTheSameRows) {
  for (const bool groups : {false, true}) {
    Declare(groups);
    std::mt19937_64 random(groups ? 7 : 8);
    std::vector<WriteBatch> events;
    for (int i = 0; i < 400; ++i) {
      const std::string id = "o-" + std::to_string(random() % 15);
      const auto ts = static_cast<int64_t>(random() % 30);
      v1::Order event =
          Event(id, ts, static_cast<v1::OrderStatus>(random() % 6));
      event.set_items(static_cast<int32_t>(random() % 10));
      event.set_amount_cents(static_cast<int64_t>(random() % 5));
      std::string bytes = Bytes(event);
      // A field that the schema does not know, in front.
      if (random() % 3 == 0) bytes.insert(0, "\xa0\x06\x07");
      if (!groups && random() % 5 == 0) {
        events.push_back(WriteBatch().DeleteAsOf("orders", Id(id), ts));
      } else {
        events.push_back(WriteBatch().Put("orders", std::move(bytes)));
      }
    }
    std::map<std::string, std::string> expected;
    for (int round = 0; round < 12; ++round) {
      engine_.reset();
      std::filesystem::remove_all(dir_.Sub("db"));
      Open();
      for (const WriteBatch& event : events) {
        ASSERT_THAT(engine().Write({}, event), IsOk());
        // Delivered at least once.
        if (random() % 4 == 0) {
          ASSERT_THAT(engine().Write({}, event), IsOk());
        }
      }
      if (round == 0) {
        expected = Content();
        EXPECT_GT(expected.size(), 5);
      }
      ASSERT_EQ(Content(), expected) << "round " << round;
      const auto report = engine().Verify({});
      ASSERT_THAT(report, IsOk());
      EXPECT_TRUE(report->clean()) << report->Summary();
      std::shuffle(events.begin(), events.end(), random);
    }
  }
}

TEST_F(OrderedChangeTest, AWrongDeclarationIsNamed) {
  const auto open = [&](auto declare) {
    TableBuilder orders = presets::SellerOrders("orders");
    declare(orders);
    Schema schema;
    schema.Add(orders);
    return Engine::Open(dir_.Sub("wrong"), schema, options_).status();
  };
  EXPECT_THAT(open([](TableBuilder& t) { t.OrderedBy("note"); }),
              StatusIs(StatusCode::kInvalidArgument, "type=string"));
  EXPECT_THAT(open([](TableBuilder& t) { t.OrderedBy("when"); }),
              StatusIs(StatusCode::kInvalidArgument, "when"));
  EXPECT_THAT(open([](TableBuilder& t) {
                t.OrderedBy("ts_ms").OrderedGroup("items", {"ts_ms"});
              }),
              StatusIs(StatusCode::kInvalidArgument, "one group"));
  EXPECT_THAT(open([](TableBuilder& t) {
                t.OrderedBy("ts_ms")
                    .OrderedGroup("items", {"amount_cents"})
                    .RememberDeletes();
              }),
              StatusIs(StatusCode::kInvalidArgument, "groups"));
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch().DeleteAsOf("orders", Id("o"), int64_t{1})),
              StatusIs(StatusCode::kInvalidArgument, "remembers deletes"));
}

}  // namespace
}  // namespace dovetail::test
