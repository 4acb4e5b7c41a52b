// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Index maintenance measured: the engine against indexes written by hand on
// the same store, same orders, same calls, same settings.
//
//   index_bench --n=300000 --rounds=3 --json=results.jsonl
//
// Each engine runs each round in a process of its own, so that the figures of
// a process are those of one engine; they take turns by phase, and in turned
// order, so that a slow minute of the machine hits them all.
// Exits with 1 if a run fails or two engines give different answers.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "bench/bench_result.pb.h"
#include "bench/phases.h"
#include "bench/report.h"
#include "bench/run.h"
#include "bench/workload.h"

namespace dovetail::bench {
namespace {

struct Flags {
  uint64_t n = 300'000;
  std::vector<std::string> engines = EngineNames();
  std::vector<std::string> phases = PhaseNames();
  uint64_t rounds = 1;
  double scale = 1;
  std::string dir;
  uint64_t seed = 1;
  std::string json;
  uint64_t cache_mb = 64;
  uint64_t write_buffer_mb = 32;
  bool compress = true;
  bool help = false;
};

std::string Usage() {
  return absl::StrCat(
      "index_bench [--flag=value ...]\n"
      "  --n=300000            orders, a multiple of 100\n"
      "  --engines=a,b,...     of ",
      absl::StrJoin(EngineNames(), ", "),
      "\n"
      "                        the first is compared with the others\n"
      "  --phases=a,b,...      see below\n"
      "  --rounds=1            figures are medians over these\n"
      "  --scale=1             factor on the operations after the load\n"
      "  --dir=DIR             for the databases; default: below the\n"
      "                        directory for temporary files\n"
      "  --seed=1              of the orders and of all choices\n"
      "  --json=FILE           one result or comparison a line\n"
      "  --cache_mb=64 --write_buffer_mb=32 --compress=1\n"
      "                        the same for every engine\n"
      "phases\n",
      DescribePhases());
}

absl::Status CheckNames(const std::vector<std::string>& names,
                        const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown name: name=", Quote(name),
                       " known=", absl::StrJoin(known, ",")));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseFlag(const std::string& argument, Flags* flags) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(argument, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  bool ok = true;
  if (name == "--n") {
    ok = absl::SimpleAtoi(value, &flags->n) && flags->n > 0 &&
         flags->n % 100 == 0;
  } else if (name == "--engines") {
    flags->engines = absl::StrSplit(value, ',');
    RETURN_IF_ERROR(CheckNames(flags->engines, EngineNames()));
  } else if (name == "--phases") {
    flags->phases = absl::StrSplit(value, ',');
    RETURN_IF_ERROR(CheckNames(flags->phases, PhaseNames()));
  } else if (name == "--rounds") {
    ok = absl::SimpleAtoi(value, &flags->rounds) && flags->rounds > 0;
  } else if (name == "--scale") {
    ok = absl::SimpleAtod(value, &flags->scale) && flags->scale > 0;
  } else if (name == "--dir") {
    flags->dir = value;
    ok = !value.empty();
  } else if (name == "--seed") {
    ok = absl::SimpleAtoi(value, &flags->seed);
  } else if (name == "--json") {
    flags->json = value;
    ok = !value.empty();
  } else if (name == "--cache_mb") {
    ok = absl::SimpleAtoi(value, &flags->cache_mb);
  } else if (name == "--write_buffer_mb") {
    ok = absl::SimpleAtoi(value, &flags->write_buffer_mb);
  } else if (name == "--compress") {
    ok = absl::SimpleAtob(value, &flags->compress);
  } else if (name == "--help") {
    flags->help = true;
  } else {
    ok = false;
  }
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("bad flag: flag=", Quote(argument)));
}

// The two ends of a pipe. Closes what it still has.
class Pipe {
 public:
  Pipe() = default;
  ~Pipe() {
    CloseReadEnd();
    CloseWriteEnd();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool Open() { return pipe(ends_) == 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseReadEnd() { Close(&ends_[0]); }
  void CloseWriteEnd() { Close(&ends_[1]); }

  // One byte; false if the other side has gone.
  bool Send() { return write(ends_[1], "x", 1) == 1; }
  bool Receive() {
    char byte;
    return read(ends_[0], &byte, 1) == 1;
  }

 private:
  static void Close(int* end) {
    if (*end >= 0) close(*end);
    *end = -1;
  }
  int ends_[2] = {-1, -1};
};

// One engine's run of a round, in a process of its own. It waits for its turn
// before each phase, so that engines go through a phase shortly after each
// other: the speed of a machine with neighbours drifts from minute to minute.
class EngineRun {
 public:
  EngineRun(const Workload& workload, RunOptions options, uint64_t round)
      : workload_(workload), options_(std::move(options)), round_(round) {}

  absl::Status Start() {
    if (!turn_.Open() || !done_.Open() || !result_.Open()) {
      return absl::InternalError("pipe failed");
    }
    child_ = fork();
    if (child_ < 0) return absl::InternalError("fork failed");
    if (child_ == 0) RunAndExit();
    turn_.CloseReadEnd();
    done_.CloseWriteEnd();
    result_.CloseWriteEnd();
    return absl::OkStatus();
  }

  // Lets the child run one phase, and returns when it has. A child that died
  // has run all it ever will.
  void RunPhase() {
    if (turn_.Send()) done_.Receive();
  }

  // After the last phase.
  absl::StatusOr<RunResult> Finish() {
    RunResult result;
    const bool parsed = result.ParseFromFileDescriptor(result_.read_end());
    int wait_status = 0;
    waitpid(child_, &wait_status, 0);
    if (!parsed || wait_status != 0) {
      return absl::InternalError(
          absl::StrCat("run died: engine=", options_.engine, " round=", round_,
                       " wait_status=", wait_status));
    }
    if (result.error().empty()) return result;
    return absl::InternalError(
        absl::StrCat("run failed: engine=", options_.engine, " round=", round_,
                     " error=", result.error()));
  }

 private:
  // In the child.
  [[noreturn]] void RunAndExit() {
    turn_.CloseWriteEnd();
    done_.CloseReadEnd();
    result_.CloseReadEnd();
    RunResult result;
    bool first = true;
    absl::StatusOr<RunResult> run =
        Run(workload_, options_, [&](std::string_view phase) {
          if (!first) done_.Send();
          first = false;
          if (!turn_.Receive()) _exit(1);
          std::fprintf(stderr, "round %llu %s pid=%d: %s\n",
                       static_cast<unsigned long long>(round_),
                       options_.engine.c_str(), static_cast<int>(getpid()),
                       std::string(phase).c_str());
        });
    if (run.ok()) {
      result = *std::move(run);
      for (PhaseResult& phase : *result.mutable_phases()) {
        phase.set_round(static_cast<int32_t>(round_));
      }
    } else {
      result.set_error(run.status().ToString());
    }
    _exit(result.SerializeToFileDescriptor(result_.write_end()) ? 0 : 1);
  }

  const Workload& workload_;
  const RunOptions options_;
  const uint64_t round_;
  Pipe turn_;  // To the child.
  Pipe done_;  // From it.
  Pipe result_;
  pid_t child_ = -1;
};

// A directory of this process, removed with all its content at the end.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& parent) {
    const std::filesystem::path base =
        parent.empty() ? std::filesystem::temp_directory_path()
                       : std::filesystem::path(parent);
    path_ = base / absl::StrCat("index_bench-", getpid());
  }
  ~ScratchDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  absl::StatusOr<std::string> Empty() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (!error) std::filesystem::create_directories(path_, error);
    if (!error) return path_.string();
    return absl::InternalError(
        absl::StrCat("cannot make directory: path=", path_.string(),
                     " error=", error.message()));
  }

 private:
  std::filesystem::path path_;
};

absl::Status RunRound(const Flags& flags, const Workload& workload,
                      uint64_t round, ScratchDirectory* scratch,
                      Results* results) {
  ASSIGN_OR_RETURN(const std::string directory, scratch->Empty());
  std::deque<EngineRun> runs;
  for (const std::string& engine : flags.engines) {
    RunOptions options;
    options.engine = engine;
    options.orders = flags.n;
    options.scale = flags.scale;
    options.phases = flags.phases;
    options.store.cache_bytes = flags.cache_mb << 20;
    options.store.write_buffer_bytes = flags.write_buffer_mb << 20;
    options.store.compress = flags.compress;
    options.store.directory = absl::StrCat(directory, "/", engine);
    std::error_code error;
    std::filesystem::create_directory(options.store.directory, error);
    if (error) return absl::InternalError(error.message());
    runs.emplace_back(workload, std::move(options), round);
    RETURN_IF_ERROR(runs.back().Start());
  }
  for (size_t phase = 0; phase < flags.phases.size(); ++phase) {
    // Nobody is always the first.
    const bool forward = (round + phase) % 2 == 1;
    for (size_t i = 0; i < runs.size(); ++i) {
      runs[forward ? i : runs.size() - 1 - i].RunPhase();
    }
  }
  for (EngineRun& run : runs) {
    ASSIGN_OR_RETURN(const RunResult result, run.Finish());
    results->Add(result);
  }
  return absl::OkStatus();
}

absl::Status Main(const Flags& flags) {
  const Workload workload(flags.seed);
  ScratchDirectory scratch(flags.dir);
  Results results(flags.engines, flags.phases);
  for (uint64_t round = 1; round <= flags.rounds; ++round) {
    RETURN_IF_ERROR(RunRound(flags, workload, round, &scratch, &results));
  }
  std::fputs(results.Table().c_str(), stdout);
  if (!flags.json.empty()) {
    std::ofstream file(flags.json);
    file << results.JsonLines();
    file.close();
    if (!file) {
      return absl::InternalError(
          absl::StrCat("cannot write: path=", flags.json));
    }
  }
  return results.CheckAnswers();
}

}  // namespace
}  // namespace dovetail::bench

int main(int argc, char** argv) {
  dovetail::bench::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const absl::Status status = dovetail::bench::ParseFlag(argv[i], &flags);
    if (!status.ok()) {
      std::fprintf(stderr, "index_bench: %s\n%s", status.ToString().c_str(),
                   dovetail::bench::Usage().c_str());
      return 2;
    }
  }
  if (flags.help) {
    std::fputs(dovetail::bench::Usage().c_str(), stdout);
    return 0;
  }
  // A child that died is told from the pipe to it.
  std::signal(SIGPIPE, SIG_IGN);
  const absl::Status status = dovetail::bench::Main(flags);
  if (status.ok()) return 0;
  std::fprintf(stderr, "index_bench: %s\n", status.ToString().c_str());
  return 1;
}
