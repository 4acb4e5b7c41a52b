// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/key_layout.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/compiled_table.h"
#include "tests/support/records.pb.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;

// The row key of a table of Assets.
class Layout {
 public:
  explicit Layout(std::vector<Part> parts) {
    auto table = CompiledTable::Compile(TableBuilder("t", Asset::descriptor())
                                            .RowKey(std::move(parts))
                                            .proto());
    EXPECT_THAT(table, IsOk());
    table_ = *std::move(table);
  }
  const KeyLayout* operator->() const { return &table_->row_key(); }

  std::vector<std::string> Columns() const {
    std::vector<std::string> paths;
    for (const Column& c : table_->row_key().columns()) paths.push_back(c.path);
    return paths;
  }
  absl::StatusOr<std::vector<KeyRange>> Ranges(
      const std::vector<Value>& equal, const std::vector<Value>& any_of = {},
      const std::optional<Range>& range = std::nullopt,
      size_t max = 100) const {
    return table_->row_key().Ranges(equal, any_of, range, max);
  }

 private:
  std::unique_ptr<const CompiledTable> table_;
};

TEST(KeyLayoutTest, ColumnsAreTheFieldsThatCanBeReadBackInOrder) {
  EXPECT_THAT(
      Layout({Hash({"room", "id"}), Field("id"), Field("room")}).Columns(),
      ElementsAre("id", "room"));
  EXPECT_THAT(Layout({Bucket({"room"}, v1::MD5, 4), Field("id")}).Columns(),
              ElementsAre("room", "id"));
  EXPECT_THAT(Layout({Salt(4), Field("id"), Field("id").Desc()}).Columns(),
              ElementsAre("id"));
}

TEST(KeyLayoutTest, APrefixGoesAsFarAsTheValuesDetermineIt) {
  const Layout layout({Field("room"), Hash({"id"}, v1::MD5, 2), Field("id")});
  auto ranges = layout.Ranges({"r"});
  ASSERT_THAT(ranges, IsOk());
  ASSERT_EQ(ranges->size(), 1u);
  EXPECT_EQ((*ranges)[0].prefix, std::string("r\0", 2));
  EXPECT_EQ((*ranges)[0].end, std::string("r\x01", 2));
  ranges = layout.Ranges({"r", "i"});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ((*ranges)[0].prefix.size(), 2u + 2 + 2);
}

TEST(KeyLayoutTest, WhatLeadsTheKeyMustBeGivenFirst) {
  const Layout layout({Hash({"room", "id"}), Field("id"), Field("room")});
  EXPECT_THAT(layout.Ranges({"i"}), StatusIs(StatusCode::kInvalidArgument,
                                             "needs_first=hash(room,id)"));
  EXPECT_THAT(layout.Ranges({"i", "r"}), IsOk());
}

// A column that is only hashed must have been hashed: else it would be
// ignored, and rows of every value found.
TEST(KeyLayoutTest, AColumnThatReachesNoHashIsRefused) {
  const Layout layout({Bucket({"room", "id"}, v1::MD5, 4), Field("id")});
  EXPECT_THAT(layout.Ranges({"r"}), StatusIs(StatusCode::kInvalidArgument,
                                             "needs_first=bucket(room,id)"));
  EXPECT_THAT(layout.Ranges({"r", "i"}), IsOk());
}

TEST(KeyLayoutTest, ASaltFansOutAndHasABound) {
  const Layout layout({Salt(16), Field("room"), Field("id")});
  auto ranges = layout.Ranges({"r"});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ(ranges->size(), 16u);
  EXPECT_EQ((*ranges)[5].prefix, std::string("\x05r\0", 3));
  ranges = layout.Ranges({}, {"a", "b"});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ(ranges->size(), 32u);
  EXPECT_THAT(layout.Ranges({}, {"a", "b"}, std::nullopt, 31),
              StatusIs(StatusCode::kInvalidArgument, "max=31"));
}

TEST(KeyLayoutTest, SubBucketsFanOutForListedValuesOnly) {
  const Layout layout(
      {Field("room"), SubBucket("room", {"giant"}, {"id"}, 8), Field("id")});
  auto ranges = layout.Ranges({"giant"});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ(ranges->size(), 8u);
  ranges = layout.Ranges({"small"});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ(ranges->size(), 1u);
  EXPECT_EQ((*ranges)[0].prefix, std::string("small\0\0", 7));
  ranges = layout.Ranges({"giant", "i"});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ(ranges->size(), 1u);
}

TEST(KeyLayoutTest, ARangeNeedsAColumnWhoseOrderTheKeyKeeps) {
  const Range range{.min = "a", .max = "b"};
  EXPECT_THAT(Layout({Reverse("id")}).Ranges({}, {}, range),
              StatusIs(StatusCode::kInvalidArgument, "transform=reverse"));
  EXPECT_THAT(Layout({Hash({"id"}), Field("id")}).Ranges({}, {}, range),
              StatusIs(StatusCode::kInvalidArgument, "next_part=hash(id)"));
  EXPECT_THAT(Layout({Hash({"id"}), Field("id")}).Ranges({}, {}, range),
              StatusIs(StatusCode::kInvalidArgument,
                       "give single values with equal or any_of"));
  EXPECT_THAT(Layout({Field("id")}).Ranges({"x"}, {}, range),
              StatusIs(StatusCode::kInvalidArgument, "more values"));
  auto ranges = Layout({Field("id")}).Ranges({}, {}, range);
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ((*ranges)[0].begin, std::string("a\0", 2));
  EXPECT_EQ((*ranges)[0].end, std::string("b\x01", 2));
}

TEST(KeyLayoutTest, AnExclusiveBoundAtTheLastValueIsAnEmptyRange) {
  const Layout layout({Field("id").Desc(), Field("room")});
  // Descending, the empty string encodes to the single byte 0xFF: the last.
  auto ranges = layout.Ranges(
      {}, {}, Range{.min = {}, .max = "", .max_inclusive = false});
  ASSERT_THAT(ranges, IsOk());
  EXPECT_EQ((*ranges)[0].begin, (*ranges)[0].end);
  EXPECT_NE((*ranges)[0].end, "");
}

TEST(KeyLayoutTest, SplitRefusesWhatIsNotAWholeKey) {
  const Layout layout({Field("room"), Field("id")});
  const std::string key("r\0i\0", 4);
  EXPECT_THAT(layout->Split(key), IsOk());
  for (size_t cut = 0; cut < key.size(); ++cut) {
    EXPECT_THAT(layout->Split(key.substr(0, cut)),
                StatusIs(StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(layout->Split(key + "x"),
              StatusIs(StatusCode::kInvalidArgument, "extra_bytes=1"));
}

}  // namespace
}  // namespace dovetail::test
