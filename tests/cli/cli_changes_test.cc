// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail replay --from`: other systems' changes, with the example mappings.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_fixture.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CliChangesTest : public CliTest {
 protected:
  static std::string Example(const std::string& name) {
    return absl::StrCat(DOVETAIL_SOURCE_DIR, "/examples/changes/", name);
  }
  std::vector<std::string> Replay(const std::string& from,
                                  const std::string& mapping,
                                  const std::string& stream) const {
    return {"replay", db_,         stream,  "--from",
            from,     "--mapping", mapping, "--json"};
  }
};

TEST_F(CliChangesTest, AStreamIsReplayedOnceAndItsOutcomesAreCounted) {
  Init();
  const auto replay = Replay("canal", Example("canal_orders.textproto"),
                             Example("canal_orders.jsonl"));
  const std::string first = Out(replay);
  EXPECT_THAT(first, HasSubstr("\"applied\":3,"));
  EXPECT_THAT(first, HasSubstr("\"changes\":{\"delete\":1,\"move\":1,\"put\":2,"
                               "\"update\":1},\"skipped\":{\"schema change\":1,"
                               "\"statement\":1}}"));
  EXPECT_THAT(Out(replay), HasSubstr("\"applied\":0,"));
  EXPECT_THAT(Column(Out({"scan", db_, "orders"}), "order_id"),
              ElementsAre("o-3"));
}

TEST_F(CliChangesTest, ABadEntryStopsTheReplayOrGoesIntoTheRejectFile) {
  Init();
  const std::string stream = Write(
      "stream.jsonl",
      "{\"type\":\"insert\",\"database\":\"shop\",\"table\":\"orders\","
      "\"data\":{\"id\":\"o-1\",\"seller\":\"s\",\"placed_at\":\"never\","
      "\"amount\":1}}\n"
      "{\"type\":\"insert\",\"database\":\"shop\",\"table\":\"orders\","
      "\"data\":{\"id\":\"o-2\",\"seller\":\"s\",\"placed_at\":\"2020-01-01\","
      "\"amount\":1}}\n");
  auto replay = Replay("maxwell", Example("maxwell_orders.textproto"), stream);
  const Result stopped = Run(replay);
  EXPECT_EQ(stopped.code, 1);
  EXPECT_THAT(stopped.err, HasSubstr("not a time: value=\"never\""));
  EXPECT_THAT(stopped.err, HasSubstr("column=\"placed_at\" byte="));
  EXPECT_THAT(stopped.err, HasSubstr("line=1"));
  replay.insert(replay.end(),
                {"--on-error", "skip", "--rejects", Path("rejects")});
  EXPECT_THAT(Out(replay),
              HasSubstr("\"applied\":1,\"rows\":1,\"rejected\":1"));
  EXPECT_THAT(ReadFile(Path("rejects")), HasSubstr("not a time"));
  EXPECT_THAT(Column(Out({"scan", db_, "orders"}), "order_id"),
              ElementsAre("o-2"));
}

TEST_F(CliChangesTest, AStreamComesThroughAPipeToo) {
  Init();
  const Result result =
      Run(Replay("jsonl",
                 Write("m.textproto",
                       "tables { table: \"orders\" fields { field: "
                       "\"order_id\" column: \"id\" } fields { field: "
                       "\"seller_id\" constant: \"s\" } fields { field: "
                       "\"ts_ms\" constant: \"2020-01-01\" time {} } }"),
                 "-"),
          "{\"id\":\"o-1\"}\n{\"id\":\"o-2\"}\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(Column(Out({"scan", db_, "orders"}), "order_id"),
              ElementsAre("o-1", "o-2"));
}

TEST_F(CliChangesTest, OptionsThatDoNotGoTogetherAreRefused) {
  Init();
  const std::string stream = Example("canal_orders.jsonl");
  const auto usage = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"replay", db_, stream});
    const Result result = Run(options);
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(usage({"--from", "canal"}), HasSubstr("needs --mapping FILE"));
  EXPECT_THAT(usage({"--mapping", "m"}), HasSubstr("go with --from"));
  EXPECT_THAT(usage({"--from", "avro", "--mapping", "m"}), HasSubstr("avro"));
  EXPECT_THAT(usage({"--from", "canal", "--mapping", "m", "--delimiter", ";"}),
              HasSubstr("--delimiter goes with --from csv"));
  EXPECT_THAT(usage({"--from", "canal", "--mapping", "m", "--create"}),
              HasSubstr("are for write logs"));
}

TEST_F(CliChangesTest, AMappingThatIsWrongNamesItsFileAndPlace) {
  Init();
  const std::string stream = Example("canal_orders.jsonl");
  Result result =
      Run(Replay("canal", Write("m", "tables {\n  tabel: 1 }"), stream));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("tabel"));
  EXPECT_THAT(result.err, HasSubstr("line 2"));
  result =
      Run(Replay("canal", Write("m", "tables { table: \"nope\" }"), stream));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("no such table"));
}

}  // namespace
}  // namespace dovetail
