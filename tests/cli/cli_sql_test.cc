// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail sql`, and `count` from an index.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_fixture.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CliSqlTest : public CliTest {
 protected:
  // o-0 to o-5 of s-1, CREATED and SHIPPED in turn, and a SUM index.
  CliSqlTest() {
    InitWithOrders(6);
    Out({"index", "add", db_, "orders", "--file",
         Write("totals.textproto",
               "name: 'totals' kind: SUM sum: 'ts_ms' parts { fields: "
               "'seller_id' } parts { fields: 'status' enum_bytes { bytes: 1 } "
               "}")});
  }
};

TEST_F(CliSqlTest, CountAnswersFromAnIndex) {
  EXPECT_EQ(Out({"count", db_, "orders", "totals", "s-1"}),
            "count\tsum\n6\t15000\n");
  EXPECT_EQ(Out({"count", db_, "orders", "totals", "s-1", "SHIPPED", "--json"}),
            "{\"count\":3,\"sum\":9000}\n");
  EXPECT_EQ(Out({"count", db_, "orders", "totals", "--groups"}),
            "seller_id\tstatus\tcount\tsum\n"
            "s-1\tCREATED\t3\t6000\ns-1\tSHIPPED\t3\t9000\n");
  EXPECT_EQ(
      Out({"count", db_, "orders", "totals", "--groups", "--json", "-n", "1"}),
      "{\"seller_id\":\"s-1\",\"status\":\"CREATED\",\"count\":3,"
      "\"sum\":6000}\n");
}

TEST_F(CliSqlTest, CountRefusesWhatDoesNotGoTogether) {
  EXPECT_THAT(Run({"count", db_, "orders", "by_status", "s-1"}).err,
              HasSubstr("only COUNT and SUM indexes count"));
  EXPECT_THAT(
      Run({"count", db_, "orders", "totals", "--where", "items = 1"}).err,
      HasSubstr("has no filter"));
  EXPECT_THAT(Run({"count", db_, "orders", "--groups"}).err,
              HasSubstr("go with an INDEX"));
  EXPECT_THAT(Run({"count", db_, "orders", "totals", "a", "b", "c"}).err,
              HasSubstr("wrong number of values"));
}

#ifdef DOVETAIL_SQL

TEST_F(CliSqlTest, AStatementIsAnsweredInEveryFormat) {
  const std::string sql =
      "SELECT order_id, note, ts_ms / 2000.0 AS half FROM orders WHERE "
      "seller_id = 's-1' AND status = 'SHIPPED' ORDER BY ts_ms DESC LIMIT 2";
  EXPECT_EQ(Out({"sql", db_, sql}),
            "order_id\tnote\thalf\no-5\t\t2.5\no-3\t\t1.5\n");
  EXPECT_EQ(Out({"sql", db_, sql, "--json"}),
            "{\"order_id\":\"o-5\",\"note\":\"\",\"half\":2.5}\n"
            "{\"order_id\":\"o-3\",\"note\":\"\",\"half\":1.5}\n");
  EXPECT_THAT(Out({"sql", db_, sql, "--format", "box"}), HasSubstr("│ o-5 "));
  EXPECT_EQ(Out({"sql", db_, "SELECT NULL AS n, x'00ff' AS b", "--json"}),
            "{\"n\":null,\"b\":\"00ff\"}\n");
}

TEST_F(CliSqlTest, GroupsOfAnIndexAreATable) {
  EXPECT_EQ(Out({"sql", db_,
                 "SELECT status, \"count\" FROM orders_totals WHERE seller_id "
                 "= 's-1'"}),
            "status\tcount\nCREATED\t3\nSHIPPED\t3\n");
}

TEST_F(CliSqlTest, StatementsComeFromStandardInputUntilOneFails) {
  const Result result = Run({"sql", db_},
                            "SELECT count(*) AS n\nFROM orders; -- all\n"
                            "CREATE TEMP VIEW v AS SELECT * FROM orders;\n"
                            "SELECT max(ts_ms) AS m FROM v;\n"
                            "SELECT nowhere FROM orders;\nSELECT 1\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "n\n6\nm\n5000\n");
  EXPECT_THAT(result.err, HasSubstr("no such column: nowhere"));
}

TEST_F(CliSqlTest, ExplainShowsThePlanAndWhatWasRead) {
  const std::string sql =
      "SELECT order_id FROM orders WHERE seller_id = 's-1' ORDER BY ts_ms DESC "
      "LIMIT 2";
  const std::string text = Out({"sql", db_, "--explain", sql});
  EXPECT_THAT(text, HasSubstr("SCAN orders VIRTUAL TABLE INDEX 0:row "
                              "key(seller_id=literal) order by ts_ms desc"));
  const std::string table = text.substr(text.find('\n') + 1);
  EXPECT_THAT(Column(table, "entries"), ElementsAre("2"));
  EXPECT_THAT(Column(table, "gets"), ElementsAre("0"));
}

TEST_F(CliSqlTest, NothingCanBeChanged) {
  const Result result = Run({"sql", db_, "DELETE FROM orders"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("may not be modified"));
  EXPECT_EQ(RowCount(), 6u);
}

#else

TEST_F(CliSqlTest, WithoutSqliteTheVerbSaysSo) {
  EXPECT_THAT(Run({"sql", db_, "SELECT 1"}).err,
              HasSubstr("built without SQLite"));
}

#endif

}  // namespace
}  // namespace dovetail
