// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What recording promises after failed calls and power cuts: the log and the
// store have the same commits, and all that was acknowledged as durable.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/recording_test_util.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

uint64_t Seed() {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                         : std::random_device()();
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  return seed;
}

// How many times as long the random tests run.
int Scale() {
  const char* given = std::getenv("DOVETAIL_TEST_SCALE");
  return given != nullptr ? std::max(1, std::atoi(given)) : 1;
}

bool IsOfWriteLog(const std::string& path) {
  return path.find(".dvlog") != std::string::npos;
}

class RecordingCrashTest : public RecordingTest {
 protected:
  void Forget() {
    engine_.reset();
    std::filesystem::remove_all(dir_.Sub("db"));
  }
  // Fails calls whose name `matches` from now on.
  void Fail(std::function<bool(const std::string&)> matches) {
    files_.SetHook([matches](const std::string& call) {
      return matches(call) ? absl::ResourceExhaustedError("disk full")
                           : absl::OkStatus();
    });
  }
  void Heal() {
    files_.SetHook([](const std::string&) { return absl::OkStatus(); });
  }
  uint64_t Newest() { return Number(engine().GetStats()->sequence); }

  // Fails one write of the log, and looks at the outcome after a reopen.
  void ExpectUnknownThenWholeOrNothing(const std::string& verb) {
    ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
    Fail([verb](const std::string& call) {
      return call.starts_with(verb) && IsOfWriteLog(call);
    });
    const auto failed = engine().Write(
        {.sync = true},
        WriteBatch().Put("orders", Bytes(MakeOrder("b", "s", 2))));
    EXPECT_THAT(failed, StatusIs(StatusCode::kUnknown, "write log"));
    Heal();
    EXPECT_THAT(Put(MakeOrder("c", "s", 3)),
                StatusIs(StatusCode::kFailedPrecondition, "read-only"));
    EXPECT_THAT(BySeller("s"), ElementsAre("a"));
    Open();
    ExpectLogIsTheStore();
    ASSERT_THAT(Put(MakeOrder("d", "s", 4)), IsOk());
    ExpectLogIsTheStore();
  }
};

TEST_F(RecordingCrashTest, AFailedAppendIsAnUnknownOutcome) {
  ExpectUnknownThenWholeOrNothing("append ");
}

TEST_F(RecordingCrashTest, AFailedFlushIsAnUnknownOutcome) {
  options_.write_log->file_bytes_max = 1;  // With a file for each record.
  ExpectUnknownThenWholeOrNothing("sync ");
}

TEST_F(RecordingCrashTest, AFailedSyncIsAnUnknownOutcome) {
  ExpectUnknownThenWholeOrNothing("sync ");
}

TEST_F(RecordingCrashTest, WhatTheStoreDidNotTakeIsCutFromTheLog) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  Fail([](const std::string& call) {
    return call.starts_with("append ") && call.ends_with(".log");
  });
  EXPECT_THAT(Put(MakeOrder("b", "s", 2)),
              StatusIs(StatusCode::kUnknown, "store failed"));
  Heal();
  engine_.reset();
  EXPECT_THAT(RecordsIn(LogDirectory()), SizeIs(2));
  Open();
  EXPECT_THAT(RecordsIn(LogDirectory()), SizeIs(1));
  const OpenReport& report = engine().open_report();
  ASSERT_THAT(report.write_log_cuts, SizeIs(1));
  EXPECT_THAT(report.write_log_cuts[0].reason, HasSubstr("above the store"));
  EXPECT_TRUE(std::filesystem::exists(LogDirectory() + "/" +
                                      report.write_log_cuts[0].kept_as));
  ASSERT_THAT(Put(MakeOrder("c", "s", 3)), IsOk());
  ExpectLogIsTheStore();
}

// The disk kept the store's log, which nobody synced, and not the write log's.
TEST_F(RecordingCrashTest, WhatTheLogLacksIsCutFromTheStore) {
  ASSERT_THAT(
      engine().Write({.sync = true},
                     WriteBatch().Put("orders", Bytes(MakeOrder("a", "s", 1)))),
      IsOk());
  ASSERT_THAT(Put(MakeOrder("b", "s", 2)), IsOk());
  ASSERT_THAT(Put(MakeOrder("c", "s", 3)), IsOk());
  engine_.reset();
  files_.PowerCut([](const std::string& path) {
    return IsOfWriteLog(path) ? 0 : UINT64_MAX / 2;
  });
  Open();
  EXPECT_THAT(BySeller("s"), ElementsAre("a"));
  const OpenReport& report = engine().open_report();
  EXPECT_GT(report.log_bytes_cut, 0u);
  EXPECT_THAT(report.log_cut,
              HasSubstr("the write log lacks sequence=2 write_log_sequence=1"));
  EXPECT_THAT(report.log_cut, HasSubstr("kept=lost/"));
  EXPECT_EQ(Number(report.sequence), 1u);
  ASSERT_THAT(Put(MakeOrder("d", "s", 4)), IsOk());
  ExpectLogIsTheStore();
}

// A read-only engine too: what it would serve would be gone at the next open.
TEST_F(RecordingCrashTest, AReadOnlyEngineServesNothingThatTheLogLacks) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  engine_.reset();
  files_.PowerCut([](const std::string& path) {
    return IsOfWriteLog(path) ? 0 : UINT64_MAX / 2;
  });
  options_.read_only = true;
  Open();
  EXPECT_THAT(BySeller("s"), IsEmpty());
}

TEST_F(RecordingCrashTest, ALogWithoutCommitsThatWereSyncedIsAGap) {
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_THAT(Put(MakeOrder(id, "s", 1)), IsOk());
  }
  ASSERT_THAT(engine().Close(), IsOk());
  engine_.reset();
  std::filesystem::remove_all(LogDirectory());
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kFailedPrecondition,
                       "log_sequence=0 store_sequence=3"));
  options_.read_only = true;  // Its data is whole.
  Open();
  EXPECT_THAT(BySeller("s"), SizeIs(3));
  options_.read_only = false;
  options_.write_log->start_over = true;
  Open();
  ASSERT_THAT(Put(MakeOrder("d", "s", 1)), IsOk());
  EXPECT_EQ(RecordsIn(LogDirectory()).at(0).sequence(), 4u);
  EXPECT_EQ(Number(FindWriteLog(&files_, dir_.Sub("db"))->recorded_above), 3u);
}

// Unsynced, so that it looks like a power cut; but a file is made durable
// before its first record, so a log without files is not what one leaves.
TEST_F(RecordingCrashTest, ALogThatIsGoneIsNotTakenForOneThatWasCut) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  engine_.reset();
  std::filesystem::remove_all(LogDirectory());
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kFailedPrecondition, "lacks"));
}

// Each commit of the store says that its record was on the disk.
TEST_F(RecordingCrashTest, ALogThatLostASyncedCommitIsAGap) {
  for (const char* id : {"a", "b"}) {
    ASSERT_THAT(engine().Write(
                    {.sync = true},
                    WriteBatch().Put("orders", Bytes(MakeOrder(id, "s", 1)))),
                IsOk());
  }
  engine_.reset();
  const std::string file = LogDirectory() + "/00000000000000000001.dvlog";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kFailedPrecondition,
                       "log_sequence=1 store_sequence=2"));
}

TEST_F(RecordingCrashTest, CommitsMadeWithoutRecordingAreAGap) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  engine_.reset();
  const std::string settings = dir_.Sub("db") + "/DOVETAIL.write-log";
  std::filesystem::rename(settings, settings + ".away");
  options_.write_log.reset();
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  ASSERT_THAT(engine().Close(), IsOk());
  engine_.reset();
  std::filesystem::rename(settings + ".away", settings);
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kFailedPrecondition,
                       "log_sequence=1 store_sequence=2"));
  options_.write_log = WriteLogOptions{.start_over = true};
  Open();
  EXPECT_THAT(RecordsIn(LogDirectory() + "/before-3"), SizeIs(1));
}

TEST_F(RecordingCrashTest, DamagedSettingsAreDataLoss) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  engine_.reset();
  const std::string settings = dir_.Sub("db") + "/DOVETAIL.write-log";
  for (uint64_t size : {0, 3, 6}) {
    std::filesystem::resize_file(settings, size);
    EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
                StatusIs(StatusCode::kDataLoss, "settings"));
  }
}

// Retention may leave just the file that the store's newest commit is in; the
// store may then lose what is not synced, and the log with it, but the log
// never loses its connection with the store.
TEST_F(RecordingCrashTest, RetentionNeverLeavesTheStoreBehind) {
  const uint64_t seed = Seed();
  for (int round = 0; round < 30 * Scale(); ++round) {
    Forget();
    options_.write_log = WriteLogOptions();
    options_.write_log->file_bytes_max = 300;
    options_.write_log->retention.bytes_max = 0;
    std::mt19937_64 random(seed + round);
    uint64_t synced = 0;
    for (uint64_t n = 0; n < 30 + random() % 60; ++n) {
      const bool sync = random() % 8 == 0;
      if (WriteSome(random(), sync).ok() && sync) synced = Newest();
    }
    engine_.reset();
    files_.PowerCut([&](const std::string&) { return random() % 3000; });
    Open();
    ASSERT_GE(Newest(), synced) << "round=" << round;
    const WriteLogStats stats = *engine().GetStats()->write_log;
    if (Newest() > 0) {
      ASSERT_EQ(Number(stats.last_sequence), Newest()) << "round=" << round;
    }
    ASSERT_TRUE(WriteSome(1).ok() || WriteSome(2).ok());
  }
}

// Any mixture of what is kept, in either log, in two lives with rotations.
TEST_F(RecordingCrashTest, AfterAPowerCutLogAndStoreHaveTheSameCommits) {
  const uint64_t seed = Seed();
  uint64_t store_cut = 0;
  uint64_t log_cut = 0;
  const int rounds = 60 * Scale();
  for (int round = 0; round < rounds; ++round) {
    std::mt19937_64 random(seed + round);
    Forget();
    options_.write_log = WriteLogOptions();
    options_.write_log->file_bytes_max = 1000 + random() % 30'000;
    options_.write_buffer_bytes = 64 << 10;
    uint64_t synced = 0;
    for (int life = 0; life < 2; ++life) {
      for (uint64_t n = random() % 120; n > 0; --n) {
        const bool sync = random() % 20 == 0;
        if (WriteSome(random(), sync).ok() && sync) synced = Newest();
      }
      engine_.reset();
      files_.PowerCut([&](const std::string&) {
        return random() % 3 == 0 ? 0 : random() % 20'000;
      });
      Open();
      store_cut += engine().open_report().log_bytes_cut > 0;
      log_cut += !engine().open_report().write_log_cuts.empty();
      ASSERT_GE(Newest(), synced) << "round=" << round;
      ExpectLogIsTheStore();
      const auto report = engine().Verify({});
      ASSERT_THAT(report, IsOk());
      ASSERT_TRUE(report->clean()) << report->Summary();
      ASSERT_FALSE(HasFailure()) << "round=" << round;
      synced = Newest();  // Opening has made it durable.
    }
  }
  std::cout << "power cuts: " << 2 * rounds << ", store cut: " << store_cut
            << ", log cut: " << log_cut << "\n";
  EXPECT_GT(store_cut, 0u);
  EXPECT_GT(log_cut, 0u);
}

// The n-th call fails, once and for good, then the power does: whatever was
// acknowledged as durable is in both.
TEST_F(RecordingCrashTest, AnyCallMayFail) {
  options_.write_buffer_bytes = 64 << 10;
  options_.write_log->file_bytes_max = 20'000;
  uint64_t points = 0;
  const uint64_t step = Scale() > 1 ? 1 : 23;
  for (const bool for_good : {false, true}) {
    for (uint64_t n = 1;; n += step) {
      Forget();
      uint64_t synced = 0;
      files_.FailCall(n, absl::InternalError("I/O error"), for_good);
      auto opened = Engine::Open(dir_.Sub("db"), schema_, options_);
      if (opened.ok()) {
        engine_ = *std::move(opened);
        for (int i = 0; i < 150; ++i) {
          v1::Order order = MakeOrder("o" + std::to_string(i % 50), "s", i % 50,
                                      static_cast<v1::OrderStatus>(i % 5));
          order.set_note(std::string(1000, 'x'));
          const bool sync = i % 25 == 0;
          const auto commit = engine_->Write(
              {.sync = sync}, WriteBatch().Put("orders", Bytes(order)));
          if (!commit.ok()) break;
          if (sync) synced = Number(commit->sequence);
        }
        engine_.reset();
      }
      const bool reached = files_.FaultReached();
      files_.FailCall(0, absl::OkStatus());
      files_.PowerCut([&](const std::string& path) {
        return IsOfWriteLog(path) == (n % 2 == 0) ? 0 : 7 * n;
      });
      Open();
      ASSERT_GE(Newest(), synced) << "n=" << n;
      ExpectLogIsTheStore();
      const auto report = engine().Verify({});
      ASSERT_THAT(report, IsOk());
      ASSERT_TRUE(report->clean()) << report->Summary();
      ASSERT_FALSE(HasFailure()) << "n=" << n << " for_good=" << for_good;
      ++points;
      if (!reached) break;
    }
  }
  std::cout << "fault points: " << points << "\n";
}

}  // namespace
}  // namespace dovetail::test
