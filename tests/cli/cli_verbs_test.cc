// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Verbs that write one row, look below the rows, and work on indexes, schemas
// and the change feed; and what all verbs have in common.

#include <csignal>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_fixture.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class CliVerbsTest : public CliTest {
 protected:
  // Every verb of --help, as words.
  std::vector<std::vector<std::string>> Verbs() const {
    std::vector<std::vector<std::string>> verbs;
    const std::regex line("^  ([a-z-]+( [a-z]+)?)(   .*)?$");
    std::string help = Out({"--help"});
    help.resize(help.find("Exit codes:"));
    std::smatch match;
    const std::vector<std::string> lines = absl::StrSplit(help, '\n');
    for (const std::string& one : lines) {
      if (std::regex_match(one, match, line)) {
        verbs.push_back(absl::StrSplit(match[1].str(), ' '));
      }
    }
    return verbs;
  }
  std::string StateOf(const std::string& index) const {
    const std::string list = Out({"index", "list", db_});
    const std::vector<std::string> names = Column(list, "index");
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == index) return Column(list, "state")[i];
    }
    return "none";
  }
};

TEST_F(CliVerbsTest, EveryVerbHasHelpWithAnExampleAndAPlaceInTheManPage) {
  // Without the formatter's escapes.
  const std::string man =
      absl::StrReplaceAll(Out({"man"}), {{"\\-", "-"}, {"\\e", "\\"}});
  const auto verbs = Verbs();
  EXPECT_THAT(verbs, SizeIs(testing::Ge(20u)));
  for (std::vector<std::string> verb : verbs) {
    const std::string name = absl::StrJoin(verb, " ");
    verb.push_back("--help");
    const std::string help = Out(verb);
    EXPECT_THAT(help, AllOf(StartsWith(absl::StrCat("Usage: dovetail ", name)),
                            HasSubstr("Examples:\n  ")));
    EXPECT_THAT(man, HasSubstr(absl::StrCat(".SS \"dovetail ", name)));
    for (absl::string_view line : absl::StrSplit(help, '\n')) {
      const size_t dashes = line.find("--");
      if (!absl::StartsWith(line, "  ") || dashes > 6) continue;
      const size_t end = line.find_first_of(" [=", dashes);
      EXPECT_THAT(man,
                  HasSubstr(std::string(line.substr(dashes, end - dashes))))
          << name;
    }
  }
}

TEST_F(CliVerbsTest, MistypedNamesAreAnsweredWithTheClosestOne) {
  Init();
  EXPECT_THAT(Run({"imprt"}).err, HasSubstr("Did you mean import?"));
  EXPECT_THAT(Run({"index", "lst"}).err, HasSubstr("Did you mean index list?"));
  EXPECT_THAT(Run({"top", db_, "orders", "--limt", "3"}).err,
              HasSubstr("Did you mean --limit?"));
  EXPECT_THAT(Run({"top", db_, "ordres"}).err,
              HasSubstr("Did you mean orders?"));
  EXPECT_THAT(Run({"top", db_, "orders", "--index", "bystatus"}).err,
              HasSubstr("Did you mean by_status?"));
  EXPECT_THAT(Run({"top", db_, "orders", "--format", "jsn"}).err,
              HasSubstr("Did you mean json?"));
}

TEST_F(CliVerbsTest, TheFormatCanBeChosen) {
  InitWithOrders(1);
  EXPECT_THAT(Out({"top", db_, "orders", "--format", "box"}), StartsWith("┌"));
  EXPECT_THAT(Out({"top", db_, "orders", "--format=tsv"}),
              StartsWith("order_id\t"));
  EXPECT_EQ(Out({"top", db_, "orders", "--format=json"}),
            Out({"top", db_, "orders", "--json"}));
}

TEST_F(CliVerbsTest, PutTakesJsonAndTextFromArgumentFileAndStandardInput) {
  Init();
  Out({"put", db_, "orders",
       "{\"order_id\":\"o-1\",\"seller_id\":\"s\",\"ts_ms\":1}"});
  Out({"put", db_, "orders", "order_id: 'o-2' seller_id: 's' ts_ms: 2"});
  Out({"put", db_, "orders", "--file",
       Write("o.textproto",
             "order_id: 'o-3'\nseller_id: 's'\nts_ms: 3\nstatus: SHIPPED\n")});
  const Result in = Run({"put", db_, "orders", "-", "--sync", "--json"},
                        "{\"order_id\":\"o-4\",\n \"seller_id\":\"s\",\n "
                        "\"ts_ms\":\"4\"}\n");
  EXPECT_EQ(in.out, "{\"sequence\":4,\"rows_changed\":1}\n") << in.err;
  EXPECT_THAT(Column(Out({"top", db_, "orders", "s"}), "order_id"),
              ElementsAre("o-4", "o-3", "o-2", "o-1"));
  const Result there = Run({"put", db_, "orders", "--insert",
                            "order_id: 'o-2' seller_id: 's' ts_ms: 2"});
  EXPECT_EQ(there.code, 1);
  EXPECT_THAT(there.err, AllOf(HasSubstr("exists"), Not(HasSubstr("mutation")),
                               HasSubstr("Nothing was written")));
  const Result bad = Run({"put", db_, "orders", "order_ids: 'o-2'"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("line 1"), HasSubstr("order_ids"),
                             HasSubstr("dovetail.v1.Order")));
  EXPECT_EQ(Run({"put", db_, "orders"}).code, 2);
  EXPECT_EQ(RowCount(), 4u);
}

TEST_F(CliVerbsTest, DeleteTakesOneRowUnlessAskedForAll) {
  InitWithOrders(6);
  Out({"delete", db_, "orders", "by_order_id", "o-0"});
  Out({"delete", db_, "orders", "-", "s-1", "1000", "o-1"});
  EXPECT_EQ(Run({"delete", db_, "orders", "by_order_id", "o-0"}).code, 1);
  const Result many = Run({"delete", db_, "orders", "by_status", "s-1"});
  EXPECT_EQ(many.code, 1);
  EXPECT_THAT(many.err, HasSubstr("--all"));
  const Result refused = Run({"delete", db_, "orders", "by_order_id", "o-2",
                              "--if", "status=SHIPPED"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("Nothing was deleted"));
  EXPECT_EQ(Out({"delete", db_, "orders", "by_status", "s-1", "SHIPPED",
                 "--all", "--json"}),
            "{\"rows_deleted\":2}\n");
  EXPECT_EQ(RowCount(), 2u);
}

TEST_F(CliVerbsTest, ScanReadsAllOfARangePageByPage) {
  InitWithOrders(2500);
  EXPECT_THAT(Column(Out({"scan", db_, "orders"}), "order_id"), SizeIs(2500));
  const Result first =
      Run({"scan", db_, "orders", "--index", "by_status", "--equal", "s-1",
           "--in", "CREATED,SHIPPED", "--range", "10000..20000", "-n", "4"});
  EXPECT_THAT(Column(first.out, "order_id"),
              ElementsAre("o-19", "o-18", "o-17", "o-16"));
  const size_t at = first.err.find("--continue ");
  ASSERT_NE(at, std::string::npos) << first.err;
  const std::string token =
      first.err.substr(at + 11, first.err.find('\n', at) - at - 11);
  EXPECT_THAT(Column(Out({"scan", db_, "orders", "--index", "by_status",
                          "--equal", "s-1", "--in", "CREATED,SHIPPED",
                          "--range", "10000..20000", "--continue", token}),
                     "order_id"),
              ElementsAre("o-15", "o-14", "o-13", "o-12", "o-11", "o-10"));
  EXPECT_THAT(Column(Out({"scan", db_, "orders", "--equal", "s-1", "--range",
                          "2498000.."}),
                     "order_id"),
              ElementsAre("o-2499", "o-2498"));
  EXPECT_EQ(Run({"scan", db_, "orders", "--range", "5"}).code, 2);
}

TEST_F(CliVerbsTest, DumpAndKeyShowTheSameBytesAndWords) {
  InitWithOrders(2);
  const std::string dump = Out({"dump", db_});
  EXPECT_THAT(Column(dump, "index"),
              ElementsAre("", "", "by_status", "by_status", "by_order_id",
                          "by_order_id"));
  const std::string rows = Out({"dump", db_, "--table", "orders", "--rows"});
  EXPECT_THAT(Column(rows, "value")[0],
              AllOf(StartsWith("version=1 {"), HasSubstr("\"o-1\"")));
  const std::string hex = Column(rows, "key_hex")[0];
  const Result made = Run({"key", db_, "orders", "s-1", "1000", "o-1"});
  EXPECT_THAT(made.err, HasSubstr(absl::StrCat("key: ", hex)));
  EXPECT_THAT(Column(made.out, "transform"), ElementsAre("hash", "", "", ""));
  EXPECT_EQ(Out({"key", db_, "orders", "--hex", hex}), made.out);
  // An entry's own parts, and the row key's behind them.
  const std::string entries =
      Out({"dump", db_, "--table", "orders", "--index", "by_order_id"});
  EXPECT_THAT(Column(entries, "value")[0], HasSubstr("seller_id=\"s-1\""));
  EXPECT_THAT(Column(Out({"key", db_, "orders", "--index", "by_order_id",
                          "--hex", Column(entries, "key_hex")[0]}),
                     "field"),
              ElementsAre("order_id", "order_id"));
  const Result limited =
      Run({"dump", db_, "--table", "orders", "--rows", "--limit", "1"});
  const size_t at = limited.err.find("--from ");
  ASSERT_NE(at, std::string::npos) << limited.err;
  const std::string from =
      limited.err.substr(at + 7, limited.err.find('\n', at) - at - 7);
  EXPECT_THAT(
      Column(Out({"dump", db_, "--table", "orders", "--rows", "--from", from}),
             "key_hex"),
      ElementsAre(from));
  const Result bad = Run({"key", db_, "orders", "--hex", "00"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("part 1 (seller_id)"));
  EXPECT_EQ(Run({"key", db_, "orders", "--hex", "0"}).code, 2);
  EXPECT_EQ(Run({"key", db_, "orders"}).code, 2);
}

TEST_F(CliVerbsTest, AnIndexIsAddedHiddenShownAndDropped) {
  InitWithOrders(5);
  Out({"index", "add", db_, "orders", "name=by_buyer",
       "hash(buyer_id) buyer_id", "ts_ms:desc", "--no-build"});
  EXPECT_EQ(StateOf("by_buyer"), "building");
  const Result building = Run({"get-by", db_, "orders", "by_buyer", "b"});
  EXPECT_EQ(building.code, 1);
  EXPECT_EQ(Out({"index", "build", db_, "orders", "by_buyer", "--json"}),
            "{\"table\":\"orders\",\"index\":\"by_buyer\",\"state\":"
            "\"readable\",\"rows\":5,\"entries\":5,\"duplicates\":0,"
            "\"resumed\":false}\n");
  EXPECT_EQ(StateOf("by_buyer"), "readable");
  Out({"index", "hide", db_, "orders", "by_buyer"});
  EXPECT_EQ(Run({"top", db_, "orders", "--index", "by_buyer"}).code, 1);
  Out({"index", "show", db_, "orders", "by_buyer"});
  EXPECT_THAT(
      Column(Out({"top", db_, "orders", "--index", "by_buyer", "--", ""}),
             "order_id"),
      SizeIs(5));
  EXPECT_EQ(Run({"index", "drop", db_, "orders", "by_buyer"}).code, 2);
  Out({"index", "drop", db_, "orders", "by_buyer", "--yes"});
  EXPECT_EQ(StateOf("by_buyer"), "none");
  EXPECT_EQ(Run({"index", "drop", db_, "orders", "by_order_id", "-y"}).code, 1);
  EXPECT_EQ(RowCount(), 5u);
}

TEST_F(CliVerbsTest, AnIndexMayBeDeclaredInAFile) {
  InitWithOrders(2);
  Out({"index", "add", db_, "orders", "--file",
       Write("i.textproto", "name: 'by_items' parts { fields: 'items' }")});
  EXPECT_EQ(StateOf("by_items"), "readable");
  const Result bad = Run({"index", "add", db_, "orders", "--file",
                          Write("b.textproto", "nam: 'x'")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("b.textproto: line 1"));
  EXPECT_EQ(Run({"index", "add", db_, "orders", "by_x", "items"}).code, 2);
  EXPECT_EQ(Run({"index", "add", db_, "orders", "name=x", "itms"}).code, 2);
}

TEST_F(CliVerbsTest, DuplicatesDisableAUniqueIndexAndAreNamed) {
  InitWithOrders(3);
  const Result result = Run({"index", "add", db_, "orders", "name=by_seller",
                             "seller_id", "--unique"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("s-1"), HasSubstr("disabled"),
                                HasSubstr("dovetail index build")));
  EXPECT_EQ(StateOf("by_seller"), "disabled");
}

TEST_F(CliVerbsTest, AnInterruptedBuildGoesOnWhereItStopped) {
  InitWithOrders(4000);
  Out({"index", "add", db_, "orders", "name=by_buyer", "buyer_id",
       "--no-build"});
  const int null = open("/dev/null", O_RDONLY);
  const pid_t child = Start({"index", "build", db_, "orders", "by_buyer",
                             "--rate", "200", "--progress"},
                            null);
  close(null);
  // The first line of progress tells that it is at work.
  siginfo_t ended = {};
  while (ReadFile(Path("err")).find("building") == std::string::npos &&
         ended.si_pid == 0) {
    ASSERT_EQ(waitid(P_PID, child, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  }
  kill(child, SIGINT);
  const Result stopped = Finish(child);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_THAT(stopped.err,
              AllOf(HasSubstr(" of 4,000 rows"), HasSubstr("s left"),
                    HasSubstr("goes on from there"),
                    HasSubstr("dovetail index build")));
  EXPECT_EQ(StateOf("by_buyer"), "building");
  const std::string done =
      Out({"index", "build", db_, "orders", "by_buyer", "--json"});
  EXPECT_THAT(done,
              AllOf(HasSubstr("\"rows\":4000"), HasSubstr("\"resumed\":true")));
  EXPECT_EQ(RowCount(), 4000u);
}

TEST_F(CliVerbsTest, SchemaCheckTellsWhatAProgramMayDo) {
  Init();
  const std::string text = Out({"schema", "show", db_, "--text"});
  const std::string file = Write("same.textproto", text);
  EXPECT_THAT(Column(Out({"schema", "check", db_, file}), "rule"), IsEmpty());
  // What show prints creates the same database.
  Out({"init", Path("copy"), "--schema", file});
  EXPECT_EQ(Out({"schema", "show", Path("copy")}),
            Out({"schema", "show", db_}));
  const std::string added = Write(
      "added.textproto",
      absl::StrReplaceAll(text, {{"  identity",
                                  "  indexes { name: \"by_items\" parts { "
                                  "fields: \"items\" } }\n  identity"}}));
  const Result option = Run({"schema", "check", db_, added});
  EXPECT_EQ(option.code, 3);
  EXPECT_THAT(Column(option.out, "verdict"), ElementsAre("needs option"));
  EXPECT_THAT(Column(option.out, "rule"), ElementsAre("index-added"));
  const std::string refused =
      Write("refused.textproto",
            absl::StrReplaceAll(text, {{"order: DESC", "order: ASC"}}));
  const Result result = Run({"schema", "check", db_, refused, "--json"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(IsJson(result.out)) << result.out;
  EXPECT_THAT(result.out, HasSubstr("row-key-changed"));
  EXPECT_EQ(Run({"schema", "check", db_, Path("no")}).code, 1);
}

TEST_F(CliVerbsTest, TheFeedIsReadOnceByEachConsumer) {
  Init();
  EXPECT_EQ(Run({"feed", "list", db_}).code, 1);
  Out({"feed", "enable", db_});
  EXPECT_EQ(Run({"feed", "enable", db_}).code, 1);
  Out({"put", db_, "orders", "order_id: 'o-1' seller_id: 's' ts_ms: 1"});
  Out({"put", db_, "orders", "order_id: 'o-1' seller_id: 's' ts_ms: 2"});
  Out({"delete", db_, "orders", "by_order_id", "o-1"});
  const std::string peeked = Out({"feed", "tail", db_, "c", "--peek"});
  EXPECT_TRUE(IsJson(peeked)) << peeked;
  const std::string first = Out({"feed", "tail", db_, "c", "--limit", "2"});
  EXPECT_THAT(first,
              AllOf(HasSubstr("\"op\":\"put\""), HasSubstr("\"op\":\"move\""),
                    HasSubstr("\"ts_ms\":\"2\"")));
  EXPECT_THAT(Column(Out({"feed", "list", db_}), "behind"), ElementsAre("1"));
  const std::string second = Out({"feed", "tail", db_, "c"});
  EXPECT_THAT(second, HasSubstr("\"op\":\"delete\""));
  EXPECT_EQ(peeked, first + second);
  EXPECT_EQ(Out({"feed", "tail", db_, "c"}), "");
  EXPECT_EQ(Out({"feed", "tail", db_, "d", "--start", "now"}), "");
  EXPECT_EQ(Run({"feed", "disable", db_}).code, 2);
  Out({"feed", "disable", db_, "--yes"});
  EXPECT_EQ(Run({"feed", "tail", db_, "c"}).code, 1);
}

TEST_F(CliVerbsTest, StatsCanBeWatched) {
  InitWithOrders(3);
  const Result result = Run({"stats", db_, "--watch=1", "--count", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no other one can"));
  const std::vector<std::string> parts =
      absl::StrSplit(result.out, "table\tindex\tstate");
  EXPECT_THAT(parts, SizeIs(3));
  EXPECT_EQ(Run({"stats", db_, "--watch=0"}).code, 2);
}

TEST_F(CliVerbsTest, AReaderThatHasSeenEnoughHearsNothing) {
  InitWithOrders(3000);
  const std::string command =
      absl::StrCat("'", DOVETAIL_BINARY, "' scan '", db_, "' orders 2>'",
                   Path("err"), "' | head -n 1 >'", Path("out"), "'");
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(ReadFile(Path("out")), StartsWith("order_id\t"));
  EXPECT_EQ(ReadFile(Path("err")), "");
  EXPECT_EQ(RowCount(), 3000u);
}

}  // namespace
}  // namespace dovetail
