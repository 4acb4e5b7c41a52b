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
// After each kill
//   db           opens, and holds the first S requests, rows and entries byte
//                for byte; every acknowledged one is among them
//   its log      ends with request S, and replayed into an empty database
//                makes the same
//   copy         is db at the place of its replay, which is not behind what
//                was reported, and so is its own log
//   partial      has applied or rejected each request up to its place
//   checkpoint, restored, rescued
//                are there whole, or are not there
//   backup       restores to what it was reported to have
// and verify finds nothing in any of them. Half of the time that is looked at
// in a copy of the files, so that the next run, and not the checker, is the
// first to open them after the kill. Then the script goes on, to be killed
// there again. In the end it must come to where it comes without kills.

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "dovetail/replay.h"
#include "index/hash.h"
#include "tests/acceptance/kill_requests.h"
#include "tests/acceptance/kill_script.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

extern char** environ;

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

// A hash of all rows and entries of KillSchema, row headers included.
absl::StatusOr<uint64_t> ContentOf(Engine& engine) {
  std::string state;
  const auto visit = [&state](const StoredPair& pair) {
    AppendBigEndian(pair.key.size(), 4, &state);
    state.append(pair.key).append(pair.value);
    std::string hash;
    AppendHash(v1::XXH3, state, 8, &hash);
    state = std::move(hash);
    return true;
  };
  const Schema schema = KillSchema();
  for (const v1::TableSchema& table : schema.proto().tables()) {
    RETURN_IF_ERROR(engine.ForEachStored({}, table.name(), "", "", visit));
    for (const v1::IndexSchema& index : table.indexes()) {
      state += index.name();
      RETURN_IF_ERROR(
          engine.ForEachStored({}, table.name(), index.name(), "", visit));
    }
  }
  std::string hash;
  AppendHash(v1::XXH3, state, 8, &hash);
  return DecodeBigEndian(hash.data(), 8);
}

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
        random_(settings_.seed) {}

  absl::Status Run();

 private:
  struct Point {
    std::string name;
    uint64_t reached = 0;  // In a run without a kill.
    uint64_t kills = 0;
  };
  enum class Outcome { kKilled, kThrough };

  // What the first S requests make, for every S.
  absl::Status ComputeContents();
  // Runs the script without a kill; finds the points and the end.
  absl::Status FindPoints();
  void CheckRequired();
  void ChoosePoints();
  absl::Status KillAt(Point* point);
  // A new, empty directory.
  void Begin();
  absl::StatusOr<Outcome> RunVictim(const std::string& point, uint64_t hit);
  void Print() const;

  absl::Status CheckAll(bool is_end);
  absl::Status CheckDatabase(const std::string& root, bool is_end);
  absl::Status CheckLog(const std::string& root, uint64_t last);
  absl::Status CheckCopy(const std::string& root, bool is_end);
  absl::Status CheckPartial(const std::string& root, bool is_end);
  absl::Status CheckCopies(const std::string& root, bool is_end);
  // Opens and verifies it. `schema`: of a database whose creation may have been
  // cut off, and is done then. `what` is for words.
  absl::StatusOr<std::unique_ptr<Engine>> OpenClean(
      const std::string& path, const std::string& what,
      const std::optional<Schema>& schema = std::nullopt);
  // And that it has what so many requests make as it has committed. Returns
  // how many.
  absl::StatusOr<uint64_t> CheckOne(
      const std::string& path, const std::string& what,
      const std::optional<Schema>& schema = std::nullopt);

  const Settings settings_;
  Checks& checks_;
  std::mt19937_64 random_;
  TempDir dir_;
  const std::string root_ = dir_.Sub("root");
  ScriptBoard* board_ = nullptr;

  std::vector<uint64_t> contents_;  // By sequence.
  std::vector<Point> points_;
  uint64_t rejected_ = 0;  // By `partial`, in all.
  uint64_t runs_through_ = 0;
  uint64_t tails_cut_ = 0;
  uint64_t untold_ = 0;  // Commits that were there, and not acknowledged.
};

absl::Status Killer::ComputeContents() {
  Options options;
  options.in_memory = true;
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open("memory", KillSchema(), options));
  ASSIGN_OR_RETURN(const uint64_t empty, ContentOf(*engine));
  contents_.push_back(empty);
  for (uint64_t n = 0; n < kScriptRequests; ++n) {
    const auto commit =
        engine->Write({}, KillRequest(settings_.seed, {1, 0, n}));
    if (absl::IsAlreadyExists(commit.status())) continue;
    RETURN_IF_ERROR(commit.status());
    ASSIGN_OR_RETURN(const uint64_t content, ContentOf(*engine));
    contents_.push_back(content);
  }
  return absl::OkStatus();
}

void Killer::Begin() {
  if (board_ != nullptr) UnmapScriptBoard(board_);
  fs::remove_all(root_);
  fs::create_directory(root_);
  board_ = MapScriptBoard(root_);
}

absl::StatusOr<Killer::Outcome> Killer::RunVictim(const std::string& point,
                                                  uint64_t hit) {
  if (board_ == nullptr) return absl::InternalError("cannot map the board");
  std::string args[] = {
      "log_kill_points", "--victim", root_, absl::StrCat(settings_.seed), point,
      absl::StrCat(hit)};
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  pid_t victim = -1;
  if (posix_spawn(&victim, "/proc/self/exe", nullptr, nullptr, argv.data(),
                  environ) != 0) {
    return absl::InternalError("cannot start the script");
  }
  int result = 0;
  while (waitpid(victim, &result, 0) < 0 && errno == EINTR) {
  }
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
  return CheckAll(/*is_end=*/true);
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
    RETURN_IF_ERROR(CheckAll(!is_killed));
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
  return CheckAll(/*is_end=*/true);
}

absl::StatusOr<std::unique_ptr<Engine>> Killer::OpenClean(
    const std::string& path, const std::string& what,
    const std::optional<Schema>& schema) {
  Options options = ScriptOptions();
  options.create_if_missing = schema.has_value();
  auto engine = Engine::Open(path, schema.value_or(Schema()), options);
  if (!engine.ok()) {
    return absl::Status(engine.status().code(),
                        absl::StrCat(what, ": ", engine.status().ToString()));
  }
  ASSIGN_OR_RETURN(const VerifyReport verify, (*engine)->Verify({}));
  checks_.That(verify.clean(),
               absl::StrCat(what, ": verify: ", verify.Summary()));
  return engine;
}

absl::StatusOr<uint64_t> Killer::CheckOne(const std::string& path,
                                          const std::string& what,
                                          const std::optional<Schema>& schema) {
  ASSIGN_OR_RETURN(const auto engine, OpenClean(path, what, schema));
  const auto sequence = static_cast<uint64_t>(engine->open_report().sequence);
  ASSIGN_OR_RETURN(const uint64_t content, ContentOf(*engine));
  if (checks_.That(sequence < contents_.size(),
                   absl::StrCat(what, ": more than was ever written"))) {
    checks_.Equal(content, contents_[sequence],
                  absl::StrCat(what, ": content at ", sequence));
  }
  return sequence;
}

absl::Status Killer::CheckAll(bool is_end) {
  std::string root = root_;
  if (random_() % 2 == 0) {
    root = dir_.Sub("looked-at");
    fs::remove_all(root);
    fs::copy(root_, root, fs::copy_options::recursive);
  }
  if (fs::exists(root + "/db")) {
    RETURN_IF_ERROR(CheckDatabase(root, is_end));
  } else {
    checks_.Equal(board_->acknowledged.load(), 0u, "nothing was acknowledged");
  }
  if (fs::exists(root + "/copy")) RETURN_IF_ERROR(CheckCopy(root, is_end));
  if (fs::exists(root + "/partial")) {
    RETURN_IF_ERROR(CheckPartial(root, is_end));
  }
  return CheckCopies(root, is_end);
}

absl::Status Killer::CheckDatabase(const std::string& root, bool is_end) {
  const std::string db = root + "/db";
  uint64_t sequence = 0;
  {
    ASSIGN_OR_RETURN(const auto engine, OpenClean(db, "db", KillSchema()));
    const OpenReport& report = engine->open_report();
    sequence = static_cast<uint64_t>(report.sequence);
    tails_cut_ += report.log_bytes_cut > 0 || !report.write_log_cuts.empty();
    checks_.That(sequence >= board_->acknowledged.load(),
                 absl::StrCat("acknowledged and there: is ", sequence,
                              ", should be ", board_->acknowledged.load()));
    checks_.That(sequence <= std::max(board_->started.load(),
                                      board_->acknowledged.load()),
                 "nothing is there that was not asked for");
    untold_ += sequence > board_->acknowledged.load();
    if (is_end) checks_.Equal(sequence, contents_.size() - 1, "requests");
    ASSIGN_OR_RETURN(const std::vector<IndexInfo> list, engine->ListIndexes());
    bool is_added = false;
    for (const IndexInfo& info : list) {
      is_added |=
          info.index == kAddedIndex && info.state != IndexState::kDropping;
    }
    if (board_->index_dropped.load() != 0) {
      checks_.That(!is_added, "an index that was dropped is gone");
    }
    if (is_end) {
      checks_.That(
          absl::IsFailedPrecondition(engine->ListFeedConsumers().status()),
          "the feed is off");
    }
  }
  ASSIGN_OR_RETURN(const uint64_t again, CheckOne(db, "db"));
  checks_.Equal(again, sequence, "the same after another open");
  return CheckLog(root, sequence);
}

// From its first record on.
absl::Status Killer::CheckLog(const std::string& root, uint64_t last) {
  // Before the log there is no commit.
  const auto log = FindWriteLog(FileSystem::Posix(), root + "/db");
  if (absl::IsNotFound(log.status())) {
    checks_.Equal(last, 0u, "nothing is committed before the log is there");
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(log.status());
  Options options;
  options.in_memory = true;
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open("memory", KillSchema(), options));
  if (last > 0) {
    const auto source = OpenWriteLogSource(FileSystem::Posix(), log->directory);
    ASSIGN_OR_RETURN(
        const auto replayer,
        Replayer::Open(engine.get(), source.get(),
                       {.source = "db", .sequences = ReplaySequences::kKeep}));
    RETURN_IF_ERROR(replayer->Run());
    checks_.Equal(replayer->report().position, last, "the log's last sequence");
  }
  ASSIGN_OR_RETURN(const uint64_t content, ContentOf(*engine));
  checks_.Equal(content, contents_[last], "content of the log, replayed");
  return absl::OkStatus();
}

absl::Status Killer::CheckCopy(const std::string& root, bool is_end) {
  const std::string copy = root + "/copy";
  ASSIGN_OR_RETURN(const uint64_t sequence,
                   CheckOne(copy, "copy", KillSchema()));
  checks_.That(sequence >= board_->replayed.load(),
               "the copy has what the replay reported");
  if (is_end) checks_.Equal(sequence, contents_.size() - 1, "requests copied");
  {
    ASSIGN_OR_RETURN(const auto engine,
                     Engine::Open(copy, Schema(), ScriptOptions()));
    ASSIGN_OR_RETURN(const auto sources, Replayer::ListSources(engine.get()));
    const uint64_t position = sources.empty() ? 0 : sources[0].position;
    checks_.Equal(position, sequence, "the place of the replay");
  }
  const auto log = FindWriteLog(FileSystem::Posix(), copy);
  if (absl::IsNotFound(log.status())) return absl::OkStatus();
  RETURN_IF_ERROR(log.status());
  // Retention has taken the beginning.
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), log->directory);
  if (absl::IsNotFound(reader.status())) return absl::OkStatus();
  RETURN_IF_ERROR(reader.status());
  uint64_t last = sequence;  // A log that was begun anew may be empty.
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&record));
    if (!more) break;
    last = record.sequence();
  }
  checks_.Equal(last, sequence, "the last sequence of the copy's log");
  return absl::OkStatus();
}

absl::Status Killer::CheckPartial(const std::string& root, bool is_end) {
  ASSIGN_OR_RETURN(const auto engine,
                   OpenClean(root + "/partial", "partial", PartialSchema()));
  ASSIGN_OR_RETURN(const auto sources, Replayer::ListSources(engine.get()));
  if (sources.empty()) {
    checks_.Equal(board_->partial.load(), 0u, "nothing was reported");
    return absl::OkStatus();
  }
  const ReplayedSource& place = sources[0];
  checks_.Equal(place.applied + place.rejected, place.position,
                "each record up to the place was applied or rejected");
  checks_.Equal(static_cast<uint64_t>(engine->open_report().sequence),
                place.applied, "a commit for each record applied");
  checks_.That(place.position >= board_->partial.load(),
               "the replay is as far as it reported");
  if (!is_end) return absl::OkStatus();
  std::ifstream in(root + "/rejects");
  uint64_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  checks_.Equal(lines, place.rejected, "lines of the reject file");
  if (rejected_ == 0) rejected_ = place.rejected;  // Without a kill.
  checks_.Equal(place.rejected, rejected_, "rejected");
  checks_.That(rejected_ > 0, "something is rejected");
  return absl::OkStatus();
}

absl::Status Killer::CheckCopies(const std::string& root, bool is_end) {
  const uint64_t checkpointed = board_->checkpointed.load();
  if (fs::exists(root + "/checkpoint")) {
    ASSIGN_OR_RETURN(const uint64_t sequence,
                     CheckOne(root + "/checkpoint", "checkpoint"));
    if (checkpointed > 0) {
      checks_.Equal(sequence, checkpointed, "the checkpoint's sequence");
    }
  } else {
    checks_.Equal(checkpointed, 0u, "a checkpoint that was made is there");
  }
  if (fs::exists(root + "/restored")) {
    ASSIGN_OR_RETURN(const uint64_t sequence,
                     CheckOne(root + "/restored", "restored"));
    checks_.Equal(sequence, contents_.size() - 1, "requests restored");
  }
  if (fs::exists(root + "/rescued")) {
    // An older version of a row may claim what another one has come to have.
    ASSIGN_OR_RETURN(
        const auto engine,
        Engine::Open(root + "/rescued", Schema(), ScriptOptions()));
    ASSIGN_OR_RETURN(const VerifyReport verify, engine->Verify({}));
    checks_.Equal(verify.missing + verify.dangling + verify.wrong_entries +
                      verify.wrong_rows,
                  0u, absl::StrCat("rescued: verify: ", verify.Summary()));
  }
  if (is_end) {
    RETURN_IF_ERROR(OpenClean(root + "/damaged", "repaired").status());
  }
  const uint64_t backed_up = board_->backed_up.load();
  if (backed_up == 0) return absl::OkStatus();
  const std::string restored = dir_.Sub("restored");
  fs::remove_all(restored);
  ASSIGN_OR_RETURN(const RestoreReport report,
                   Restore(root + "/backup", restored, {}));
  ASSIGN_OR_RETURN(const uint64_t sequence, CheckOne(restored, "backup"));
  checks_.Equal(static_cast<uint64_t>(report.sequence), sequence,
                "what restore reports");
  checks_.That(sequence >= backed_up, "the backup has what it reported");
  return absl::OkStatus();
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
  std::set<std::string> reached;
  for (const Point& point : points_) reached.insert(point.name);
  const auto require = [&](const std::string& name) {
    checks_.That(reached.count(name) > 0, absl::StrCat("reached: ", name));
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
  RETURN_IF_ERROR(ComputeContents());
  RETURN_IF_ERROR(FindPoints());
  CheckRequired();
  ChoosePoints();
  for (Point& point : points_) {
    checks_.Ok(KillAt(&point), point.name);
    checks_.Equal(point.kills, settings_.hits,
                  absl::StrCat("kills at ", point.name));
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
  print("  that left a torn end", tails_cut_);
  print("  behind a commit that nobody was told of", untold_);
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
