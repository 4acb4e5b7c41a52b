// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is left of the engine's promises when files fail.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/engine/engine_fixture.h"
#include "dovetail/testing/faulty_file_system.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FailureTest : public EngineTest {
 protected:
  FailureTest() : files_(FileSystem::Posix()) {
    options_.file_system = &files_;
  }
  ~FailureTest() override { engine_.reset(); }

  // The rows that are there, as versions: a table that only grows has 1..n.
  std::vector<uint64_t> Versions() {
    std::vector<uint64_t> versions;
    const auto page = engine().Scan({}, {.table = "orders", .limit = 100'000});
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) return versions;
    for (const Row& row : page->rows) {
      versions.push_back(static_cast<uint64_t>(row.version));
    }
    std::sort(versions.begin(), versions.end());
    return versions;
  }
  void ExpectPrefix(uint64_t at_least, uint64_t at_most) {
    const std::vector<uint64_t> versions = Versions();
    EXPECT_GE(versions.size(), at_least);
    EXPECT_LE(versions.size(), at_most);
    for (size_t i = 0; i < versions.size(); ++i) {
      ASSERT_EQ(versions[i], i + 1) << "a hole in the commit order";
    }
  }

  FaultyFileSystem files_;
};

TEST_F(FailureTest, AfterAFailedWriteNothingIsAcknowledgedUntilReopen) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  files_.SetHook([](const std::string& call) {
    return call.starts_with("flush ") && call.ends_with(".log")
               ? absl::ResourceExhaustedError("disk full")
               : absl::OkStatus();
  });
  const auto failed = Put(MakeOrder("o-2", "s", 2));
  EXPECT_EQ(OutcomeOf(failed.status()), WriteOutcome::kUnknown);
  EXPECT_THAT(failed, StatusIs(StatusCode::kUnknown, "disk full"));
  files_.SetHook([](const std::string&) { return absl::OkStatus(); });
  // There is room again, but a torn record may lie in the log.
  EXPECT_THAT(Put(MakeOrder("o-3", "s", 3)),
              StatusIs(StatusCode::kFailedPrecondition, "read-only"));
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_TRUE(stats->read_only);
  EXPECT_THAT(BySeller("s"), ElementsAre("o-1"));  // Reads go on.

  Open();
  ExpectPrefix(1, 2);
  EXPECT_THAT(Put(MakeOrder("o-4", "s", 4)), IsOk());
}

TEST_F(FailureTest, AFailedSyncIsAnUnknownOutcome) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  files_.SetHook([](const std::string& call) {
    return call.starts_with("sync ") ? absl::InternalError("I/O error")
                                     : absl::OkStatus();
  });
  const auto failed = engine().Write(
      {.sync = true},
      WriteBatch().Put("orders", Bytes(MakeOrder("o-2", "s", 2))));
  EXPECT_EQ(OutcomeOf(failed.status()), WriteOutcome::kUnknown);
  EXPECT_THAT(engine().Close(), IsOk());  // Nothing it could still promise.
  files_.SetHook([](const std::string&) { return absl::OkStatus(); });
  Open();
  ExpectPrefix(1, 2);
}

TEST_F(FailureTest, SyncedCommitsSurviveAPowerCutAndOthersWithoutHoles) {
  options_.write_buffer_bytes = 64 << 10;  // Many rotations.
  for (int round = 0; round < 20; ++round) {
    engine_.reset();
    std::filesystem::remove_all(dir_.Sub("db"));
    uint64_t synced = 0;
    constexpr uint64_t kCommits = 400;
    for (uint64_t i = 1; i <= kCommits; ++i) {
      v1::Order order = MakeOrder("o" + std::to_string(i), "s", 1);
      order.set_note(std::string(300, 'x'));
      const bool sync = i % 37 == 0;
      ASSERT_THAT(engine().Write({.sync = sync},
                                 WriteBatch().Put("orders", Bytes(order))),
                  IsOk());
      if (sync) synced = i;
    }
    engine_.reset();  // Without Close, as at a kill.
    files_.PowerCut(/*kept_bytes=*/round * 1000);
    Open();
    ExpectPrefix(synced, kCommits);
    const auto report = engine().Verify({});
    ASSERT_THAT(report, IsOk());
    ASSERT_TRUE(report->clean()) << report->Summary();
    EXPECT_EQ(SequenceNumber{report->rows}, engine().open_report().sequence);
  }
}

// The n-th call fails, for every n until a run needs no more calls: once, and
// for good. Whatever happens, what was acknowledged is there after reopen,
// and rows and entries agree.
TEST_F(FailureTest, AnyCallMayFail) {
  options_.write_buffer_bytes = 64 << 10;
  uint64_t points = 0;
  for (const bool for_good : {false, true}) {
    for (uint64_t n = 1;; n += 7) {
      engine_.reset();
      std::filesystem::remove_all(dir_.Sub("db"));
      std::map<std::string, v1::OrderStatus> acknowledged;
      files_.FailCall(n, absl::InternalError("I/O error"), for_good);
      auto opened = Engine::Open(dir_.Sub("db"), schema_, options_);
      if (opened.ok()) {
        engine_ = *std::move(opened);
        for (int i = 0; i < 300; ++i) {
          v1::Order order = MakeOrder("o" + std::to_string(i % 50), "s", i % 50,
                                      static_cast<v1::OrderStatus>(i % 5));
          order.set_note(std::string(1000, 'x'));
          const auto commit = engine_->Write(
              {.sync = i % 50 == 0}, WriteBatch().Put("orders", Bytes(order)));
          if (!commit.ok()) break;
          acknowledged[order.order_id()] = order.status();
        }
        engine_->Close().IgnoreError();  // May be what fails.
        engine_.reset();
      }
      const bool reached = files_.FaultReached();
      files_.FailCall(0, absl::OkStatus());
      Open();
      for (const auto& [id, status] : acknowledged) {
        const auto rows = engine().GetBy({}, "orders", "by_order_id", {id});
        ASSERT_THAT(rows, IsOk()) << "n=" << n;
        ASSERT_EQ(rows->size(), 1u) << "n=" << n << " id=" << id;
      }
      const auto report = engine().Verify({});
      ASSERT_THAT(report, IsOk()) << "n=" << n;
      ASSERT_TRUE(report->clean()) << "n=" << n << " " << report->Summary();
      ++points;
      if (!reached) break;
    }
  }
  std::cout << "fault points: " << points << "\n";
}

}  // namespace
}  // namespace dovetail::test
