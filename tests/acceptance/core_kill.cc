// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A process that writes with four threads is killed at random moments, again
// and again, on one and the same database.
//
//   core_kill [--rounds N] [--seed N] [--record]
//
// The writer reports on a board in shared memory each request before it is
// sent and after it is acknowledged. After each kill the database is opened
// and must be
//   clean     verify finds nothing
//   a prefix  the versions of the log's rows are exactly 1 to S, without
//             holes: what survived is the first S requests of the commit order
//   durable   every acknowledged request is among them, under its sequence
//   exact     all tables equal the model that those S requests make
//   recorded  with --record, the write log ends with request S, and what it
//             holds, applied to an empty map, is all rows
// Death of the process loses nothing that was acknowledged, synced or not.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/testing/model.h"
#include "tests/acceptance/kill_requests.h"
#include "tests/support/checks.h"
#include "tests/support/records.pb.h"
#include "tests/support/spawn_self.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr int64_t kHangMicros = 120'000'000;  // The writer does nothing.

Options KillOptions(bool record) {
  Options options;
  // Small files, so that kills hit their beginnings and ends.
  if (record) options.write_log = WriteLogOptions{.file_bytes_max = 50'000};
  options.write_buffer_bytes = 64 << 10;  // Flushes and compacts all the time.
  return options;
}

// Maps the board; null if that fails.
KillBoard* MapBoard(const std::string& path, bool create) {
  const int fd =
      open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (!create || ftruncate(fd, sizeof(KillBoard)) == 0) {
    memory = mmap(nullptr, sizeof(KillBoard), PROT_READ | PROT_WRITE,
                  MAP_SHARED, fd, 0);
  }
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<KillBoard*>(memory);
}

// ---- The process that is killed.

class Victim {
 public:
  Victim(KillBoard* board, uint64_t seed, uint32_t round, bool record)
      : board_(*board), seed_(seed), round_(round), record_(record) {}

  // Returns only if something failed.
  int Run(const std::string& directory) {
    absl::StatusOr<std::unique_ptr<Engine>> engine =
        Engine::Open(directory, KillSchema(), KillOptions(record_));
    if (!engine.ok()) return Fail(engine.status());
    board_.opened.store(1);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kKillThreads; ++t) {
      threads.emplace_back([this, t, &engine] { Write(**engine, t); });
    }
    for (std::thread& thread : threads) thread.join();
    return 1;
  }

 private:
  int Fail(const absl::Status& status) {
    if (board_.failed.exchange(1) == 0) {
      std::snprintf(board_.error, sizeof(board_.error), "%s",
                    status.ToString().c_str());
    }
    return 1;
  }

  void Write(Engine& engine, uint32_t thread) {
    for (uint64_t n = 0; n < kKillRequestsMax; ++n) {
      const WriteBatch batch = KillRequest(seed_, {round_, thread, n});
      // Each thread its own mix: none, a few, many synced.
      const bool sync = thread > 0 && n % (64u >> (2 * thread)) == 0;
      board_.started[thread].store(n + 1);
      absl::StatusOr<Commit> commit = engine.Write({.sync = sync}, batch);
      while (absl::IsUnavailable(commit.status())) {
        usleep(1000);  // Compaction is behind, and nothing was written.
        commit = engine.Write({.sync = sync}, batch);
      }
      if (commit.ok()) {
        board_.outcome[thread][n].store(
            static_cast<uint64_t>(commit->sequence));
      } else if (commit.status().code() == absl::StatusCode::kAlreadyExists) {
        board_.outcome[thread][n].store(kRefused);
      } else {
        Fail(commit.status());
        return;
      }
    }
    while (true) pause();  // All is written: wait for the end.
  }

  KillBoard& board_;
  const uint64_t seed_;
  const uint32_t round_;
  const bool record_;
};

int VictimMain(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  KillBoard* board = MapBoard(argv[2], /*create=*/false);
  uint64_t seed = 0;
  uint32_t round = 0;
  if (board == nullptr || !absl::SimpleAtoi(argv[4], &seed) ||
      !absl::SimpleAtoi(argv[5], &round)) {
    return 2;
  }
  const bool record = std::string_view(argv[6]) == "record";
  return Victim(board, seed, round, record).Run(argv[3]);
}

// ---- The process that kills and checks.

class Killer {
 public:
  Killer(uint64_t seed, bool record, Checks* checks)
      : seed_(seed),
        record_(record),
        checks_(*checks),
        random_(seed),
        model_(NewKillModel()) {}

  absl::Status Run(uint32_t rounds);

 private:
  absl::Status RunRound(uint32_t round);
  absl::Status KillAtRandom(pid_t victim);
  absl::Status CheckDatabase(uint32_t round);
  absl::Status CheckSurvivors(uint32_t round,
                              const std::map<uint64_t, RequestId>& survivors,
                              uint64_t last);
  absl::Status CheckTable(const ScanRequest& request);
  absl::Status CheckLog(uint64_t last);
  absl::StatusOr<std::vector<Row>> ReadAll(ScanRequest request);

  const uint64_t seed_;
  const bool record_;
  Checks& checks_;
  std::mt19937_64 random_;
  TempDir dir_;
  KillBoard* board_ = nullptr;
  std::unique_ptr<Engine> engine_;

  Model model_;
  uint64_t sequence_ = 0;  // Of the last request that survived so far.
  uint64_t acknowledged_ = 0;
  uint64_t refused_ = 0;
  uint64_t in_flight_ = 0;  // Started, and not acknowledged when killed.
  uint64_t in_flight_survived_ = 0;
  uint64_t killed_in_open_ = 0;
  uint64_t logs_cut_ = 0;

  // By table and row key: what the log has made of nothing so far.
  std::map<std::pair<std::string, std::string>, std::string> logged_;
  uint64_t logged_sequence_ = 0;
  uint64_t write_logs_cut_ = 0;
};

absl::Status Killer::Run(uint32_t rounds) {
  for (uint32_t round = 1; round <= rounds; ++round) {
    RETURN_IF_ERROR(RunRound(round));
    if (checks_.failed() > 0) {
      std::printf("round %u of seed %llu failed\n", round,
                  static_cast<unsigned long long>(seed_));
      return absl::OkStatus();
    }
  }
  // The log as a whole: every request of every round is still there once.
  ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), KillSchema(),
                                         KillOptions(record_)));
  RETURN_IF_ERROR(CheckTable({.table = "log"}));
  RETURN_IF_ERROR(engine_->Close());
  const auto print = [](const char* what, uint64_t count) {
    std::printf("%-44s %9llu\n", what, static_cast<unsigned long long>(count));
  };
  print("kills", rounds);
  print("  before the database was open", killed_in_open_);
  print("requests acknowledged", acknowledged_);
  print("requests refused", refused_);
  print("requests in flight when killed", in_flight_);
  print("  of them survived", in_flight_survived_);
  print("requests in the database", sequence_);
  print("torn log ends cut", logs_cut_);
  if (record_) print("write log ends cut", write_logs_cut_);
  return absl::OkStatus();
}

absl::Status Killer::RunRound(uint32_t round) {
  const std::string board_path = dir_.Sub(absl::StrCat("board", round));
  board_ = MapBoard(board_path, /*create=*/true);
  if (board_ == nullptr) return absl::InternalError("cannot map the board");
  ASSIGN_OR_RETURN(
      const pid_t victim,
      SpawnSelf({"core_kill", "--victim", board_path, dir_.Sub("db"),
                 absl::StrCat(seed_), absl::StrCat(round),
                 record_ ? "record" : "plain"}));
  absl::Status status = KillAtRandom(victim);
  const int result = WaitForEnd(victim);
  RETURN_IF_ERROR(status);
  if (!WIFSIGNALED(result) || WTERMSIG(result) != SIGKILL ||
      board_->failed.load() != 0) {
    return absl::InternalError(
        absl::StrCat("the writer failed by itself: wait_status=", result, " ",
                     board_->error));
  }
  status = CheckDatabase(round);
  munmap(board_, sizeof(KillBoard));
  unlink(board_path.c_str());
  return status;
}

// Leaves the state of an ended process for waitpid.
bool IsAlive(pid_t process) {
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(process), &info,
                            WEXITED | WNOHANG | WNOWAIT);
  return result == 0 && info.si_pid == 0;
}

// One kill in ten hits the opening, the others a random number of requests.
// The nap only picks the moment: nothing depends on its length.
absl::Status Killer::KillAtRandom(pid_t victim) {
  const bool in_open = random_() % 10 == 0;
  const uint64_t wanted = in_open ? 0 : 1 + random_() % 2000;
  int64_t waited = 0;
  while (board_->StartedInAll() < wanted && IsAlive(victim) &&
         waited < kHangMicros) {
    usleep(50);
    waited += 50;
  }
  usleep(static_cast<useconds_t>(random_() % (in_open ? 20'000 : 2'000)));
  kill(victim, SIGKILL);
  if (waited >= kHangMicros) {
    return absl::DeadlineExceededError("the writer hangs");
  }
  return absl::OkStatus();
}

absl::Status Killer::CheckDatabase(uint32_t round) {
  ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), KillSchema(),
                                         KillOptions(record_)));
  const OpenReport& report = engine_->open_report();
  logs_cut_ += report.log_bytes_cut > 0;
  write_logs_cut_ += !report.write_log_cuts.empty();
  killed_in_open_ += board_->opened.load() == 0;
  const auto last = static_cast<uint64_t>(report.sequence);

  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   ReadAll({.table = "log", .equal = {round}}));
  std::map<uint64_t, RequestId> survivors;
  for (const Row& row : rows) {
    LogEntry entry;
    if (!entry.ParseFromString(row.record)) {
      return absl::DataLossError("a log row does not parse");
    }
    survivors[static_cast<uint64_t>(row.version)] = {
        entry.round(), entry.thread(), entry.number()};
  }
  checks_.Equal(survivors.size(), rows.size(), "versions are distinct");
  RETURN_IF_ERROR(CheckSurvivors(round, survivors, last));

  ASSIGN_OR_RETURN(const VerifyReport verify, engine_->Verify({}));
  checks_.That(verify.clean(), absl::StrCat("verify: ", verify.Summary()));
  checks_.Equal(verify.rows,
                model_.RowCount("log") + model_.RowCount("orders") +
                    model_.RowCount("assets"),
                "rows");
  checks_.Equal(verify.entries,
                model_.EntryCount("log") + model_.EntryCount("orders") +
                    model_.EntryCount("assets"),
                "entries");
  if (record_) RETURN_IF_ERROR(CheckLog(last));
  RETURN_IF_ERROR(CheckTable({.table = "assets"}));
  RETURN_IF_ERROR(CheckTable({.table = "assets", .index = "by_rank"}));
  for (const std::string& seller : KillSellers()) {
    RETURN_IF_ERROR(CheckTable({.table = "orders", .equal = {seller}}));
    RETURN_IF_ERROR(CheckTable(
        {.table = "orders", .index = "by_status", .equal = {seller}}));
  }
  // Half of the time as if this process, too, had died.
  if (random_() % 2 == 0) RETURN_IF_ERROR(engine_->Close());
  engine_.reset();
  return absl::OkStatus();
}

// The round's requests follow those before without a hole; those that were
// acknowledged are there, those that were refused are not. Then the model
// takes them in.
absl::Status Killer::CheckSurvivors(
    uint32_t round, const std::map<uint64_t, RequestId>& survivors,
    uint64_t last) {
  uint64_t expected = sequence_;
  uint64_t next_number[kKillThreads] = {};
  for (const auto& [version, id] : survivors) {
    checks_.Equal(version, ++expected, "versions have no holes");
    if (id.round != round || id.thread >= kKillThreads ||
        id.number >= board_->started[id.thread].load()) {
      return absl::InternalError("a request is there that was never sent");
    }
    checks_.That(id.number >= next_number[id.thread],
                 "a thread's requests are in its order");
    next_number[id.thread] = id.number + 1;
    const uint64_t outcome = board_->outcome[id.thread][id.number].load();
    checks_.That(outcome == kPending || outcome == version,
                 absl::StrCat("acknowledged with its version: outcome=",
                              outcome, " version=", version));
    in_flight_survived_ += outcome == kPending;
    const WriteBatch batch = KillRequest(seed_, id);
    const auto applied = model_.Apply(batch, version);
    if (!applied.ok()) {
      return absl::InternalError(
          absl::StrCat("committed, but not by the model version=", version,
                       ": ", applied.status().ToString()));
    }
  }
  checks_.Equal(last, expected, "the last sequence");
  sequence_ = last;
  for (uint32_t t = 0; t < kKillThreads; ++t) {
    for (uint64_t n = 0; n < board_->started[t].load(); ++n) {
      const uint64_t outcome = board_->outcome[t][n].load();
      if (outcome == kPending) {
        ++in_flight_;
      } else if (outcome == kRefused) {
        ++refused_;
      } else {
        ++acknowledged_;
        const auto found = survivors.find(outcome);
        checks_.That(
            found != survivors.end() && found->second == RequestId{round, t, n},
            absl::StrCat("acknowledged and there: sequence=", outcome));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Killer::CheckTable(const ScanRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadAll(request));
  checks_.Ok(model_.CheckScan(request, rows),
             absl::StrCat(request.table, " ", request.index));
  return absl::OkStatus();
}

// The log goes on where it was; a dying process takes nothing out of it.
absl::Status Killer::CheckLog(uint64_t last) {
  WriteLogReaderOptions options;
  options.from_sequence = SequenceNumber{logged_sequence_ + 1};
  absl::StatusOr<std::unique_ptr<WriteLogReader>> reader = WriteLogReader::Open(
      FileSystem::Posix(), dir_.Sub("db") + "/write-log", options);
  if (last == 0 && absl::IsNotFound(reader.status())) return absl::OkStatus();
  RETURN_IF_ERROR(reader.status());
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&record));
    if (!more) break;
    logged_sequence_ = record.sequence();
    for (const v1::RowEffect& effect : record.effects()) {
      if (!effect.old_key().empty()) {
        logged_.erase({effect.table(), effect.old_key()});
      }
      if (effect.has_record()) {
        logged_[{effect.table(), effect.new_key()}] = effect.record();
      } else {
        logged_.erase({effect.table(), effect.new_key()});
      }
    }
  }
  checks_.Equal(logged_sequence_, last, "the log's last sequence");
  uint64_t rows = 0;
  for (const char* table : {"log", "orders", "assets"}) {
    RETURN_IF_ERROR(
        engine_
            ->ForEach({}, {.table = table, .limit = UINT64_MAX},
                      [&](const RowView& row) {
                        ++rows;
                        const auto found =
                            logged_.find({table, std::string(row.key)});
                        return checks_.That(found != logged_.end() &&
                                                found->second == row.record,
                                            "a row is as in the log");
                      })
            .status());
  }
  checks_.Equal(logged_.size(), rows, "rows in the log");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Row>> Killer::ReadAll(ScanRequest request) {
  std::vector<Row> rows;
  request.limit = 1000;
  do {
    ASSIGN_OR_RETURN(Page page, engine_->Scan({}, request));
    std::move(page.rows.begin(), page.rows.end(), std::back_inserter(rows));
    request.continuation = std::move(page.continuation);
  } while (!request.continuation.empty());
  return rows;
}

int Main(int argc, char** argv) {
  if (argc == 7 && std::string_view(argv[1]) == "--victim") {
    return VictimMain(argv);
  }
  uint64_t seed = std::random_device()();
  uint32_t rounds = 200;
  const bool record =
      argc > 1 && std::string_view(argv[argc - 1]) == "--record";
  if (record) --argc;
  bool ok = argc % 2 == 1;
  for (int i = 1; ok && i < argc; i += 2) {
    const std::string_view flag = argv[i];
    ok = (flag == "--rounds" && absl::SimpleAtoi(argv[i + 1], &rounds)) ||
         (flag == "--seed" && absl::SimpleAtoi(argv[i + 1], &seed));
  }
  if (!ok) {
    std::fprintf(stderr,
                 "usage: core_kill [--rounds N] [--seed N] [--record]\n");
    return 2;
  }
  const std::string name = record ? "log-record-kill" : "core-kill";
  std::printf("%s: seed=%llu rounds=%u\n", name.c_str(),
              static_cast<unsigned long long>(seed), rounds);
  std::fflush(stdout);
  Checks checks(name);
  checks.Ok(Killer(seed, record, &checks).Run(rounds), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
