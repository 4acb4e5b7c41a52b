// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The mappings in examples/changes, with the streams beside them.

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/engine/changes/changes_test_util.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::string FileText(const std::string& name) {
  const std::ifstream file(
      absl::StrCat(DOVETAIL_SOURCE_DIR, "/examples/changes/", name));
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ChangeExamplesTest : public EngineTest {
 protected:
  // How often which effect was had; nothing may be refused.
  std::map<std::string, int> Apply(ChangeFormat format,
                                   const std::string& mapping_name,
                                   const std::string& stream_name) {
    v1::ChangeMapping mapping;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        FileText(mapping_name), &mapping));
    const auto mapper = ChangeMapper::Compile(&engine(), mapping);
    EXPECT_THAT(mapper, IsOk());
    auto reader = ChangeReader::Open(format, FromText(FileText(stream_name)));
    EXPECT_THAT(reader, IsOk());
    std::map<std::string, int> effects;
    if (!mapper.ok() || !reader.ok()) return effects;
    ChangeEntry entry;
    for (;;) {
      const absl::StatusOr<bool> got = (*reader)->Next(&entry);
      EXPECT_THAT(got, IsOk());
      if (!got.ok() || !*got) return effects;
      absl::StatusOr<MappedEntry> mapped = mapper->Map(entry);
      EXPECT_THAT(mapped, IsOk());
      if (!mapped.ok()) continue;
      for (const ChangeOutcome& outcome : mapped->outcomes) {
        ++effects[std::string(ToAbsl(
            outcome.why.empty() ? EffectName(outcome.effect) : outcome.why))];
      }
      if (mapped->batch.empty()) continue;
      EXPECT_THAT(engine().Write({}, std::move(mapped->batch)), IsOk());
    }
  }

  std::vector<std::string> Orders() {
    std::vector<std::string> rows;
    const auto page = engine().Scan({}, {.table = "orders", .limit = 100});
    EXPECT_THAT(page, IsOk());
    for (const Row& row : page->rows) {
      v1::Order order;
      EXPECT_TRUE(order.ParseFromString(row.record));
      rows.push_back(order.ShortDebugString());
    }
    return rows;
  }
};

TEST_F(ChangeExamplesTest, Debezium) {
  EXPECT_THAT(Apply(ChangeFormat::kDebezium, "debezium_orders.textproto",
                    "debezium_orders.jsonl"),
              ElementsAre(Pair("another table", 1), Pair("delete", 1),
                          Pair("put", 3), Pair("tombstone", 1),
                          Pair("transaction", 1), Pair("update", 1)));
  EXPECT_THAT(
      Orders(),
      ElementsAre("order_id: \"b2#1\" seller_id: \"s1\" ts_ms: 1506950000000 "
                  "status: APPROVED amount_cents: 57005 currency: \"BRL\"",
                  "order_id: \"a1#1\" seller_id: \"s1\" ts_ms: 1506941793000 "
                  "status: SHIPPED amount_cents: 5858 currency: \"BRL\""));
}

TEST_F(ChangeExamplesTest, Canal) {
  EXPECT_THAT(Apply(ChangeFormat::kCanal, "canal_orders.textproto",
                    "canal_orders.jsonl"),
              ElementsAre(Pair("delete", 1), Pair("move", 1), Pair("put", 2),
                          Pair("schema change", 1), Pair("statement", 1),
                          Pair("update", 1)));
  EXPECT_THAT(Orders(),
              ElementsAre("order_id: \"o-3\" seller_id: \"s1\" ts_ms: "
                          "1683008340000 amount_cents: 500"));
}

TEST_F(ChangeExamplesTest, Maxwell) {
  EXPECT_THAT(Apply(ChangeFormat::kMaxwell, "maxwell_orders.textproto",
                    "maxwell_orders.jsonl"),
              ElementsAre(Pair("delete", 1), Pair("message", 2), Pair("put", 2),
                          Pair("schema change", 1), Pair("update", 1)));
  EXPECT_THAT(Orders(),
              ElementsAre("order_id: \"o-1\" seller_id: \"s1\" ts_ms: "
                          "1477028017523 status: DELIVERED amount_cents: 420 "
                          "note: \"hello\""));
}

TEST_F(ChangeExamplesTest, HBase) {
  EXPECT_THAT(
      Apply(ChangeFormat::kHBaseWal, "hbase_orders.textproto",
            "hbase_orders.wal"),
      ElementsAre(Pair("delete", 1), Pair("internal", 1), Pair("update", 3)));
  EXPECT_THAT(Orders(),
              ElementsAre("order_id: \"o1\" seller_id: \"s1\" ts_ms: "
                          "1700000000000 status: SHIPPED amount_cents: 1990"));
}

}  // namespace
}  // namespace dovetail::test
