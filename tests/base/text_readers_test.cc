// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/csv_reader.h"

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/byte_source.h"
#include "base/json.h"
#include "base/line_reader.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Every row as "LINE: field|field", a malformed one as "LINE:COLUMN! cause".
std::vector<std::string> ReadAll(std::string text, CsvOptions options = {},
                                 size_t chunk = 3) {
  ByteSource source = ByteSource::FromString(std::move(text), chunk);
  CsvReader csv(&source, options);
  std::vector<std::string> out;
  const absl::Status header = csv.ReadHeader();
  if (!header.ok()) {
    return {absl::StrCat(csv.error_position().line, ":",
                         csv.error_position().column, "! ", header.message())};
  }
  for (;;) {
    const absl::StatusOr<bool> row = csv.Next();
    if (!row.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(row.status())) << row.status();
      out.push_back(absl::StrCat(csv.error_position().line, ":",
                                 csv.error_position().column, "! ",
                                 row.status().message()));
      continue;
    }
    if (!*row) return out;
    std::string line = absl::StrCat(csv.line(), ": ");
    for (size_t i = 0; i < csv.fields().size(); ++i) {
      absl::StrAppend(&line, i == 0 ? "" : "|", ToAbsl(csv.fields()[i]));
    }
    out.push_back(line);
  }
}

TEST(CsvReaderTest, RowsBecomeFieldsWithTheirLines) {
  EXPECT_THAT(ReadAll("a,b\n1,2\n3,\n,4\n"),
              ElementsAre("2: 1|2", "3: 3|", "4: |4"));
}

TEST(CsvReaderTest, TheLastLineMayLackItsLineEnd) {
  EXPECT_THAT(ReadAll("a,b\n1,2"), ElementsAre("2: 1|2"));
  EXPECT_THAT(ReadAll("a,b\n1,\"2\""), ElementsAre("2: 1|2"));
}

TEST(CsvReaderTest, QuotedFieldsHoldDelimitersQuotesAndLineEnds) {
  EXPECT_THAT(
      ReadAll("a,b\n\"x,y\",\"he said \"\"no\"\"\"\n\"1\n2\r\n3\",z\n4,5\n"),
      ElementsAre("2: x,y|he said \"no\"", "3: 1\n2\r\n3|z", "6: 4|5"));
}

TEST(CsvReaderTest, CrLfEndsRowsAndByteOrderMarkIsSkipped) {
  ByteSource source = ByteSource::FromString(
      "\xef\xbb\xbf"
      "a,b\r\n1,2\r\n",
      1);
  CsvReader csv(&source, {});
  ASSERT_TRUE(csv.ReadHeader().ok());
  EXPECT_THAT(csv.header(), ElementsAre("a", "b"));
  ASSERT_TRUE(*csv.Next());
  EXPECT_THAT(csv.fields(), ElementsAre("1", "2"));
  EXPECT_EQ(csv.raw(), "1,2");
  EXPECT_FALSE(*csv.Next());
}

TEST(CsvReaderTest, EmptyLinesAreSkippedUnlessThereIsOneColumn) {
  EXPECT_THAT(ReadAll("a,b\n\n1,2\n\r\n\n3,4\n\n"),
              ElementsAre("3: 1|2", "6: 3|4"));
  EXPECT_THAT(ReadAll("a\nx\n\ny\n"), ElementsAre("2: x", "3: ", "4: y"));
}

TEST(CsvReaderTest, AnotherDelimiterLeavesCommasAlone) {
  EXPECT_THAT(ReadAll("a\tb\n1,5\t2\n", {.delimiter = '\t'}),
              ElementsAre("2: 1,5|2"));
}

TEST(CsvReaderTest, ErrorsNameLineAndCharacterAndReadingGoesOn) {
  EXPECT_THAT(
      ReadAll("a,b\n1,2,3\n4\nö,5\"x\n6,7\n"),
      ElementsAre("2:5! the row has 3 fields, the header 2 columns",
                  "3:2! the row has 1 fields, the header 2 columns",
                  "4:4! a quote inside an unquoted field; put the whole field "
                  "in quotes and double this one",
                  "5: 6|7"));
}

TEST(CsvReaderTest, AnUnclosedQuoteCostsOneLineOnly) {
  EXPECT_THAT(ReadAll("a,b\n1,\"open\n2,x\n3,y\n"),
              ElementsAre("2:3! the quote opened here is never closed",
                          "3: 2|x", "4: 3|y"));
}

TEST(CsvReaderTest, AnUnclosedQuoteThatMeetsALaterOneCostsOneLineOnly) {
  EXPECT_THAT(ReadAll("a,b\n1,\"open\n2,\"good\"\n3,y\n"),
              ElementsAre("3:4! text behind a closing quote; a quote inside a "
                          "quoted field must be doubled",
                          "3: 2|good", "4: 3|y"));
}

TEST(CsvReaderTest, ALoneCarriageReturnIsAnErrorThatNamesTheRemedy) {
  const std::vector<std::string> rows = ReadAll("a,b\r1,2\r3,4\r");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], HasSubstr("1:4! a carriage return alone"));
  EXPECT_THAT(rows[0], HasSubstr("tr '\\r' '\\n'"));
}

TEST(CsvReaderTest, LimitsHoldAtTheirEdge) {
  const CsvOptions options{.field_bytes_max = 5, .columns_max = 3};
  EXPECT_THAT(ReadAll("a,b\n12345,\"12345\"\n", options),
              ElementsAre("2: 12345|12345"));
  EXPECT_THAT(ReadAll("a,b\n123456,1\n1,\"123456\"\n1,2\n", options),
              ElementsAre("2:1! a field of more than 5 bytes",
                          "3:3! a quoted field of more than 5 bytes, or a "
                          "quote that is never closed",
                          "4: 1|2"));
  EXPECT_THAT(ReadAll("a,b,c\n1,2,3,4\n1,2,3\n", options),
              ElementsAre("2:7! the row has more than 3 fields", "3: 1|2|3"));
}

TEST(CsvReaderTest, ARowOverItsLimitIsSkippedWithoutKeepingIt) {
  const std::string row(1 << 20, 'x');
  const CsvOptions options{.field_bytes_max = 100, .row_bytes_max = 150};
  const std::vector<std::string> rows =
      ReadAll(absl::StrCat("a,b\n1,", row, "\n2,y\n"), options, 1 << 12);
  EXPECT_THAT(rows,
              ElementsAre("2:3! a field of more than 100 bytes", "3: 2|y"));
}

TEST(CsvReaderTest, AHeaderIsRequired) {
  EXPECT_THAT(ReadAll(""), ElementsAre(HasSubstr("the file is empty")));
  EXPECT_THAT(ReadAll("a,,c\n"),
              ElementsAre(HasSubstr("column 2 has no name")));
}

TEST(CsvReaderTest, CompressedAndUtf16InputIsRefusedWithTheRemedy) {
  EXPECT_THAT(ReadAll(std::string("\xfd"
                                  "7zXZ\0",
                                  6)),
              ElementsAre(HasSubstr("xzcat")));
  EXPECT_THAT(ReadAll("\x1f\x8b\x08xxxx"), ElementsAre(HasSubstr("zcat")));
  EXPECT_THAT(ReadAll(std::string("\xff\xfe"
                                  "a\0",
                                  4)),
              ElementsAre(HasSubstr("iconv")));
}

TEST(CsvReaderTest, SkipLinesCountsLinesOfTheFile) {
  ByteSource source = ByteSource::FromString("a,b\n1,\"x\ny\"\n2,z\n", 4);
  CsvReader csv(&source, {});
  ASSERT_TRUE(csv.ReadHeader().ok());
  ASSERT_TRUE(csv.SkipLines(3).ok());
  ASSERT_TRUE(*csv.Next());
  EXPECT_EQ(csv.line(), 4u);
  EXPECT_THAT(csv.fields(), ElementsAre("2", "z"));
}

TEST(CsvReaderTest, PositionsPointAtFieldsBehindLineEndsInQuotes) {
  ByteSource source = ByteSource::FromString("a,b\n\"x\ny\",zz\n");
  CsvReader csv(&source, {});
  ASSERT_TRUE(csv.ReadHeader().ok());
  ASSERT_TRUE(*csv.Next());
  EXPECT_EQ(csv.PositionOf(0), (TextPosition{2, 1}));
  EXPECT_EQ(csv.PositionOf(1), (TextPosition{3, 4}));
  EXPECT_EQ(csv.last_line(), 3u);
}

std::string Quoted(const std::string& field, bool always) {
  if (!always && field.find_first_of(",\"\r\n") == std::string::npos) {
    return field;
  }
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

uint64_t Seed() {
  const char* env = std::getenv("DOVETAIL_SEED");
  return env == nullptr ? 20261130 : std::strtoull(env, nullptr, 10);
}

TEST(CsvReaderTest, WhatIsWrittenByTheRulesIsReadBack) {
  SCOPED_TRACE(absl::StrCat("DOVETAIL_SEED=", Seed()));
  std::mt19937_64 random(Seed());
  static constexpr char kBytes[] = "ab,\"\n\r\xc3\xb6 ;";
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::string>> rows;
    std::string text = "a,b,c\n";
    for (int r = 0; r < 20; ++r) {
      std::vector<std::string> row;
      for (int f = 0; f < 3; ++f) {
        std::string field;
        for (uint64_t n = random() % 6; n > 0; --n) {
          field += kBytes[random() % (sizeof(kBytes) - 1)];
        }
        absl::StrAppend(&text, f == 0 ? "" : ",",
                        Quoted(field, random() % 2 == 0));
        row.push_back(std::move(field));
      }
      absl::StrAppend(&text, random() % 2 == 0 ? "\n" : "\r\n");
      rows.push_back(std::move(row));
    }
    ByteSource source = ByteSource::FromString(text, 1 + random() % 7);
    CsvReader csv(&source, {});
    ASSERT_TRUE(csv.ReadHeader().ok());
    for (const std::vector<std::string>& row : rows) {
      const absl::StatusOr<bool> got = csv.Next();
      ASSERT_TRUE(got.ok() && *got) << text;
      ASSERT_EQ(
          std::vector<std::string>(csv.fields().begin(), csv.fields().end()),
          row);
    }
    ASSERT_FALSE(*csv.Next());
  }
}

// Whatever the bytes are, reading ends, and no line is read as a good row
// twice.
TEST(CsvReaderTest, AnyBytesEndInRowsAndErrors) {
  SCOPED_TRACE(absl::StrCat("DOVETAIL_SEED=", Seed()));
  std::mt19937_64 random(Seed());
  static constexpr char kBytes[] = "a,\"\n\r\xff";
  for (int round = 0; round < 2000; ++round) {
    std::string text = "a,b\n";
    for (uint64_t n = random() % 60; n > 0; --n) {
      text += kBytes[random() % (sizeof(kBytes) - 1)];
    }
    ByteSource source = ByteSource::FromString(text, 1 + random() % 5);
    CsvReader csv(&source, {.field_bytes_max = 20, .row_bytes_max = 30});
    ASSERT_TRUE(csv.ReadHeader().ok());
    uint64_t last = 1;
    for (;;) {
      const absl::StatusOr<bool> row = csv.Next();
      if (row.ok() && !*row) break;
      ASSERT_GT(csv.line(), last) << Quote(text);
      last = row.ok() ? csv.last_line() : csv.line();
    }
  }
}

std::string Members(std::string_view json) {
  size_t at = 0;
  const auto object = ParseJsonObject(json, &at);
  if (!object.ok()) {
    return absl::StrCat("@", at, " ", object.status().message());
  }
  std::string out;
  for (const ForeignValue& member : object->members) {
    absl::StrAppend(&out, member.name, "=", ToJson(member), "@", member.at,
                    ";");
  }
  return out;
}

TEST(JsonLinesTest, MembersKeepTheirTextExactly) {
  EXPECT_EQ(
      Members(R"( {"a": 12345678901234567890, "b":"x\"\u00f6\ud83d\ude00",)"
              R"("c":null,"d":true,"e":{"f":[1,{}]},"g":-1.50e3} )"),
      "a=12345678901234567890@7;b=\"x\\\"ö😀\"@33;c=null@61;d=true@70;"
      "e={\"f\":[1,{}]}@79;g=-1.50e3@96;");
}

TEST(JsonLinesTest, FaultsNameTheirPlace) {
  EXPECT_EQ(Members("[1]"), "@0 not JSON: a line must hold one JSON object");
  EXPECT_EQ(Members(R"({"a":1)"), "@6 not JSON: a comma or brace is missing");
  EXPECT_EQ(Members(R"({"a":01})"),
            "@5 not JSON: a number with a leading zero");
  EXPECT_EQ(Members(R"({"a":1,"a":2})"), "@7 not JSON: the key is there twice");
  EXPECT_EQ(Members(R"({"a":1} x)"),
            "@8 not JSON: text behind the object; one object per line");
  EXPECT_EQ(Members(R"({"a":"\ud83d"})"),
            "@12 not JSON: half a surrogate pair");
  EXPECT_EQ(Members(R"({"a":"x)"),
            "@7 not JSON: the line ends inside a string");
  EXPECT_EQ(Members(R"({a:1})"), "@1 not JSON: a key in quotes is missing");
  EXPECT_THAT(Members(absl::StrCat("{\"a\":", std::string(200, '['))),
              HasSubstr("nested too deeply"));
  EXPECT_EQ(Members(R"({"a":{"b":1,"b":2}})"),
            "@12 not JSON: the key is there twice");
}

TEST(JsonTest, AKeyThatIsThereTwiceIsFoundAmongMany) {
  std::string json = "{";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&json, "\"k", i, "\":0,");
  EXPECT_THAT(Members(absl::StrCat(json, "\"k99\":1}")),
              HasSubstr("the key is there twice"));
}

TEST(JsonTest, ValuesAreCounted) {
  size_t at = 0;
  EXPECT_THAT(ParseJson("[1,2,3]", {.values_max = 4}, &at).ok(), true);
  EXPECT_THAT(
      ToStd(ParseJson("[1,2,3]", {.values_max = 3}, &at).status().message()),
      HasSubstr("too many values"));
  EXPECT_EQ(at, 5u);
}

TEST(JsonTest, TextBehindAValueIsTheCallers) {
  size_t at = 0;
  EXPECT_EQ(ToJson(*ParseJson("{\"a\":[ ]} \t rest", {}, &at)), "{\"a\":[]}");
  EXPECT_EQ(at, 12u);
}

TEST(JsonLinesTest, BlankAndOverlongLinesAreSteppedOver) {
  ByteSource source = ByteSource::FromString(
      absl::StrCat("{}\r\n\n  \n", std::string(100, 'x'), "\n{ }"), 7);
  LineReader lines(&source, 10);
  ASSERT_TRUE(lines.Start().ok());
  ASSERT_TRUE(*lines.Next());
  EXPECT_EQ(lines.text(), "{}");
  const absl::StatusOr<bool> overlong = lines.Next();
  EXPECT_TRUE(absl::IsInvalidArgument(overlong.status()));
  EXPECT_EQ(lines.line(), 4u);
  ASSERT_TRUE(*lines.Next());
  EXPECT_EQ(lines.text(), "{ }");
  EXPECT_EQ(lines.line(), 5u);
  EXPECT_FALSE(*lines.Next());
}

}  // namespace
}  // namespace dovetail
