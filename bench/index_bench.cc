// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Index maintenance measured: the engine against indexes written by hand on
// the same store, same orders, same calls, same settings.
//
//   index_bench --n=300000 --rounds=3 --json=results.jsonl
//
// Each engine runs each round in a process of its own, one after the other
// and in turned order, so that the figures of a process are those of one
// engine and a slow minute of the machine does not always hit the same one.
// Exits with 1 if a run fails or two engines give different answers.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
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

// In the child: runs, writes the result to `fd`, and never returns.
[[noreturn]] void RunAndExit(const Workload& workload,
                             const RunOptions& options, uint64_t round,
                             int fd) {
  RunResult result;
  absl::StatusOr<RunResult> run =
      Run(workload, options, [&](std::string_view phase) {
        std::fprintf(stderr, "round %llu %s pid=%d: %s\n",
                     static_cast<unsigned long long>(round),
                     options.engine.c_str(), static_cast<int>(getpid()),
                     std::string(phase).c_str());
      });
  if (run.ok()) {
    result = *std::move(run);
    for (PhaseResult& phase : *result.mutable_phases()) {
      phase.set_round(static_cast<int32_t>(round));
    }
  } else {
    result.set_error(run.status().ToString());
  }
  _exit(result.SerializeToFileDescriptor(fd) ? 0 : 1);
}

absl::StatusOr<RunResult> RunInChild(const Workload& workload,
                                     const RunOptions& options,
                                     uint64_t round) {
  int fds[2];
  if (pipe(fds) != 0) return absl::InternalError("pipe failed");
  const pid_t child = fork();
  if (child < 0) return absl::InternalError("fork failed");
  if (child == 0) {
    close(fds[0]);
    RunAndExit(workload, options, round, fds[1]);
  }
  close(fds[1]);
  RunResult result;
  const bool parsed = result.ParseFromFileDescriptor(fds[0]);
  close(fds[0]);
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  if (!parsed || wait_status != 0) {
    return absl::InternalError(absl::StrCat("run died: engine=", options.engine,
                                            " round=", round,
                                            " wait_status=", wait_status));
  }
  if (result.error().empty()) return result;
  return absl::InternalError(absl::StrCat("run failed: engine=", options.engine,
                                          " round=", round,
                                          " error=", result.error()));
}

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
  std::vector<std::string> engines = flags.engines;
  if (round % 2 == 0) std::reverse(engines.begin(), engines.end());
  for (const std::string& engine : engines) {
    RunOptions options;
    options.engine = engine;
    options.orders = flags.n;
    options.scale = flags.scale;
    options.phases = flags.phases;
    options.store.cache_bytes = flags.cache_mb << 20;
    options.store.write_buffer_bytes = flags.write_buffer_mb << 20;
    options.store.compress = flags.compress;
    ASSIGN_OR_RETURN(options.store.directory, scratch->Empty());
    ASSIGN_OR_RETURN(const RunResult result,
                     RunInChild(workload, options, round));
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
  const absl::Status status = dovetail::bench::Main(flags);
  if (status.ok()) return 0;
  std::fprintf(stderr, "index_bench: %s\n", status.ToString().c_str());
  return 1;
}
