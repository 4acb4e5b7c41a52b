// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Canal, Maxwell, JSON Lines and CSV.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/changes/changes_test_util.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Canal(std::string text) {
  return ReadChanges(ChangeFormat::kCanal, std::move(text));
}
std::vector<std::string> Maxwell(std::string text) {
  return ReadChanges(ChangeFormat::kMaxwell, std::move(text));
}

TEST(CanalTest, RowsOfAMessagePairWithWhatTheyWereByPosition) {
  EXPECT_THAT(
      Canal(R"({"type":"UPDATE","database":"shop","table":"o","isDdl":false,)"
            R"("pkNames":["id"],"data":[{"id":"1","s":"b"},{"id":"2",)"
            R"("s":"c"}],"old":[{"s":"a"},{}]})"),
      ElementsAre(
          R"(update shop.o before{"id":"1","s":"a"} after{"id":"1","s":"b"})",
          R"(update shop.o before{"id":"2","s":"c"} after{"id":"2","s":"c"})"));
}

TEST(CanalTest, AnInsertHasItsRowAfterAndADeleteBefore) {
  EXPECT_THAT(
      Canal(R"({"type":"INSERT","data":[{"id":"1"}]})"
            "\n"
            R"({"type":"DELETE","data":[{"id":"1"}],"old":null})"),
      ElementsAre(R"(insert after{"id":"1"})", R"(delete before{"id":"1"})"));
}

TEST(CanalTest, AQueryBeforeItsRowsIsNoRow) {
  EXPECT_THAT(
      Canal(R"({"type":"QUERY","isDdl":false,"data":null,"sql":"insert"})"
            "\n"
            R"({"type":"INSERT","data":[{"id":"1"}]})"
            "\n"
            R"({"type":"ALTER","isDdl":true,"data":null,"table":"o"})"
            "\n"
            R"({"type":"TRUNCATE","isDdl":true,"data":null,"table":"o"})"
            "\nnull\n"),
      ElementsAre("statement", R"(insert after{"id":"1"})", "schema change .o",
                  "truncate .o", "tombstone"));
}

TEST(CanalTest, NoPrimaryKeyIsWhatTheMessageSaysItHasNot) {
  EXPECT_THAT(Canal(R"({"type":"INSERT","pkNames":null,"data":[{"id":"1"}]})"
                    "\n"
                    R"({"type":"INSERT","pkNames":[],"data":[{"id":"1"}]})"),
              ElementsAre(R"(insert after{"id":"1"} no primary key)",
                          R"(insert after{"id":"1"} no primary key)"));
}

TEST(CanalTest, MessagesThatAreNoneNameTheirCause) {
  EXPECT_THAT(
      Canal("[]\n{\"data\":[{}]}\n{\"type\":\"UPSERT\"}\n"
            "{\"type\":\"INSERT\",\"data\":null}\n"
            "{\"type\":\"INSERT\",\"data\":[1]}\n"
            "{\"type\":\"UPDATE\",\"data\":[{}],\"old\":[{},{}]}\n"
            "{\"type\":1}\n"),
      ElementsAre(
          "! not a JSON object: line=1 byte=0",
          "! a message without its type: line=2 byte=0",
          "! a type that Canal does not have: column=\"type\": line=3 byte=8",
          "! a change of rows without data: line=4 byte=0",
          "! a row that is no object: line=5 byte=25",
          "! rows before and after that do not pair: column=\"old\": line=6 "
          "byte=35",
          "! not a text: column=\"type\": line=7 byte=8"));
}

TEST(CanalTest, AliyunsFormHasImagesAndSchema) {
  const std::string schema =
      R"("schema":{"primaryKey":["id"],"source":{"dbName":"d",)"
      R"("tableName":"t"}})";
  EXPECT_THAT(
      Canal(absl::StrCat(
          "{", schema, R"(,"payload":{"op":"UPDATE_AFTER","before":)",
          R"({"dataColumn":{"id":2,"v":1}},"after":{"dataColumn":)",
          R"({"id":2,"v":2}},"ddl":null}})", "\n{", schema,
          R"(,"payload":{"op":"DELETE","before":{"dataColumn":{"id":2}},)",
          R"("after":null}})", "\n{", schema,
          R"(,"payload":{"op":"INSERT","after":null}})")),
      ElementsAre(R"(update d.t before{"id":2,"v":1} after{"id":2,"v":2})",
                  R"(delete d.t before{"id":2})",
                  HasSubstr("! a change without its row: line=3")));
}

TEST(MaxwellTest, OldHoldsOnlyWhatChanged) {
  EXPECT_THAT(
      Maxwell(R"({"database":"d","table":"t","type":"update","ts":1477053234,)"
              R"("data":{"id":1,"s":"b"},"old":{"s":"a"}})"
              "\n"
              R"({"database":"d","table":"t","type":"delete","data":{"id":1}})"
              "\n"
              R"({"database":"d","table":"t","type":"bootstrap-insert",)"
              R"("data":{"id":18446744073709551615}})"),
      ElementsAre(R"(update d.t before{"id":1,"s":"a"} after{"id":1,"s":"b"})",
                  R"(delete d.t before{"id":1})",
                  R"(read d.t after{"id":18446744073709551615})"));
}

TEST(MaxwellTest, ARowsTimeCountsSecondsAndADdlsMilliseconds) {
  auto reader = ChangeReader::Open(
      ChangeFormat::kMaxwell,
      FromText(R"({"type":"insert","ts":1477053234,"data":{}})"
               "\n"
               R"({"type":"table-alter","ts":1477053308000})"));
  ASSERT_THAT(reader, IsOk());
  ChangeEntry entry;
  ASSERT_TRUE(*(*reader)->Next(&entry));
  EXPECT_EQ(entry.changes[0].time_us, 1477053234000000);
  ASSERT_TRUE(*(*reader)->Next(&entry));
  EXPECT_EQ(entry.changes[0].time_us, 1477053308000000);
}

TEST(MaxwellTest, MessagesThatAreNoneNameTheirCause) {
  EXPECT_THAT(Maxwell("{\"type\":\"merge\"}\n{}\n{\"type\":\"insert\"}\n"
                      "{\"type\":\"insert\",\"data\":[]}\n"),
              ElementsAre("! a type that Maxwell does not have: line=1 byte=0",
                          "! a message without its type: line=2 byte=0",
                          "! a change of a row without data: line=3 byte=0",
                          "! not an object: column=\"data\": line=4 byte=24"));
}

TEST(JsonLinesTest, EachObjectIsARow) {
  EXPECT_THAT(ReadChanges(ChangeFormat::kJsonLines, "{\"a\":1}\n\n[]\n{}"),
              ElementsAre(R"(put after{"a":1})",
                          "! not a JSON object: line=3 byte=0", "put after{}"));
}

TEST(CsvChangesTest, RowsAreTextsAndNulls) {
  EXPECT_THAT(
      ReadChanges(ChangeFormat::kCsv, "a,b\n1,\\N\nx\n\"2\n3\",4\n"),
      ElementsAre(R"(put after{"a":"1","b":null})",
                  "! the row has 1 fields, the header 2 columns: line=3 "
                  "column=2",
                  R"(put after{"a":"2\u000a3","b":"4"})"));
  EXPECT_THAT(ReadChanges(ChangeFormat::kCsv, ""),
              ElementsAre(HasSubstr("the file is empty")));
}

TEST(ChangeReaderTest, APlaceIsTheLineAndTheByteInTheInput) {
  auto reader = ChangeReader::Open(ChangeFormat::kCsv,
                                   FromText("\xef\xbb\xbf"
                                            "a,b\r\n1,2\r\n\"3\n\",4\n5,6"));
  ASSERT_THAT(reader, IsOk());
  std::vector<std::string> places;
  ChangeEntry entry;
  while (*(*reader)->Next(&entry)) {
    places.push_back(
        absl::StrCat(entry.line, "-", entry.last_line, "@", entry.offset));
  }
  EXPECT_THAT(places, ElementsAre("2-2@8", "3-4@13", "5-5@20"));
}

TEST(ChangeReaderTest, ReadingGoesOnBehindTheLinesThatWereTaken) {
  for (const ChangeFormat format :
       {ChangeFormat::kJsonLines, ChangeFormat::kCsv}) {
    const bool csv = format == ChangeFormat::kCsv;
    const std::string text =
        csv ? "a\n1\n\"2\n2\"\n3\n" : "{\"a\":1}\n{\"a\":2}\n\n\n{\"a\":3}\n";
    auto first = ChangeReader::Open(format, FromText(text));
    ASSERT_THAT(first, IsOk());
    ChangeEntry entry;
    std::vector<std::string> all;
    std::vector<uint64_t> ends;
    while (*(*first)->Next(&entry)) {
      all.push_back(Render(entry.changes[0]));
      ends.push_back(entry.last_line);
    }
    ASSERT_EQ(all.size(), 3u);
    for (size_t i = 0; i < all.size(); ++i) {
      auto second = ChangeReader::Open(format, FromText(text));
      ASSERT_THAT((*second)->SkipLines(ends[i]), IsOk());
      std::vector<std::string> rest;
      while (*(*second)->Next(&entry)) rest.push_back(Render(entry.changes[0]));
      EXPECT_EQ(rest, std::vector<std::string>(all.begin() + 1 + i, all.end()));
    }
  }
}

TEST(ChangeReaderTest, LimitsRefuseOneEntryAndReadTheNext) {
  ChangeReaderOptions options;
  options.entry_bytes_max = 30;
  EXPECT_THAT(ReadChanges(ChangeFormat::kJsonLines,
                          absl::StrCat("{\"a\":\"", std::string(100, 'x'),
                                       "\"}\n{\"a\":1}\n"),
                          options),
              ElementsAre("! a line of more than 30 bytes: line=1 byte=0",
                          R"(put after{"a":1})"));
  options = {};
  options.entry_values_max = 4;
  options.depth_max = 3;
  EXPECT_THAT(
      ReadChanges(ChangeFormat::kJsonLines,
                  "{\"a\":[1,2,3]}\n{\"a\":[[[1]]]}\n{\"a\":1}\n", options),
      ElementsAre("! not JSON: too many values: line=1 byte=10",
                  "! not JSON: nested too deeply: line=2 byte=7",
                  R"(put after{"a":1})"));
}

TEST(ChangeReaderTest, CompressedInputIsRefusedWithWhatToDo) {
  for (const ChangeFormat format :
       {ChangeFormat::kDebezium, ChangeFormat::kCsv, ChangeFormat::kHBaseWal}) {
    EXPECT_THAT(
        ReadChanges(format, "\x1f\x8b\x08\x08"),
        ElementsAre(HasSubstr("compressed with gzip; pipe it through zcat")));
  }
}

TEST(ChangeReaderTest, FormatsHaveNames) {
  EXPECT_THAT(ParseChangeFormat("hbase-wal"),
              IsOkAndHolds(ChangeFormat::kHBaseWal));
  EXPECT_THAT(ToStd(ParseChangeFormat("avro").status().message()),
              HasSubstr("formats=jsonl,csv,debezium,canal,maxwell,hbase-wal"));
}

}  // namespace
}  // namespace dovetail::test
