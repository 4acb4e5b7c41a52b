// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The log-bisect program plants faults in long logs; here are the edges.

#include "dovetail/bisect.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/digest.h"
#include "dovetail/replay.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::HasSubstr;

class BisectTest : public EngineTest {
 protected:
  BisectTest() {
    options_.write_log = WriteLogOptions{.directory = log_};
    bisect_.scratch = dir_.Sub("scratch");
  }
  // So many records: an order each.
  void Record(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_THAT(Put(MakeOrder(absl::StrCat("o", i), "s", i)), IsOk());
    }
  }
  absl::StatusOr<BisectReport> Run(const BisectCheck& check) {
    return Bisect(log_, check, bisect_);
  }
  // Wrong as soon as there are more orders than that.
  static BisectCheck AtMost(uint64_t rows) {
    return {[rows](Engine& engine, const v1::WriteLogRecord&) -> absl::Status {
      const auto digest = engine.Digest();
      if (!digest.ok()) return digest.status();
      if (digest->spaces[0].count <= rows) return absl::OkStatus();
      return absl::DataLossError("too many");
    }};
  }

  const std::string log_ = dir_.Sub("log");
  BisectOptions bisect_;
};

TEST_F(BisectTest, EveryRecordCanBeTheFirstWrongOne) {
  Record(40);
  bisect_.copies = 3;
  for (uint64_t wrong = 1; wrong <= 40; wrong += 3) {
    const auto report = Run(AtMost(wrong - 1));
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(static_cast<uint64_t>(report->first_wrong), wrong);
    EXPECT_EQ(static_cast<uint64_t>(report->last_right), wrong - 1);
    EXPECT_EQ(report->record.sequence(), wrong);
    EXPECT_EQ(report->why, "too many");
    EXPECT_EQ(report->records, 40u);
    EXPECT_FALSE(std::filesystem::exists(bisect_.scratch));
  }
}

TEST_F(BisectTest, WhereNothingIsWrongNothingIsFound) {
  Record(10);
  for (const BisectCheck& check : {VerifyIsClean(), AtMost(10)}) {
    const auto report = Run(check);
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->first_wrong, SequenceNumber{});
    EXPECT_EQ(report->last_right, SequenceNumber{10});
  }
}

// A log of which no record can be asked about.
TEST_F(BisectTest, WithoutDigestsInTheLogThereIsNothingToCompare) {
  Record(10);
  const auto report = Run(DigestsAreTheRecords());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->first_wrong, SequenceNumber{});
  EXPECT_EQ(report->checks, 0u);
}

TEST_F(BisectTest, WrongBeforeTheFirstRecordIsRefused) {
  Record(3);
  const BisectCheck never{[](Engine&, const v1::WriteLogRecord&) {
    return absl::DataLossError("never right");
  }};
  EXPECT_THAT(Run(never), StatusIs(StatusCode::kFailedPrecondition,
                                   "before the first record: never right"));
}

TEST_F(BisectTest, AnErrorOfTheCheckIsTheResult) {
  Record(3);
  const BisectCheck broken{[](Engine&, const v1::WriteLogRecord&) {
    return absl::NotFoundError("no such table");
  }};
  EXPECT_THAT(Run(broken), StatusIs(StatusCode::kNotFound, "no such table"));
  EXPECT_FALSE(std::filesystem::exists(bisect_.scratch));
}

TEST_F(BisectTest, AScratchDirectoryThatIsThereIsLeftAlone) {
  Record(3);
  std::filesystem::create_directory(bisect_.scratch);
  EXPECT_THAT(Run(AtMost(1)), StatusIs(StatusCode::kAlreadyExists, "scratch"));
  EXPECT_TRUE(std::filesystem::exists(bisect_.scratch));
}

TEST_F(BisectTest, ProgressCanEndIt) {
  Record(100);
  bisect_.progress = [](const BisectProgress&) { return false; };
  EXPECT_THAT(Run(AtMost(50)), StatusIs(StatusCode::kCancelled));
}

// From a checkpoint on, as when the beginning of the log is gone.
TEST_F(BisectTest, ABaseStandsForTheBeginning) {
  Record(20);
  const std::string base = dir_.Sub("base");
  ASSERT_THAT(engine().Checkpoint(base, {}), IsOk());
  for (int i = 20; i < 50; ++i) {
    ASSERT_THAT(Put(MakeOrder(absl::StrCat("o", i), "s", i)), IsOk());
  }
  bisect_.base = base;
  const auto report = Run(AtMost(33));
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(static_cast<uint64_t>(report->first_wrong), 34u);
  EXPECT_EQ(report->records, 30u);
  EXPECT_TRUE(std::filesystem::exists(base));
}

// What the log has of a row's old image is enough to keep digests by, so a
// replay reads nothing for them; and the log has digests to compare with.
TEST_F(BisectTest, AReplayHasTheDigestsOfTheRecording) {
  Record(100);
  for (int i = 0; i < 100; i += 3) {
    ASSERT_THAT(SetStatus(absl::StrCat("o", i), v1::SHIPPED), IsOk());
    ASSERT_THAT(DeleteId(absl::StrCat("o", i + 1)), IsOk());
    ASSERT_THAT(Put(MakeOrder(absl::StrCat("o", i + 2), "t", 1000 + i)),
                IsOk());
  }
  const auto recorded = engine().Digest();
  ASSERT_THAT(recorded, IsOk());

  Options options;
  options.cross_check = true;
  const auto copy = Engine::Open(dir_.Sub("copy"), schema_, options);
  ASSERT_THAT(copy, IsOk());
  const auto source = OpenWriteLogSource(FileSystem::Posix(), log_);
  const auto replayer = Replayer::Open(copy->get(), source.get(), {});
  ASSERT_THAT(replayer, IsOk());
  ASSERT_THAT((*replayer)->Run(), IsOk());
  EXPECT_FALSE((*replayer)->report().rows_were_read);
  const auto replayed = (*copy)->Digest();
  ASSERT_THAT(replayed, IsOk());
  EXPECT_EQ(replayed->spaces, recorded->spaces);
  const auto verified = (*copy)->Verify({});
  ASSERT_THAT(verified, IsOk());
  EXPECT_TRUE(verified->clean()) << verified->Summary();

  const auto report = Run(DigestsAreTheRecords());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->first_wrong, SequenceNumber{});
  EXPECT_EQ(static_cast<uint64_t>(report->last_right) % 64, 0u);
  EXPECT_GT(report->checks, 0u);
}

}  // namespace
}  // namespace dovetail::test
