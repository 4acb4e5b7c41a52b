// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the check before an open does with every kind of damage: refuse, or
// cut what was never synced and say so, or find nothing to object to where
// nothing is lost. Never other content, never a crash.

#include "engine/storage/leveldb_open_check.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/testing/faulty_file_system.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/store_test_util.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Outcome {
  absl::Status status;
  StoreOpenReport report;
  Entries entries;
  bool changed_nothing = false;  // On disk, by the open.
};

class OpenCheckTest : public ::testing::Test {
 protected:
  // Runs `write` on a fresh database and returns its files after the close.
  // An open flushes the log of the one before, so all is in one log unless
  // `write` fills the buffer.
  Entries Build(const std::function<void(Store&)>& write) {
    const std::string db = dir_.Sub("build");
    std::filesystem::remove_all(db);
    auto store = OpenStore(db, options_);
    EXPECT_THAT(store, IsOk());
    if (store.ok()) write(**store);
    store->reset();
    return FilesOf(db);
  }

  // Adds to what `files` hold, by an open that flushes their log.
  Entries Continue(const Entries& files,
                   const std::function<void(Store&)>& write) {
    const std::string db = dir_.Sub("build");
    std::filesystem::remove_all(db);
    WriteFiles(db, files);
    auto store = OpenStore(db, options_);
    EXPECT_THAT(store, IsOk());
    if (store.ok()) write(**store);
    store->reset();
    return FilesOf(db);
  }

  // `count` batches from `first` on; each mark says that everything up to
  // `lag` batches before was synced.
  static std::function<void(Store&)> Batches(uint64_t first, uint64_t count,
                                             uint64_t lag,
                                             size_t value_bytes = 8) {
    return [=](Store& store) {
      for (uint64_t n = first; n < first + count; ++n) {
        const uint64_t synced = n > lag ? n - lag : 0;
        EXPECT_THAT(PutMarked(store, n, synced, false, value_bytes), IsOk());
      }
    };
  }

  Outcome OpenFiles(const Entries& files) {
    const std::string db = dir_.Sub("case");
    std::filesystem::remove_all(db);
    WriteFiles(db, files);
    Outcome outcome;
    auto store = OpenStore(db, options_, &outcome.report);
    outcome.status = store.status();
    if (!store.ok()) {
      outcome.changed_nothing = FilesOf(db) == files;
      return outcome;
    }
    const absl::StatusOr<Entries> entries = ReadAll(**store);
    outcome.status = entries.status();
    if (entries.ok()) outcome.entries = *entries;
    return outcome;
  }

  // What `count` batches of Batches(1, count, lag) leave.
  static Entries After(uint64_t count, uint64_t lag, size_t value_bytes = 8) {
    Entries entries;
    for (uint64_t n = 1; n <= count; ++n) {
      entries["key" + std::to_string(n)] =
          std::string(value_bytes, static_cast<char>('a' + n % 26));
      entries[kMarkKey] = MarkValue(n, n > lag ? n - lag : 0);
    }
    return entries;
  }

  // How many batches made `entries`, or nullopt if no prefix did.
  static std::optional<uint64_t> PrefixLength(const Entries& entries,
                                              uint64_t lag,
                                              size_t value_bytes = 8) {
    const uint64_t count = entries.empty() ? 0 : entries.size() - 1;
    if (entries != After(count, lag, value_bytes)) return std::nullopt;
    return count;
  }

  static std::string Only(const Entries& files, std::string_view suffix) {
    std::string found;
    for (const auto& [name, bytes] : files) {
      if (name.size() < suffix.size() ||
          name.compare(name.size() - suffix.size(), suffix.size(), suffix) !=
              0) {
        continue;
      }
      EXPECT_EQ(found, "") << name;
      found = name;
    }
    EXPECT_NE(found, "") << suffix;
    return found;
  }
  static std::string ManifestIn(const Entries& files) {
    std::string name = files.at("CURRENT");
    name.pop_back();
    return name;
  }

  TempDir dir_;
  FaultyFileSystem files_{FileSystem::Posix()};
  LevelDbStoreOptions options_ = StoreOptions(&files_);
};

// A lag that no batch reaches: nothing was ever synced.
constexpr uint64_t kNeverSynced = 1000000;

TEST_F(OpenCheckTest, AWholeDatabaseIsNotTouched) {
  const Entries files = Build(Batches(1, 20, 5));
  const Outcome outcome = OpenFiles(files);
  ASSERT_THAT(outcome.status, IsOk());
  EXPECT_EQ(outcome.report.log_bytes_cut, 0u);
  EXPECT_EQ(outcome.report.log_cut, "");
  EXPECT_FALSE(outcome.report.created);
  EXPECT_EQ(outcome.entries, After(20, 5));
}

TEST_F(OpenCheckTest, ALogCutAnywhereGivesAnExactPrefix) {
  const Entries files = Build(Batches(1, 10, kNeverSynced));
  const std::string log = Only(files, ".log");
  const std::string& bytes = files.at(log);
  uint64_t previous = 0;
  for (size_t size = 0; size <= bytes.size(); ++size) {
    Entries cut = files;
    cut[log] = bytes.substr(0, size);
    const Outcome outcome = OpenFiles(cut);
    ASSERT_THAT(outcome.status, IsOk()) << size;
    const auto count = PrefixLength(outcome.entries, kNeverSynced);
    ASSERT_TRUE(count.has_value()) << size;
    // One batch more exactly where its last byte is there; a report for every
    // size that is not the end of a batch.
    ASSERT_GE(*count, previous) << size;
    ASSERT_LE(*count, previous + 1) << size;
    const bool whole = size == 0 || *count == previous + 1;
    ASSERT_EQ(outcome.report.log_bytes_cut == 0, whole) << size;
    ASSERT_EQ(outcome.report.log_cut.empty(), whole) << size;
    previous = *count;
  }
  EXPECT_EQ(previous, 10u);
}

TEST_F(OpenCheckTest, WhatIsCutIsKept) {
  const Entries files = Build(Batches(1, 5, kNeverSynced));
  const std::string log = Only(files, ".log");
  Entries torn = files;
  torn[log] += "torn";
  const size_t offset = files.at(log).size();
  const Outcome outcome = OpenFiles(torn);
  ASSERT_THAT(outcome.status, IsOk());
  const std::string kept = "lost/" + log + "." + std::to_string(offset);
  EXPECT_EQ(outcome.report.log_bytes_cut, 4u);
  EXPECT_THAT(outcome.report.log_cut,
              ::testing::AllOf(HasSubstr("file=" + log),
                               HasSubstr("offset=" + std::to_string(offset)),
                               HasSubstr("kept=" + kept)));
  EXPECT_EQ(ReadFile(dir_.Sub("case/") + kept), "torn");
  EXPECT_EQ(outcome.entries, After(5, kNeverSynced));
}

// The cut is on the disk before anything builds on it: a power cut at any
// point of the open leaves a database that opens to the same content.
TEST_F(OpenCheckTest, APowerCutDuringTheCutDoesNoHarm) {
  Entries torn = Build(Batches(1, 5, kNeverSynced));
  torn[Only(torn, ".log")] += std::string(100, 'x');
  const std::string db = dir_.Sub("case");
  for (uint64_t nth = 1;; ++nth) {
    std::filesystem::remove_all(db);
    WriteFiles(db, torn);
    FaultyFileSystem files(FileSystem::Posix());
    options_.file_system = &files;
    files.FailCall(nth, absl::InternalError("power"), /*from_then_on=*/true);
    const bool opened = OpenStore(db, options_).ok();
    const uint64_t calls = files.calls();
    files.FailCall(0, absl::OkStatus());
    files.PowerCut();
    auto store = OpenStore(db, options_);
    ASSERT_THAT(store, IsOk()) << nth;
    ASSERT_THAT(ReadAll(**store), IsOkAndHolds(After(5, kNeverSynced))) << nth;
    if (opened && calls < nth) break;
  }
}

TEST_F(OpenCheckTest, EveryFlippedByteOfAnUnsyncedLogIsAReportedCut) {
  const Entries files = Build(Batches(1, 6, kNeverSynced));
  const std::string log = Only(files, ".log");
  for (size_t i = 0; i < files.at(log).size(); ++i) {
    for (const int flip : {1 << (i % 8), 0xff}) {
      Entries damaged = files;
      damaged[log][i] = static_cast<char>(damaged[log][i] ^ flip);
      const Outcome outcome = OpenFiles(damaged);
      ASSERT_THAT(outcome.status, IsOk()) << i;
      const auto count = PrefixLength(outcome.entries, kNeverSynced);
      ASSERT_TRUE(count.has_value()) << i;
      ASSERT_LT(*count, 6u) << i;
      ASSERT_GT(outcome.report.log_bytes_cut, 0u) << i;
    }
  }
}

// Each mark says that the batch before was synced, so only damage to the last
// batch can be a torn write.
TEST_F(OpenCheckTest, EveryFlippedByteOfWhatWasSyncedIsDataLoss) {
  const Entries files = Build(Batches(1, 6, 1));
  const std::string log = Only(files, ".log");
  const std::string& bytes = files.at(log);
  const size_t last = bytes.rfind("key6") - 7 - 12 - 2;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {1 << (i % 8), 0xff}) {
      Entries damaged = files;
      damaged[log][i] = static_cast<char>(damaged[log][i] ^ flip);
      const Outcome outcome = OpenFiles(damaged);
      if (i < last) {
        ASSERT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss, log))
            << i;
        ASSERT_TRUE(outcome.changed_nothing) << i;
      } else {
        ASSERT_THAT(outcome.status, IsOk()) << i;
        ASSERT_EQ(outcome.entries, After(5, 1)) << i;
        ASSERT_GT(outcome.report.log_bytes_cut, 0u) << i;
      }
    }
  }
}

// Records that span blocks, and damage of whole sectors.
TEST_F(OpenCheckTest, AZeroedSectorIsCutOrRefusedByWhatWasSynced) {
  constexpr size_t kValueBytes = 20000;
  for (const uint64_t lag : {uint64_t{1}, uint64_t{4}, kNeverSynced}) {
    const Entries files = Build(Batches(1, 10, lag, kValueBytes));
    const std::string log = Only(files, ".log");
    const size_t size = files.at(log).size();
    const size_t batch_bytes = size / 10;
    for (size_t at = 0; at + 4096 < size; at += 4096) {
      Entries damaged = files;
      damaged[log].replace(at, 4096, std::string(4096, '\0'));
      const Outcome outcome = OpenFiles(damaged);
      // The first batch that the sector may touch, and the highest sequence
      // that the last batch says was synced.
      const uint64_t hit = (at > 100 ? at - 100 : 0) / batch_bytes + 1;
      const uint64_t synced = lag < 10 ? 10 - lag : 0;
      if (hit + 1 < synced) {
        ASSERT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss))
            << at << " lag " << lag;
        ASSERT_TRUE(outcome.changed_nothing);
        continue;
      }
      if (!outcome.status.ok()) {
        ASSERT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss));
        ASSERT_LE(hit, synced) << at;
        continue;
      }
      ASSERT_TRUE(PrefixLength(outcome.entries, lag, kValueBytes).has_value());
      ASSERT_GT(outcome.report.log_bytes_cut, 0u);
    }
  }
}

TEST_F(OpenCheckTest, TailsOfOneByteValueAreCut) {
  const Entries files = Build(Batches(1, 5, 1));
  const std::string log = Only(files, ".log");
  for (const char fill : {'\0', '\xff', '\x01', '\x04'}) {
    for (const size_t size : {1u, 6u, 7u, 4096u, 70000u}) {
      Entries damaged = files;
      damaged[log] += std::string(size, fill);
      const Outcome outcome = OpenFiles(damaged);
      ASSERT_THAT(outcome.status, IsOk());
      ASSERT_EQ(outcome.report.log_bytes_cut, size);
      ASSERT_EQ(outcome.entries, After(5, 1));
    }
  }
}

// The front of the newest log is gone, and only the tables know up to where
// the database was whole.
TEST_F(OpenCheckTest, WithoutAMarkBeforeTheBreakTheTablesTell) {
  const Entries first = Build(Batches(1, 20, kNeverSynced));
  for (const uint64_t lag : {uint64_t{1}, uint64_t{4}, kNeverSynced}) {
    const Entries files = Continue(first, Batches(21, 5, lag));
    const std::string log = Only(files, ".log");
    Entries damaged = files;
    damaged[log][10] ^= 1;
    const Outcome outcome = OpenFiles(damaged);
    // The last mark says that 24, 21 or nothing was synced; 20 is in a table.
    if (lag != kNeverSynced) {
      EXPECT_THAT(outcome.status,
                  StatusIs(absl::StatusCode::kDataLoss, "intact_sequence=20"));
      EXPECT_TRUE(outcome.changed_nothing);
    } else {
      EXPECT_THAT(outcome.status, IsOk());
      EXPECT_EQ(outcome.entries, After(20, kNeverSynced));
    }
  }
  // Synced before the log began.
  const Entries files = Continue(first, Batches(21, 5, 5));
  Entries damaged = files;
  damaged[Only(files, ".log")][10] ^= 1;
  const Outcome outcome = OpenFiles(damaged);
  EXPECT_THAT(outcome.status, IsOk());
  EXPECT_EQ(outcome.entries, After(20, kNeverSynced));
}

// Values that look like logs must not be taken for batches.
TEST_F(OpenCheckTest, AnImageOfALogInsideAValueIsNotABatch) {
  const std::string image =
      Build(Batches(1, 30, 1)).at(Only(Build(Batches(1, 30, 1)), ".log"));
  const Entries files = Build([&](Store& store) {
    Batches(1, 40, kNeverSynced)(store);
    EXPECT_THAT(Put(store, "image", image), IsOk());
  });
  Entries damaged = files;
  std::string& log = damaged[Only(files, ".log")];
  log.resize(log.size() - 1);
  const Outcome outcome = OpenFiles(damaged);
  EXPECT_THAT(outcome.status, IsOk());
  EXPECT_EQ(outcome.entries, After(40, kNeverSynced));
}

TEST_F(OpenCheckTest, EveryFlippedByteOfTheManifestOrCurrentIsHarmless) {
  // Two opens, so that the manifest names a table and a log number.
  const Entries files =
      Continue(Build(Batches(1, 10, kNeverSynced)), Batches(11, 3, 1));
  Entries whole = After(13, 1);
  int refused = 0;
  for (const std::string& name : {ManifestIn(files), std::string("CURRENT")}) {
    for (size_t i = 0; i < files.at(name).size(); ++i) {
      for (const int flip : {1 << (i % 8), 0xff}) {
        Entries damaged = files;
        damaged[name][i] = static_cast<char>(damaged[name][i] ^ flip);
        const Outcome outcome = OpenFiles(damaged);
        if (outcome.status.ok()) {
          ASSERT_EQ(outcome.entries, whole) << name << " " << i;
          continue;
        }
        ++refused;
        ASSERT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss))
            << name << " " << i;
        ASSERT_TRUE(outcome.changed_nothing) << name << " " << i;
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(OpenCheckTest, AManifestCutAnywhereLosesNothing) {
  const Entries files =
      Continue(Build(Batches(1, 10, kNeverSynced)), Batches(11, 3, 1));
  const std::string name = ManifestIn(files);
  for (size_t size = 0; size < files.at(name).size(); ++size) {
    Entries damaged = files;
    damaged[name].resize(size);
    const Outcome outcome = OpenFiles(damaged);
    if (!outcome.status.ok()) {
      ASSERT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss))
          << size;
      ASSERT_TRUE(outcome.changed_nothing) << size;
    } else {
      ASSERT_EQ(outcome.entries.size(), 14u) << size;
    }
  }
  // Zeros where a record was being written are accepted as LevelDB does.
  Entries grown = files;
  grown[name] += std::string(50, '\0');
  EXPECT_THAT(OpenFiles(grown).status, IsOk());
}

// What a power cut leaves of an edit that was being appended: pages of it, and
// what the disk had there before.
TEST_F(OpenCheckTest, GarbageBehindTheLastEditIsCut) {
  const Entries files =
      Continue(Build(Batches(1, 10, kNeverSynced)), Batches(11, 3, 1));
  const std::string name = ManifestIn(files);
  const size_t size = files.at(name).size();
  std::string broken_edit = files.at(name).substr(0, size - 1) + "x";
  for (const std::string& tail :
       {std::string(50, '\0') + "x", std::string(300, 'g'), broken_edit}) {
    Entries damaged = files;
    damaged[name] += tail;
    const Outcome outcome = OpenFiles(damaged);
    ASSERT_THAT(outcome.status, IsOk()) << tail.size();
    EXPECT_EQ(outcome.entries, After(13, 1)) << tail.size();
    EXPECT_GT(outcome.report.log_bytes_cut, 0u) << tail.size();
    EXPECT_THAT(outcome.report.log_cut, HasSubstr("file=" + name));
    EXPECT_THAT(outcome.report.log_cut, HasSubstr("kept=lost/" + name));

    // A copy that was made whole must be whole.
    const std::string copy = dir_.Sub("copy");
    std::filesystem::remove_all(copy);
    WriteFiles(copy, damaged);
    EXPECT_THAT(CheckLevelDbCopy(copy, options_),
                StatusIs(absl::StatusCode::kDataLoss, name));
  }
}

// An edit that was in force has had old files deleted.
TEST_F(OpenCheckTest, ADamagedLastEditThatWasInForceIsDataLoss) {
  const Entries files =
      Continue(Build(Batches(1, 10, kNeverSynced)), Batches(11, 3, 1));
  const std::string name = ManifestIn(files);
  Entries damaged = files;
  damaged[name].back() ^= 1;
  const Outcome outcome = OpenFiles(damaged);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(outcome.changed_nothing);
}

TEST_F(OpenCheckTest, AMissingOrResizedTableIsDataLoss) {
  const Entries files =
      Continue(Build(Batches(1, 10, kNeverSynced)), Batches(11, 3, 1));
  const std::string table = Only(files, ".ldb");
  Entries missing = files;
  missing.erase(table);
  Entries shorter = files;
  shorter[table].pop_back();
  Entries longer = files;
  longer[table] += "x";
  for (const Entries& damaged : {missing, shorter, longer}) {
    const Outcome outcome = OpenFiles(damaged);
    EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss, table));
    EXPECT_TRUE(outcome.changed_nothing);
  }
}

TEST_F(OpenCheckTest, AMissingLogIsDataLoss) {
  Entries files = Build(Batches(1, 10, kNeverSynced));
  const std::string log = Only(files, ".log");
  files.erase(log);
  const Outcome outcome = OpenFiles(files);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss, log));
  EXPECT_TRUE(outcome.changed_nothing);
}

TEST_F(OpenCheckTest, CurrentMissingOrNamingNothingIsDataLoss) {
  const Entries files = Build(Batches(1, 10, kNeverSynced));
  Entries missing = files;
  missing.erase("CURRENT");
  Entries astray = files;
  astray["CURRENT"] = "MANIFEST-000777\n";
  Entries empty = files;
  empty["CURRENT"] = "";
  for (const Entries& damaged : {missing, astray, empty}) {
    const Outcome outcome = OpenFiles(damaged);
    EXPECT_THAT(outcome.status,
                StatusIs(absl::StatusCode::kDataLoss, "CURRENT"));
    EXPECT_TRUE(outcome.changed_nothing);
  }
}

// Several live logs, as a crash between a rotation and the end of its flush
// leaves them: here the flush is kept from happening.
class OpenCheckLogsTest : public OpenCheckTest {
 protected:
  OpenCheckLogsTest() {
    options_.write_buffer_bytes = 64 << 10;
    const std::string db = dir_.Sub("logs");
    auto store = OpenStore(db, options_);
    EXPECT_THAT(store, IsOk());
    files_.SetHook([](const std::string& call) {
      if (call.rfind("create ", 0) == 0 &&
          call.find(".ldb") != std::string::npos) {
        return absl::InternalError("no tables");
      }
      return absl::OkStatus();
    });
    uint64_t n = 1;
    while (NamesWith(db, ".log").size() < 2) {
      if (!PutMarked(**store, n, 0, false, kValueBytes).ok()) break;
      ++n;
    }
    store->reset();
    files_.SetHook(nullptr);
    count_ = n - 1;
    logs_ = FilesOf(db);
    names_ = NamesWith(db, ".log");
  }

  // A log that begins at LevelDB's sequence `sequence` and holds one batch.
  std::string LogBeginningAt(uint64_t sequence) {
    Entries files = Build([&](Store& store) {
      while (true) {
        if (sequence-- == 1) break;
        EXPECT_THAT(Put(store, "x", ""), IsOk());
      }
    });
    Entries next = Continue(files, [](Store& store) {
      EXPECT_THAT(Put(store, "late", ""), IsOk());
    });
    return next.at(Only(next, ".log"));
  }

  static constexpr size_t kValueBytes = 2000;

  uint64_t count_ = 0;
  Entries logs_;
  std::vector<std::string> names_;
};

TEST_F(OpenCheckLogsTest, WholeLogsAreReadInOrder) {
  ASSERT_THAT(names_, SizeIs(2));
  const Outcome outcome = OpenFiles(logs_);
  ASSERT_THAT(outcome.status, IsOk());
  EXPECT_GE(PrefixLength(outcome.entries, kNeverSynced, kValueBytes), count_);
}

// Nothing in the marks says so, but a log with a successor was synced.
TEST_F(OpenCheckLogsTest, DamageToAnOlderLogIsDataLoss) {
  ASSERT_THAT(names_, SizeIs(2));
  const size_t size = logs_.at(names_[0]).size();
  for (size_t i = 0; i < size; i += 251) {
    Entries flipped = logs_;
    flipped[names_[0]][i] ^= 4;
    Entries cut = logs_;
    cut[names_[0]].resize(i);
    for (const Entries& damaged : {flipped, cut}) {
      const Outcome outcome = OpenFiles(damaged);
      if (outcome.status.ok()) {
        // The bytes between the last record of a block and its end.
        ASSERT_GE(PrefixLength(outcome.entries, kNeverSynced, kValueBytes),
                  count_)
            << i;
        continue;
      }
      ASSERT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss)) << i;
      ASSERT_TRUE(outcome.changed_nothing) << i;
    }
  }
}

TEST_F(OpenCheckLogsTest, AGapBetweenLogsIsDataLoss) {
  ASSERT_THAT(names_, SizeIs(2));
  // Two operations a batch: the next sequence is 2 * batches + 1.
  const Outcome whole = OpenFiles(logs_);
  ASSERT_THAT(whole.status, IsOk());
  const uint64_t next = 2 * (whole.entries.size() - 1) + 1;
  for (const uint64_t shift : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
    Entries files = logs_;
    files["000900.log"] = LogBeginningAt(next + shift - 1);
    const Outcome outcome = OpenFiles(files);
    if (shift == 1) {
      EXPECT_THAT(outcome.status, IsOk());
      EXPECT_EQ(outcome.entries.count("late"), 1u);
      continue;
    }
    EXPECT_THAT(outcome.status,
                StatusIs(absl::StatusCode::kDataLoss, "000900.log"));
    EXPECT_TRUE(outcome.changed_nothing);
  }
}

TEST_F(OpenCheckLogsTest, TheFirstLogMissingIsDataLoss) {
  ASSERT_THAT(names_, SizeIs(2));
  Entries files = logs_;
  files.erase(names_[0]);
  const Outcome outcome = OpenFiles(files);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kDataLoss, names_[0]));
  EXPECT_TRUE(outcome.changed_nothing);
}

}  // namespace
}  // namespace dovetail::test
