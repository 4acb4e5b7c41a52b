// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The helpers of the tests, above all the reference model: where it is wrong,
// every comparison with it is.

#include <fstream>
#include <string>
#include <vector>

#include "dovetail/v1/order.pb.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/write_batch.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/data.h"
#include "dovetail/testing/model.h"
#include "tests/support/records.pb.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kOrders[] = R"pb(
  name: "orders"
  row_key {
    parts {
      fields: "seller_id"
      hash { algorithm: XXH3 bytes: 4 }
    }
    parts { fields: "seller_id" }
    parts { fields: "ts_ms" order: DESC }
    parts { fields: "order_id" }
  }
  indexes {
    name: "by_order_id"
    kind: UNIQUE
    parts { fields: "order_id" }
  }
  indexes {
    name: "by_status"
    parts { fields: "seller_id" }
    parts { fields: "status" }
    parts { fields: "ts_ms" order: DESC }
    parts { fields: "order_id" }
  }
  identity: "by_order_id"
)pb";

constexpr char kAssets[] = R"pb(
  name: "assets"
  row_key { parts { fields: "id" } }
  indexes {
    name: "by_tag"
    kind: UNIQUE
    parts { fields: "tag" }
  }
  indexes {
    name: "by_slot"
    parts { fields: "slot" order: DESC }
  }
)pb";

class ModelTest : public ::testing::Test {
 protected:
  ModelTest() {
    v1::TableSchema orders, assets;
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kOrders, &orders));
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kAssets, &assets));
    EXPECT_THAT(model_.AddTable(orders, v1::Order::default_instance()), IsOk());
    EXPECT_THAT(model_.AddTable(assets, Asset::default_instance()), IsOk());
  }

  static std::string Order(const std::string& id, const std::string& seller,
                           int64_t ts_ms, v1::OrderStatus status) {
    v1::Order order;
    order.set_order_id(id);
    order.set_seller_id(seller);
    order.set_ts_ms(ts_ms);
    order.set_status(status);
    return order.SerializeAsString();
  }
  static std::string Tagged(const std::string& id, const std::string& tag) {
    Asset asset;
    asset.set_id(id);
    if (!tag.empty()) asset.set_tag(tag);
    return asset.SerializeAsString();
  }
  std::vector<std::string> Ids(const ScanRequest& request) const {
    std::vector<std::string> ids;
    for (const ModelRow* row : model_.Scan(request)) {
      ids.push_back(row->key.back().as_string());
    }
    return ids;
  }

  Model model_;
  uint64_t sequence_ = 0;
  absl::StatusOr<std::vector<uint64_t>> Apply(const WriteBatch& batch) {
    return model_.Apply(batch, ++sequence_);
  }
};

TEST_F(ModelTest, NewestFirstThenById) {
  ASSERT_THAT(Apply(WriteBatch()
                        .Put("orders", Order("a", "s", 1, v1::CREATED))
                        .Put("orders", Order("c", "s", 2, v1::CREATED))
                        .Put("orders", Order("b", "s", 2, v1::SHIPPED))
                        .Put("orders", Order("d", "s1", 9, v1::CREATED))),
              IsOkAndHolds(ElementsAre(1, 1, 1, 1)));
  EXPECT_THAT(Ids({.table = "orders", .equal = {"s"}}),
              ElementsAre("b", "c", "a"));
  EXPECT_THAT(Ids({.table = "orders",
                   .index = "by_status",
                   .equal = {"s"},
                   .any_of = {v1::SHIPPED, v1::CREATED}}),
              ElementsAre("b", "c", "a"));
  EXPECT_THAT(Ids({.table = "orders",
                   .equal = {"s"},
                   .range = Range{.min = 1, .max = 2, .max_inclusive = false}}),
              ElementsAre("a"));
}

TEST_F(ModelTest, PutMovesTheRowOfItsIdentity) {
  ASSERT_THAT(
      Apply(WriteBatch().Put("orders", Order("a", "s", 1, v1::CREATED))),
      IsOk());
  ASSERT_THAT(
      Apply(WriteBatch().Put("orders", Order("a", "t", 2, v1::SHIPPED))),
      IsOk());
  EXPECT_EQ(model_.RowCount("orders"), 1u);
  EXPECT_EQ(model_.EntryCount("orders"), 2u);
  EXPECT_EQ(model_.Get("orders", {"s", 1, "a"}), nullptr);
  ASSERT_NE(model_.Get("orders", {"t", 2, "a"}), nullptr);
  EXPECT_EQ(model_.Get("orders", {"t", 2, "a"})->version, 2u);
}

TEST_F(ModelTest, FailedRequestLeavesNoTrace) {
  ASSERT_THAT(
      Apply(WriteBatch().Put("orders", Order("a", "s", 1, v1::CREATED))),
      IsOk());
  const WriteBatch fails =
      WriteBatch()
          .Delete("orders", RowRef::By("by_order_id", {"a"}))
          .Put("orders", Order("b", "s", 1, v1::CREATED))
          .If(Precondition::Exists());
  EXPECT_THAT(Apply(fails), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Ids({.table = "orders", .equal = {"s"}}), ElementsAre("a"));
  EXPECT_EQ(model_.EntryCount("orders"), 2u);
}

TEST_F(ModelTest, UniqueValuesAreCheckedAtTheEndOfTheRequest) {
  ASSERT_THAT(Apply(WriteBatch()
                        .Put("assets", Tagged("a", "red"))
                        .Put("assets", Tagged("b", "blue"))),
              IsOk());
  EXPECT_THAT(Apply(WriteBatch().Put("assets", Tagged("c", "red"))),
              StatusIs(absl::StatusCode::kAlreadyExists, "by_tag"));
  EXPECT_THAT(Apply(WriteBatch()
                        .Put("assets", Tagged("a", "blue"))
                        .Put("assets", Tagged("b", "red"))),
              IsOk());
  EXPECT_THAT(Ids({.table = "assets", .index = "by_tag", .equal = {"red"}}),
              ElementsAre("b"));
}

TEST_F(ModelTest, NullHasNoUniqueEntryAndIsTheLowestValue) {
  Asset slotted;
  slotted.set_id("c");
  slotted.set_slot(-1);
  ASSERT_THAT(Apply(WriteBatch()
                        .Put("assets", Tagged("a", ""))
                        .Put("assets", Tagged("b", ""))
                        .Put("assets", slotted.SerializeAsString())),
              IsOk());
  EXPECT_THAT(Ids({.table = "assets", .index = "by_tag"}), IsEmpty());
  EXPECT_THAT(Ids({.table = "assets", .index = "by_slot"}),
              ElementsAre("c", "a", "b"));
}

TEST_F(ModelTest, PatchClearsWhatTheValuesDoNotSet) {
  ASSERT_THAT(Apply(WriteBatch().Put("assets", Tagged("a", "red"))), IsOk());
  EXPECT_THAT(
      Apply(WriteBatch().Patch("assets", RowRef::Key({"a"}), "", {"tag"})),
      IsOkAndHolds(ElementsAre(1)));
  EXPECT_EQ(model_.Get("assets", {"a"})->record, Tagged("a", ""));
  EXPECT_THAT(
      Apply(WriteBatch().Patch("assets", RowRef::Key({"z"}), "", {"tag"})),
      StatusIs(absl::StatusCode::kNotFound));
}

TEST(DataTest, CsvKeepsQuotedCommasQuotesAndLineEnds) {
  const TempDir dir;
  const std::string path = dir.Sub("a.csv");
  std::ofstream(path) << "id,name,note\r\n1,\"a, \"\"b\"\"\n\",x\r\n2,,";
  std::vector<std::string> seen;
  ASSERT_THAT(ReadCsv(path, {"note", "name"},
                      [&](std::vector<std::string>& row) {
                        seen.push_back(row[0] + "|" + row[1]);
                        return absl::OkStatus();
                      }),
              IsOk());
  EXPECT_THAT(seen, ElementsAre("x|a, \"b\"\n", "|"));
}

TEST(DataTest, CsvNamesWhatIsWrong) {
  const TempDir dir;
  const std::string path = dir.Sub("a.csv");
  const auto any = [](std::vector<std::string>&) { return absl::OkStatus(); };
  EXPECT_THAT(ReadCsv(path, {"id"}, any),
              StatusIs(absl::StatusCode::kNotFound, "a.csv"));
  std::ofstream(path) << "id\n1\n2,3\n";
  EXPECT_THAT(ReadCsv(path, {"name"}, any),
              StatusIs(absl::StatusCode::kNotFound, "name"));
  EXPECT_THAT(ReadCsv(path, {"id"}, any),
              StatusIs(absl::StatusCode::kInvalidArgument, "record=2"));
}

TEST(DataTest, TimesAreUtcUnlessTheyNameAZone) {
  EXPECT_THAT(ParseTimeMs("1970-01-02"), IsOkAndHolds(86'400'000));
  EXPECT_THAT(ParseTimeMs("1948-01-26 23:59:00"),
              IsOkAndHolds(-692'064'060'000));
  EXPECT_THAT(ParseTimeMs("2018-01-02T12:53:00.25+01:00"),
              IsOkAndHolds(1'514'893'980'250));
  EXPECT_THAT(ParseTimeMs("2018-13-02"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(DataTest, PackedDataIsRead) {
  SKIP_WITHOUT_DATA("olist/orders.csv.xz");
  uint64_t rows = 0;
  ASSERT_THAT(ReadCsv(SharedData("olist/orders.csv.xz"), {"order_id"},
                      [&](std::vector<std::string>& row) {
                        rows += row[0].size() == 32;
                        return absl::OkStatus();
                      }),
              IsOk());
  EXPECT_EQ(rows, 38'020u);
}

}  // namespace
}  // namespace dovetail::test
