// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The contract of Store, on each of its implementations.

#include "engine/storage/store.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/store_test_util.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

enum class Kind { kMemory, kLevelDb };

class StoreTest : public ::testing::TestWithParam<Kind> {
 protected:
  StoreTest() {
    if (GetParam() == Kind::kMemory) {
      store_ = NewMemoryStore();
      return;
    }
    LevelDbStoreOptions options = StoreOptions(FileSystem::Posix());
    options.write_buffer_bytes = 64 << 10;  // So that tables are written too.
    auto store = OpenStore(dir_.Sub("db"), options);
    if (store.ok()) store_ = *std::move(store);
  }
  void SetUp() override { ASSERT_NE(store_, nullptr); }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(All, StoreTest,
                         ::testing::Values(Kind::kMemory, Kind::kLevelDb),
                         [](const auto& kind) {
                           return kind.param == Kind::kMemory ? "Memory"
                                                              : "LevelDb";
                         });

TEST_P(StoreTest, ABatchIsAppliedInOrder) {
  const auto batch = store_->NewBatch();
  batch->Put("a", "1");
  batch->Put("b", "1");
  batch->Delete("a");
  batch->Put("b", "2");
  batch->Delete("c");
  batch->Put("c", "3");
  ASSERT_THAT(store_->Write(*batch, /*sync=*/false), IsOk());

  EXPECT_THAT(ReadAll(*store_),
              IsOkAndHolds(ElementsAre(Pair("b", "2"), Pair("c", "3"))));
}

TEST_P(StoreTest, AClearedBatchWritesNothing) {
  const auto batch = store_->NewBatch();
  const size_t empty = batch->ApproximateBytes();
  batch->Put("a", "1");
  EXPECT_GT(batch->ApproximateBytes(), empty);
  batch->Clear();
  EXPECT_EQ(batch->ApproximateBytes(), empty);
  ASSERT_THAT(store_->Write(*batch, /*sync=*/true), IsOk());
  EXPECT_THAT(ReadAll(*store_), IsOkAndHolds(ElementsAre()));
}

TEST_P(StoreTest, GetTellsAMissingKeyFromAnEmptyValue) {
  ASSERT_THAT(Put(*store_, "empty", ""), IsOk());
  EXPECT_EQ(GetValue(*store_, "empty"), "");
  EXPECT_EQ(GetValue(*store_, "emptyy"), std::nullopt);
  EXPECT_EQ(GetValue(*store_, ""), std::nullopt);
}

TEST_P(StoreTest, KeysOfAnyBytesAreOrderedBytewise) {
  using namespace std::string_literals;
  const std::vector<std::string> keys = {
      "\0"s,   "\0\0"s, "\0\xff"s, "a"s,      "a\0"s,     "a\xff"s,
      "\x7f"s, "\x80"s, "\xff"s,   "\xff\0"s, "\xff\xff"s};
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    ASSERT_THAT(Put(*store_, *key, *key), IsOk());
  }
  std::vector<std::string> found;
  const auto it = store_->NewIterator({});
  for (it->Seek(""); it->Valid(); it->Next()) {
    EXPECT_EQ(it->key(), it->value());
    found.emplace_back(it->key());
  }
  EXPECT_THAT(it->status(), IsOk());
  EXPECT_EQ(found, keys);
  it->Seek("a\0\0"s);
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "a\xff");
  it->Seek("\xff\xff\0"s);
  EXPECT_FALSE(it->Valid());
}

TEST_P(StoreTest, ASnapshotIsNotMovedByWrites) {
  ASSERT_THAT(Put(*store_, "kept", "old"), IsOk());
  ASSERT_THAT(Put(*store_, "gone", "old"), IsOk());
  const auto snapshot = store_->GetSnapshot();
  const auto batch = store_->NewBatch();
  batch->Put("kept", "new");
  batch->Delete("gone");
  batch->Put("added", "new");
  ASSERT_THAT(store_->Write(*batch, false), IsOk());
  store_->CompactAll();

  StoreReadOptions then;
  then.snapshot = snapshot.get();
  EXPECT_EQ(GetValue(*store_, "gone", then), "old");
  EXPECT_EQ(GetValue(*store_, "added", then), std::nullopt);
  EXPECT_THAT(
      ReadAll(*store_, then),
      IsOkAndHolds(ElementsAre(Pair("gone", "old"), Pair("kept", "old"))));
  EXPECT_THAT(ReadAll(*store_), IsOkAndHolds(ElementsAre(Pair("added", "new"),
                                                         Pair("kept", "new"))));
}

TEST_P(StoreTest, AnIteratorStaysInTheStateItWasMadeIn) {
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_THAT(Put(*store_, key, "old"), IsOk());
  }
  const auto it = store_->NewIterator({});
  it->Seek("a");
  const auto batch = store_->NewBatch();
  batch->Delete("b");
  batch->Put("bb", "new");
  batch->Put("c", "new");
  ASSERT_THAT(store_->Write(*batch, false), IsOk());

  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "b");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "c");
  EXPECT_EQ(it->value(), "old");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_THAT(it->status(), IsOk());
}

// Several snapshots of different ages, released out of order.
TEST_P(StoreTest, EverySnapshotSeesItsOwnVersion) {
  std::vector<std::unique_ptr<StoreSnapshot>> snapshots;
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(Put(*store_, "k", std::to_string(i)), IsOk());
    snapshots.push_back(store_->GetSnapshot());
  }
  const auto deletion = store_->NewBatch();
  deletion->Delete("k");
  ASSERT_THAT(store_->Write(*deletion, false), IsOk());
  for (const int released : {4, 0, 9}) snapshots[released].reset();
  ASSERT_THAT(Put(*store_, "other", ""), IsOk());
  for (int i = 0; i < 10; ++i) {
    if (snapshots[i] == nullptr) continue;
    StoreReadOptions then;
    then.snapshot = snapshots[i].get();
    EXPECT_EQ(GetValue(*store_, "k", then), std::to_string(i));
  }
  EXPECT_EQ(GetValue(*store_, "k"), std::nullopt);
}

TEST_P(StoreTest, LargeValuesComeBackWhole) {
  for (const size_t size :
       {size_t{32761}, size_t{32768}, size_t{1} << 20, (size_t{3} << 20) + 1}) {
    std::string value(size, 'v');
    for (size_t i = 0; i < size; i += 997) value[i] = static_cast<char>(i);
    const std::string key = std::to_string(size);
    ASSERT_THAT(Put(*store_, key, value), IsOk());
    EXPECT_TRUE(GetValue(*store_, key) == value) << size;
  }
  EXPECT_GE(store_->Level0Files(), 0);
  EXPECT_FALSE(store_->Report().empty());
}

TEST_P(StoreTest, SizesGrowWithTheRange) {
  for (int i = 0; i < 2000; ++i) {
    ASSERT_THAT(Put(*store_, "k" + std::to_string(10000 + i),
                    std::string(200, static_cast<char>(i * 7 + i / 13))),
                IsOk());
  }
  store_->CompactAll();
  EXPECT_EQ(store_->ApproximateSize("x", "y"), 0);
  EXPECT_GE(store_->ApproximateSize("k10000", "k13000"),
            store_->ApproximateSize("k10000", "k10500"));
  EXPECT_GT(store_->ApproximateSize("k10000", "k13000"), 0);
}

// One writer moves a pair of keys together; readers must never see them apart.
TEST_P(StoreTest, ReadersBesideAWriterSeeWholeBatches) {
  constexpr int kWrites = 2000;
  ASSERT_THAT(Put(*store_, "warm", ""), IsOk());
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  auto read = [&] {
    while (!done.load()) {
      const auto snapshot = store_->GetSnapshot();
      StoreReadOptions options;
      options.snapshot = snapshot.get();
      if (GetValue(*store_, "left", options) !=
          GetValue(*store_, "right", options)) {
        ++torn;
      }
      const auto all = ReadAll(*store_);
      if (!all.ok()) {
        ++torn;
        continue;
      }
      const auto left = all->find("left");
      const auto right = all->find("right");
      const bool both = left != all->end() && right != all->end();
      if (both ? left->second != right->second : left != right) ++torn;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  for (int i = 0; i < kWrites; ++i) {
    const auto batch = store_->NewBatch();
    if (i % 10 == 9) {
      batch->Delete("left");
      batch->Delete("right");
    } else {
      batch->Put("left", std::to_string(i));
      batch->Put("right", std::to_string(i));
    }
    EXPECT_THAT(store_->Write(*batch, false), IsOk());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn.load(), 0);
}

TEST(MemoryStoreTest, DropsVersionsThatNoSnapshotNeeds) {
  const std::unique_ptr<Store> store = NewMemoryStore();
  const auto batch = store->NewBatch();
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(Put(*store, "k", std::string(1000, 'x')), IsOk());
  }
  EXPECT_EQ(store->ApproximateSize("k", "l"), 1001);

  auto snapshot = store->GetSnapshot();
  batch->Delete("k");
  ASSERT_THAT(store->Write(*batch, false), IsOk());
  EXPECT_EQ(store->ApproximateSize("k", "l"), 1001);
  snapshot.reset();
  EXPECT_EQ(store->ApproximateSize("k", "l"), 0);
  EXPECT_THAT(store->Report(), ::testing::HasSubstr("keys=0"));
}

}  // namespace
}  // namespace dovetail::test
