// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Checkpoints beside writers and compactions, opened by others; what is left
// when they fail; and read-only opens.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/engine/engine_fixture.h"
#include "dovetail/testing/faulty_file_system.h"

extern char** environ;

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Order id to status and version.
using Contents = std::map<std::string, std::pair<int, uint64_t>>;

// What one writer committed.
struct Change {
  uint64_t sequence;
  std::string id;
  int status;  // -1: deleted.
};

// The rows that the commits up to `sequence` leave.
Contents Replay(std::vector<Change> changes, uint64_t sequence) {
  std::sort(
      changes.begin(), changes.end(),
      [](const Change& a, const Change& b) { return a.sequence < b.sequence; });
  Contents contents;
  for (const Change& change : changes) {
    if (change.sequence > sequence) break;
    if (change.status < 0) {
      contents.erase(change.id);
    } else {
      contents[change.id] = {change.status, change.sequence};
    }
  }
  return contents;
}

// What one index, or the row key, leads to.
Contents ContentsBy(Engine& engine, const std::string& index) {
  Contents contents;
  const auto end = engine.ForEach(
      {}, {.table = "orders", .index = index, .limit = 1'000'000},
      [&](const RowView& row) {
        v1::Order order;
        EXPECT_TRUE(order.ParseFromString(std::string(row.record)));
        contents[order.order_id()] = {order.status(),
                                      static_cast<uint64_t>(row.version)};
        return true;
      });
  EXPECT_THAT(end, IsOk());
  return contents;
}

// Rows, each index and a verify say the same.
void ExpectContents(Engine& engine, const Contents& expected) {
  for (const char* index : {"", "by_order_id", "by_status"}) {
    EXPECT_TRUE(ContentsBy(engine, index) == expected) << index;
  }
  const auto report = engine.Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->clean()) << report->Summary();
  EXPECT_EQ(report->rows, expected.size());
}

// Random puts, status changes and deletions of orders of its own.
class Writer {
 public:
  Writer(Engine* engine, int number, uint64_t seed)
      : engine_(*engine), name_("w" + std::to_string(number)), random_(seed) {}

  void Step() {
    const uint64_t n = random_() % 300;
    const std::string id = name_ + "-" + std::to_string(n);
    const int status = static_cast<int>(random_() % 5);
    const auto by_id = RowRef::By("by_order_id", {id});
    WriteBatch batch;
    if (there_.count(id) == 0 || random_() % 3 == 0) {
      v1::Order order =
          MakeOrder(id, "seller-" + std::to_string(n % 7),
                    static_cast<int64_t>(n), v1::OrderStatus(status));
      order.set_note(std::string(400, static_cast<char>('a' + n % 26)));
      batch.Put("orders", Bytes(order));
      there_.insert(id);
      changes_.push_back({0, id, status});
    } else if (random_() % 4 == 0) {
      batch.Delete("orders", by_id);
      there_.erase(id);
      changes_.push_back({0, id, -1});
    } else {
      batch.Patch("orders", by_id, StatusOnly(v1::OrderStatus(status)),
                  {"status"});
      changes_.push_back({0, id, status});
    }
    const auto commit =
        engine_.Write({.sync = random_() % 100 == 0}, std::move(batch));
    ASSERT_THAT(commit, IsOk());
    changes_.back().sequence = static_cast<uint64_t>(commit->sequence);
  }
  const std::vector<Change>& changes() const { return changes_; }

 private:
  Engine& engine_;
  const std::string name_;
  std::mt19937_64 random_;
  std::set<std::string> there_;
  std::vector<Change> changes_;
};

// Writers that run until they are stopped, and at least `steps` steps each.
class Writers {
 public:
  Writers(Engine* engine, int count, int steps) : steps_(steps) {
    const char* given = std::getenv("DOVETAIL_TEST_SEED");
    const uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : 20260131;
    std::cout << "seed: DOVETAIL_TEST_SEED=" << seed << "\n";
    for (int i = 0; i < count; ++i) {
      writers_.emplace_back(engine, i, seed + static_cast<uint64_t>(i));
    }
    for (Writer& writer : writers_) {
      threads_.emplace_back([this, &writer] {
        for (int n = 0; n < steps_ || !stop_.load(); ++n) {
          writer.Step();
          done_.fetch_add(1);
          done_.notify_all();
          if (::testing::Test::HasFatalFailure()) return;
        }
      });
    }
  }
  ~Writers() { Stop(); }

  // Returns once `count` more steps have been made.
  void Await(uint64_t count) const {
    uint64_t now = done_.load();
    const uint64_t until = now + count;
    while (now < until && !::testing::Test::HasFailure()) {
      done_.wait(now);
      now = done_.load();
    }
  }
  std::vector<Change> Stop() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    std::vector<Change> all;
    for (const Writer& writer : writers_) {
      all.insert(all.end(), writer.changes().begin(), writer.changes().end());
    }
    return all;
  }

 private:
  const int steps_;
  std::deque<Writer> writers_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> done_{0};
  std::vector<std::thread> threads_;
};

class CheckpointTest : public EngineTest {
 protected:
  CheckpointTest() : files_(FileSystem::Posix()) {
    options_.file_system = &files_;
    options_.write_buffer_bytes = 64 << 10;  // Many flushes and compactions.
  }
  ~CheckpointTest() override { engine_.reset(); }

  absl::StatusOr<CheckpointReport> Checkpoint(
      const CheckpointOptions& options = {}) {
    return engine().Checkpoint(copy_, options);
  }
  // Puts orders o1, o2, ... up to `last`.
  void FillUpTo(int last) {
    for (; filled_ < last; ++filled_) {
      v1::Order order =
          MakeOrder("o" + std::to_string(filled_ + 1), "s", filled_);
      order.set_note(std::string(500, 'x'));
      ASSERT_THAT(Put(order), IsOk());
    }
  }
  absl::StatusOr<std::unique_ptr<Engine>> OpenCopy(bool read_only = true) {
    Options options = options_;
    options.read_only = read_only;
    options.create_if_missing = false;
    return Engine::Open(copy_, schema_, options);
  }
  void ExpectCopy(const CheckpointReport& report, const Contents& expected) {
    const auto copy = OpenCopy();
    ASSERT_THAT(copy, IsOk());
    EXPECT_EQ((*copy)->open_report().sequence, report.sequence);
    EXPECT_EQ((*copy)->open_report().log_bytes_cut, 0u);
    ExpectContents(**copy, expected);
  }
  std::vector<std::string> NamesIn(const std::string& directory) {
    const auto names = FileSystem::Posix()->List(directory);
    EXPECT_THAT(names, IsOk());
    return names.ok() ? *names : std::vector<std::string>();
  }

  FaultyFileSystem files_;
  const std::string copy_ = dir_.Sub("copy");
  const std::string unfinished_ = dir_.Sub("copy.unfinished");
  int filled_ = 0;
};

TEST_F(CheckpointTest, IsTheDatabaseAtItsSequenceWhileWritersRun) {
  constexpr int kCopies = 8;
  Writers writers(&engine(), 4, /*steps=*/1500);
  std::vector<CheckpointReport> reports;
  for (int i = 0; i < kCopies; ++i) {
    writers.Await(500);
    const auto report = engine().Checkpoint(copy_ + std::to_string(i),
                                            {.link_tables = i % 4 != 3});
    ASSERT_THAT(report, IsOk());
    reports.push_back(*report);
  }
  const std::vector<Change> changes = writers.Stop();
  int64_t held = 0;
  for (int i = 0; i < kCopies; ++i) {
    Options options = options_;
    options.read_only = true;
    const auto copy = Engine::Open(copy_ + std::to_string(i), schema_, options);
    ASSERT_THAT(copy, IsOk());
    EXPECT_EQ((*copy)->open_report().sequence, reports[i].sequence);
    ExpectContents(**copy,
                   Replay(changes, static_cast<uint64_t>(reports[i].sequence)));
    held = std::max(held, reports[i].writers_held_micros);
  }
  ExpectContents(engine(), Replay(changes, UINT64_MAX));
  EXPECT_GT(reports.back().tables_copied, 0u);
  EXPECT_GT(reports[kCopies - 2].tables_linked, 0u);
  std::cout << "commits: " << changes.size()
            << " writers held at most, in microseconds: " << held << "\n";
}

// Run by AnotherProcessOpensItWhileWritingGoesOn, in a process of its own.
TEST_F(CheckpointTest, DISABLED_TheOtherProcess) {
  const char* directory = std::getenv("DOVETAIL_TEST_CHECKPOINT");
  ASSERT_NE(directory, nullptr);
  const uint64_t sequence =
      std::strtoull(std::getenv("DOVETAIL_TEST_SEQUENCE"), nullptr, 10);
  for (const bool read_only : {true, false}) {
    Options options;
    options.read_only = read_only;
    const auto copy = Engine::Open(directory, schema_, options);
    ASSERT_THAT(copy, IsOk());
    EXPECT_EQ((*copy)->open_report().sequence, SequenceNumber{sequence});
    const auto report = (*copy)->Verify({});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean()) << report->Summary();
    EXPECT_GT(report->rows, 0u);
    ASSERT_EQ((*copy)
                  ->Write({.sync = true},
                          WriteBatch().Put("orders",
                                           Bytes(MakeOrder("theirs", "s", 1))))
                  .ok(),
              !read_only);
  }
}

TEST_F(CheckpointTest, AnotherProcessOpensItWhileWritingGoesOn) {
  Writers writers(&engine(), 4, /*steps=*/100);
  writers.Await(1000);
  const auto report = Checkpoint();
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(::setenv("DOVETAIL_TEST_CHECKPOINT", copy_.c_str(), 1), 0);
  ASSERT_EQ(
      ::setenv("DOVETAIL_TEST_SEQUENCE",
               std::to_string(static_cast<uint64_t>(report->sequence)).c_str(),
               1),
      0);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=CheckpointTest.DISABLED_TheOtherProcess";
  std::string disabled = "--gtest_also_run_disabled_tests";
  char* const arguments[] = {program.data(), filter.data(), disabled.data(),
                             nullptr};
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments,
                          environ),
            0);
  int status = -1;
  uint64_t meanwhile = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    writers.Await(20);
    meanwhile += 20;
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(meanwhile, 0u);
  const std::vector<Change> changes = writers.Stop();
  ExpectContents(engine(), Replay(changes, UINT64_MAX));
  EXPECT_THAT(ById("theirs"), IsEmpty());
}

TEST_F(CheckpointTest, FiftyInARowBesideAWriterLeaveNothingBehind) {
  Writers writers(&engine(), 1, /*steps=*/100);
  for (int i = 0; i < 50; ++i) {
    writers.Await(30);
    ASSERT_THAT(Checkpoint(), IsOk()) << i;
    std::filesystem::remove_all(copy_);
  }
  const std::vector<Change> changes = writers.Stop();
  EXPECT_THAT(NamesIn(dir_.path()), ElementsAre("db"));
  ExpectContents(engine(), Replay(changes, UINT64_MAX));
  Open();  // Takes away what the last compaction may have left.
  // Only what a database of this size has: held files would be hundreds.
  EXPECT_LT(NamesIn(dir_.Sub("db")).size(), 40u);
}

TEST_F(CheckpointTest, TablesAreCopiedWhereTheyCannotBeLinked) {
  FillUpTo(400);
  files_.SetHook([](const std::string& call) {
    return call.starts_with("link ") ? absl::UnimplementedError("other device")
                                     : absl::OkStatus();
  });
  const auto report = Checkpoint();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->tables_linked, 0u);
  EXPECT_GT(report->tables_copied, 0u);
  EXPECT_GT(report->bytes_copied, 400u * 100);
  files_.SetHook({});
  ExpectCopy(*report, ContentsBy(engine(), ""));
}

TEST_F(CheckpointTest, SurvivesAPowerCutThatTheSourceLosesCommitsTo) {
  FillUpTo(100);
  const Contents before = ContentsBy(engine(), "");
  const auto report = Checkpoint();
  ASSERT_THAT(report, IsOk());
  engine_.reset();
  files_.PowerCut();
  ExpectCopy(*report, before);
  EXPECT_LT(ContentsBy(engine(), "").size(), before.size());
}

TEST_F(CheckpointTest, RefusesWhatItWouldDamage) {
  FillUpTo(3);
  std::filesystem::create_directory(copy_);
  EXPECT_THAT(Checkpoint(), StatusIs(StatusCode::kAlreadyExists, copy_));
  EXPECT_THAT(engine().Checkpoint(dir_.Sub("db"), {}),
              StatusIs(StatusCode::kAlreadyExists));
  EXPECT_THAT(engine().Checkpoint(dir_.Sub("no/copy"), {}),
              StatusIs(StatusCode::kNotFound, "parent"));
  std::filesystem::remove(copy_);

  std::filesystem::create_directory(unfinished_);
  for (const char* foreign : {"letter.txt", "CURRENT"}) {
    const std::string path = unfinished_ + "/" + foreign;
    std::ofstream(path) << "dear";
    EXPECT_THAT(Checkpoint(),
                StatusIs(StatusCode::kFailedPrecondition, foreign));
    EXPECT_THAT(NamesIn(unfinished_), ElementsAre(foreign));
    std::filesystem::remove(path);
  }
  // What a checkpoint leaves whose process ends goes away.
  std::ofstream(unfinished_ + "/000005.ldb") << "half";
  std::ofstream(unfinished_ + "/DOVETAIL.lock") << "1\n";
  const auto report = Checkpoint();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(NamesIn(dir_.path()), UnorderedElementsAre("db", "copy"));
  ExpectCopy(*report, ContentsBy(engine(), ""));
}

TEST_F(CheckpointTest, OneAtATimeInOneDirectoryAndManyAtOnceInOthers) {
  FillUpTo(300);
  absl::Status same;
  absl::Status other;
  files_.SetHook([&](const std::string& call) {
    if (!call.starts_with("link ")) return absl::OkStatus();
    files_.SetHook({});
    same = Checkpoint().status();
    other = engine().Checkpoint(copy_ + "2/", {}).status();
    return absl::OkStatus();
  });
  const auto report = Checkpoint();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(same,
              StatusIs(StatusCode::kFailedPrecondition, "the lock is held"));
  EXPECT_THAT(other, IsOk());
  ExpectCopy(*report, ContentsBy(engine(), ""));
  EXPECT_THAT(NamesIn(dir_.path()),
              UnorderedElementsAre("db", "copy", "copy2"));
}

TEST_F(CheckpointTest, NeedsFilesAnIntactLogAndAnOpenEngine) {
  FillUpTo(1);
  files_.SetHook([](const std::string& call) {
    return call.starts_with("append ") ? absl::InternalError("I/O error")
                                       : absl::OkStatus();
  });
  EXPECT_THAT(Put(MakeOrder("o", "s", 1)), StatusIs(StatusCode::kUnknown));
  files_.SetHook({});
  EXPECT_THAT(Checkpoint(), StatusIs(StatusCode::kFailedPrecondition));
  Open();
  ASSERT_THAT(engine().Close(), IsOk());
  EXPECT_THAT(Checkpoint(), StatusIs(StatusCode::kFailedPrecondition));
  options_.in_memory = true;
  Open();
  EXPECT_THAT(Checkpoint(), StatusIs(StatusCode::kUnimplemented));
  EXPECT_THAT(NamesIn(dir_.path()), ElementsAre("db"));
}

// Each file call of a checkpoint fails in turn.
class CheckpointFailureTest : public CheckpointTest {
 protected:
  // Calls of other threads, which compact, are not the checkpoint's.
  void FailCallOfThisThread(int n, bool for_good) {
    reached_ = false;
    files_.SetHook(
        [this, n, for_good, calls = 0, thread = std::this_thread::get_id()](
            const std::string&) mutable -> absl::Status {
          if (std::this_thread::get_id() != thread) return absl::OkStatus();
          ++calls;
          if (calls != n && !(for_good && calls > n)) return absl::OkStatus();
          reached_ = true;
          return absl::InternalError("I/O error");
        });
  }
  bool reached_ = false;
};

TEST_F(CheckpointFailureTest, OnceLeavesNothingAndTheSourceGoesOn) {
  int points = 0;
  for (int n = 1;; ++n) {
    FillUpTo(200 + n);
    FailCallOfThisThread(n, /*for_good=*/false);
    const auto failed = Checkpoint();
    files_.SetHook({});
    if (!reached_) {
      ASSERT_THAT(failed, IsOk());
      ExpectCopy(*failed, ContentsBy(engine(), ""));
      break;
    }
    ++points;
    ASSERT_THAT(failed, StatusIs(StatusCode::kInternal, "I/O error")) << n;
    ASSERT_THAT(NamesIn(dir_.path()), ElementsAre("db")) << n;
    ASSERT_THAT(Put(MakeOrder("extra", "s", n)), IsOk()) << n;
    const auto report = Checkpoint();
    ASSERT_THAT(report, IsOk()) << n;
    if (n % 10 == 0) ExpectCopy(*report, ContentsBy(engine(), ""));
    std::filesystem::remove_all(copy_);
  }
  std::cout << "fault points: " << points << "\n";
}

TEST_F(CheckpointFailureTest, ForGoodAndAPowerCutLeaveAllOrNothing) {
  int points = 0;
  for (int n = 1;; ++n) {
    FillUpTo(200 + n);
    const Contents before = ContentsBy(engine(), "");
    FailCallOfThisThread(n, /*for_good=*/true);
    const auto failed = Checkpoint();
    files_.SetHook({});
    if (!reached_) break;
    ++points;
    ASSERT_THAT(failed, StatusIs(StatusCode::kInternal, "I/O error")) << n;
    const std::vector<std::string> names = NamesIn(dir_.path());
    if (names.size() > 1) {
      EXPECT_THAT(failed, StatusIs(StatusCode::kInternal, "left=")) << n;
    }
    // What is there is whole. The source may lose commits that it never
    // synced; the copy may not.
    engine_.reset();
    files_.PowerCut();
    if (std::filesystem::exists(copy_)) {
      const auto copy = OpenCopy();
      ASSERT_THAT(copy, IsOk()) << n;
      ExpectContents(**copy, before);
    }
    std::filesystem::remove_all(copy_);
    std::filesystem::remove_all(dir_.Sub("db"));
    if (std::filesystem::exists(unfinished_ + "/CURRENT")) {
      std::filesystem::remove_all(unfinished_);
    }
    filled_ = 0;
    Open();
    FillUpTo(10);
    const auto report = Checkpoint();
    ASSERT_THAT(report, IsOk()) << n;
    ExpectCopy(*report, ContentsBy(engine(), ""));
    std::filesystem::remove_all(copy_);
  }
  std::cout << "fault points: " << points << "\n";
}

class ReadOnlyTest : public CheckpointTest {
 protected:
  void ReopenReadOnly() {
    engine_.reset();
    options_.read_only = true;
    Open();
  }
};

TEST_F(ReadOnlyTest, ServesReadsAndRefusesWrites) {
  FillUpTo(300);
  const Contents before = ContentsBy(engine(), "");
  ReopenReadOnly();
  ExpectContents(engine(), before);
  EXPECT_THAT(Put(MakeOrder("o", "s", 1)),
              StatusIs(StatusCode::kFailedPrecondition, "opened read-only"));
  EXPECT_THAT(DeleteId("o1"), StatusIs(StatusCode::kFailedPrecondition));
  EXPECT_THAT(engine().Repair({.dry_run = true}), IsOk());
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_TRUE(stats->read_only);
  EXPECT_EQ(stats->sequence, SequenceNumber{300});

  const auto report = Checkpoint();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->sequence, SequenceNumber{300});
  EXPECT_THAT(engine().Close(), IsOk());
  ExpectCopy(*report, before);
  options_.read_only = false;
  Open();
  ExpectContents(engine(), before);
  EXPECT_THAT(Put(MakeOrder("o", "s", 1)), IsOk());
}

TEST_F(ReadOnlyTest, CreatesNeitherDatabaseNorTable) {
  options_.read_only = true;
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(NamesIn(dir_.path()), IsEmpty());
  options_.in_memory = true;
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kInvalidArgument));
  options_.in_memory = false;
  options_.read_only = false;
  FillUpTo(1);
  engine_.reset();

  Schema more = schema_;
  more.Add(presets::SellerOrders("other"));
  options_.read_only = true;
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), more, options_),
              StatusIs(StatusCode::kFailedPrecondition, "lacks"));
  const auto without = Engine::Open(dir_.Sub("db"), Schema(), options_);
  ASSERT_THAT(without, IsOk());
  const auto schema = (*without)->GetSchema();
  ASSERT_THAT(schema, IsOk());
  EXPECT_EQ(schema->tables_size(), 1);
}

}  // namespace
}  // namespace dovetail::test
