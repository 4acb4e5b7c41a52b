// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// On a real file system of 48 MiB, in memory. Mounting it needs root.

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "dovetail/testing/faulty_file_system.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

class DiskFullTest : public EngineTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(mount_);
    mounted_ = ::mount("tmpfs", mount_.c_str(), "tmpfs", 0, "size=48m") == 0;
    if (!mounted_) GTEST_SKIP() << "mounting a small file system needs root";
    options_.write_buffer_bytes = 1 << 20;
    options_.compress = false;
    options_.background_work = false;
  }
  void TearDown() override {
    EngineTest::TearDown();
    engine_.reset();
    if (!mounted_) return;
    EXPECT_EQ(::umount(mount_.c_str()), 0);
  }

  void OpenThere() {
    engine_.reset();
    auto opened = Engine::Open(mount_ + "/db", schema_, options_);
    ASSERT_THAT(opened, IsOk());
    engine_ = *std::move(opened);
  }
  // Writes orders until one is refused; the refusal.
  absl::Status WriteUntilRefused() {
    for (; written_ < 100'000; ++written_) {
      v1::Order order = MakeOrder("o-" + std::to_string(written_), "s", 1);
      order.set_note(std::string(4000, 'x'));
      const auto commit = Put(order);
      if (!commit.ok()) return commit.status();
    }
    return absl::OkStatus();
  }
  // Leaves this much room.
  void FillUpTo(uint64_t room) {
    const auto free = FileSystem::Posix()->FreeBytes(mount_);
    ASSERT_THAT(free, IsOk());
    ASSERT_GE(*free, room);
    std::ofstream(mount_ + "/ballast", std::ios::binary)
        << std::string(*free - room, 'b');
  }
  void ExpectAllWrittenAreThere(int at_most_more) {
    const auto report = engine().Verify({});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean()) << report->Summary();
    EXPECT_GE(report->rows, written_);
    EXPECT_LE(report->rows, written_ + at_most_more);
  }

  const std::string mount_ = dir_.Sub("small");
  bool mounted_ = false;
  int written_ = 0;
};

TEST_F(DiskFullTest, WritesAreRefusedBeforeTheEdgeAndGoOnOnceThereIsRoom) {
  // What a compaction of all that is written needs stays free.
  options_.disk_free_min_bytes = 20 << 20;
  OpenThere();
  FillUpTo(26 << 20);
  const absl::Status refused = WriteUntilRefused();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted,
                                "disk is nearly full"));
  EXPECT_EQ(OutcomeOf(refused), WriteOutcome::kNotCommitted);
  EXPECT_GT(written_, 300);
  EXPECT_EQ(ById("o-7").size(), 1);  // Reads go on.
  ExpectAllWrittenAreThere(0);

  std::filesystem::remove(mount_ + "/ballast");
  EXPECT_THAT(Put(MakeOrder("more", "s", 1)), IsOk());
  ++written_;
  ExpectAllWrittenAreThere(0);
}

TEST_F(EngineTest, AnOpenOnAFullDiskSpendsTheReserve) {
  FaultyFileSystem files(FileSystem::Posix());
  options_.file_system = &files;
  options_.background_work = false;
  options_.disk_reserve_bytes = 1 << 20;
  ASSERT_THAT(Put(MakeOrder("o", "s", 1)), IsOk());
  EXPECT_FALSE(engine().open_report().reserve_spent);
  engine_.reset();
  const std::string reserve = dir_.Sub("db") + "/RESERVE";
  ASSERT_EQ(std::filesystem::file_size(reserve), 1 << 20);
  files.SetHook([&](const std::string& call) {
    return call.starts_with("create ") && std::filesystem::exists(reserve)
               ? absl::ResourceExhaustedError("no space left")
               : absl::OkStatus();
  });
  Open();
  EXPECT_TRUE(engine().open_report().reserve_spent);
  EXPECT_EQ(ById("o").size(), 1);
  files.SetHook([](const std::string&) { return absl::OkStatus(); });
  engine_.reset();
}

TEST_F(DiskFullTest, WithoutTheGuardAReopenLosesNothingAcknowledged) {
  options_.disk_free_min_bytes = 0;
  options_.disk_reserve_bytes = 6 << 20;
  OpenThere();
  FillUpTo(10 << 20);
  const absl::Status failed = WriteUntilRefused();
  EXPECT_EQ(OutcomeOf(failed), WriteOutcome::kUnknown) << failed;
  EXPECT_THAT(Put(MakeOrder("o", "s", 1)),
              StatusIs(absl::StatusCode::kFailedPrecondition, "read-only"));
  engine_.reset();
  std::ofstream(mount_ + "/rest", std::ios::binary)
      << std::string(64 << 20, 'r');  // All there is.
  OpenThere();  // Out of the reserve, if deleted files did not make room.
  ExpectAllWrittenAreThere(1);

  std::filesystem::remove(mount_ + "/ballast");
  std::filesystem::remove(mount_ + "/rest");
  OpenThere();
  EXPECT_FALSE(engine_->open_report().reserve_spent);
  EXPECT_TRUE(std::filesystem::exists(mount_ + "/db/RESERVE"));
  EXPECT_THAT(Put(MakeOrder("more", "s", 1)), IsOk());
}

}  // namespace
}  // namespace dovetail::test
