// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Whether digests stay exact is asked of verify, which makes them anew from the
// bytes on disk: here at chosen points, and in the core_model and surface_build
// programs after random requests and builds. The fixture verifies at the end
// of each test.

#include "dovetail/digest.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"
#include "engine/space_sum.h"
#include "engine/storage/store.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The bytes that docs/format.md hashes in its example, and XXH3 of 128 bits
// over them as its reference library gives it.
TEST(SpaceHasherTest, HashesTheFramedNamesThenTheKeyThenTheRecord) {
  EXPECT_EQ(DigestText(SpaceHasher("orders", "").Of("k", "abc").sum),
            "4c5164cd3e8df0289c4d7cfd84376117");
  EXPECT_EQ(DigestText(SpaceHasher("orders", "by_id").Of("k", "").sum),
            "1d78425aa5fc19e854d8441b57f94c92");
}

TEST(SpaceHasherTest, PartsDoNotRunTogether) {
  const absl::uint128 sum = SpaceHasher("ab", "c").Of("d", "e").sum;
  EXPECT_NE(sum, SpaceHasher("a", "bc").Of("d", "e").sum);
  EXPECT_NE(sum, SpaceHasher("ab", "").Of("cd", "e").sum);
  EXPECT_NE(sum, SpaceHasher("ab", "c").Of("de", "").sum);
  EXPECT_NE(sum, SpaceHasher("ab", "c").Of("", "de").sum);
}

// Large ones are hashed piece by piece: the same hash.
TEST(SpaceHasherTest, ALargeRecordHashesTheSameWay) {
  EXPECT_EQ(
      DigestText(
          SpaceHasher("orders", "").Of("k", std::string(100'000, 'x')).sum),
      "2f81621402c9e0c9af1b4b4370548cd8");
}

class DigestTest : public EngineTest {
 protected:
  std::vector<SpaceDigest> Digests() {
    const auto report = engine().Digest({.indexes = true});
    EXPECT_THAT(report, IsOk());
    return report.ok() ? report->spaces : std::vector<SpaceDigest>();
  }
  std::vector<uint64_t> Counts() {
    std::vector<uint64_t> counts;
    for (const SpaceDigest& space : Digests()) counts.push_back(space.count);
    return counts;
  }
  static std::string FirstKey(Store& store, int space) {
    const std::string prefix = SpacePrefix(SpaceId(space));
    const auto it = store.NewIterator({});
    it->Seek(prefix);
    EXPECT_TRUE(it->Valid() && it->key().starts_with(prefix));
    return std::string(it->key());
  }
  void Load(int begin, int end) {
    WriteBatch batch;
    for (int i = begin; i < end; ++i) {
      v1::Order order = MakeOrder(absl::StrCat("o", i), "s", i);
      order.set_note(absl::StrCat("n", i));
      batch.Put("orders", Bytes(order));
    }
    ASSERT_THAT(engine().Write({}, std::move(batch)), IsOk());
  }
};

TEST_F(DigestTest, ANewDatabaseKeepsThemFromNothingOn) {
  EXPECT_THAT(Digests(),
              ElementsAre(SpaceDigest{"orders", "", 0, 0},
                          SpaceDigest{"orders", "by_status", 0, 0},
                          SpaceDigest{"orders", "by_order_id", 0, 0}));
}

TEST_F(DigestTest, EqualContentHasEqualDigestsHoweverItCameAbout) {
  Load(0, 20);
  ASSERT_THAT(SetStatus("o3", v1::SHIPPED), IsOk());
  ASSERT_THAT(DeleteId("o7"), IsOk());
  const std::vector<SpaceDigest> one = Digests();
  EXPECT_THAT(Counts(), ElementsAre(19, 19, 19));

  auto other = Engine::Open(dir_.Sub("other"), schema_);
  ASSERT_THAT(other, IsOk());
  for (int i = 19; i >= 0; --i) {
    if (i == 7) continue;
    v1::Order order = MakeOrder(absl::StrCat("o", i), "s", i,
                                i == 3 ? v1::SHIPPED : v1::CREATED);
    order.set_note(absl::StrCat("n", i));
    ASSERT_THAT((*other)->Write({}, WriteBatch().Put("orders", Bytes(order))),
                IsOk());
  }
  const auto report = (*other)->Digest({.indexes = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->spaces, one);
}

TEST_F(DigestTest, OneOtherByteIsAnotherDigest) {
  Load(0, 3);
  const std::vector<SpaceDigest> before = Digests();
  v1::Order order = MakeOrder("o1", "s", 1);
  order.set_note("N1");
  ASSERT_THAT(Put(order), IsOk());
  const std::vector<SpaceDigest> after = Digests();
  EXPECT_NE(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);  // No index reads the note.
  EXPECT_EQ(after[2], before[2]);
}

TEST_F(DigestTest, WritingTheSameAgainChangesNothing) {
  Load(0, 3);
  const std::vector<SpaceDigest> before = Digests();
  Load(0, 3);
  EXPECT_EQ(Digests(), before);
}

// Both requests may run in one group; the refused one leaves no trace.
TEST_F(DigestTest, ARefusedRequestIsTakenBack) {
  Load(0, 3);
  const std::vector<SpaceDigest> before = Digests();
  WriteBatch batch;
  batch.Put("orders", Bytes(MakeOrder("o9", "s", 9)));
  batch.Delete("orders", RowRef::By("by_order_id", {"o1"}));
  batch.Insert("orders", Bytes(MakeOrder("o0", "s", 0)));
  EXPECT_THAT(engine().Write({}, std::move(batch)),
              StatusIs(StatusCode::kAlreadyExists));
  EXPECT_EQ(Digests(), before);
}

TEST_F(DigestTest, TheyOutliveTheEngine) {
  Load(0, 10);
  const std::vector<SpaceDigest> before = Digests();
  Open();
  EXPECT_EQ(Digests(), before);
  Load(10, 11);
  EXPECT_THAT(Counts(), ElementsAre(11, 11, 11));
}

TEST_F(DigestTest, StatisticsHaveTheCounts) {
  Load(0, 10);
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  ASSERT_EQ(stats->indexes.size(), 3u);
  EXPECT_EQ(stats->indexes[0].entries, 10u);
  EXPECT_EQ(stats->indexes[1].entries, std::nullopt);
  EXPECT_GT(stats->levels.write_buffer_bytes, 0u);
  EXPECT_LE(stats->levels.write_buffer_bytes, stats->levels.memory_bytes);
}

// Rows are kept, entries are read.
TEST_F(DigestTest, IndexesAreSummedUpOnDemandAlone) {
  Load(0, 10);
  const auto rows = engine().Digest();
  ASSERT_THAT(rows, IsOk());
  EXPECT_THAT(rows->spaces, ElementsAre(Digests()[0]));
}

TEST_F(DigestTest, AnIndexThatIsBeingBuiltHasNone) {
  options_.background_work = false;
  Load(0, 100);
  ASSERT_THAT(
      engine().AddIndex("orders", ValueIndex("by_note", {Field("note")})),
      IsOk());
  EXPECT_EQ(Digests().size(), 3u);
  ASSERT_THAT(engine().BuildIndex("orders", "by_note", {}), IsOk());
  EXPECT_THAT(Counts(), ElementsAre(100, 100, 100, 100));
}

TEST_F(DigestTest, ATableThatIsAddedBeginsEmpty) {
  Load(0, 3);
  schema_.Add(presets::SellerOrders("more"));
  Open();
  EXPECT_THAT(Counts(), ElementsAre(3, 3, 3, 0, 0, 0));
}

// Rows and entries agree with each other, and yet something is gone.
TEST_F(DigestTest, ALostRowIsNoticedAlthoughItsEntriesAreGoneToo) {
  Load(0, 1);
  Damage([](Store& store, StoreBatch& batch) {
    for (const int space : {1, 2, 3}) batch.Delete(FirstKey(store, space));
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.wrong_digests, 1u);
  EXPECT_EQ(report.missing + report.dangling + report.wrong_rows, 0u);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, Finding::Kind::kWrongDigest);
  EXPECT_THAT(report.findings[0].detail, HasSubstr("of count=1 but there is"));
  EXPECT_THAT(report.Summary(), HasSubstr("wrong_digests=1"));

  const auto repaired = engine().Repair({});
  ASSERT_THAT(repaired, IsOk());
  EXPECT_EQ(repaired->digests_set, 1u);
  EXPECT_TRUE(Verify().clean());
  EXPECT_THAT(Counts(), ElementsAre(0, 0, 0));
}

TEST_F(DigestTest, AChangedRowIsNoticedAlthoughNoIndexReadsTheField) {
  Load(0, 2);
  Damage([](Store& store, StoreBatch& batch) {
    const std::string key = FirstKey(store, 1);
    std::string value;
    ASSERT_THAT(store.Get({}, key, &value), IsOk());
    value.replace(value.find("n1"), 2, "N1");
    batch.Put(key, value);
  });
  EXPECT_EQ(Verify().wrong_digests, 1u);
  ASSERT_THAT(engine().Repair({}), IsOk());
}

TEST_F(DigestTest, ADatabaseWithoutThemIsOfTheFirstFormat) {
  options_.digests = false;
  Load(0, 3);
  EXPECT_THAT(engine().Digest(),
              StatusIs(StatusCode::kFailedPrecondition, "no digests"));
  EXPECT_THAT(engine().DisableDigests(),
              StatusIs(StatusCode::kFailedPrecondition));
  EXPECT_EQ(engine().GetStats()->indexes[0].entries, std::nullopt);
  options_.digests = true;  // Of a database that is there it says nothing.
  Open();
  EXPECT_THAT(engine().Digest(), StatusIs(StatusCode::kFailedPrecondition));
}

TEST_F(DigestTest, TheyAreTurnedOnWhileWritersGoOn) {
  options_.digests = false;
  Load(0, 2000);
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_THAT(Put(MakeOrder(absl::StrCat("w", i % 50), "s", i)), IsOk());
      EXPECT_THAT(DeleteId(absl::StrCat("o", i % 2000)), IsOk());
      ++written;
    }
  });
  while (written < 10) std::this_thread::yield();
  EXPECT_THAT(engine().EnableDigests(), IsOk());
  const int then = written;
  while (written < then + 10) std::this_thread::yield();
  stop = true;
  writer.join();
  EXPECT_TRUE(Verify().clean()) << Verify().Summary();
  EXPECT_EQ(Counts()[0], Verify().rows);
  EXPECT_THAT(engine().EnableDigests(), StatusIs(StatusCode::kAlreadyExists));

  ASSERT_THAT(engine().DisableDigests(), IsOk());
  ASSERT_THAT(Put(MakeOrder("last", "s", 1)), IsOk());
  Open();
  ASSERT_THAT(engine().EnableDigests(), IsOk());
  EXPECT_EQ(Counts()[0], Verify().rows);
}

// The commit mark has room for a few tables; the others have values of their
// own, which they leave and return to as they are changed.
TEST_F(DigestTest, ManyTablesTakeTurns) {
  for (const char* name : {"b", "c", "d", "e", "f", "g"}) {
    schema_.Add(presets::SellerOrders(name));
  }
  const std::vector<std::string> tables = {"orders", "b", "c", "d",
                                           "e",      "f", "g"};
  for (int i = 0; i < 60; ++i) {
    WriteBatch batch;
    for (int k = 0; k <= i % 3; ++k) {
      batch.Put(tables[(i * 5 + k) % 7],
                Bytes(MakeOrder(absl::StrCat("o", i, "-", k), "s", i)));
    }
    ASSERT_THAT(engine().Write({}, std::move(batch)), IsOk());
    if (i % 10 == 9) Open();
    EXPECT_TRUE(Verify().clean()) << i << ": " << Verify().Summary();
  }
}

TEST_F(DigestTest, AReadOnlyEngineShowsThem) {
  Load(0, 3);
  ASSERT_THAT(engine().Close(), IsOk());
  options_.read_only = true;
  Open();
  EXPECT_THAT(Counts(), ElementsAre(3, 3, 3));
  EXPECT_THAT(engine().DisableDigests(),
              StatusIs(StatusCode::kFailedPrecondition));
}

TEST_F(DigestTest, BytesThatAreNoDigestsAreAnError) {
  Load(0, 1);
  ChangeStore([](Store&, StoreBatch& batch) {
    batch.Put(MarkKey(),
              EncodeMark({SequenceNumber{1}, {}, {}, "\x01\x05short"}));
  });
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_),
              StatusIs(StatusCode::kDataLoss, "digests"));
}

TEST(DigestProtoTest, TheWriteLogsFormGoesBothWays) {
  const SpaceDigest digest{"t", "i", 7, absl::MakeUint128(1, 2)};
  EXPECT_THAT(FromProto(ToProto(digest)), IsOkAndHolds(digest));
  v1::SpaceDigest bad = ToProto(digest);
  bad.set_sum("short");
  EXPECT_THAT(FromProto(bad),
              StatusIs(StatusCode::kInvalidArgument, "16 bytes"));
  EXPECT_EQ(DigestText(digest.sum), "00000000000000010000000000000002");
}

TEST(DigestProtoTest, TheTotalIsTheSumOfAllSpaces) {
  DigestReport report;
  report.spaces = {{"t", "", 1, 5}, {"t", "i", 1, absl::Uint128Max()}};
  EXPECT_EQ(TotalDigest(report), 4);
}

}  // namespace
}  // namespace dovetail::test
