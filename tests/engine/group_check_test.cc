// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/group_check.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace dovetail::test {
namespace {

using Groups = std::map<std::string, GroupValue>;
using Stored = std::map<std::string, std::string>;

std::string Bytes(const GroupValue& value) {
  std::string bytes;
  AppendGroupValue(value, /*with_sum=*/true, &bytes);
  return bytes;
}

Stored StoredOf(const Groups& groups) {
  Stored stored;
  for (const auto& [group, value] : groups) stored[group] = Bytes(value);
  return stored;
}

GroupSums SumsOf(const Groups& rows, const Stored& stored) {
  GroupSums sums;
  for (const auto& [group, value] : rows) {
    // Row by row, in two halves.
    const GroupValue one{1, value.sum};
    sums.AddRow(group, one);
    if (value.count > 1) sums.AddRow(group, {value.count - 1, 0});
  }
  for (const auto& [group, bytes] : stored) {
    sums.AddCounter(group, bytes, /*with_sum=*/true);
  }
  return sums;
}

std::map<std::string, GroupDifference> Differences(const Groups& rows,
                                                   const Stored& stored,
                                                   size_t bytes_max,
                                                   int* passes) {
  const GroupSums sums = SumsOf(rows, stored);
  GroupPasses run(sums, /*with_sum=*/true, bytes_max);
  std::map<std::string, GroupDifference> found;
  const auto differs = [&](GroupDifference difference) {
    const std::string group = difference.group;
    EXPECT_TRUE(found.emplace(group, std::move(difference)).second) << group;
  };
  for (*passes = 0; !run.done(); ++*passes) {
    for (const auto& [group, value] : rows) run.AddRow(group, value);
    for (const auto& [group, bytes] : stored) {
      run.AddCounter(group, bytes, differs);
    }
    run.End(differs);
  }
  return found;
}

TEST(GroupCheckTest, OneWrongCounterIsAlwaysSeen) {
  const Groups rows = {{"a", {3, 7}}};
  for (int bit = 0; bit < 127; ++bit) {
    Groups wrong = rows;
    wrong["a"].sum += absl::int128(1) << bit;
    EXPECT_FALSE(SumsOf(rows, StoredOf(wrong)).Same()) << bit;
  }
  EXPECT_TRUE(SumsOf(rows, StoredOf(rows)).Same());
}

// Any damage is named exactly, whatever fits in memory at a time.
TEST(GroupCheckTest, PassesNameWhatDiffers) {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  uint64_t seed = std::random_device()();
  if (given != nullptr && !absl::SimpleAtoi(given, &seed)) seed = 0;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    Groups rows;
    for (uint64_t n = 1 + random() % 3000; n > 0; --n) {
      rows[absl::StrCat("group-", random() % 10'000)] = {
          static_cast<int64_t>(1 + random() % 5),
          static_cast<int64_t>(random() % 100) - 50};
    }
    Stored stored = StoredOf(rows);
    Stored damaged = stored;
    for (uint64_t n = 1 + random() % 40; n > 0; --n) {
      auto at = damaged.lower_bound(absl::StrCat("group-", random() % 10'000));
      if (at == damaged.end()) at = damaged.begin();
      switch (random() % 4) {
        case 0:
          if (damaged.size() > 1) damaged.erase(at);
          break;
        case 1:
          at->second = Bytes({9, static_cast<int64_t>(random() % 9)});
          break;
        case 2:
          at->second = "\x80";
          break;
        default:
          damaged[absl::StrCat("none-", random())] = Bytes({1, 0});
      }
    }
    for (const size_t bytes_max : {size_t{1} << 30, size_t{8'000}}) {
      int passes = 0;
      const auto found = Differences(rows, damaged, bytes_max, &passes);
      size_t expected = 0;
      for (const auto& [group, bytes] : stored) {
        const auto is = damaged.find(group);
        if (is != damaged.end() && is->second == bytes) continue;
        ++expected;
        ASSERT_TRUE(found.contains(group)) << group;
        EXPECT_EQ(found.at(group).wanted, rows.at(group));
        EXPECT_EQ(found.at(group).has.has_value(), is != damaged.end());
        EXPECT_EQ(found.at(group).counted.has_value(),
                  is == damaged.end() || is->second != "\x80");
      }
      for (const auto& [group, bytes] : damaged) {
        if (stored.contains(group)) continue;
        ++expected;
        ASSERT_TRUE(found.contains(group)) << group;
        EXPECT_EQ(found.at(group).wanted.count, 0);
      }
      EXPECT_EQ(found.size(), expected);
    }
  }
}

}  // namespace
}  // namespace dovetail::test
