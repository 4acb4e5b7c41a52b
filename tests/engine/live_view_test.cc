// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/live_view.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/shared_map.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::test {
namespace {

uint64_t Seed() {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20261201;
}

std::string KeyOf(uint64_t n) {
  std::string key = std::to_string(n);
  return "k" + std::string(4 - key.size(), '0') + key;
}

template <typename V>
std::map<std::string, V> ContentOf(const SharedMap<V>& map) {
  std::map<std::string, V> content;
  for (auto it = map.Begin(); it.Valid(); it.Next()) {
    content[it->key] = it->value;
  }
  return content;
}

TEST(SharedMapTest, IsTheMapItsChangesLeadTo) {
  std::mt19937_64 random(Seed());
  SharedMap<int> map;
  std::map<std::string, int> model;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = KeyOf(random() % 600);
    // It grows, then shrinks to nothing.
    if (random() % 10 < (i < 10'000 ? 7u : 2u)) {
      map.Put(key, i);
      model[key] = i;
    } else {
      map.Erase(key);
      model.erase(key);
    }
    ASSERT_EQ(map.size(), model.size());
    const std::string wanted = KeyOf(random() % 600);
    const auto at_least = model.lower_bound(wanted);
    const auto found = map.AtLeast(wanted);
    ASSERT_EQ(found.Valid(), at_least != model.end()) << wanted;
    if (found.Valid()) {
      ASSERT_EQ(found->key, at_least->first);
    }
    const auto behind = model.upper_bound(wanted);
    const auto* at_most = map.AtMost(wanted);
    ASSERT_EQ(at_most != nullptr, behind != model.begin()) << wanted;
    if (at_most != nullptr) {
      ASSERT_EQ(at_most->key, std::prev(behind)->first);
    }
    if (i % 500 == 0) {
      ASSERT_EQ(ContentOf(map), model);
    }
  }
}

TEST(SharedMapTest, CopiesStayAsTheyAre) {
  SharedMap<int> map;
  for (int i = 0; i < 300; ++i) map.Put(KeyOf(i), i);
  const SharedMap<int> copy = map;
  const auto before = ContentOf(copy);
  for (int i = 0; i < 300; i += 2) map.Erase(KeyOf(i));
  map.Filter([](auto* item) { return item->value % 3 == 0; });
  EXPECT_EQ(ContentOf(copy), before);
  EXPECT_EQ(map.size(), 50u);
}

using Model = std::map<std::string, std::string>;

FoundRange FindIn(const Model& model, std::string begin, std::string end) {
  FoundRange found{std::move(begin), std::move(end), {}};
  for (auto it = model.lower_bound(found.begin);
       it != model.end() && it->first < found.end; ++it) {
    found.entries.push_back(
        std::make_shared<const LiveEntry>(LiveEntry{it->first, it->second}));
  }
  return found;
}

// Ranges lie apart, and have what lives between their bounds.
void ExpectHolds(const LiveView& view, const Model& model) {
  std::string last_end;
  uint64_t entries = 0;
  for (auto it = view.ranges().Begin(); it.Valid(); it.Next()) {
    ASSERT_LE(last_end, it->key);
    ASSERT_LT(it->key, it->value->end);
    last_end = it->value->end;
    const FoundRange wanted = FindIn(model, it->key, it->value->end);
    ASSERT_EQ(it->value->entries.size(), wanted.entries.size())
        << it->key << " to " << it->value->end;
    for (size_t i = 0; i < wanted.entries.size(); ++i) {
      ASSERT_EQ(it->value->entries[i]->key, wanted.entries[i]->key);
      ASSERT_EQ(it->value->entries[i]->value, wanted.entries[i]->value);
    }
    entries += wanted.entries.size();
  }
  ASSERT_EQ(view.live_entries(), entries);
}

TEST(LiveViewTest, RangesFollowWhateverChanges) {
  std::mt19937_64 random(Seed());
  LiveView view;
  Model model;
  for (int i = 0; i < 30'000; ++i) {
    const std::string key = KeyOf(random() % 300);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        // Now and then a value that is not kept.
        const std::string value(
            random() % 20 == 0 ? LiveView::kValueBytesMax + 1 : random() % 9,
            'v');
        model[key] = value;
        view.Put(key, value, 4);
        break;
      }
      case 3:
      case 4:
      case 5:
        model.erase(key);
        view.Delete(key);
        break;
      case 6: {
        std::string end = KeyOf(random() % 300);
        if (random() % 2 == 0) end = KeyAfter(end);
        FoundRange found = FindIn(model, key, std::move(end));
        bool kept = found.entries.size() <= 8;
        for (const auto& entry : found.entries) {
          kept = kept && entry->value.size() <= LiveView::kValueBytesMax;
        }
        if (kept) view.Add(std::move(found));
        break;
      }
      default:
        if (random() % 50 == 0) view.ShrinkTo(view.live_bytes() / 2);
    }
    if (i % 20 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(view, model)) << i;
    }
  }
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(view, model));
  view.ShrinkTo(0);
  EXPECT_TRUE(view.ranges().empty());
  EXPECT_EQ(view.live_bytes(), 0u);
}

TEST(LiveViewTest, ARangeGrowsOverWhatDiesAtItsEnd) {
  LiveView view;
  view.Add({"a", "m", {}});
  view.Delete("m");
  ASSERT_NE(view.RangeAt("m"), nullptr);
  EXPECT_EQ(view.RangeAt("ma"), nullptr);
}

TEST(LiveViewTest, ARangeThatIsUsedIsForgottenLast) {
  LiveView view;
  view.Add({"a", "b", {}});
  view.Add({"c", "d", {}});
  view.ShrinkTo(view.live_bytes());  // Nothing to do.
  view.RangeAt("a")->value->used = false;
  view.ShrinkTo(view.live_bytes() - 1);
  EXPECT_EQ(view.RangeAt("a"), nullptr);
  EXPECT_NE(view.RangeAt("c"), nullptr);
}

TEST(LiveViewTest, ThinnedOutDeadKeysStandForAsMany) {
  LiveView view;
  for (uint64_t i = 0; i < 1000; ++i) view.AddDead(KeyOf(i), {i, 16});
  const size_t bytes = view.dead_bytes();
  view.ThinDead();
  EXPECT_EQ(view.dead().size(), 500u);
  EXPECT_EQ(view.dead_weight(), 16'000u);
  EXPECT_EQ(view.dead_bytes(), bytes / 2);
  EXPECT_EQ(view.DeadIn(KeyOf(0), KeyOf(100)), 1600u);
  view.DropDead(KeyOf(0), KeyOf(99), 49);
  EXPECT_EQ(view.DeadIn(KeyOf(0), KeyOf(100)), 800u);
}

}  // namespace
}  // namespace dovetail::test
