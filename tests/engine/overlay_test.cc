// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/overlay.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::test {
namespace {

using Model = std::map<std::string, std::optional<std::string>>;

// What the overlay holds, by every way there is to read it.
void ExpectEqual(Overlay& overlay, const Model& model, bool ordered) {
  for (int k = 0; k < 40; ++k) {
    const std::string key = "key" + std::to_string(k);
    const auto* found = overlay.Find(key);
    const auto it = model.find(key);
    ASSERT_EQ(found != nullptr, it != model.end()) << key;
    if (found != nullptr) {
      ASSERT_EQ(*found, it->second) << key;
    }
  }
  if (!ordered) return;
  Model in_order;
  for (const Overlay::Pending* p : overlay.InOrder()) {
    in_order[p->key] = p->value;
  }
  ASSERT_EQ(in_order, model);
  const std::unique_ptr<Store> store = NewMemoryStore();
  const auto batch = store->NewBatch();
  overlay.AppendTo(batch.get(), /*known=*/nullptr);
  ASSERT_TRUE(store->Write(*batch, false).ok());
  Model stored;
  const auto it = store->NewIterator({});
  for (it->Seek({}); it->Valid(); it->Next()) {
    stored[std::string(it->key())] = std::string(it->value());
  }
  Model put;
  for (const auto& [key, value] : model) {
    if (value.has_value()) put[key] = value;
  }
  ASSERT_EQ(stored, put);
}

// Groups of requests, some of which are undone, at sizes on both sides of
// every threshold inside.
TEST(OverlayTest, UndoingARequestLeavesItsNeighbours) {
  std::mt19937_64 random(20261130);
  const auto pick = [&random](uint64_t n) { return random() % n; };
  Overlay overlay;
  for (int group = 0; group < 3000; ++group) {
    Model model;
    const uint64_t keys = 1 + pick(40);
    for (uint64_t requests = 1 + pick(6); requests > 0; --requests) {
      const size_t mark = overlay.Mark();
      Model after = model;
      for (uint64_t changes = pick(12); changes > 0; --changes) {
        const std::string key = "key" + std::to_string(pick(keys));
        if (pick(3) == 0) {
          overlay.Delete(key);
          after[key] = std::nullopt;
        } else {
          const std::string value = std::to_string(random());
          overlay.Put(key, value);
          after[key] = value;
        }
        if (pick(8) == 0) ExpectEqual(overlay, after, pick(3) == 0);
      }
      if (pick(3) == 0) {
        overlay.RollBackTo(mark);
      } else {
        model = std::move(after);
      }
      ExpectEqual(overlay, model, pick(3) == 0);
      if (HasFatalFailure()) return;
    }
    overlay.Clear();
  }
}

}  // namespace
}  // namespace dovetail::test
