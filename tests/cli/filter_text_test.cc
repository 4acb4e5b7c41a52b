// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/filter_text.h"

#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace dovetail::cli {
namespace {

using ::testing::HasSubstr;

// Numbers for the field n, texts for all others.
absl::StatusOr<Value> Word(std::string_view field, std::string_view word) {
  if (field != "n") return Value(word);
  int64_t number = 0;
  if (absl::SimpleAtoi(ToAbsl(word), &number)) return Value(number);
  return absl::InvalidArgumentError("no number");
}

std::string Parse(std::string_view text) {
  const absl::StatusOr<Filter> filter = ParseFilter(text, Word);
  if (!filter.ok()) return std::string(filter.status().message());
  std::string out;
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.PrintToString(filter->proto(), &out);
  return out;
}

std::string Text(const Filter& filter) {
  std::string out;
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.PrintToString(filter.proto(), &out);
  return out;
}

TEST(FilterTextTest, EveryTest) {
  EXPECT_EQ(Parse("s = \"a b\""), Text(Filter::Equal("s", "a b")));
  EXPECT_EQ(Parse("s='it''"),
            "--where: a quote is not closed: at=7 near=\"'\"");
  EXPECT_EQ(Parse("s != a"), Text(Filter::Not(Filter::Equal("s", "a"))));
  EXPECT_EQ(Parse("n<-5"), Text(Filter::Below("n", -5)));
  EXPECT_EQ(Parse("n <= 5"), Text(Filter::AtMost("n", 5)));
  EXPECT_EQ(Parse("n>5"), Text(Filter::Above("n", 5)));
  EXPECT_EQ(Parse("n >= 5"), Text(Filter::AtLeast("n", 5)));
  EXPECT_EQ(Parse("n in (1, 2,3)"), Text(Filter::In("n", {1, 2, 3})));
  EXPECT_EQ(Parse("n NOT IN (1)"), Text(Filter::Not(Filter::In("n", {1}))));
  EXPECT_EQ(Parse("n between 1 and 2"),
            Text(Filter::InRange("n", {.min = 1, .max = 2})));
  EXPECT_EQ(Parse("a.b prefix x"), Text(Filter::Prefix("a.b", "x")));
  EXPECT_EQ(Parse("s is null"), Text(Filter::IsNull("s")));
  EXPECT_EQ(Parse("s is not null"), Text(Filter::Not(Filter::IsNull("s"))));
}

TEST(FilterTextTest, AndBindsCloserThanOr) {
  const Filter a = Filter::Equal("s", "a");
  const Filter b = Filter::Equal("s", "b");
  const Filter c = Filter::Equal("s", "c");
  EXPECT_EQ(Parse("s=a or s=b and s=c"),
            Text(Filter::Or({a, Filter::And({b, c})})));
  EXPECT_EQ(Parse("(s=a or s=b) and not s=c"),
            Text(Filter::And({Filter::Or({a, b}), Filter::Not(c)})));
}

TEST(FilterTextTest, ErrorsSayWhereAndWhatCouldStandThere) {
  EXPECT_THAT(Parse("s"), HasSubstr("expected = != < <= > >= in"));
  EXPECT_THAT(Parse("s = "), HasSubstr("expected a value: at=5"));
  EXPECT_THAT(Parse("s = null"), HasSubstr("is null"));
  EXPECT_THAT(Parse("s = a b"), HasSubstr("`and`, `or` or the end"));
  EXPECT_THAT(Parse("s = a and"), HasSubstr("expected a field"));
  EXPECT_THAT(Parse("(s = a"), HasSubstr("expected `)`"));
  EXPECT_THAT(Parse("n in 1"), HasSubstr("expected `(`"));
  EXPECT_THAT(Parse("n = x"), HasSubstr("no number"));
  EXPECT_THAT(Parse("s ; a"), HasSubstr("no such sign"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "not (";
  EXPECT_THAT(Parse(deep), HasSubstr("nested too deep"));
}

TEST(FilterTextTest, OrdersHaveADirectionAndARankOfNulls) {
  Query query("t");
  ASSERT_TRUE(ParseOrder("a, b desc, c asc nulls last", &query).ok());
  Query expected("t");
  expected.OrderBy("a")
      .OrderBy("b", Query::kDescending)
      .OrderBy("c", Query::kAscending, Query::kNullsLast);
  EXPECT_EQ(query.ToJson(), expected.ToJson());
  EXPECT_FALSE(ParseOrder("a downwards", &query).ok());
  EXPECT_FALSE(ParseOrder("a,", &query).ok());
}

}  // namespace
}  // namespace dovetail::cli
