// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Checkpoints of a store, with compactions at the worst moments.

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/storage/leveldb_checkpoint.h"
#include "engine/storage/leveldb_env.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_manifest.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/store_test_util.h"
#include "dovetail/testing/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

class LevelDbCheckpointTest : public ::testing::Test {
 protected:
  LevelDbCheckpointTest() {
    options_.write_buffer_bytes = 64 << 10;
    store_ = Open(db_);
  }

  std::unique_ptr<Store> Open(const std::string& directory) {
    auto store = OpenStore(directory, options_);
    EXPECT_THAT(store, IsOk());
    return store.ok() ? *std::move(store) : nullptr;
  }
  // Puts `count` more keys.
  void Fill(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      ++keys_;
      ASSERT_THAT(PutMarked(*store_, keys_, 0, /*sync=*/false, 1000), IsOk());
    }
  }
  absl::StatusOr<StoreCheckpointReport> Checkpoint(const std::string& to) {
    ASSIGN_OR_RETURN(const auto checkpoint, store_->BeginCheckpoint());
    RETURN_IF_ERROR(checkpoint->Freeze());
    return checkpoint->CopyTo(to, /*link_tables=*/true);
  }
  // Runs `body` once, at the next call of this name.
  void Once(const std::string& begin, std::function<void()> body) {
    files_.SetHook([this, begin, body](const std::string& call) {
      if (call.starts_with(begin)) {
        files_.SetHook({});
        body();
      }
      return absl::OkStatus();
    });
  }
  // The tables in the directory, and those that its manifest names.
  std::vector<std::string> TablesThere(const std::string& directory) {
    return NamesWith(directory, ".ldb");
  }
  std::vector<std::string> TablesNamed(const std::string& directory) {
    std::vector<std::string> names;
    const auto manifest = ReadLevelDbManifest(files_, directory);
    EXPECT_THAT(manifest, IsOk());
    if (!manifest.ok()) return names;
    for (const auto& [level_and_number, table] : manifest->tables) {
      names.push_back(TableName(level_and_number.second));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void ExpectHolds(const std::string& directory, const Entries& entries) {
    const std::unique_ptr<Store> copy = Open(directory);
    ASSERT_NE(copy, nullptr);
    const auto held = ReadAll(*copy);
    ASSERT_THAT(held, IsOk());
    EXPECT_TRUE(*held == entries) << held->size() << " of " << entries.size();
  }
  Entries Now() {
    const auto entries = ReadAll(*store_);
    EXPECT_THAT(entries, IsOk());
    return entries.ok() ? *entries : Entries();
  }

  TempDir dir_;
  const std::string db_ = dir_.Sub("db");
  const std::string copy_ = dir_.Sub("copy");
  FaultyFileSystem files_{FileSystem::Posix()};
  LevelDbStoreOptions options_ = StoreOptions(&files_);
  std::unique_ptr<Store> store_;
  uint64_t keys_ = 0;
};

TEST_F(LevelDbCheckpointTest, HoldsTablesLogsAndTheWritesOfNobodyElse) {
  Fill(300);
  const Entries before = Now();
  {
    const auto checkpoint = store_->BeginCheckpoint();
    ASSERT_THAT(checkpoint, IsOk());
    ASSERT_THAT((*checkpoint)->Freeze(), IsOk());
    Fill(300);  // Behind the moment.
    const auto report = (*checkpoint)->CopyTo(copy_, /*link_tables=*/true);
    ASSERT_THAT(report, IsOk());
    EXPECT_GT(report->tables_linked, 0u);
    EXPECT_EQ(report->tables_copied, 0u);
  }
  EXPECT_EQ(TablesThere(copy_), TablesNamed(copy_));
  const std::unique_ptr<Store> copy = Open(copy_);
  const auto held = ReadAll(*copy);
  ASSERT_THAT(held, IsOk());
  EXPECT_TRUE(*held == before);
  // Each goes its own way.
  ASSERT_THAT(PutMarked(*copy, 1000, 0), IsOk());
  copy->CompactAll();
  EXPECT_EQ(GetValue(*store_, "key1000"), std::nullopt);
  EXPECT_EQ(Now().size(), keys_ + 1);
}

// Only sizes are taken down while writers wait.
TEST_F(LevelDbCheckpointTest, FreezeTakesNoLongerInALargerStore) {
  for (const uint64_t more : {100u, 1000u, 3000u}) {
    Fill(more);
    store_->CompactAll();
    const auto checkpoint = store_->BeginCheckpoint();
    ASSERT_THAT(checkpoint, IsOk());
    files_.TakeHistory();
    ASSERT_THAT((*checkpoint)->Freeze(), IsOk());
    const std::vector<std::string> calls = files_.TakeHistory();
    ASSERT_THAT(calls, SizeIs(2));
    EXPECT_TRUE(calls[0].starts_with("size MANIFEST")) << calls[0];
    EXPECT_TRUE(calls[1].ends_with(".log")) << calls[1];
  }
}

TEST_F(LevelDbCheckpointTest, FilesCompactedAwayStayUntilItEnds) {
  Fill(300);
  const Entries before = Now();
  std::vector<std::string> old;
  std::vector<std::string> meanwhile;
  const std::string crashed = dir_.Sub("crashed");
  Once("link", [&] {
    // Not before: a compaction that Fill set off may still be under way.
    old = TablesThere(db_);
    store_->CompactAll();
    meanwhile = TablesThere(db_);
    // What a process that ends here leaves.
    WriteFiles(crashed, FilesOf(db_));
  });
  ASSERT_THAT(Checkpoint(copy_), IsOk());
  EXPECT_THAT(meanwhile, ::testing::IsSupersetOf(old));
  EXPECT_THAT(TablesThere(db_), Not(::testing::Contains(old[0])));
  EXPECT_EQ(TablesThere(db_), TablesNamed(db_));
  EXPECT_THAT(NamesWith(db_, ".log"), SizeIs(1));
  ExpectHolds(copy_, before);

  // They are nobody's then: the open check allows them, LevelDB removes them.
  ExpectHolds(crashed, before);
  EXPECT_EQ(TablesThere(crashed), TablesNamed(crashed));
  EXPECT_THAT(NamesWith(crashed, ".log"), SizeIs(1));
}

// The edit is in LevelDB's hands, and not yet in the file.
TEST_F(LevelDbCheckpointTest, ACompactionInTheMiddleOfItsEditChangesNothing) {
  Fill(300);
  const Entries before = Now();
  std::mutex mu;
  std::condition_variable changed;
  bool reached = false;
  bool go_on = false;
  Once("sync MANIFEST", [&] {
    std::unique_lock<std::mutex> lock(mu);
    reached = true;
    changed.notify_all();
    changed.wait(lock, [&] { return go_on; });
  });
  std::thread compacting([&] { store_->CompactAll(); });
  {
    std::unique_lock<std::mutex> lock(mu);
    changed.wait(lock, [&] { return reached; });
  }
  EXPECT_THAT(Checkpoint(copy_), IsOk());
  {
    std::unique_lock<std::mutex> lock(mu);
    go_on = true;
    changed.notify_all();
  }
  compacting.join();
  ExpectHolds(copy_, before);
  EXPECT_TRUE(Now() == before);
}

TEST_F(LevelDbCheckpointTest, AnEditThatIsHalfWrittenIsLeftOut) {
  Fill(100);
  const Entries before = Now();
  const auto name = ReadLevelDbCurrent(files_, db_);
  ASSERT_THAT(name, IsOk());
  const std::string whole = ReadFile(JoinPath(db_, *name));
  std::ofstream(JoinPath(db_, *name), std::ios::binary | std::ios::app)
      << "\x01\x02\x03";
  ASSERT_THAT(Checkpoint(copy_), IsOk());
  EXPECT_EQ(ReadFile(JoinPath(copy_, *name)), whole);
  ExpectHolds(copy_, before);
}

TEST_F(LevelDbCheckpointTest, FiftyInARowLeaveNothingBehind) {
  for (int i = 0; i < 50; ++i) {
    Fill(30);
    const std::string to = dir_.Sub("copy" + std::to_string(i));
    // Compactions at all points of its way.
    Once(i % 2 == 0 ? "link" : "rename copy", [&] { store_->CompactAll(); });
    ASSERT_THAT(Checkpoint(to), IsOk()) << i;
    if (i % 10 == 9) ExpectHolds(to, Now());
    std::filesystem::remove_all(to);
  }
  EXPECT_THAT(NamesWith(dir_.path(), ""), ElementsAre("db"));
  EXPECT_EQ(TablesThere(db_), TablesNamed(db_));
  EXPECT_THAT(NamesWith(db_, ".log"), SizeIs(1));
  EXPECT_THAT(NamesWith(db_, ".dbtmp"), SizeIs(0));
}

TEST_F(LevelDbCheckpointTest, ADamagedFileOfTheSourceFailsIt) {
  Fill(300);
  store_->CompactAll();
  Fill(1);
  const std::string log = JoinPath(db_, NamesWith(db_, ".log").at(0));
  const std::string table = JoinPath(db_, TablesThere(db_).at(0));
  for (const std::string& path : {log, table}) {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    EXPECT_THAT(Checkpoint(copy_), StatusIs(absl::StatusCode::kDataLoss))
        << path;
    EXPECT_THAT(NamesWith(dir_.path(), ""), ElementsAre("db"));
    std::ofstream(path, std::ios::binary | std::ios::app) << 'x';
  }
}

TEST_F(LevelDbCheckpointTest, ALogThatFailedIsNotCopied) {
  Fill(1);
  files_.SetHook([](const std::string& call) {
    return call.starts_with("flush ") && call.ends_with(".log")
               ? absl::ResourceExhaustedError("disk full")
               : absl::OkStatus();
  });
  EXPECT_THAT(PutMarked(*store_, 2, 0), Not(IsOk()));
  files_.SetHook({});
  EXPECT_THAT(Checkpoint(copy_),
              StatusIs(absl::StatusCode::kFailedPrecondition, "disk full"));
}

// A number may come again after a power cut; the copy's table must not
// change with it.
TEST_F(LevelDbCheckpointTest, ATableIsNeverWrittenInAFileThatIsThere) {
  const std::string table = dir_.Sub("000007.ldb");
  const std::string link = dir_.Sub("link");
  WriteFile(table, "of the copy");
  ASSERT_THAT(files_.HardLink(table, link), IsOk());
  LevelDbEnv env(&files_);
  leveldb::WritableFile* file = nullptr;
  ASSERT_TRUE(env.NewWritableFile(table, &file).ok());
  const std::unique_ptr<leveldb::WritableFile> owned(file);
  ASSERT_TRUE(file->Append("new").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(ReadFile(table), "new");
  EXPECT_EQ(ReadFile(link), "of the copy");
}

}  // namespace
}  // namespace dovetail::test
