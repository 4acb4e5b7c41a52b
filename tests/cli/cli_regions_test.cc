// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The region map and the load of regions on the command line.

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_fixture.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using CliRegionsTest = CliTest;

TEST_F(CliRegionsTest, AChangeShowsTheMapThatItLeaves) {
  Init();
  const auto regions = [this](const std::vector<std::string>& options) {
    std::vector<std::string> all = {"regions", db_, "orders"};
    all.insert(all.end(), options.begin(), options.end());
    return Out(all);
  };
  EXPECT_THAT(Column(regions({}), "region"), ElementsAre("1"));
  const std::string split =
      regions({"--pre-split", "uniform:3", "--node", "a", "--node", "b"});
  EXPECT_THAT(Column(split, "node"), ElementsAre("a", "b", "a"));
  EXPECT_THAT(Column(split, "start"),
              ElementsAre("", "UUUUUUUU",
                          "\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa"
                          "\\xaa\\xaa"));
  EXPECT_THAT(Column(regions({"--split-at", "\\\\"}), "start"),
              ElementsAre("", "UUUUUUUU", "\\\\",
                          "\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa"));
  EXPECT_THAT(Column(regions({"--merge", "2"}), "region"),
              ElementsAre("2", "5", "4"));
  EXPECT_THAT(Column(regions({"--move", "5=c"}), "node"),
              ElementsAre("a", "c", "a"));
  EXPECT_THAT(Column(regions({"--locate", "z"}), "region"), ElementsAre("5"));
}

TEST_F(CliRegionsTest, KeysPrintedAreKeysTaken) {
  Init();
  const std::string split =
      Out({"regions", db_, "orders", "--pre-split", "uniform:5"});
  std::string keys;
  for (const std::string& key : Column(split, "start")) {
    absl::StrAppend(&keys, key, "\n");
  }
  const std::string again =
      Out({"regions", db_, "orders", "--replace", "--pre-split",
           absl::StrCat("file:", Write("keys", keys))});
  EXPECT_EQ(Column(again, "start"), Column(split, "start"));
}

TEST_F(CliRegionsTest, RefusalsSayWhatToDo) {
  Init();
  Out({"regions", db_, "orders", "--pre-split", "hex:4"});
  const Result again = Run({"regions", db_, "orders", "--pre-split", "hex:4"});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("--replace"));
  for (const std::string spec :
       {"hex", "hex:0", "decimal:4", "uniform:70000", "thirds:3", "file:"}) {
    EXPECT_EQ(Run({"regions", db_, "orders", "--pre-split", spec}).code, 2)
        << spec;
  }
  EXPECT_EQ(Run({"regions", db_, "orders", "--move", "1"}).code, 2);
  EXPECT_EQ(
      Run({"regions", db_, "orders", "--merge", "1", "--move", "1=a"}).code, 2);
  EXPECT_EQ(Run({"regions", db_, "orders", "--node", "a"}).code, 2);
}

TEST_F(CliRegionsTest, HotspotsNameTheSellerInALog) {
  Init();
  Out({"log", "enable", db_});
  std::string csv = "order_id,seller_id,ts_ms\n";
  for (int i = 0; i < 3000; ++i) {
    const std::string seller =
        i % 2 == 0 ? "big" : absl::StrCat("s-", i * 7 % 40);
    absl::StrAppend(&csv, "o-", i, ",", seller, ",", i, "\n");
  }
  Out({"import", db_, "orders", Write("orders.csv", csv)});
  const std::string out =
      Out({"hotspots", db_, "orders", "--regions", "uniform:16"});
  EXPECT_THAT(out, HasSubstr("big-prefix\torders\t"));
  EXPECT_THAT(out, HasSubstr("seller_id=\"big\" takes"));
  EXPECT_THAT(out, HasSubstr("sub_bucket(seller_id,order_id;16;big)"));
  EXPECT_EQ(Run({"hotspots", db_, "carts"}).code, 1);
  EXPECT_EQ(Run({"hotspots", db_, "--half-life", "0"}).code, 2);
}

}  // namespace
}  // namespace dovetail
