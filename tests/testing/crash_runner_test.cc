// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The crash runner finds nothing where the engine keeps its promises, and says
// so where something does not.

#include "dovetail/testing/crash_runner.h"

#include <iostream>
#include <memory>
#include <string>

#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

WriteBatch OrderBatch(int i) {
  v1::Order order;
  order.set_order_id("o" + std::to_string(i % 20));
  order.set_seller_id("s");
  order.set_ts_ms(i % 20);
  order.set_status(static_cast<v1::OrderStatus>(i % 5));
  order.set_note(std::string(200, 'x'));
  return WriteBatch().Put("orders", order.SerializeAsString());
}

class CrashRunnerTest : public ::testing::Test {
 protected:
  CrashRunnerTest() {
    test_.schema.Add(presets::SellerOrders("orders"));
    test_.directory = dir_.Sub("runs");
    test_.script = [](ScriptRun& run) -> absl::Status {
      for (int i = 1; i <= 60; ++i) {
        const auto commit = run.Write({.sync = i % 7 == 0}, OrderBatch(i));
        if (!commit.ok()) return commit.status();
      }
      return absl::OkStatus();
    };
  }

  TempDir dir_;
  CrashTest test_;
};

TEST_F(CrashRunnerTest, TheEngineKeepsItsPromises) {
  test_.script = [](ScriptRun& run) -> absl::Status {
    for (int i = 1; i <= 60; ++i) {
      const auto commit = run.Write({.sync = i % 7 == 0}, OrderBatch(i));
      if (!commit.ok()) return commit.status();
      if (i == 40) {
        const absl::Status status = run.Reopen();
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  };
  int checks = 0;
  test_.check = [&](Engine& engine, const Model& expected) {
    ++checks;
    EXPECT_LE(expected.RowCount("orders"), 20u);
    return engine.GetStats().status();
  };
  const auto report = RunCrashTest(test_);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->failures, IsEmpty());
  EXPECT_EQ(report->requests, 60u);
  EXPECT_GT(report->calls, 100u);
  EXPECT_EQ(report->failed_once, report->calls);
  EXPECT_EQ(report->failed_for_good, report->calls);
  EXPECT_EQ(report->power_cuts, 4 * report->calls);
  EXPECT_GT(report->unknown, 0u);
  EXPECT_GT(report->cuts_with_losses, 0u);
  EXPECT_GT(checks, 0);
  std::cout << report->Summary();
}

TEST_F(CrashRunnerTest, AStrideBoundsTheRuns) {
  test_.stride = 50;
  test_.first_call = 3;
  test_.fail_once = test_.fail_for_good = false;
  test_.outcomes_per_cut = 2;
  const auto report = RunCrashTest(test_);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->failures, IsEmpty());
  EXPECT_EQ(report->failed_once + report->failed_for_good, 0u);
  const uint64_t by_stride = (report->calls - 3) / 50 + 1;
  EXPECT_GE(report->powered_off, by_stride);
  EXPECT_LE(report->powered_off, by_stride + report->failed_calls.size());
  EXPECT_EQ(report->power_cuts, 2 * report->powered_off);
}

TEST_F(CrashRunnerTest, NoVerbIsLeftOutByAStride) {
  test_.stride = 1'000'000;
  test_.fail_for_good = test_.power_cuts = false;
  auto report = RunCrashTest(test_);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->failures, IsEmpty());
  for (const char* verb : {"lock", "create", "append", "flush", "sync",
                           "sync-directory", "close", "delete", "list"}) {
    EXPECT_GE(report->failed_calls[verb], 1u) << verb;
  }
}

// An engine that forgets: its last file of changes is emptied behind its back.
TEST_F(CrashRunnerTest, ALostRequestIsFound) {
  test_.fail_for_good = test_.power_cuts = false;
  test_.stride = 40;
  const auto script = test_.script;
  test_.script = [&](ScriptRun& run) {
    const absl::Status status = script(run);
    if (status.ok()) return status;
    auto* files = FileSystem::Posix();
    const auto names = files->List(run.directory() + "/db");
    for (const std::string& name : *names) {
      if (!name.ends_with(".log")) continue;
      files->Truncate(run.directory() + "/db/" + name, 0).IgnoreError();
    }
    return status;
  };
  const auto report = RunCrashTest(test_);
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->failures,
              Contains(HasSubstr("an acknowledged request is lost")));
}

TEST_F(CrashRunnerTest, AModelThatDoesNotAgreeIsAnErrorOfTheTest) {
  test_.predict = [](const WriteBatch&, uint64_t,
                     Model*) -> absl::StatusOr<std::vector<uint64_t>> {
    return std::vector<uint64_t>{1};  // And changes nothing.
  };
  EXPECT_THAT(RunCrashTest(test_), StatusIs(absl::StatusCode::kInternal,
                                            "other rows than the model"));
}

TEST_F(CrashRunnerTest, AnErrorOfTheChecksIsAFailure) {
  test_.stride = 100;
  int calls = 0;
  test_.check = [&](Engine&, const Model&) -> absl::Status {
    return ++calls == 1 ? absl::OkStatus() : absl::InternalError("not good");
  };
  const auto report = RunCrashTest(test_);
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->failure_count, 0u);
  EXPECT_THAT(report->failures[0], HasSubstr("not good"));
}

}  // namespace
}  // namespace dovetail::test
