// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Predicates, counters and lists by themselves.

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dovetail/schema.h"
#include "dovetail/v1/order.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/compiled_table.h"
#include "index/group_value.h"
#include "tests/support/records.pb.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;

std::string Encoded(int64_t count, absl::int128 sum, bool with_sum = true) {
  std::string bytes;
  AppendGroupValue({count, sum}, with_sum, &bytes);
  return bytes;
}

TEST(GroupValueTest, HasTheBytesOfTheFormat) {
  EXPECT_EQ(Encoded(1, 0), "\x01");
  EXPECT_EQ(Encoded(300, -1), "\xac\x02\xff");
  EXPECT_EQ(Encoded(1, 127), "\x01\x7f");
  EXPECT_EQ(Encoded(1, 128), std::string("\x01\x00\x80", 3));
  EXPECT_EQ(Encoded(1, -128), "\x01\x80");
  EXPECT_EQ(Encoded(1, -129), "\x01\xff\x7f");
  EXPECT_EQ(Encoded(2, 5, /*with_sum=*/false), "\x02");
}

TEST(GroupValueTest, EveryValueComesBackAndNoOtherBytesDo) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const int shift = static_cast<int>(random() % 128);
    const absl::int128 sum =
        absl::int128(absl::MakeUint128(random(), random())) >> shift;
    const auto count =
        static_cast<int64_t>(1 + (random() >> (1 + random() % 63)));
    if (count < 1) continue;
    const std::string bytes = Encoded(count, sum);
    const auto parsed = ParseGroupValue(bytes, /*with_sum=*/true);
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ(parsed->count, count);
    EXPECT_TRUE(parsed->sum == sum);
    // Any bytes are an error, or what their value has as its one form.
    std::string other;
    for (uint64_t n = random() % 20; n > 0; --n) {
      other.push_back(static_cast<char>(random()));
    }
    const auto any = ParseGroupValue(other, /*with_sum=*/true);
    if (any.ok()) {
      EXPECT_EQ(Encoded(any->count, any->sum), other);
    }
  }
}

TEST(GroupValueTest, OtherFormsOfANumberAreRefused) {
  for (const std::string& bytes :
       {std::string(), std::string("\x00", 1), std::string("\x81\x00", 2),
        std::string("\x01\x00", 2), std::string("\x01\x00\x01", 3),
        std::string("\x01\xff\xff", 3),
        std::string("\x01") + std::string(17, 'x'), std::string("\x80")}) {
    EXPECT_THAT(ParseGroupValue(bytes, /*with_sum=*/true),
                StatusIs(StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(ParseGroupValue("\x01\x05", /*with_sum=*/false),
              StatusIs(StatusCode::kInvalidArgument));
}

TEST(RowPredicateTest, FloatsCompareAsKeysDo) {
  const auto value = [](double d) {
    return *ToFieldValue(Value(d), FieldType::kDouble);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto compare = [&](double a, double b) {
    return CompareAsKeys(value(a), value(b), FieldType::kDouble);
  };
  EXPECT_EQ(compare(-0.0, 0.0), 0);
  EXPECT_EQ(compare(nan, -nan), 0);
  EXPECT_GT(compare(nan, inf), 0);
  EXPECT_LT(compare(-inf, -1), 0);
}

TEST(RowPredicateTest, EnumValuesMayBeNamed) {
  TableBuilder orders("orders", v1::Order::descriptor());
  orders.RowKey({Field("order_id")})
      .Add(IndexBuilder::Value("open", {Field("seller_id")})
               .Where({RowTest::In("status", {"CREATED", v1::SHIPPED})}));
  const auto table = CompiledTable::Compile(orders.proto());
  ASSERT_THAT(table, IsOk());
  const auto has = [&](v1::OrderStatus status) {
    v1::Order order;
    order.set_status(status);
    EncodedRow row;
    const std::string record = order.SerializeAsString();
    EXPECT_THAT((*table)->ExtractFields(record, &row), IsOk());
    return (*table)->indexes()[0].HasEntry(row.fields);
  };
  EXPECT_TRUE(has(v1::CREATED));
  EXPECT_FALSE(has(v1::APPROVED));
  EXPECT_TRUE(has(v1::SHIPPED));

  TableBuilder wrong("orders", v1::Order::descriptor());
  wrong.RowKey({Field("order_id")})
      .Add(IndexBuilder::Value("open", {Field("seller_id")})
               .Where({RowTest::Equal("status", "GONE")}));
  EXPECT_THAT(CompiledTable::Compile(wrong.proto()),
              StatusIs(StatusCode::kInvalidArgument,
                       "enum=dovetail.v1.OrderStatus value=\"GONE\""));
}

TEST(RowPredicateTest, AnEmptyRangeOrListIsRefused) {
  const auto compile = [](RowTest test) {
    TableBuilder assets("assets", Asset::descriptor());
    assets.RowKey({Field("id")})
        .Add(
            IndexBuilder::Value("i", {Field("room")}).Where({std::move(test)}));
    return CompiledTable::Compile(assets.proto()).status();
  };
  EXPECT_THAT(compile(RowTest::In("rank", {})),
              StatusIs(StatusCode::kInvalidArgument, "empty list"));
  EXPECT_THAT(compile(RowTest::Between("rank", {})),
              StatusIs(StatusCode::kInvalidArgument, "no bound"));
  EXPECT_THAT(compile(RowTest::Between("rank", {.min = 2, .max = 1})),
              StatusIs(StatusCode::kInvalidArgument, "empty range"));
  EXPECT_THAT(compile(RowTest::Equal("rank", Value())),
              StatusIs(StatusCode::kInvalidArgument, "a value is missing"));
  EXPECT_THAT(compile(RowTest::Prefix("rank", "x")),
              StatusIs(StatusCode::kInvalidArgument, "have a prefix"));
  EXPECT_THAT(compile(RowTest::IsNull("nothing")),
              StatusIs(StatusCode::kInvalidArgument, "nothing"));
}

TEST(ExtractorListTest, ElementsComePackedAndUnpacked) {
  const auto extractor =
      Extractor::Compile(*Asset::descriptor(), {"rank"}, {"labels", "marks"});
  ASSERT_THAT(extractor, IsOk());
  Asset asset;
  asset.set_rank(3);
  asset.add_labels("a");
  asset.add_marks(-1);
  asset.add_marks(300);
  // One more, unpacked.
  const std::string record = asset.SerializeAsString() + "\x40\x07";
  std::vector<FieldValue> values(3);
  std::vector<ListElement> elements;
  ASSERT_THAT(extractor->Extract(record, values, &elements), IsOk());
  EXPECT_EQ(values[0].bits, 3u);
  EXPECT_TRUE(values[1].is_null);
  std::vector<std::string> found;
  for (const ListElement& element : elements) {
    const FieldType type = extractor->fields()[element.field].type;
    found.push_back(ToValue(element.value, type).DebugString());
  }
  EXPECT_THAT(found, ElementsAre("\"a\"", "-1", "300", "7"));
  // The same bytes are refused whether or not somebody wants the elements.
  const std::string cut = "\x42\x02\x01\x80";
  EXPECT_THAT(extractor->Extract(cut, values, &elements),
              StatusIs(StatusCode::kInvalidArgument, "end inside one"));
}

}  // namespace
}  // namespace dovetail::test
