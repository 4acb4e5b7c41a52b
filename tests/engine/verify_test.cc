// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Damage is done below the engine, in the closed store. Of a database without
// digests, which would notice all of it too: digest_test.cc has those.

#include <memory>
#include <string>
#include <vector>

#include "engine/row_format.h"
#include "engine/storage/store.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Spaces are numbered in the order of the schema: rows, then its indexes.
constexpr char kRows = 1;
constexpr char kByStatus = 2;
constexpr char kByOrderId = 3;

class VerifyTest : public EngineTest {
 protected:
  struct KeyValue {
    std::string key;
    std::string value;
  };

  void SetUp() override {
    options_.digests = false;
    for (int i = 0; i < 10; ++i) {
      ASSERT_THAT(Put(MakeOrder("o" + std::to_string(i), "s", i)), IsOk());
    }
  }

  static std::vector<KeyValue> Space(Store& store, char space) {
    std::vector<KeyValue> all;
    const auto it = store.NewIterator({});
    for (it->Seek(std::string(1, space)); it->Valid(); it->Next()) {
      if (it->key()[0] != space) break;
      all.push_back({std::string(it->key()), std::string(it->value())});
    }
    return all;
  }
  void ExpectRepairedTo(uint64_t added, uint64_t removed) {
    const auto repaired = engine().Repair({});
    ASSERT_THAT(repaired, IsOk());
    EXPECT_EQ(repaired->entries_added, added);
    EXPECT_EQ(repaired->entries_removed, removed);
    EXPECT_TRUE(Verify().clean()) << Verify().Summary();
  }
};

TEST_F(VerifyTest, CleanDataIsClean) {
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.rows, 10u);
  EXPECT_EQ(report.entries, 20u);
  EXPECT_EQ(report.Summary(),
            "rows=10 entries=20 missing=0 dangling=0 wrong_entries=0 "
            "duplicate_unique=0 wrong_rows=0 wrong_digests=0");
}

TEST_F(VerifyTest, AMissingEntryIsNamedAndPutBack) {
  Damage([](Store& store, StoreBatch& batch) {
    batch.Delete(Space(store, kByStatus)[3].key);
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.missing, 1u);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, Finding::Kind::kMissingEntry);
  EXPECT_EQ(report.findings[0].index, "by_status");
  EXPECT_THAT(report.findings[0].detail, HasSubstr("order_id=\"o6\""));
  ExpectRepairedTo(1, 0);
  EXPECT_EQ(ByStatus("s", v1::CREATED).size(), 10u);
}

TEST_F(VerifyTest, EntriesOfAVanishedRowDangleAndAreRemoved) {
  Damage([](Store& store, StoreBatch& batch) {
    batch.Delete(Space(store, kRows)[0].key);
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.dangling, 2u);
  EXPECT_EQ(report.missing, 0u);
  // A read that meets one says so instead of leaving the row out.
  EXPECT_THAT(engine().GetBy({}, "orders", "by_order_id", {"o9"}),
              StatusIs(absl::StatusCode::kDataLoss, "run verify"));
  ExpectRepairedTo(0, 2);
}

TEST_F(VerifyTest, AnEntryWithAnotherRowsContentIsWrong) {
  Damage([](Store& store, StoreBatch& batch) {
    auto entries = Space(store, kByOrderId);
    std::string value = entries[0].value;
    value.back() = static_cast<char>(value.back() ^ 1);  // Another time.
    batch.Put(entries[0].key, value);
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.wrong_entries, 1u);
  EXPECT_EQ(report.dangling, 0u);
  ExpectRepairedTo(1, 0);
}

TEST_F(VerifyTest, AnEntryThatIsNoEntryDangles) {
  Damage([](Store&, StoreBatch& batch) {
    batch.Put(std::string(1, kByStatus) + "garbage", "x");
  });
  EXPECT_EQ(Verify().dangling, 1u);
  ExpectRepairedTo(0, 1);
}

TEST_F(VerifyTest, TwoRowsOfOneIdentityAreForAPersonToSettle) {
  Damage([](Store& store, StoreBatch& batch) {
    // A copy of a row under another time, with its own status entry.
    v1::Order order = MakeOrder("o5", "s", 1000);
    auto rows = Space(store, kRows);
    std::string key = rows[4].key;  // o5: newest first.
    ASSERT_THAT(key, HasSubstr("o5"));
    const size_t time_at = key.size() - 3 - 8;
    for (int i = 0; i < 8; ++i) {
      const uint64_t flipped = ~(uint64_t{1000} ^ (uint64_t{1} << 63));
      key[time_at + i] = static_cast<char>(flipped >> (8 * (7 - i)));
    }
    batch.Put(key, EncodeRow(SequenceNumber{1}, Bytes(order)));
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.duplicate_unique, 1u);
  EXPECT_EQ(report.missing, 1u);  // The copy's status entry.
  const auto repaired = engine().Repair({});
  ASSERT_THAT(repaired, IsOk());
  EXPECT_EQ(repaired->not_repairable, 1u);
  EXPECT_EQ(repaired->entries_added, 1u);
  EXPECT_EQ(Verify().duplicate_unique, 1u);
  // Deleting one of them settles it.
  ASSERT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "orders", RowRef::Key({"s", 1000, "o5"}))),
              IsOk());
  ASSERT_THAT(engine().Repair({}), IsOk());
}

TEST_F(VerifyTest, ARowUnderAWrongKeyOrOfGarbageIsReported) {
  Damage([](Store& store, StoreBatch& batch) {
    auto rows = Space(store, kRows);
    batch.Put(rows[0].key, rows[1].value);
    batch.Put(rows[2].key, "\x07garbage");
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.wrong_rows, 2u);
  // For the rest of the test's own verify.
  Damage([](Store& store, StoreBatch& batch) {
    auto rows = Space(store, kRows);
    batch.Delete(rows[0].key);
    batch.Delete(rows[2].key);
  });
  ASSERT_THAT(engine().Repair({}), IsOk());
}

TEST_F(VerifyTest, ADryRunChangesNothing) {
  Damage([](Store& store, StoreBatch& batch) {
    batch.Delete(Space(store, kByStatus)[3].key);
  });
  const auto repaired = engine().Repair({.dry_run = true});
  ASSERT_THAT(repaired, IsOk());
  EXPECT_EQ(repaired->before.missing, 1u);
  EXPECT_EQ(repaired->entries_added, 0u);
  EXPECT_EQ(Verify().missing, 1u);
  ASSERT_THAT(engine().Repair({}), IsOk());
}

TEST_F(VerifyTest, RepairLooksAgainAndLeavesWhatAWriterHasSettled) {
  Damage([](Store& store, StoreBatch& batch) {
    batch.Delete(Space(store, kByStatus)[3].key);  // o6
  });
  // The writer's change comes between repair's look and its hand: the
  // progress callback runs while repair verifies.
  bool done = false;
  const auto repaired = engine().Repair({.progress = [&](const auto&) {
    if (!done) {
      EXPECT_THAT(SetStatus("o6", v1::SHIPPED), IsOk());
    }
    done = true;
    return true;
  }});
  ASSERT_THAT(repaired, IsOk());
  EXPECT_TRUE(Verify().clean());
}

TEST_F(VerifyTest, ProgressMayCancel) {
  VerifyOptions options;
  options.progress_every = 1;
  uint64_t calls = 0;
  options.progress = [&calls](const VerifyProgress&) { return ++calls < 5; };
  EXPECT_THAT(engine().Verify(options), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(calls, 5u);
}

TEST_F(VerifyTest, FindingsAreCountedBeyondWhatIsKept) {
  Damage([](Store& store, StoreBatch& batch) {
    for (const KeyValue& entry : Space(store, kByStatus)) {
      batch.Delete(entry.key);
    }
  });
  VerifyOptions options;
  options.findings_max = 2;
  uint64_t heard = 0;
  options.on_finding = [&heard](const Finding&) { ++heard; };
  const auto report = engine().Verify(options);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->missing, 10u);
  EXPECT_EQ(report->findings.size(), 2u);
  EXPECT_EQ(heard, 10u);
  ExpectRepairedTo(10, 0);
}

}  // namespace
}  // namespace dovetail::test
