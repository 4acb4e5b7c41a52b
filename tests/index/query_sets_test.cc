// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "index/query/value_order.h"
#include "index/query/value_set.h"

namespace dovetail {
namespace {

// The text must outlive the value.
FieldValue Text(std::string_view text) {
  FieldValue value;
  value.is_null = false;
  value.text = text;
  return value;
}

// All texts of up to three letters out of two, and null.
class ValueSetTest : public ::testing::Test {
 protected:
  ValueSetTest() {
    texts_.push_back("");
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i].size() == 3) break;
      const std::string text = texts_[i];
      texts_.push_back(text + 'a');
      texts_.push_back(text + '\xff');
    }
  }

  // Which of the texts, then null, are members.
  std::vector<bool> Members(const ValueSet& set) const {
    std::vector<bool> members;
    for (const std::string& text : texts_) {
      members.push_back(set.Contains(FieldType::kString, Text(text)));
    }
    members.push_back(set.Contains(FieldType::kString, FieldValue()));
    return members;
  }

  ValueSet Random() {
    ValueSet set;
    for (uint64_t n = rng_() % 3; n > 0; --n) {
      ValueInterval interval;
      interval.begin = texts_[rng_() % texts_.size()];
      interval.begin_after = rng_() % 2 == 0;
      if (rng_() % 3 > 0) {
        interval.end = texts_[rng_() % texts_.size()];
        interval.end_after = rng_() % 2 == 0;
      }
      set = set.Unite(ValueSet::Of(std::move(interval)));
    }
    if (rng_() % 3 == 0) set = set.Unite(ValueSet::Null());
    return set;
  }

  std::vector<std::string> texts_;
  std::mt19937_64 rng_{1};
};

TEST_F(ValueSetTest, OperationsAreThoseOfTheirMembers) {
  for (int round = 0; round < 2000; ++round) {
    const ValueSet a = Random();
    const ValueSet b = Random();
    const std::vector<bool> in_a = Members(a);
    const std::vector<bool> in_b = Members(b);
    std::vector<bool> either, both, not_a;
    for (size_t i = 0; i < in_a.size(); ++i) {
      either.push_back(in_a[i] || in_b[i]);
      both.push_back(in_a[i] && in_b[i]);
      not_a.push_back(!in_a[i]);
    }
    ASSERT_EQ(Members(a.Unite(b)), either) << round;
    ASSERT_EQ(Members(a.Intersect(b)), both) << round;
    ASSERT_EQ(Members(a.Complement()), not_a) << round;
    ASSERT_EQ(a.Complement().Complement(), a) << round;
    ASSERT_TRUE(a.Intersect(b).IsSubsetOf(a)) << round;
    ASSERT_TRUE(a.Unite(a.Complement()).is_all()) << round;
  }
}

TEST_F(ValueSetTest, PointsAreOneIntervalEach) {
  const ValueSet set = ValueSet::Points({"b", "a", "b"});
  EXPECT_TRUE(set.is_points());
  EXPECT_EQ(set.point_count(), 2u);
  EXPECT_FALSE(set.is_single());
  EXPECT_TRUE(ValueSet::Null().is_single());
  EXPECT_FALSE(ValueSet::Values().is_points());
}

TEST(ValueOrderTest, BytesSortLikeValuesAndLeadBack) {
  const auto number = [](int64_t bits) {
    FieldValue value;
    value.is_null = false;
    value.bits = static_cast<uint64_t>(bits);
    return value;
  };
  std::string before;
  for (const int64_t v : {INT64_MIN, int64_t{-2}, int64_t{-1}, int64_t{0},
                          int64_t{1}, INT64_MAX}) {
    std::string buffer;
    const std::string bytes(
        SortableBytes(FieldType::kInt64, number(v), &buffer));
    EXPECT_LT(before, bytes);
    before = bytes;
    const auto back = FromSortableBytes(FieldType::kInt64, bytes);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, number(v));
  }
  EXPECT_FALSE(FromSortableBytes(FieldType::kInt64, "short").ok());
}

TEST(ValueOrderTest, SortKeysOfSeveralFieldsCompareFieldByField) {
  const SortField up{FieldType::kString, false, false};
  const SortField down{FieldType::kString, true, true};
  const std::vector<std::pair<FieldValue, FieldValue>> rows = {
      {FieldValue(), Text("a")},
      {Text(""), Text("b")},
      {Text(""), Text(std::string_view("\0", 1))},
      {Text(""), FieldValue()},
      {Text(std::string_view("\0a", 2)), Text("z")},
      {Text("a"), Text("z")},
      {Text("a"), Text("")},
      {Text("a"), FieldValue()},
      {Text("\xff"), Text("x")}};
  std::string before;
  for (const auto& [first, second] : rows) {
    std::string key;
    AppendSortKey(up, first, &key);
    AppendSortKey(down, second, &key);
    EXPECT_LT(before, key);
    before = key;
    std::string_view rest = key;
    FieldValue value;
    std::string storage;
    ASSERT_TRUE(ConsumeSortKey(up, &rest, &value, &storage).ok());
    EXPECT_EQ(value, first);
    ASSERT_TRUE(ConsumeSortKey(down, &rest, &value, &storage).ok());
    EXPECT_EQ(value, second);
    EXPECT_TRUE(rest.empty());
  }
}

}  // namespace
}  // namespace dovetail
