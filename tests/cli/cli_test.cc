// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dovetail/engine.h"
#include "engine/storage/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_fixture.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(CliTest, NoArgumentsShowHelpAndAreWrongUsage) {
  const Result result = Run({});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(HasSubstr("import"), HasSubstr("Examples:")));
}

TEST_F(CliTest, HelpAndVersionGoToStandardOutput) {
  EXPECT_THAT(Out({"--version"}), StartsWith("dovetail "));
  EXPECT_THAT(Out({"--help"}), AllOf(HasSubstr("Data:"), HasSubstr("Care:")));
}

TEST_F(CliTest, WrongUsageExitsWithTwoAndNamesTheHelp) {
  Init();
  const std::vector<std::vector<std::string>> lines = {
      {"frobnicate"},
      {"verify"},
      {"verify", db_, "more"},
      {"verify", db_, "--no-such-option"},
      {"top", db_, "orders", "s-1", "-n", "many"},
      {"top", db_, "orders", "s-1", "not a number"},
      {"top", db_, "orders", "s-1", "--after", "xyz"},
      {"top", db_, "orders", "\\q"},
      {"get", db_, "orders", "s-1"},
      {"set", db_, "orders", "by_order_id", "o-1"},
      {"set", db_, "orders", "by_order_id", "o-1", "colour=red"},
      {"set", db_, "orders", "by_order_id", "o-1", "status=LOST"},
      {"init", db_},
      {"init", db_, "--preset", "nothing"},
      {"import", db_, "orders", "orders.csv.xz"},
      {"import", db_, "orders", "-"},
      {"demo", "--orders", "0"}};
  for (const std::vector<std::string>& line : lines) {
    const Result result = Run(line);
    EXPECT_EQ(result.code, 2) << line[0] << ": " << result.err;
    EXPECT_THAT(result.err,
                AllOf(StartsWith("dovetail: "), HasSubstr("--help")));
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(CliTest, InitIsRepeatableAndNamesTheTables) {
  EXPECT_THAT(Run({"init", db_, "--preset", "seller_orders"}).err,
              AllOf(HasSubstr("created"), HasSubstr("tables: orders")));
  EXPECT_THAT(Run({"init", db_, "--preset", "seller_orders"}).err,
              HasSubstr("opened"));
  EXPECT_THAT(
      Run({"init", db_, "--preset", "split_orders", "--table", "split"}).err,
      HasSubstr("orders split"));
}

TEST_F(CliTest, InitReadsASchemaWithRecordTypesFromProtoFiles) {
  Write("place.proto",
        "syntax = \"proto3\"; package shop;\n"
        "message Place { string country = 1; }\n");
  Write("event.proto",
        "syntax = \"proto3\"; package shop;\n"
        "import \"place.proto\";\n"
        "import \"google/protobuf/timestamp.proto\";\n"
        "message Event {\n"
        "  string waybill = 1;\n"
        "  google.protobuf.Timestamp at = 2;\n"
        "  Place place = 3;\n"
        "}\n");
  Write("shop.textproto", R"pb(
    tables {
      name: "events"
      record_type: "shop.Event"
      row_key {
        parts { fields: "waybill" }
        parts { fields: "at" order: DESC }
      }
      indexes {
        name: "by_country"
        parts { fields: "place.country" }
        parts { fields: "at" order: DESC }
      }
    })pb");
  Out({"init", db_, "--schema", Path("shop.textproto"), "--proto",
       Path("event.proto")});
  const std::string csv =
      Write("events.csv",
            "wb,when,land\nw1,2026-01-01 10:00:00,BR\nw1,2026-01-02,DE\n");
  Out({"import", db_, "events", csv, "--map", "waybill=wb", "--map", "at=when",
       "--map", "place.country=land"});
  EXPECT_THAT(Column(Out({"top", db_, "events", "w1"}), "at"),
              ElementsAre("2026-01-02T00:00:00Z", "2026-01-01T10:00:00Z"));
  EXPECT_THAT(Column(Out({"get-by", db_, "events", "by_country", "BR"}), "at"),
              ElementsAre("2026-01-01T10:00:00Z"));
  EXPECT_THAT(
      Column(Out({"top", db_, "events", "w1", "--to", "2026-01-02"}), "at"),
      ElementsAre("2026-01-01T10:00:00Z"));
}

TEST_F(CliTest, InitNamesTheLineOfAFaultInAProtoOrSchemaFile) {
  Write("bad.proto", "syntax = \"proto3\";\nmessage A { strin x = 1; }\n");
  Write("ok.textproto", "tables { name: \"a\" record_type: \"A\" }");
  const Result proto = Run({"init", db_, "--schema", Path("ok.textproto"),
                            "--proto", Path("bad.proto")});
  EXPECT_EQ(proto.code, 1);
  EXPECT_THAT(proto.err, HasSubstr("bad.proto:2:13: \"strin\" is not defined"));
  Write("bad.textproto", "tables {\n  nam: \"a\"\n}\n");
  const Result schema = Run({"init", db_, "--schema", Path("bad.textproto")});
  EXPECT_EQ(schema.code, 1);
  EXPECT_THAT(schema.err, AllOf(HasSubstr("bad.textproto"), HasSubstr("nam")));
  EXPECT_FALSE(std::filesystem::exists(db_));
}

TEST_F(CliTest, TheThreeQuestionsOfAnOrderDesk) {
  InitWithOrders(10);
  EXPECT_THAT(
      Column(Out({"get-by", db_, "orders", "by_order_id", "o-3"}), "ts_ms"),
      ElementsAre("3000"));
  EXPECT_THAT(Column(Out({"top", db_, "orders", "s-1", "-n", "3"}), "order_id"),
              ElementsAre("o-9", "o-8", "o-7"));
  EXPECT_THAT(Column(Out({"top", db_, "orders", "--index", "by_status", "s-1",
                          "SHIPPED", "-n", "2"}),
                     "order_id"),
              ElementsAre("o-9", "o-7"));
  EXPECT_THAT(
      Column(Out({"get", db_, "orders", "s-1", "4000", "o-4"}), "status"),
      ElementsAre("CREATED"));
}

TEST_F(CliTest, WhatIsNotThereExitsWithOne) {
  InitWithOrders(1);
  const Result row = Run({"get", db_, "orders", "s-1", "0", "o-2"});
  EXPECT_EQ(row.code, 1);
  EXPECT_THAT(row.err, HasSubstr("not found"));
  EXPECT_EQ(Run({"get-by", db_, "orders", "by_order_id", "x"}).code, 1);
  const Result table = Run({"get", db_, "order", "x"});
  EXPECT_EQ(table.code, 1);
  EXPECT_THAT(table.err, HasSubstr("The database has: orders"));
  const Result index = Run({"get-by", db_, "orders", "by_id", "x"});
  EXPECT_EQ(index.code, 1);
  EXPECT_THAT(index.err, HasSubstr("by_order_id"));
  const Result db = Run({"verify", Path("nowhere")});
  EXPECT_EQ(db.code, 1);
  EXPECT_THAT(db.err, HasSubstr("dovetail init"));
  EXPECT_FALSE(std::filesystem::exists(Path("nowhere")));
}

TEST_F(CliTest, TokensPageThroughARangeWithoutRepeatOrGap) {
  InitWithOrders(25);
  std::vector<std::string> seen;
  std::vector<std::string> line = {"top", db_, "orders", "s-1", "-n", "10"};
  for (int page = 0; page < 3; ++page) {
    const Result result = Run(line);
    ASSERT_EQ(result.code, 0) << result.err;
    for (const std::string& id : Column(result.out, "order_id")) {
      seen.push_back(id);
    }
    const size_t at = result.err.find("--after ");
    if (at == std::string::npos) break;
    line.resize(6);
    line.push_back("--after");
    line.push_back(
        result.err.substr(at + 8, result.err.find('\n', at) - at - 8));
  }
  ASSERT_EQ(seen.size(), 25u);
  for (int i = 0; i < 25; ++i) EXPECT_EQ(seen[i], absl::StrCat("o-", 24 - i));
  line[3] = "s-2";
  const Result other = Run(line);
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("--after goes with the same"));
}

TEST_F(CliTest, TopTakesSeveralValuesAndBounds) {
  InitWithOrders(10);
  EXPECT_THAT(Column(Out({"top", db_, "orders", "--index", "by_status", "s-1",
                          "--in", "CREATED,SHIPPED", "-n", "3"}),
                     "order_id"),
              ElementsAre("o-9", "o-8", "o-7"));
  EXPECT_THAT(Column(Out({"top", db_, "orders", "s-1", "--from",
                          "1970-01-01T00:00:02Z", "--to", "4000"}),
                     "order_id"),
              ElementsAre("o-3", "o-2"));
}

TEST_F(CliTest, JsonIsAnObjectALineAndTheTokenOneOfThem) {
  InitWithOrders(3);
  const std::string top =
      Out({"top", db_, "orders", "s-1", "-n", "2", "--json"});
  EXPECT_TRUE(IsJson(top)) << top;
  EXPECT_THAT(top, AllOf(HasSubstr("\"order_id\":\"o-2\""),
                         HasSubstr("\n{\"@next\":\"T")));
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{
           {"get", db_, "orders", "s-1", "0", "o-0", "--json"},
           {"get-by", db_, "orders", "by_order_id", "o-0", "--json"},
           {"verify", db_, "--json"},
           {"repair", db_, "--dry-run", "--json"},
           {"stats", db_, "--json"}}) {
    const std::string out = Out(line);
    EXPECT_TRUE(IsJson(out)) << line[0] << ": " << out;
  }
}

TEST_F(CliTest, SetMovesTheEntriesWithTheRow) {
  InitWithOrders(4);
  Out({"set", db_, "orders", "by_order_id", "o-0", "status=RETURNED",
       "note=sent=back"});
  EXPECT_THAT(Column(Out({"top", db_, "orders", "--index", "by_status", "s-1",
                          "RETURNED"}),
                     "note"),
              ElementsAre("sent=back"));
  EXPECT_THAT(Column(Out({"top", db_, "orders", "--index", "by_status", "s-1",
                          "CREATED"}),
                     "order_id"),
              ElementsAre("o-2"));
  EXPECT_EQ(RowCount(), 4u);
}

TEST_F(CliTest, SetHonoursConditionsAndAsksForAll) {
  InitWithOrders(4);
  const Result refused = Run({"set", db_, "orders", "by_order_id", "o-0",
                              "status=SHIPPED", "--if", "status=APPROVED"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("Nothing was changed"));
  const Result many =
      Run({"set", db_, "orders", "by_status", "s-1", "CREATED", "items=7"});
  EXPECT_EQ(many.code, 1);
  EXPECT_THAT(many.err, HasSubstr("--all"));
  EXPECT_THAT(Out({"set", db_, "orders", "by_status", "s-1", "CREATED",
                   "items=7", "--all", "--json"}),
              HasSubstr("\"rows_changed\":2"));
  EXPECT_EQ(Run({"set", db_, "orders", "by_order_id", "none", "items=1"}).code,
            1);
}

TEST_F(CliTest, ValuesMayBeAnyBytes) {
  Init();
  const std::string line =
      R"({"order_id":"a\tb","seller_id":"ö","ts_ms":"1","note":"x\\y"})";
  Out({"import", db_, "orders", Write("o.jsonl", line + "\n")});
  const std::string out =
      Out({"get", db_, "orders", "\\xc3\\xb6", "1", "a\\x09b"});
  EXPECT_THAT(Column(out, "order_id"), ElementsAre("a\\tb"));
  EXPECT_THAT(Column(out, "note"), ElementsAre("x\\\\y"));
}

TEST_F(CliTest, WordsAreTakenAsTheyStand) {
  Init();
  Out({"import", db_, "orders",
       Write("o.csv", "order_id,seller_id,ts_ms\n\"[a,b]\",-s,-1\n")});
  const std::string out =
      Out({"get", db_, "orders", "--", "-s", "-1", "[a,b]"});
  EXPECT_THAT(Column(out, "order_id"), ElementsAre("[a,b]"));
  EXPECT_THAT(
      Column(Out({"get-by", db_, "orders", "by_order_id", "[a,b]"}), "ts_ms"),
      ElementsAre("-1"));
}

TEST_F(CliTest, StopImportsEverythingBeforeTheBadLineAndSaysHowToGoOn) {
  Init();
  std::string csv = "order_id,seller_id,ts_ms\n";
  for (int i = 0; i < 10; ++i) {
    absl::StrAppend(&csv, "o-", i, ",s-1,", i == 6 ? "six" : absl::StrCat(i),
                    "\n");
  }
  const std::string file = Write("o.csv", csv);
  const Result stopped = Run({"import", db_, "orders", file, "--batch", "4"});
  EXPECT_EQ(stopped.code, 1);
  EXPECT_THAT(stopped.err,
              AllOf(HasSubstr("o.csv:8:9: column \"ts_ms\": not a number"),
                    HasSubstr("value=\"six\""), HasSubstr("imported=6"),
                    HasSubstr("--skip-lines 7;"), HasSubstr("--skip-lines 8")));
  EXPECT_EQ(RowCount(), 6u);
  Out({"import", db_, "orders", file, "--skip-lines", "8"});
  EXPECT_EQ(RowCount(), 9u);
}

TEST_F(CliTest, SkipLeavesBadLinesInTheRejectsFileWithTheirCauses) {
  Init();
  const std::string file =
      Write("o.csv", absl::StrCat("order_id,seller_id,ts_ms\n"
                                  "o-1,s,1\no-2,s,x\n\"o-3,s,3\no-4,s,4\n",
                                  std::string(5000, 'k'), ",s,5\no-6,s,6\n"));
  const Result result = Run({"import", db_, "orders", file, "--on-error",
                             "skip", "--rejects", Path("bad.jsonl"), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"imported\":3,\"skipped\":3"));
  const std::vector<std::string> rejects =
      absl::StrSplit(ReadFile(Path("bad.jsonl")), '\n');
  ASSERT_EQ(rejects.size(), 4u);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(IsJson(rejects[i] + "\n")) << rejects[i];
  EXPECT_THAT(rejects[0], AllOf(HasSubstr("\"line\":3,\"column\":7"),
                                HasSubstr("\"text\":\"o-2,s,x\"")));
  EXPECT_THAT(rejects[1],
              AllOf(HasSubstr("\"line\":4"), HasSubstr("never closed")));
  EXPECT_THAT(rejects[2], AllOf(HasSubstr("\"line\":6"), HasSubstr("key")));
  EXPECT_EQ(RowCount(), 3u);
  EXPECT_EQ(Run({"import", db_, "orders", file, "--on-error", "skip",
                 "--rejects", Path("bad.jsonl")})
                .code,
            2);
}

TEST_F(CliTest, AtomicImportsAllOrNothing) {
  Init();
  const std::string bad =
      Write("bad.csv", "order_id,seller_id,ts_ms\no-1,s,1\no-2,s,x\n");
  const Result refused = Run({"import", db_, "orders", bad, "--atomic"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("bad.csv:3:7"),
                                 HasSubstr("Nothing was imported")));
  EXPECT_EQ(RowCount(), 0u);
  const std::string key =
      Write("key.csv", absl::StrCat("order_id,seller_id,ts_ms\no-1,s,1\n",
                                    std::string(5000, 'k'), ",s,2\n"));
  const Result long_key = Run({"import", db_, "orders", key, "--atomic"});
  EXPECT_EQ(long_key.code, 1);
  EXPECT_THAT(long_key.err, AllOf(HasSubstr("key.csv:3:1"),
                                  HasSubstr("Nothing was imported")));
  EXPECT_EQ(RowCount(), 0u);
  std::string many = "order_id,seller_id,ts_ms\n";
  for (int i = 0; i < 10'001; ++i) absl::StrAppend(&many, "o-", i, ",s,1\n");
  const Result large =
      Run({"import", db_, "orders", Write("many.csv", many), "--atomic"});
  EXPECT_EQ(large.code, 1);
  EXPECT_THAT(large.err, HasSubstr("records_max=10000"));
  EXPECT_EQ(RowCount(), 0u);
  const std::string good =
      Write("good.csv", "order_id,seller_id,ts_ms\no-1,s,1\no-2,s,2\n");
  Out({"import", db_, "orders", good, "--atomic"});
  EXPECT_EQ(RowCount(), 2u);
}

TEST_F(CliTest, JsonLinesAreRecordsOrMapped) {
  Init();
  Out({"import", db_, "orders",
       Write("a.jsonl",
             "{\"order_id\":\"o-1\",\"seller_id\":\"s\",\"ts_ms\":\"5\","
             "\"status\":\"SHIPPED\"}\n")});
  Out({"import", db_, "orders",
       Write("b.jsonl",
             "{\"id\":2,\"shop\":\"s\",\"at\":\"1970-01-01T00:00:09Z\","
             "\"more\":[1]}\n"),
       "--map", "order_id=o-{id}", "--map", "seller_id=shop", "--map",
       "ts_ms=at:time"});
  EXPECT_THAT(Column(Out({"top", db_, "orders", "s"}), "ts_ms"),
              ElementsAre("9000", "5"));
  const Result bad = Run(
      {"import", db_, "orders",
       Write("c.jsonl",
             "{\"order_id\":\"o-3\",\"seller_id\":\"s\",\"ts_ms\":\"6\"}\n"
             "{\"order_id\":\"o-4\",\"seller_id\":\"s\",\"ts_ms\":\"x\"}\n")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("c.jsonl:2:43:"), HasSubstr("ts_ms")));
  EXPECT_EQ(RowCount(), 3u);
}

TEST_F(CliTest, ImportReadsStandardInput) {
  Init();
  const Result result = Run({"import", db_, "orders", "-", "--from", "csv"},
                            "order_id,seller_id,ts_ms\r\no-1,s,1\r\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(RowCount(), 1u);
}

TEST_F(CliTest, AMissingOrCompressedFileIsNamed) {
  Init();
  const Result missing = Run({"import", db_, "orders", Path("no.csv")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no.csv"));
  const Result packed = Run({"import", db_, "orders", "-", "--from", "csv"},
                            std::string("\xfd"
                                        "7zXZ\0\0",
                                        7));
  EXPECT_EQ(packed.code, 1);
  EXPECT_THAT(packed.err, HasSubstr("xzcat"));
}

TEST_F(CliTest, ASecondProcessIsToldThatTheDatabaseIsInUse) {
  InitWithOrders(2);
  {
    const auto engine = Engine::Open(db_, Schema());
    ASSERT_TRUE(engine.ok()) << engine.status();
    for (const char* verb : {"verify", "stats", "repair"}) {
      const Result result = Run({verb, db_});
      EXPECT_EQ(result.code, 4) << result.err;
      EXPECT_THAT(result.err,
                  AllOf(HasSubstr("One process at a time"),
                        HasSubstr(absl::StrCat("process ", getpid()))));
    }
    EXPECT_EQ(Run({"init", db_, "--preset", "seller_orders"}).code, 4);
  }
  EXPECT_EQ(RowCount(), 2u);
}

TEST_F(CliTest, ACheckpointIsADatabaseOfItsOwn) {
  InitWithOrders(5);
  const std::string copy = Path("copy");
  const std::string json = Out({"checkpoint", db_, copy, "--json"});
  EXPECT_TRUE(IsJson(json)) << json;
  EXPECT_THAT(json, HasSubstr("\"sequence\":1,"));
  Out({"set", db_, "orders", "by_order_id", "o-0", "status=DELIVERED"});
  EXPECT_THAT(Out({"get-by", copy, "orders", "by_order_id", "o-0"}),
              HasSubstr("CREATED"));
  EXPECT_THAT(Out({"verify", copy, "--json"}), HasSubstr("\"rows\":5,"));

  Result result = Run({"checkpoint", db_, copy});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("exists"));
  setenv("DOVETAIL_DB", db_.c_str(), 1);
  EXPECT_EQ(Run({"checkpoint", Path("other")}).code, 2);

  const auto engine = Engine::Open(db_, Schema());
  ASSERT_TRUE(engine.ok()) << engine.status();
  result = Run({"checkpoint", db_, Path("other")});
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, HasSubstr("Engine::Checkpoint"));
  EXPECT_FALSE(std::filesystem::exists(Path("other")));
}

TEST_F(CliTest, AnInterruptFinishesTheBatchAndSaysWhereToGoOn) {
  Init();
  const std::string fifo = Path("rows");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int null = open("/dev/null", O_RDONLY);
  const pid_t child =
      Start({"import", db_, "orders", fifo, "--from", "csv"}, null);
  close(null);
  // Opens once the child reads, whose handler is installed by then.
  int rows = -1;
  siginfo_t ended = {};
  while (rows < 0 && ended.si_pid == 0) {
    rows = open(fifo.c_str(), O_WRONLY | O_NONBLOCK);
    ASSERT_EQ(waitid(P_PID, child, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  }
  const std::string csv = "order_id,seller_id,ts_ms\no-1,s,1\no-2,s,2\n";
  EXPECT_EQ(write(rows, csv.data(), csv.size()),
            static_cast<ssize_t>(csv.size()));
  kill(child, SIGINT);
  const Result result = Finish(child);
  close(rows);
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  RowCount();
}

TEST_F(CliTest, VerifyShowsDamageAndRepairSettlesIt) {
  InitWithOrders(3);
  {
    // Damage is done below the engine: each index loses its first entry.
    LevelDbStoreOptions options;
    options.file_system = FileSystem::Posix();
    StoreOpenReport report;
    const auto store = OpenLevelDbStore(db_, options, &report);
    ASSERT_TRUE(store.ok()) << store.status();
    const auto batch = (*store)->NewBatch();
    const auto entry = (*store)->NewIterator({});
    for (const char space : {'\x02', '\x03'}) {
      entry->Seek(std::string(1, space));
      ASSERT_TRUE(entry->Valid());
      batch->Delete(entry->key());
    }
    ASSERT_TRUE((*store)->Write(*batch, true).ok());
  }
  const Result verify = Run({"verify", db_});
  EXPECT_EQ(verify.code, 3);
  EXPECT_THAT(Column(verify.out, "kind"),
              ElementsAre("missing_entry", "missing_entry"));
  EXPECT_THAT(Column(verify.out, "row"), testing::Each(HasSubstr("\"s-1\"")));
  EXPECT_THAT(verify.err, HasSubstr("dovetail repair"));
  const Result json = Run({"verify", db_, "--json"});
  EXPECT_TRUE(IsJson(json.out)) << json.out;

  const Result dry = Run({"repair", db_, "--dry-run"});
  EXPECT_EQ(dry.code, 3);
  EXPECT_THAT(dry.err, HasSubstr("Nothing was changed"));
  const Result unasked = Run({"repair", db_});
  EXPECT_EQ(unasked.code, 2);
  EXPECT_THAT(unasked.err, HasSubstr("--yes"));
  EXPECT_EQ(Run({"verify", db_}).code, 3);

  EXPECT_THAT(Run({"repair", db_, "--yes"}).err,
              HasSubstr("added entries=2 removed entries=0"));
  EXPECT_EQ(RowCount(), 3u);
}

TEST_F(CliTest, TheDatabaseMayComeFromTheEnvironment) {
  InitWithOrders(3);
  setenv("DOVETAIL_DB", db_.c_str(), 1);
  EXPECT_THAT(Column(Out({"top", "orders", "s-1", "-n", "1"}), "order_id"),
              ElementsAre("o-2"));
  EXPECT_EQ(Run({"verify"}).code, 0);
  EXPECT_THAT(Column(Out({"top", db_, "orders", "s-1", "-n", "1"}), "order_id"),
              ElementsAre("o-2"));
  unsetenv("DOVETAIL_DB");
  EXPECT_EQ(Run({"top", "orders", "s-1"}).code, 1);
}

TEST_F(CliTest, OutputThatCannotBeWrittenIsAnError) {
  InitWithOrders(3);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
    dup2(open(Path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
         STDERR_FILENO);
    execl(DOVETAIL_BINARY, DOVETAIL_BINARY, "top", db_.c_str(), "orders", "s-1",
          nullptr);
    _exit(127);
  }
  EXPECT_EQ(Finish(child).code, 1);
  EXPECT_THAT(ReadFile(Path("err")), HasSubstr("standard output"));
}

TEST_F(CliTest, PipesGetNoColourAndNoBox) {
  InitWithOrders(1);
  const std::string out = Out({"top", db_, "orders", "s-1"});
  EXPECT_THAT(out, AllOf(StartsWith("order_id\t"), Not(HasSubstr("\x1b"))));
}

TEST_F(CliTest, TheDemoVerifiesAndItsNextCommandWorks) {
  const Result demo = Run({"demo", db_, "--orders", "2000"});
  EXPECT_EQ(demo.code, 0) << demo.err;
  EXPECT_THAT(demo.err, AllOf(HasSubstr("loaded 2,000 orders"),
                              HasSubstr("rows=2000"), HasSubstr("Try next:")));
  const size_t at = demo.err.find("top ", demo.err.find("Try next:"));
  const std::string next = demo.err.substr(at, demo.err.find('\n', at) - at);
  const std::vector<std::string> words = absl::StrSplit(next, ' ');
  EXPECT_THAT(Column(Out(words), "status"), testing::Each("SHIPPED"));
  EXPECT_EQ(RowCount(), 2000u);
  const Result again = Run({"demo", db_});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("new or empty directory"));
}

}  // namespace
}  // namespace dovetail
