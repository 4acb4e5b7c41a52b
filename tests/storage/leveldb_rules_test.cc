// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The fixed rules under which LevelDB is opened: one test each, that fails if
// the rule is not kept.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/strings.h"
#include "dovetail/testing/faulty_file_system.h"
#include "engine/storage/leveldb_env.h"
#include "engine/storage/leveldb_status.h"
#include "engine/storage/leveldb_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/store_test_util.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LevelDbRulesTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> Open(StoreOpenReport* report = nullptr) {
    auto store = OpenStore(db_, options_, report);
    EXPECT_THAT(store, IsOk());
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Position of the first call from `from` on that begins and ends so, or the
  // number of calls.
  static size_t Find(const std::vector<std::string>& calls,
                     std::string_view begin, std::string_view end,
                     size_t from = 0) {
    const auto it = std::find_if(
        calls.begin() + static_cast<ptrdiff_t>(std::min(from, calls.size())),
        calls.end(), [&](const std::string& call) {
          return absl::StartsWith(call, ToAbsl(begin)) &&
                 absl::EndsWith(call, ToAbsl(end));
        });
    return static_cast<size_t>(it - calls.begin());
  }

  TempDir dir_;
  const std::string db_ = dir_.Sub("db");
  FaultyFileSystem files_{FileSystem::Posix()};
  LevelDbStoreOptions options_ = StoreOptions(&files_);
};

TEST_F(LevelDbRulesTest, OptionsAreFixed) {
  const leveldb::Options options = MakeLevelDbOptions(options_);
  EXPECT_TRUE(options.paranoid_checks);
  EXPECT_FALSE(options.reuse_logs);
  EXPECT_EQ(options.write_buffer_size, options_.write_buffer_bytes);
  EXPECT_EQ(options.max_open_files, options_.open_files_max);
  EXPECT_EQ(options.compression, leveldb::kSnappyCompression);
  EXPECT_EQ(options.max_file_size, 8 << 20);
  EXPECT_TRUE(MakeLevelDbReadOptions({}).verify_checksums);
  EXPECT_TRUE(MakeLevelDbReadOptions({}).fill_cache);

  options_.compress = false;
  options_.write_buffer_bytes = 1 << 20;
  EXPECT_EQ(MakeLevelDbOptions(options_).compression, leveldb::kNoCompression);
  EXPECT_EQ(MakeLevelDbOptions(options_).max_file_size, 2 << 20);
}

// Appending to a log that has a torn tail loses what is appended.
TEST_F(LevelDbRulesTest, EachOpenBeginsANewLog) {
  std::string previous = "none.log";
  for (uint64_t n = 1; n <= 3; ++n) {
    files_.TakeHistory();
    auto store = Open();
    ASSERT_THAT(PutMarked(*store, n, 0), IsOk());
    const std::vector<std::string> calls = files_.TakeHistory();
    const size_t created = Find(calls, "create ", ".log");
    ASSERT_LT(created, calls.size());
    const std::string log =
        calls[created].substr(std::string("create ").size());
    EXPECT_NE(log, previous);
    EXPECT_EQ(Find(calls, "append", previous), calls.size());
    EXPECT_LT(Find(calls, "append", log), calls.size());
    previous = log;
  }
}

// A flipped bit in a table is an error of the read that meets it.
TEST_F(LevelDbRulesTest, ReadsVerifyChecksums) {
  options_.compress = false;
  {
    auto store = Open();
    for (uint64_t n = 1; n <= 20; ++n) {
      ASSERT_THAT(PutMarked(*store, n, 0), IsOk());
    }
    store->CompactAll();
  }
  const std::vector<std::string> tables = NamesWith(db_, ".ldb");
  ASSERT_THAT(tables, SizeIs(1));
  const std::string path = db_ + "/" + tables[0];
  std::string bytes = ReadFile(path);
  bytes[bytes.find("key1") + 10] ^= 1;
  WriteFile(path, bytes);

  auto store = Open();
  std::string value;
  EXPECT_THAT(store->Get({}, "key1", &value),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadAll(*store), StatusIs(absl::StatusCode::kDataLoss));
}

// Without the rule the power cut leaves a hole: the batches at the end of the
// old log are gone, and a synced one in the new log is there.
TEST_F(LevelDbRulesTest, TheOldLogIsSyncedBeforeTheNewOneGetsData) {
  options_.write_buffer_bytes = 64 << 10;
  auto store = Open();
  files_.TakeHistory();
  uint64_t n = 0;
  // Up to the first rotation, and one synced batch behind it.
  std::vector<std::string> calls;
  while (Find(calls, "create ", ".log") == calls.size() && n < 1000) {
    ASSERT_THAT(PutMarked(*store, ++n, 0, /*sync=*/false, 1000), IsOk());
    const std::vector<std::string> more = files_.TakeHistory();
    calls.insert(calls.end(), more.begin(), more.end());
  }
  ASSERT_THAT(PutMarked(*store, ++n, 0, /*sync=*/true, 1000), IsOk());

  const size_t created = Find(calls, "create ", ".log");
  ASSERT_LT(created, calls.size());
  EXPECT_LT(Find(calls, "sync ", ".log"), created);
  const size_t named = Find(calls, "sync-directory", "db", created);
  EXPECT_LT(named, Find(calls, "append",
                        calls[created].substr(std::string("create ").size()),
                        created));

  store.reset();
  files_.PowerCut();
  store = Open();
  for (uint64_t i = 1; i <= n; ++i) {
    EXPECT_NE(GetValue(*store, "key" + std::to_string(i)), std::nullopt) << i;
  }
}

// Any mixture of synced and unsynced writes over several logs.
TEST_F(LevelDbRulesTest, APowerCutLeavesAPrefixWithAllThatWasSynced) {
  options_.write_buffer_bytes = 64 << 10;
  for (uint64_t cycle = 1; cycle <= 30; ++cycle) {
    auto store = Open();
    const absl::StatusOr<Entries> before = ReadAll(*store);
    ASSERT_THAT(before, IsOk());
    const uint64_t first = before->size();  // Keys and the mark: one too many.
    uint64_t synced = 0;
    uint64_t n = first == 0 ? 0 : first - 1;
    for (uint64_t i = 0; i < cycle * 11; ++i) {
      const bool sync = (i * 7 + cycle) % 41 == 0;
      ASSERT_THAT(PutMarked(*store, ++n, synced, sync, 500), IsOk());
      if (sync) synced = n;
    }
    store.reset();
    files_.PowerCut(/*kept_bytes=*/cycle * 13 % 600);

    StoreOpenReport report;
    store = Open(&report);
    ASSERT_NE(store, nullptr);
    const auto after = ReadAll(*store);
    ASSERT_THAT(after, IsOk());
    const uint64_t kept = after->empty() ? 0 : after->size() - 1;
    EXPECT_GE(kept, synced);
    for (uint64_t i = 1; i <= kept; ++i) {
      ASSERT_EQ(after->count("key" + std::to_string(i)), 1u)
          << "a hole at " << i << " of " << kept << " in cycle " << cycle;
    }
  }
}

TEST_F(LevelDbRulesTest, CurrentIsDurableBeforeOldFilesGo) {
  auto store = Open();
  store.reset();
  files_.TakeHistory();
  store = Open();
  const std::vector<std::string> calls = files_.TakeHistory();
  const size_t renamed = Find(calls, "rename", "CURRENT");
  ASSERT_LT(renamed, calls.size());
  EXPECT_LT(Find(calls, "sync-directory", "db", renamed),
            Find(calls, "delete", "", renamed));
  // And the manifest's directory before the manifest's own bytes.
  const size_t manifest = Find(calls, "create MANIFEST", "");
  EXPECT_LT(Find(calls, "sync-directory", "db", manifest),
            Find(calls, "sync MANIFEST", "", manifest));
}

// LevelDB would delete the manifest that CURRENT may name by now.
TEST_F(LevelDbRulesTest, AFailedRenameOfCurrentThatHappenedLosesNothing) {
  ASSERT_THAT(PutMarked(*Open(), 1, 0), IsOk());
  files_.SetFailuresArePartial(true);
  bool happened = false;
  for (int i = 0; i < 50 && !happened; ++i) {
    const std::string before = ReadFile(db_ + "/CURRENT");
    files_.TakeHistory();
    Open();
    const size_t rename = Find(files_.TakeHistory(), "rename CURRENT", "");
    files_.FailCall(rename + 1, absl::InternalError("I/O error"));
    const bool failed = !OpenStore(db_, options_, nullptr).ok();
    happened = failed && files_.FailedCall() == "rename CURRENT" &&
               ReadFile(db_ + "/CURRENT") != before;
    files_.FailCall(0, absl::OkStatus());
    std::string value;
    ASSERT_THAT(Open()->Get({}, "key1", &value), IsOk());
  }
  EXPECT_TRUE(happened);
}

TEST_F(LevelDbRulesTest, ATablesNameIsDurableBeforeTheManifestNamesIt) {
  auto store = Open();
  for (uint64_t n = 1; n <= 200; ++n) {
    ASSERT_THAT(PutMarked(*store, n, 0, /*sync=*/false, 1000), IsOk());
  }
  files_.TakeHistory();
  store->CompactAll();
  const std::vector<std::string> calls = files_.TakeHistory();
  const size_t table = Find(calls, "sync ", ".ldb");
  ASSERT_LT(table, calls.size());
  const size_t named = Find(calls, "sync-directory", "db", table);
  ASSERT_LT(named, calls.size());
  EXPECT_LT(named, Find(calls, "append MANIFEST", "", table));
}

TEST_F(LevelDbRulesTest, WhatMustNotBeBehindIsSyncedBeforeEachSyncOfALog) {
  int called = 0;
  absl::Status status;
  options_.before_sync = [&] {
    ++called;
    return status;
  };
  auto store = Open();
  ASSERT_THAT(PutMarked(*store, 1, 0, /*sync=*/false, 1000), IsOk());
  EXPECT_EQ(called, 0);
  ASSERT_THAT(PutMarked(*store, 2, 0, /*sync=*/true, 1000), IsOk());
  EXPECT_EQ(called, 1);
  store->CompactAll();  // Begins a new log.
  EXPECT_GE(called, 2);
  files_.TakeHistory();
  status = absl::InternalError("the other log failed");
  EXPECT_THAT(PutMarked(*store, 3, 0, /*sync=*/true, 1000),
              StatusIs(absl::StatusCode::kInternal, "the other log failed"));
  const std::vector<std::string> calls = files_.TakeHistory();
  EXPECT_EQ(Find(calls, "sync ", ".log"), calls.size());
}

TEST_F(LevelDbRulesTest, ShortReadsLoseNothing) {
  auto store = Open();
  for (uint64_t n = 1; n <= 100; ++n) {
    ASSERT_THAT(PutMarked(*store, n, 0, /*sync=*/false, 1000), IsOk());
  }
  const auto before = ReadAll(*store);
  ASSERT_THAT(before, IsOk());
  store.reset();
  files_.SetReadBytesMax(7);
  StoreOpenReport report;
  store = Open(&report);
  EXPECT_EQ(report.log_bytes_cut, 0u);
  EXPECT_THAT(ReadAll(*store), IsOkAndHolds(*before));
}

// Waits, inside the calls themselves, for a sync that no writer asked for.
TEST_F(LevelDbRulesTest, TheLogIsSyncedInTheBackground) {
  std::mutex mu;
  std::condition_variable synced_cv;
  int synced = 0;
  auto store = Open();
  files_.SetHook([&](const std::string& call) {
    if (absl::StartsWith(call, "sync ") && absl::EndsWith(call, ".log")) {
      const std::lock_guard<std::mutex> lock(mu);
      ++synced;
      synced_cv.notify_all();
    }
    return absl::OkStatus();
  });
  const uint64_t values = LevelDbEnv::kLogSyncBytes / (64 << 10);
  for (uint64_t n = 1; n <= values; ++n) {
    ASSERT_THAT(PutMarked(*store, n, 0, /*sync=*/false, 64 << 10), IsOk());
  }
  std::unique_lock<std::mutex> lock(mu);
  synced_cv.wait(lock, [&] { return synced > 0; });
  lock.unlock();
  files_.SetHook(nullptr);
}

TEST_F(LevelDbRulesTest, AFailedBackgroundSyncFailsEveryLaterWrite) {
  auto store = Open();
  files_.SetHook([](const std::string& call) {
    if (absl::StartsWith(call, "sync ") && absl::EndsWith(call, ".log")) {
      return absl::InternalError("the disk is gone");
    }
    return absl::OkStatus();
  });
  // The failure shows up at some write behind the one that set it off.
  absl::Status status;
  for (uint64_t n = 1; n <= 10000 && status.ok(); ++n) {
    status = PutMarked(*store, n, 0, /*sync=*/false, 64 << 10);
  }
  files_.SetHook(nullptr);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal, "disk is gone"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Put(*store, "late", "", /*sync=*/i == 1),
                StatusIs(absl::StatusCode::kInternal, "disk is gone"));
  }
  EXPECT_EQ(GetValue(*store, "late"), std::nullopt);
}

// LevelDB alone would go on behind the torn record, and lose what follows.
TEST_F(LevelDbRulesTest, AFailedAppendFailsEveryLaterWrite) {
  auto store = Open();
  ASSERT_THAT(PutMarked(*store, 1, 0), IsOk());
  int appends = 0;
  files_.SetHook([&appends](const std::string& call) {
    // The header gets into the log, the data does not.
    if (absl::StartsWith(call, "append ") && absl::EndsWith(call, ".log") &&
        ++appends == 2) {
      return absl::ResourceExhaustedError("no space left");
    }
    return absl::OkStatus();
  });
  EXPECT_THAT(PutMarked(*store, 2, 0),
              StatusIs(absl::StatusCode::kResourceExhausted, "no space"));
  EXPECT_THAT(PutMarked(*store, 3, 0),
              StatusIs(absl::StatusCode::kResourceExhausted, "no space"));
  store.reset();
  files_.SetHook(nullptr);

  StoreOpenReport report;
  store = Open(&report);
  EXPECT_EQ(GetValue(*store, "key1"), "bbbbbbbb");
  EXPECT_EQ(GetValue(*store, "key2"), std::nullopt);
  EXPECT_EQ(GetValue(*store, "key3"), std::nullopt);
  EXPECT_THAT(PutMarked(*store, 2, 0), IsOk());
}

// Each call fails once, and from then on. Whatever the moment, what was
// acknowledged is there once the disk works again, without holes.
TEST_F(LevelDbRulesTest, AFailureOfAnyCallLosesNothingAcknowledged) {
  options_.write_buffer_bytes = 64 << 10;
  for (const bool from_then_on : {false, true}) {
    bool passed_through = false;
    for (uint64_t nth = 1; !passed_through; nth += nth < 60 ? 1 : 17) {
      std::filesystem::remove_all(db_);
      FaultyFileSystem files(FileSystem::Posix());
      options_.file_system = &files;
      files.FailCall(nth, absl::ResourceExhaustedError("no space left"),
                     from_then_on);
      uint64_t acknowledged = 0;
      auto store = OpenStore(db_, options_);
      if (store.ok()) {
        for (uint64_t n = 1; n <= 100; ++n) {
          if (!PutMarked(**store, n, 0, n % 16 == 0, 1000).ok()) break;
          acknowledged = n;
        }
        store->reset();
      }
      passed_through = files.calls() < nth;
      files.FailCall(0, absl::OkStatus());

      store = OpenStore(db_, options_);
      ASSERT_THAT(store, IsOk()) << "call " << nth;
      const auto all = ReadAll(**store);
      ASSERT_THAT(all, IsOk());
      const uint64_t kept = all->empty() ? 0 : all->size() - 1;
      ASSERT_GE(kept, acknowledged) << "call " << nth;
      ASSERT_LE(kept, acknowledged + 1) << "call " << nth;
      for (uint64_t n = 1; n <= kept; ++n) {
        ASSERT_EQ(all->count("key" + std::to_string(n)), 1u) << "call " << nth;
      }
    }
  }
}

TEST_F(LevelDbRulesTest, ASecondOpenInThisProcessNamesTheHolder) {
  auto store = Open();
  std::filesystem::create_directory_symlink(db_, dir_.Sub("alias"));
  const std::string pid = "holder_pid=" + std::to_string(::getpid());
  EXPECT_THAT(OpenStore(db_, options_),
              StatusIs(absl::StatusCode::kFailedPrecondition, pid));
  EXPECT_THAT(OpenStore(dir_.Sub("alias"), options_),
              StatusIs(absl::StatusCode::kFailedPrecondition, pid));
  EXPECT_THAT(Put(*store, "still", "works"), IsOk());
  store.reset();
  EXPECT_THAT(OpenStore(db_, options_), IsOk());
}

TEST_F(LevelDbRulesTest, ASecondProcessIsRefused) {
  auto store = Open();
  const std::string pid = "holder_pid=" + std::to_string(::getpid());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto second = OpenStore(db_, options_);
    const bool refused =
        second.status().code() == absl::StatusCode::kFailedPrecondition &&
        absl::StrContains(second.status().message(), pid);
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(LevelDbRulesTest, NothingIsCreatedUnlessAskedFor) {
  options_.create_if_missing = false;
  EXPECT_THAT(OpenStore(db_, options_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(std::filesystem::exists(db_));
  std::filesystem::create_directory(db_);
  EXPECT_THAT(OpenStore(db_, options_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(std::filesystem::is_empty(db_));
}

TEST_F(LevelDbRulesTest, AMissingParentIsNamed) {
  EXPECT_THAT(OpenStore(dir_.Sub("no/db"), options_),
              StatusIs(absl::StatusCode::kNotFound, "parent directory"));
}

TEST_F(LevelDbRulesTest, AFileInPlaceOfTheDirectoryIsRefused) {
  WriteFile(db_, "a file");
  EXPECT_THAT(OpenStore(db_, options_),
              StatusIs(absl::StatusCode::kFailedPrecondition, db_));
  EXPECT_EQ(ReadFile(db_), "a file");
}

TEST_F(LevelDbRulesTest, ADirectoryThatCannotBeWrittenIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  std::filesystem::create_directory(db_);
  ASSERT_EQ(::chmod(db_.c_str(), 0500), 0);
  EXPECT_THAT(OpenStore(db_, options_),
              StatusIs(absl::StatusCode::kPermissionDenied, db_));
  ASSERT_EQ(::chmod(db_.c_str(), 0700), 0);
}

TEST_F(LevelDbRulesTest, AForeignDirectoryIsLeftAlone) {
  std::filesystem::create_directory(db_);
  WriteFile(db_ + "/holiday.jpg", "picture");
  EXPECT_THAT(OpenStore(db_, options_),
              StatusIs(absl::StatusCode::kFailedPrecondition, "holiday.jpg"));
  EXPECT_THAT(NamesWith(db_, ""), ::testing::ElementsAre("holiday.jpg"));
}

TEST_F(LevelDbRulesTest, AnUnfinishedCreationIsBegunAgain) {
  std::filesystem::create_directories(db_ + "/lost");
  for (const char* name : {"LOCK", "LOG", "LOG.old", "MANIFEST-000001",
                           "000001.dbtmp", "DOVETAIL.lock"}) {
    WriteFile(db_ + "/" + name, "x");
  }
  StoreOpenReport report;
  auto store = Open(&report);
  EXPECT_TRUE(report.created);
  EXPECT_THAT(ReadAll(*store), IsOkAndHolds(IsEmpty()));
}

TEST_F(LevelDbRulesTest, LevelDbWritesItsLogThroughTheSeam) {
  auto store = Open();
  EXPECT_THAT(ReadFile(db_ + "/LOG"), HasSubstr("Creating DB"));
}

TEST(LevelDbStatusTest, EveryCodeComesBack) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kOk, absl::StatusCode::kNotFound,
        absl::StatusCode::kDataLoss, absl::StatusCode::kInvalidArgument,
        absl::StatusCode::kUnimplemented, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnavailable,
        absl::StatusCode::kFailedPrecondition, absl::StatusCode::kInternal}) {
    const absl::Status status(code, "path=/x");
    EXPECT_EQ(FromLevelDb(ToLevelDb(status)).code(), code);
    if (!status.ok()) {
      EXPECT_THAT(FromLevelDb(ToLevelDb(status)), StatusIs(code, "path=/x"));
    }
  }
  EXPECT_THAT(FromLevelDb(ToLevelDb(absl::DataLossError("x"))),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(FromLevelDb(ToLevelDb(absl::AbortedError("x"))),
              StatusIs(absl::StatusCode::kInternal, "x"));
}

}  // namespace
}  // namespace dovetail::test
