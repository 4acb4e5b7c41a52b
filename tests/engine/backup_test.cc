// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/backup.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/recording_test_util.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// What there is to know of a database, as text: rows with their versions, and
// the entries of its indexes as they lie on disk.
std::vector<std::string> ContentOf(Engine& engine) {
  std::vector<std::string> content;
  const auto indexes = engine.ListIndexes();
  EXPECT_THAT(indexes, IsOk());
  std::vector<std::string> spaces = {""};
  for (const IndexInfo& index : *indexes) {
    if (index.table == "orders" && index.state == IndexState::kReadable) {
      spaces.push_back(index.index);
    }
  }
  for (const std::string& space : spaces) {
    EXPECT_THAT(engine.ForEachStored(
                    {}, "orders", space, "",
                    [&](const StoredPair& entry) {
                      content.push_back(space + " " + std::string(entry.key) +
                                        " " + std::string(entry.value));
                      return true;
                    }),
                IsOk());
  }
  const auto verified = engine.Verify({});
  EXPECT_THAT(verified, IsOk());
  EXPECT_TRUE(verified->clean()) << verified->Summary();
  return content;
}

class BackupTest : public RecordingTest {
 protected:
  const std::string backup_ = dir_.Sub("backup");

  absl::StatusOr<BackupReport> Backup(BackupOptions options = {}) {
    return engine().Backup(backup_, options);
  }
  // Writes until the sequence is `to`; notes the content at each commit.
  void WriteUpTo(uint64_t to) {
    for (uint64_t n = 1000 * to;; ++n) {
      const uint64_t now = Number(engine().GetStats()->sequence);
      contents_.resize(now + 1);
      if (contents_[now].empty()) contents_[now] = ContentOf(engine());
      if (now >= to) return;
      WriteSome(n).status().IgnoreError();
    }
  }
  absl::StatusOr<RestoreReport> RestoreTo(const std::string& name,
                                          RestoreOptions options = {}) {
    options.file_system = &files_;
    return Restore(backup_, dir_.Sub(name), options);
  }
  // The database that a restore made has what there was at `sequence`.
  void ExpectRestored(const std::string& name, uint64_t sequence) {
    Options options;
    options.file_system = &files_;
    options.create_if_missing = false;
    auto restored = Engine::Open(dir_.Sub(name), schema_, options);
    ASSERT_THAT(restored, IsOk());
    EXPECT_EQ(Number((*restored)->GetStats()->sequence), sequence);
    EXPECT_FALSE((*restored)->GetStats()->write_log.has_value());
    EXPECT_EQ(ContentOf(**restored), contents_.at(sequence));
  }

  std::vector<std::vector<std::string>> contents_;  // By sequence.
};

TEST_F(BackupTest, IsACheckpointAndThenTheLogsTail) {
  options_.write_log->file_bytes_max = 3000;
  WriteUpTo(20);
  auto report = Backup();
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->checkpoint_made);
  EXPECT_EQ(Number(report->sequence), 20u);
  EXPECT_EQ(Number(report->checkpoint), 20u);
  WriteUpTo(60);
  report = Backup();
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->checkpoint_made);
  EXPECT_EQ(Number(report->sequence), 60u);
  EXPECT_EQ(Number(report->checkpoint), 20u);
  const uint64_t copied = report->log_files_copied;
  EXPECT_GT(copied, 1u);
  report = Backup();  // Nothing is new.
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->log_files_copied, 0u);
  EXPECT_EQ(report->bytes_copied, 0u);
  WriteUpTo(61);
  report = Backup();
  ASSERT_THAT(report, IsOk());
  EXPECT_LT(report->log_files_copied, copied);

  const auto restored = RestoreTo("all");
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(Number(restored->checkpoint), 20u);
  EXPECT_EQ(Number(restored->sequence), 61u);
  EXPECT_EQ(restored->replayed, 41u);
  ExpectRestored("all", 61);
}

TEST_F(BackupTest, AnyCommitBehindTheFirstCheckpointIsRestored) {
  options_.write_log->file_bytes_max = 3000;
  WriteUpTo(10);
  ASSERT_THAT(Backup(), IsOk());
  WriteUpTo(25);
  ASSERT_THAT(Backup({.new_checkpoint = true}), IsOk());
  WriteUpTo(40);
  ASSERT_THAT(Backup(), IsOk());
  for (uint64_t to = 10; to <= 40; ++to) {
    const std::string name = "to-" + std::to_string(to);
    const auto restored = RestoreTo(name, {.to_sequence = SequenceNumber{to}});
    ASSERT_THAT(restored, IsOk()) << to;
    EXPECT_EQ(Number(restored->checkpoint), to < 25 ? 10u : 25u);
    ExpectRestored(name, to);
    ASSERT_FALSE(HasFailure()) << to;
  }
  EXPECT_THAT(RestoreTo("early", {.to_sequence = SequenceNumber{9}}),
              StatusIs(StatusCode::kNotFound, "as old as that"));
  EXPECT_THAT(RestoreTo("late", {.to_sequence = SequenceNumber{41}}),
              StatusIs(StatusCode::kOutOfRange, "wanted=41"));
  EXPECT_FALSE(std::filesystem::exists(dir_.Sub("late")));
  EXPECT_THAT(RestoreTo("to-10"),
              StatusIs(StatusCode::kAlreadyExists, "to-10"));
}

TEST_F(BackupTest, ATimeIsThatOfTheLastCommitMadeByThen) {
  WriteUpTo(5);
  ASSERT_THAT(Backup(), IsOk());
  WriteUpTo(20);
  ASSERT_THAT(Backup({.new_checkpoint = true}), IsOk());
  WriteUpTo(30);
  ASSERT_THAT(Backup(), IsOk());
  const std::vector<v1::WriteLogRecord> log = RecordsIn(LogDirectory());
  const auto time_of = [&](uint64_t sequence) {
    return log.at(sequence - 1).commit_time_us();
  };
  ASSERT_THAT(RestoreTo("a", {.to_time_us = time_of(12)}), IsOk());
  ExpectRestored("a", 12);
  ASSERT_THAT(RestoreTo("b", {.to_time_us = time_of(20)}), IsOk());
  ExpectRestored("b", 20);
  ASSERT_THAT(RestoreTo("c", {.to_time_us = time_of(30) + 1'000'000}), IsOk());
  ExpectRestored("c", 30);
  EXPECT_THAT(RestoreTo("d", {.to_time_us = time_of(1) - 1}),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(BackupTest, ChangesOfTheSchemaAreRestoredWithTheCommitsBehindThem) {
  WriteUpTo(5);
  ASSERT_THAT(Backup(), IsOk());
  schema_.Add(TableBuilder("audit", v1::Order::descriptor())
                  .RowKey({Field("order_id")}));
  Open();  // A table comes.
  ASSERT_THAT(engine().Write(
                  {}, WriteBatch().Put("audit", Bytes(MakeOrder("x", "s", 1)))),
              IsOk());
  v1::IndexSchema index;
  index.set_name("by_time");
  index.set_kind(v1::IndexSchema::VALUE);
  index.add_parts()->add_fields("ts_ms");
  ASSERT_THAT(engine().AddIndex("orders", index), IsOk());
  ASSERT_THAT(engine().BuildIndex("orders", "by_time", {}), IsOk());
  WriteUpTo(10);
  ASSERT_THAT(engine().DropIndex("orders", "by_status"), IsOk());
  WriteUpTo(15);
  ASSERT_THAT(Backup(), IsOk());

  const auto indexes_at = [&](uint64_t sequence) {
    const std::string name = "to-" + std::to_string(sequence);
    EXPECT_THAT(RestoreTo(name, {.to_sequence = SequenceNumber{sequence}}),
                IsOk());
    auto restored = Engine::Open(dir_.Sub(name), Schema(), {});
    EXPECT_THAT(restored, IsOk());
    const auto infos = (*restored)->ListIndexes();
    EXPECT_THAT(infos, IsOk());
    std::vector<std::string> names;
    for (const IndexInfo& info : *infos) {
      if (info.state == IndexState::kReadable) names.push_back(info.index);
    }
    const auto verified = (*restored)->Verify({});
    EXPECT_TRUE(verified->clean()) << verified->Summary();
    return names;
  };
  EXPECT_THAT(indexes_at(6), UnorderedElementsAre("by_order_id", "by_status"));
  EXPECT_THAT(indexes_at(10),
              UnorderedElementsAre("by_order_id", "by_status", "by_time"));
  EXPECT_THAT(indexes_at(15), UnorderedElementsAre("by_order_id", "by_time"));
}

TEST_F(BackupTest, ARestoredDatabaseGoesOn) {
  WriteUpTo(10);
  ASSERT_THAT(Backup(), IsOk());
  WriteUpTo(20);
  ASSERT_THAT(Backup(), IsOk());
  ASSERT_THAT(RestoreTo("new"), IsOk());
  Options options;
  options.write_log = WriteLogOptions();
  auto restored = Engine::Open(dir_.Sub("new"), schema_, options);
  ASSERT_THAT(restored, IsOk());
  const auto commit = (*restored)->Write(
      {}, WriteBatch().Put("orders", Bytes(MakeOrder("o", "s", 1))));
  ASSERT_THAT(commit, IsOk());
  EXPECT_EQ(Number(commit->sequence), 21u);
  EXPECT_THAT(RecordsIn(dir_.Sub("new") + "/write-log"), SizeIs(1));
}

TEST_F(BackupTest, WhereTheLogDoesNotReachBackACheckpointIsMade) {
  options_.write_log->file_bytes_max = 2000;
  options_.write_log->retention.bytes_max = 2000;
  WriteUpTo(10);
  ASSERT_THAT(Backup(), IsOk());
  for (uint64_t n = 0; n < 300; ++n) {
    WriteSome(n, /*sync=*/n % 10 == 0).status().IgnoreError();
  }
  auto report = Backup();
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->checkpoint_made);
  WriteUpTo(Number(report->sequence) + 3);
  report = Backup();
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->checkpoint_made);
  ASSERT_THAT(RestoreTo("new"), IsOk());
  ExpectRestored("new", Number(report->sequence));
}

TEST_F(BackupTest, WithoutRecordingEachBackupIsACheckpoint) {
  options_.write_log.reset();
  WriteUpTo(5);
  EXPECT_TRUE(Backup()->checkpoint_made);
  WriteUpTo(8);
  EXPECT_TRUE(Backup()->checkpoint_made);
  ASSERT_THAT(RestoreTo("new"), IsOk());
  ExpectRestored("new", 8);
  ASSERT_THAT(RestoreTo("old", {.to_sequence = SequenceNumber{5}}), IsOk());
  ExpectRestored("old", 5);
}

// A kill between the copy's last file and its name leaves a whole database.
TEST_F(BackupTest, ACopyThatACrashLeftWithoutItsNameIsMadeAnew) {
  WriteUpTo(20);
  ASSERT_THAT(Backup(), IsOk());
  const std::string checkpoint = backup_ + "/checkpoint-00000000000000000020";
  for (const char* left : {"/checkpoint-new.unfinished", "/checkpoint-new"}) {
    WriteUpTo(Number(engine().GetStats()->sequence) + 1);
    std::filesystem::copy(checkpoint, backup_ + left);
    const auto report = Backup({.new_checkpoint = true});
    ASSERT_THAT(report, IsOk()) << left;
    EXPECT_EQ(report->checkpoint, report->sequence);
    EXPECT_FALSE(std::filesystem::exists(backup_ + left));
  }
}

TEST_F(BackupTest, OtherDirectoriesAreLeftAlone) {
  WriteUpTo(3);
  std::filesystem::create_directory(dir_.Sub("mine"));
  std::filesystem::create_directory(dir_.Sub("mine") + "/thesis");
  EXPECT_THAT(engine().Backup(dir_.Sub("mine"), {}),
              StatusIs(StatusCode::kFailedPrecondition, "thesis"));
  WriteUpTo(9);
  ASSERT_THAT(Backup(), IsOk());
  Engine::Open(dir_.Sub("db2"), schema_, options_).value().swap(engine_);
  EXPECT_THAT(Backup(), StatusIs(StatusCode::kFailedPrecondition, "ahead"));
  EXPECT_THAT(Restore(dir_.Sub("nothing"), dir_.Sub("x"), {}),
              StatusIs(StatusCode::kNotFound, "no backup"));
}

TEST_F(BackupTest, RunsBesideWriters) {
  options_.write_buffer_bytes = 64 << 10;
  options_.write_log->file_bytes_max = 20'000;
  options_.write_log->retention.bytes_max = 100'000;
  engine();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t n = 0; !stop; ++n) {
        WriteSome(2 * n + t, n % 50 == 0).status().IgnoreError();
      }
    });
  }
  for (uint64_t i = 1; i <= 8; ++i) {
    while (Number(engine().GetStats()->sequence) < 100 * i) {
      std::this_thread::yield();
    }
    EXPECT_THAT(Backup(), IsOk());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const auto report = Backup();
  ASSERT_THAT(report, IsOk());
  contents_.resize(Number(report->sequence) + 1);
  contents_.back() = ContentOf(engine());
  ASSERT_THAT(RestoreTo("new"), IsOk());
  ExpectRestored("new", Number(report->sequence));
}

// What is in a backup is durable in the database: a power cut leaves neither a
// backup that is ahead nor one that has another history.
TEST_F(BackupTest, APowerCutNeverLeavesItAhead) {
  for (uint64_t round = 0; round < 20; ++round) {
    engine_.reset();
    contents_.clear();
    std::filesystem::remove_all(dir_.Sub("db"));
    std::filesystem::remove_all(backup_);
    std::filesystem::remove_all(dir_.Sub("new"));
    for (uint64_t n = 0; n < 10 + round; ++n) {
      WriteSome(100 * round + n).status().IgnoreError();
    }
    ASSERT_THAT(Backup(), IsOk());
    for (uint64_t n = 50; n < 55 + round; ++n) {
      WriteSome(100 * round + n).status().IgnoreError();
    }
    // Fails somewhere, or not at all; the power fails behind it.
    files_.FailCall(1 + 3 * round, absl::InternalError("I/O error"), true);
    const auto report = Backup();
    files_.FailCall(0, absl::OkStatus());
    engine_.reset();
    files_.PowerCut();
    Open();
    const uint64_t survived = Number(engine().GetStats()->sequence);
    WriteUpTo(survived + 1);
    const auto again = Backup();
    ASSERT_THAT(again, IsOk()) << "round=" << round;
    ASSERT_THAT(RestoreTo("new"), IsOk()) << "round=" << round;
    ExpectRestored("new", survived + 1);
    ASSERT_FALSE(HasFailure()) << "round=" << round;
  }
}

}  // namespace
}  // namespace dovetail::test
