// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A table with a TEXT row key end to end: what works on BINARY tables.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/storage/store.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TableBuilder TextOrders(std::string_view separator = "-") {
  return TableBuilder("orders", v1::Order::descriptor())
      .TextRowKey(separator,
                  {Hash({"seller_id"}, v1::MD5, 2), Field("seller_id"),
                   Field("ts_ms").Desc().Width(19), Field("order_id")})
      .Index("by_status",
             {Hash({"seller_id"}), Field("seller_id"), Varint("status"),
              Field("ts_ms").Desc(), Field("order_id")})
      .Index("by_buyer", {Field("buyer_id")})
      .Unique("by_order_id", {Hash({"order_id"}), Field("order_id")})
      .Identity("by_order_id");
}

class TextTableTest : public EngineTest {
 protected:
  TextTableTest() { Use(TextOrders()); }

  void Use(const TableBuilder& table) { schema_ = Schema().Add(table); }

  std::vector<std::string> Keys() {
    const auto page = engine().Scan({}, {.table = "orders"});
    EXPECT_THAT(page, IsOk());
    std::vector<std::string> keys;
    if (!page.ok()) return keys;
    for (const Row& row : page->rows) keys.push_back(row.key);
    return keys;
  }
};

TEST_F(TextTableTest, RowsLieUnderTheKeysOfHBaseDesigns) {
  ASSERT_THAT(Put(MakeOrder("o1", "s17", 1700000000000)), IsOk());
  EXPECT_THAT(Keys(), ElementsAre("c69f-s17-9223370336854775807-o1"));
  EXPECT_THAT(engine().DecodeKey("orders", Keys()[0]),
              IsOkAndHolds("hash(seller_id)=c69f seller_id=\"s17\" "
                           "ts_ms=1700000000000 order_id=\"o1\""));
  const auto row = engine().Get({}, "orders", {"s17", 1700000000000, "o1"});
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ(row->key, Keys()[0]);
  EXPECT_THAT(ById("o1"), ElementsAre("o1"));
}

TEST_F(TextTableTest, AScanFindsOneSellersRowsNewestFirst) {
  for (const char* seller : {"a", "ab", "a.", "b"}) {
    for (int64_t ts : {5, 50, 500}) {
      ASSERT_THAT(
          Put(MakeOrder(std::string(seller) + "-" + std::to_string(ts), seller,
                        ts, ts == 50 ? v1::SHIPPED : v1::CREATED)),
          IsOk());
    }
  }
  EXPECT_THAT(BySeller("a"), ElementsAre("a-500", "a-50", "a-5"));
  EXPECT_THAT(BySeller(""), IsEmpty());
  EXPECT_THAT(ByStatus("ab", v1::SHIPPED), ElementsAre("ab-50"));
  EXPECT_THAT(Scan({.index = "by_status",
                    .equal = {"a"},
                    .any_of = {v1::CREATED, v1::SHIPPED}}),
              ElementsAre("a-500", "a-50", "a-5"));
  EXPECT_THAT(Scan({.equal = {"a"}, .range = Range{.min = 5, .max = 50}}),
              ElementsAre("a-50", "a-5"));
  EXPECT_THAT(
      Scan({.equal = {"a"}, .range = Range{.min = 5, .min_inclusive = false}}),
      ElementsAre("a-500", "a-50"));
  // Rows of both sellers, merged by time.
  EXPECT_THAT(Scan({.any_of = {"a", "b"}, .limit = 2}), SizeIs(2));
}

// "o1" is a whole row key's last part, and what "o10" starts with.
TEST_F(TextTableTest, AWholeKeyIsOneRow) {
  for (const char* id : {"o", "o1", "o10", "o1-x"}) {
    ASSERT_THAT(Put(MakeOrder(id, "s", 7)), IsOk());
  }
  EXPECT_THAT(Scan({.equal = {"s", 7, "o1"}}), ElementsAre("o1"));
  EXPECT_THAT(Scan({.equal = {"s", 7}, .any_of = {"o1", "o"}}), SizeIs(2));
  ASSERT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "orders", RowRef::Key({"s", 7, "o1"}))),
              IsOk());
  EXPECT_THAT(BySeller("s"), ElementsAre("o", "o1-x", "o10"));
}

TEST_F(TextTableTest, PagesContinueWhereTheyStopped) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(
        Put(MakeOrder("o" + std::to_string(i), i % 2 ? "a" : "b", i / 4)),
        IsOk());
  }
  for (const std::vector<Value>& sellers :
       {std::vector<Value>{"a"}, std::vector<Value>{"a", "b"}}) {
    ScanRequest request{.table = "orders", .any_of = sellers, .limit = 3};
    std::vector<std::string> paged;
    do {
      const auto page = engine().Scan({}, request);
      ASSERT_THAT(page, IsOk());
      for (std::string& id : Ids(page->rows)) paged.push_back(std::move(id));
      request.continuation = page->continuation;
    } while (!request.continuation.empty());
    EXPECT_EQ(paged, Scan({.any_of = sellers}));
    EXPECT_THAT(paged, SizeIs(25 * sellers.size()));
  }
}

TEST_F(TextTableTest, PutsAndPatchesMoveRows) {
  ASSERT_THAT(Put(MakeOrder("o1", "s17", 1700000000000)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o1", "s17", 1700000000001)), IsOk());
  EXPECT_THAT(Keys(), ElementsAre("c69f-s17-9223370336854775806-o1"));
  v1::Order patch;
  patch.set_ts_ms(7);
  patch.set_status(v1::SHIPPED);
  ASSERT_THAT(
      engine().Write(
          {}, WriteBatch().Patch("orders", RowRef::By("by_order_id", {"o1"}),
                                 Bytes(patch), {"ts_ms", "status"})),
      IsOk());
  EXPECT_THAT(Keys(), ElementsAre("c69f-s17-9223372036854775800-o1"));
  EXPECT_THAT(ByStatus("s17", v1::SHIPPED), ElementsAre("o1"));
  ASSERT_THAT(DeleteId("o1"), IsOk());
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_F(TextTableTest, WhatWouldMakeAKeyAmbiguousLeavesNoTrace) {
  ASSERT_THAT(Put(MakeOrder("o1", "s", 7)), IsOk());
  EXPECT_THAT(Put(MakeOrder("o2", "a-b", 7)),
              StatusIs(StatusCode::kInvalidArgument, "path=seller_id"));
  EXPECT_THAT(Put(MakeOrder("o2", "a", -1)),
              StatusIs(StatusCode::kInvalidArgument, "value=-1"));
  v1::Order patch;
  patch.set_seller_id("a-b");
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch().Patch("orders", RowRef::By("by_order_id", {"o1"}),
                                 Bytes(patch), {"seller_id"})),
      StatusIs(StatusCode::kInvalidArgument, "value=\"a-b\""));
  EXPECT_THAT(Keys(), SizeIs(1));
  EXPECT_THAT(ById("o2"), IsEmpty());
  // Nor can it be asked for.
  EXPECT_THAT(engine().Scan({}, {.table = "orders", .equal = {"a-b"}}),
              StatusIs(StatusCode::kInvalidArgument, "the separator"));
}

TEST_F(TextTableTest, ARangeThatTextDoesNotOrderSaysWhatToDo) {
  EXPECT_THAT(
      engine().Scan({}, {.table = "orders", .range = Range{.min = "a"}}),
      StatusIs(StatusCode::kInvalidArgument, "hash(seller_id)"));
  Use(TableBuilder("orders", v1::Order::descriptor())
          .TextRowKey("-", {Field("seller_id"), Field("ts_ms").Desc(),
                            Field("order_id")}));
  options_.in_memory = true;
  auto other = Engine::Open("other", schema_, options_);
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(
      (*other)->Scan(
          {}, {.table = "orders", .equal = {"s"}, .range = Range{.min = 5}}),
      StatusIs(StatusCode::kInvalidArgument, "declare a width"));
}

TEST_F(TextTableTest, TheCatalogKeepsTheLayout) {
  ASSERT_THAT(Put(MakeOrder("o1", "s", 7)), IsOk());
  Open();
  EXPECT_THAT(BySeller("s"), ElementsAre("o1"));
  const auto schema = engine().GetSchema();
  ASSERT_THAT(schema, IsOk());
  EXPECT_EQ(schema->tables(0).row_key().SerializeAsString(),
            TextOrders().proto().row_key().SerializeAsString());
  engine_.reset();

  const auto open = [&](const TableBuilder& table) {
    return Engine::Open(dir_.Sub("db"), Schema().Add(table), options_).status();
  };
  EXPECT_THAT(open(TextOrders("_")),
              StatusIs(StatusCode::kFailedPrecondition, "separator"));
  EXPECT_THAT(
      open(presets::SellerOrders("orders")),
      StatusIs(
          StatusCode::kFailedPrecondition,
          "row key encoding: row-key-changed: database=TEXT schema=BINARY"));
  v1::TableSchema wider = TextOrders().proto();
  wider.mutable_row_key()->mutable_parts(2)->mutable_text()->set_width(20);
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), Schema([&] {
                             v1::Schema proto;
                             *proto.add_tables() = wider;
                             return proto;
                           }()),
                           options_),
              StatusIs(StatusCode::kFailedPrecondition, "row key part 3"));
  Open();
}

TEST_F(TextTableTest, RepairMakesLostEntriesFromRowsAndRemovesStrayOnes) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(Put(MakeOrder("o" + std::to_string(i), "s", i)), IsOk());
  }
  // Every third entry goes, and one is of no row.
  Damage([](Store& store, StoreBatch& batch) {
    const auto it = store.NewIterator({});
    int n = 0;
    for (it->Seek("\x02"); it->Valid() && it->key() < "\x05"; it->Next()) {
      if (n++ % 3 == 0) batch.Delete(it->key());
    }
    EXPECT_EQ(n, 60);
    std::string stray("\x03nobody\0", 8);  // by_buyer; the rest: its row.
    stray += std::string("s\0\x08o99\0", 7);
    batch.Put(stray, "");
  });
  const auto report = engine().Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->missing, 20u);
  const auto repaired = engine().Repair({});
  ASSERT_THAT(repaired, IsOk());
  EXPECT_EQ(repaired->entries_added, 20u);
  EXPECT_EQ(repaired->entries_removed, 1u);
  EXPECT_THAT(ById("o7"), ElementsAre("o7"));
}

TEST_F(TextTableTest, SaltsStayWithTheirRows) {
  Use(TableBuilder("orders", v1::Order::descriptor())
          .TextRowKey("_", {Salt(16).Width(2), Field("seller_id"),
                            Field("ts_ms").Width(13), Field("order_id")})
          .Index("by_status", {Field("status"), Field("ts_ms")})
          .Unique("by_order_id", {Field("order_id")})
          .Identity("by_order_id"));
  for (int i = 0; i < 40; ++i) {
    ASSERT_THAT(Put(MakeOrder("o" + std::to_string(i), "s", i)), IsOk());
  }
  const std::vector<std::string> before = Keys();
  for (int i = 0; i < 40; ++i) {
    ASSERT_THAT(SetStatus("o" + std::to_string(i), v1::SHIPPED), IsOk());
  }
  EXPECT_EQ(Keys(), before);
  EXPECT_EQ(before[0].substr(2, 4), "_s_0");
  // Read in order of time, across the salts.
  const std::vector<std::string> ids = Scan({.equal = {"s"}});
  ASSERT_THAT(ids, SizeIs(40));
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i], "o" + std::to_string(i));
  }
  EXPECT_THAT(Scan({.equal = {"s"}, .range = Range{.min = 10, .max = 12}}),
              ElementsAre("o10", "o11", "o12"));
}

// Random writes of every kind against a map; every read must be the filter
// over all rows.
TEST_F(TextTableTest, RandomWritesAndReadsMatchAFilterOverAllRows) {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : 20261202;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  const auto pick = [&random](uint64_t n) { return random() % n; };
  const char* const sellers[] = {"", "a", "ab", "a.", "polygenelubricants"};
  std::map<std::string, v1::Order> model;  // By order id.

  const auto filter = [&](const std::function<bool(const v1::Order&)>& keep) {
    std::vector<const v1::Order*> rows;
    for (const auto& [id, order] : model) {
      if (keep(order)) rows.push_back(&order);
    }
    std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->ts_ms() != b->ts_ms() ? a->ts_ms() > b->ts_ms()
                                      : a->order_id() < b->order_id();
    });
    std::vector<std::string> ids;
    for (const v1::Order* order : rows) ids.push_back(order->order_id());
    return ids;
  };
  for (int step = 0; step < 3000; ++step) {
    const std::string id = "o-" + std::to_string(pick(60));
    v1::Order order =
        MakeOrder(id, sellers[pick(5)], static_cast<int64_t>(pick(40)),
                  static_cast<v1::OrderStatus>(pick(3)));
    switch (pick(4)) {
      case 0:
        ASSERT_THAT(DeleteId(id), IsOk());
        model.erase(id);
        break;
      case 1: {
        const auto commit = engine().Write(
            {}, WriteBatch().Patch("orders", RowRef::By("by_order_id", {id}),
                                   Bytes(order), {"seller_id", "status"}));
        if (model.count(id) == 0) break;
        ASSERT_THAT(commit, IsOk());
        order.set_ts_ms(model[id].ts_ms());
        model[id] = order;
        break;
      }
      default:
        ASSERT_THAT(Put(order), IsOk());
        model[id] = order;
    }
    if (step % 10 != 0) continue;
    const std::string seller = sellers[pick(5)];
    const auto status = static_cast<v1::OrderStatus>(pick(3));
    const auto low = static_cast<int64_t>(pick(40));
    const auto high = static_cast<int64_t>(pick(40));
    ASSERT_EQ(BySeller(seller), filter([&](const v1::Order& o) {
                return o.seller_id() == seller;
              }));
    ASSERT_EQ(ByStatus(seller, status), filter([&](const v1::Order& o) {
                return o.seller_id() == seller && o.status() == status;
              }));
    ASSERT_EQ(
        Scan({.equal = {seller}, .range = Range{.min = low, .max = high}}),
        filter([&](const v1::Order& o) {
          return o.seller_id() == seller && o.ts_ms() >= low &&
                 o.ts_ms() <= high;
        }));
    ASSERT_EQ(ById(id).size(), model.count(id));
  }
}

}  // namespace
}  // namespace dovetail::test
