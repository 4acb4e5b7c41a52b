// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/changes/changes_test_util.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Values as text again; ToJson has them in base64.
std::vector<std::string> Read(std::string text) {
  std::vector<std::string> lines;
  auto reader =
      ChangeReader::Open(ChangeFormat::kHBaseWal, FromText(std::move(text)));
  EXPECT_THAT(reader, IsOk());
  ChangeEntry entry;
  for (;;) {
    const absl::StatusOr<bool> got = (*reader)->Next(&entry);
    if (!got.ok()) {
      lines.push_back(absl::StrCat("! ", got.status().message()));
      continue;
    }
    if (!*got) return lines;
    for (ForeignChange& change : entry.changes) {
      if (change.after.has_value()) {
        for (ForeignValue& member : change.after->members) {
          if (!member.is_null()) member.kind = ForeignValue::Kind::kString;
        }
      }
      lines.push_back(Render(change));
    }
  }
}

std::string Cell(std::string row, std::string column, std::string type,
                 int64_t ts, std::string value = "") {
  const size_t colon = column.find(':');
  return absl::StrCat(
      "{\"row\":\"", row, "\",\"family\":\"", column.substr(0, colon),
      "\",\"qualifier\":\"", column.substr(colon + 1), "\",\"type\":\"", type,
      "\",\"timestamp\":\"", ts, "\",\"vlen\":", value.size(),
      value.empty() ? "" : ",\"value\":\"", value, value.empty() ? "}" : "\"}");
}

std::string Edit(std::vector<std::string> cells) {
  std::string actions;
  for (const std::string& cell : cells) {
    absl::StrAppend(&actions, actions.empty() ? "" : ",", cell);
  }
  return absl::StrCat("{\"sequence\":\"5\",\"region\":\"r\",\"table\":",
                      "{\"nameAsString\":\"shop:orders\"},\"actions\":[",
                      actions, "]}");
}

TEST(HBaseWalTest, ObjectsStandBetweenLinesOfOtherText) {
  EXPECT_THAT(Read(absl::StrCat(
                  "[Writer Classes: ProtobufLogWriter\n"
                  "Cell Codec Class: org.apache.hadoop.hbase.WALCellCodec\n",
                  Edit({Cell("r1", "d:s", "Put", 9, "new")}),
                  "edit heap size: 240\nposition: 421\n,",
                  Edit({Cell("r2", "d:s", "Put", 9, "x")}),
                  "edit heap size: 240\nposition: 842\n]\n")),
              ElementsAre(R"(merge shop.orders after{"row":"r1","d:s":"new"})",
                          R"(merge shop.orders after{"row":"r2","d:s":"x"})"));
}

TEST(HBaseWalTest, RowsOfAnEditAreOneChangeEach) {
  EXPECT_THAT(
      Read(Edit({Cell("a", "d:x", "Put", 1, "1"),
                 Cell("b", "d:x", "Put", 1, "2"),
                 Cell("a", "d:y", "DeleteColumn", 1)})),
      ElementsAre(R"(merge shop.orders after{"row":"a","d:x":"1","d:y":null})",
                  R"(merge shop.orders after{"row":"b","d:x":"2"})"));
}

TEST(HBaseWalTest, BytesAreWhatToStringBinaryMadeOfThem) {
  EXPECT_THAT(
      Read(Edit({Cell("a\\\\x00\\\\x5Cb", "d:x", "Put", 1, "\\u003d\\\\x0A")})),
      ElementsAre("merge shop.orders after{\"row\":\"a\\u0000\\\\b\","
                  "\"d:x\":\"=\\u000a\"}"));
  EXPECT_THAT(Read(Edit({Cell("a\\\\x0", "d:x", "Put", 1, "1")})),
              ElementsAre(HasSubstr("a backslash without xHH behind it")));
}

// HBase hides what is not newer than a delete, whichever came first.
TEST(HBaseWalTest, ADeleteHidesWhatIsNotNewer) {
  EXPECT_THAT(Read(Edit({Cell("a", "d:x", "Put", 5, "old"),
                         Cell("a", "d:", "DeleteFamily", 5)})),
              ElementsAre(R"(merge shop.orders after{"row":"a"} without d:)"));
  EXPECT_THAT(Read(Edit({Cell("a", "d:", "DeleteFamily", 5),
                         Cell("a", "d:x", "Put", 5, "hidden"),
                         Cell("a", "d:y", "Put", 6, "new")})),
              ElementsAre(R"(merge shop.orders after{"row":"a","d:y":"new"})"
                          " without d:"));
  EXPECT_THAT(Read(Edit({Cell("a", "d:x", "Put", 6, "new"),
                         Cell("a", "d:x", "DeleteColumn", 5)})),
              ElementsAre(R"(merge shop.orders after{"row":"a","d:x":"new"})"));
  EXPECT_THAT(
      Read(Edit({Cell("a", "d:x", "Put", 6, "newer"),
                 Cell("a", "d:x", "Put", 5, "older")})),
      ElementsAre(R"(merge shop.orders after{"row":"a","d:x":"newer"})"));
}

TEST(HBaseWalTest, WhatVersionsAreNeededForIsRefused) {
  EXPECT_THAT(Read(Edit({Cell("a", "d:x", "Delete", 5)})),
              ElementsAre(HasSubstr("a delete of one version")));
  EXPECT_THAT(Read(Edit({Cell("a", "d:", "DeleteFamilyVersion", 5)})),
              ElementsAre(HasSubstr("a delete of one version")));
}

TEST(HBaseWalTest, APutWithoutItsValueIsRefused) {
  std::string cell = Cell("a", "d:x", "Put", 5, "xyz");
  cell.replace(cell.find(",\"value\""), std::string::npos, "}");
  EXPECT_THAT(Read(Edit({cell})),
              ElementsAre(HasSubstr("have the printer show values with -p")));
  EXPECT_THAT(Read(Edit({Cell("a", "d:x", "Put", 5)})),
              ElementsAre(R"(merge shop.orders after{"row":"a","d:x":""})"));
}

TEST(HBaseWalTest, HBasesOwnCellsAreCountedAsInternal) {
  EXPECT_THAT(
      Read(Edit({Cell("\\\\x00", "METAFAMILY:HBASE::BULK_LOAD", "Put", 5)})),
      ElementsAre("internal shop.orders"));
}

TEST(HBaseWalTest, TheTextFormHasACellALine) {
  EXPECT_THAT(
      Read("Writer Classes: ProtobufLogWriter\n"
           "Sequence=5, table=shop:orders, region=aec7, at write timestamp=Thu "
           "Jul 20 14:05:07 CST 2017\n"
           "row=s1-1, column=d:state, type=Put\n"
           "    value: paid\n"
           "cell total size sum: 88\n"
           "row=s1-2, column=d:state, type=DeleteColumn\n"
           "edit heap size: 240\n"
           "position: 421\n"
           "Sequence=6 , region=aec7 at write timestamp=Thu Jul 20\n"
           "row=\\x00, column=METAFAMILY:HBASE::BULK_LOAD\n"),
      ElementsAre(R"(merge shop.orders after{"row":"s1-1","d:state":"paid"})",
                  R"(merge shop.orders after{"row":"s1-2","d:state":null})",
                  "internal"));
}

TEST(HBaseWalTest, ABadCellOfTheTextFormRefusesItsEditOnly) {
  const std::string head = "Sequence=5, table=t, region=r, at write ";
  EXPECT_THAT(
      Read(absl::StrCat(
          head, "\nrow=a, column=x, column=d:s, type=Put\n    value: 1\n", head,
          "\nrow=b, column=d:s\n", head,
          "\nrow=c, column=d:s, type=Put\n    value: 1\n",
          "[hdfs@host ~]$ hbase wal\n")),
      ElementsAre("! a cell that can be read in several ways; use -j: line=2 "
                  "byte=0",
                  HasSubstr("! a cell without its type"),
                  R"(merge .t after{"row":"c","d:s":"1"})",
                  "! a line that the printer does not write: line=9 byte=0"));
}

TEST(HBaseWalTest, ReadingGoesOnBehindTheLinesThatWereTaken) {
  const std::string text =
      "Sequence=1, table=t, region=r, at\nrow=a, column=d:s, type=Put\n"
      "    value: 1\nposition: 4\n\nSequence=2, table=t, region=r, at\n"
      "row=b, column=d:s, type=Put\n    value: 2\n";
  auto reader = ChangeReader::Open(ChangeFormat::kHBaseWal, FromText(text));
  ChangeEntry entry;
  ASSERT_TRUE(*(*reader)->Next(&entry));
  EXPECT_EQ(entry.line, 1u);
  EXPECT_EQ(entry.last_line, 5u);
  reader = ChangeReader::Open(ChangeFormat::kHBaseWal, FromText(text));
  ASSERT_THAT((*reader)->SkipLines(entry.last_line), IsOk());
  ASSERT_TRUE(*(*reader)->Next(&entry));
  EXPECT_EQ(entry.line, 6u);
  EXPECT_EQ(entry.changes[0].after->Find("row")->text, "b");
  EXPECT_FALSE(*(*reader)->Next(&entry));
}

TEST(HBaseWalTest, AnEditOverALimitIsRefused) {
  ChangeReaderOptions options;
  options.entry_bytes_max = 100;
  std::string text = "Sequence=1, table=t, region=r\n";
  for (int i = 0; i < 10; ++i) {
    absl::StrAppend(&text, "row=a, column=d:", i, ", type=Put\n    value: 1\n");
  }
  EXPECT_THAT(ReadChanges(ChangeFormat::kHBaseWal, text, options),
              ElementsAre(HasSubstr("! an edit that is too large")));
}

}  // namespace
}  // namespace dovetail::test
