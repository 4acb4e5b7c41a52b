// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A process is killed at named points: at each several times, and never at the
// same moment if there is another.
//
//   log_kill_points [--hits N] [--points N] [--seed N] [--point NAME]
//
// What the process does is in kill_script.h, what a point is in kill_points.h.
// Every point that a run without a kill reaches is tried, or N of them, drawn
// by chance; and every point of the list below must be reached. --point shows
// one alone.
//
// After each kill everything that is there must be as kill_check.h says. Half
// of the time that is looked at in a copy of the files, so that the next run,
// and not the checker, is the first to open them. Then the script goes on, to
// be killed there again. In the end it must come to where it comes without
// kills.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "tests/acceptance/kill_check.h"
#include "tests/acceptance/kill_script.h"
#include "tests/support/checks.h"
#include "tests/support/spawn_self.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

namespace fs = std::filesystem;

// A run takes a fraction of a second.
constexpr unsigned kHangSeconds = 300;
// A broken engine fails at every point in the same way.
constexpr uint64_t kFailuresMax = 20;

// Points that the script must reach: of calls, at all their moments.
struct Required {
  const char* what;
  const char* of;
  bool is_call = true;
};
constexpr Required kRequired[] = {
    {"append",
     "store-log table manifest new-current write-log unfinished-settings "
     "reserve lost-part rejects copied-manifest copied-store-log "
     "copied-current unfinished-write-log"},
    {"create",
     "store-log table manifest new-current write-log unfinished-settings "
     "reserve lost-part copied-manifest copied-store-log copied-current "
     "copied-table unfinished-write-log"},
    {"flush", "store-log table manifest write-log rejects"},
    {"sync",
     "store-log table manifest new-current write-log unfinished-settings "
     "reserve lost-part rejects copied-manifest copied-store-log "
     "copied-current unfinished-write-log"},
    {"close", "store-log table manifest new-current write-log"},
    {"delete", "store-log table manifest reserve settings"},
    {"rename",
     "current settings checkpoint write-log backup-write-log "
     "backup-checkpoint database"},
    {"link", "copied-table"},
    {"truncate", "store-log write-log"},
    {"lock", "lock leveldb-lock"},
    {"create-directory",
     "database write-log-directory lost-directory old-log-directory "
     "unfinished-checkpoint"},
    {"sync-directory", "database write-log-directory unfinished-checkpoint"},
    {"add-index: append", "store-log"},
    {"build-index: append", "store-log"},
    {"hide-index: append", "store-log"},
    {"drop-index: append", "store-log"},
    {"reopen: append", "store-log"},
    {"begin-feed: append", "store-log"},
    {"read-feed: append", "store-log"},
    {"replay: append", "store-log"},
    {"partial: append", "store-log"},
    {"repair: append", "store-log"},
    {"rescue: append", "copied-store-log"},
    {"restore: append", "copied-store-log"},
    {"observer",
     "pre-put post-put pre-delete post-delete pre-batch-mutate "
     "post-batch-mutate post-batch-mutate-indispensably pre-open post-open "
     "pre-close post-close",
     false},
    {"replay item", "before after", false},
    {"replay", "progress", false},
    {"build", "progress", false},
};

class Killer {
 public:
  struct Settings {
    uint64_t seed = 0;
    uint64_t hits = 5;        // Of each point.
    uint64_t points_max = 0;  // 0: all.
    std::string point;        // If it is to be one alone.
  };

  Killer(Settings settings, Checks* checks)
      : settings_(std::move(settings)),
        checks_(*checks),
        random_(settings_.seed),
        checker_(settings_.seed, checks) {}

  absl::Status Run();

 private:
  struct Point {
    std::string name;
    uint64_t reached = 0;  // In a run without a kill.
    uint64_t kills = 0;
    bool is_required = false;
  };
  enum class Outcome { kKilled, kThrough };

  // Runs the script without a kill; finds the points and the end.
  absl::Status FindPoints();
  void CheckRequired();
  void ChoosePoints();
  absl::Status KillAt(Point* point);
  // A new, empty directory.
  void Begin();
  absl::StatusOr<Outcome> RunVictim(const std::string& point, uint64_t hit);
  absl::Status Check(bool is_end) {
    return checker_.Check(root_, *board_, is_end);
  }
  void Print() const;

  const Settings settings_;
  Checks& checks_;
  std::mt19937_64 random_;
  TempDir dir_;
  const std::string root_ = dir_.Sub("root");
  ScriptBoard* board_ = nullptr;

  KillChecker checker_;
  std::vector<Point> points_;
  uint64_t runs_through_ = 0;
};

void Killer::Begin() {
  if (board_ != nullptr) UnmapScriptBoard(board_);
  fs::remove_all(root_);
  fs::create_directory(root_);
  board_ = MapScriptBoard(root_);
}

absl::StatusOr<Killer::Outcome> Killer::RunVictim(const std::string& point,
                                                  uint64_t hit) {
  if (board_ == nullptr) return absl::InternalError("cannot map the board");
  ASSIGN_OR_RETURN(
      const pid_t victim,
      SpawnSelf({"log_kill_points", "--victim", root_,
                 absl::StrCat(settings_.seed), point, absl::StrCat(hit)}));
  const int result = WaitForEnd(victim);
  if (WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL) {
    return Outcome::kKilled;
  }
  if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return Outcome::kThrough;
  return absl::InternalError(absl::StrCat(
      "the script failed by itself: wait_status=", result, " ", board_->error));
}

absl::Status Killer::FindPoints() {
  Begin();
  ASSIGN_OR_RETURN(const Outcome outcome, RunVictim("", 0));
  if (outcome != Outcome::kThrough) return absl::InternalError("killed itself");
  std::ifstream in(root_ + "/points");
  uint64_t reached = 0;
  for (std::string name; in >> reached && std::getline(in, name);) {
    points_.push_back({name.substr(1), reached});
  }
  return Check(/*is_end=*/true);
}

absl::Status Killer::KillAt(Point* point) {
  const uint64_t failed_before = checks_.failed();
  bool is_new = true;
  uint64_t in_vain = 0;
  Begin();
  while (point->kills < settings_.hits) {
    // A script that goes on may be behind the point. From the beginning the
    // first time must do; not each later one, where LevelDB's thread compacts.
    const uint64_t hit = in_vain > 0 ? 1 : 1 + random_() % point->reached;
    ASSIGN_OR_RETURN(const Outcome outcome, RunVictim(point->name, hit));
    const bool is_killed = outcome == Outcome::kKilled;
    RETURN_IF_ERROR(Check(!is_killed));
    if (checks_.failed() > failed_before) {
      std::printf("failed behind point=\"%s\" hit=%llu kills=%llu\n",
                  point->name.c_str(), static_cast<unsigned long long>(hit),
                  static_cast<unsigned long long>(point->kills));
      return absl::OkStatus();
    }
    if (is_killed) {
      ++point->kills;
      is_new = false;
      in_vain = 0;
      continue;
    }
    ++runs_through_;
    if (is_new && ++in_vain > 3) return absl::OkStatus();
    is_new = true;
    Begin();
  }
  ASSIGN_OR_RETURN(const Outcome outcome, RunVictim("", 0));
  if (outcome != Outcome::kThrough) return absl::InternalError("killed itself");
  ++runs_through_;
  return Check(/*is_end=*/true);
}

// Of the points that are there in a phase, too, those that decide whether what
// the phase does has happened.
bool IsTried(const std::string& name) {
  const size_t phase = name.find(": ");
  if (phase == std::string::npos) return true;
  const std::string_view call = std::string_view(name).substr(phase + 2);
  return absl::StartsWith(ToAbsl(call), "append store-log ") ||
         absl::StartsWith(ToAbsl(call), "append copied-store-log ") ||
         absl::StartsWith(ToAbsl(call), "rename ");
}

void Killer::ChoosePoints() {
  std::vector<Point> tried;
  for (Point& point : points_) {
    const bool is_named = settings_.point.empty()
                              ? IsTried(point.name)
                              : point.name == settings_.point;
    if (is_named) tried.push_back(std::move(point));
  }
  if (settings_.points_max > 0 && settings_.points_max < tried.size()) {
    std::shuffle(tried.begin(), tried.end(), random_);
    tried.resize(settings_.points_max);
  }
  points_ = std::move(tried);
}

void Killer::CheckRequired() {
  std::map<std::string_view, Point*> reached;
  for (Point& point : points_) reached[point.name] = &point;
  const auto require = [&](const std::string& name) {
    const auto found = reached.find(name);
    if (checks_.That(found != reached.end(), absl::StrCat("reached: ", name))) {
      found->second->is_required = true;
    }
  };
  for (const Required& required : kRequired) {
    for (const absl::string_view kind :
         absl::StrSplit(required.of, ' ', absl::SkipEmpty())) {
      const std::string name = absl::StrCat(required.what, " ", kind);
      if (!required.is_call) {
        require(name);
        continue;
      }
      require(name + " before");
      require(name + " after");
      if (absl::EndsWith(required.what, "append")) require(name + " half");
    }
  }
}

absl::Status Killer::Run() {
  RETURN_IF_ERROR(checker_.ComputeContents());
  RETURN_IF_ERROR(FindPoints());
  CheckRequired();
  ChoosePoints();
  for (Point& point : points_) {
    checks_.Ok(KillAt(&point), point.name);
    // What LevelDB's thread does by chance may not come again.
    checks_.That(point.kills == settings_.hits || !point.is_required,
                 absl::StrCat("kills at ", point.name, ": ", point.kills));
    if (checks_.failed() >= kFailuresMax) break;
  }
  Print();
  return absl::OkStatus();
}

void Killer::Print() const {
  std::printf("%-62s %7s %5s\n", "point", "reached", "kills");
  uint64_t kills = 0;
  for (const Point& point : points_) {
    std::printf("%-62s %7llu %5llu\n", point.name.c_str(),
                static_cast<unsigned long long>(point.reached),
                static_cast<unsigned long long>(point.kills));
    kills += point.kills;
  }
  const auto print = [](const char* what, uint64_t count) {
    std::printf("%-62s %7llu\n", what, static_cast<unsigned long long>(count));
  };
  print("named points", points_.size());
  print("kills", kills);
  print("  that left a torn end", checker_.tails_cut());
  print("  behind a commit that nobody was told of", checker_.untold());
  print("scripts that came to their end", runs_through_);
}

int Main(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "--victim") {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kHangSeconds);
    ScriptBoard* board = MapScriptBoard(argv[2]);
    uint64_t seed = 0;
    uint64_t hit = 0;
    if (board == nullptr || !absl::SimpleAtoi(argv[3], &seed) ||
        !absl::SimpleAtoi(argv[5], &hit)) {
      return 2;
    }
    return RunScript(argv[2], board, seed, argv[4], hit);
  }
  Killer::Settings settings;
  settings.seed = std::random_device()();
  bool ok = argc % 2 == 1;
  for (int i = 1; ok && i < argc; i += 2) {
    const std::string_view flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--point") {
      settings.point = value;
    } else {
      ok = (flag == "--hits" && absl::SimpleAtoi(value, &settings.hits)) ||
           (flag == "--points" &&
            absl::SimpleAtoi(value, &settings.points_max)) ||
           (flag == "--seed" && absl::SimpleAtoi(value, &settings.seed));
    }
  }
  if (!ok) {
    std::fprintf(stderr,
                 "usage: log_kill_points [--hits N] [--points N] [--seed N] "
                 "[--point NAME]\n");
    return 2;
  }
  std::printf("log-kill-points: seed=%llu\n",
              static_cast<unsigned long long>(settings.seed));
  std::fflush(stdout);
  Checks checks("log-kill-points");
  checks.Ok(Killer(settings, &checks).Run(), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
