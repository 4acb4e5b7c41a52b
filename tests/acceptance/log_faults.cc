// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is left when files fail and the power goes: I1, I2, I10 and I12 for
// store and write log together.
//
//   log_faults [--ops N] [--points N] [--cuts N] [--disks N] [--seed N]
//
// A script of N requests over five tables, with observers, a checkpoint and a
// reopen in the middle, runs with a call failing at so many points of all
// kinds, once and for good; with so many outcomes of power cuts; and on so
// many disks that are full at some byte. What was cut is opened with calls
// failing too. Bare LevelDB shows the hole that the engine's rules close.

#include <sys/mount.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/testing.h"
#include "dovetail/write_log.h"
#include "tests/acceptance/bare_leveldb.h"
#include "tests/acceptance/model_requests.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

struct Settings {
  uint64_t ops = 2000;
  uint64_t points = 2500;  // Half of them once, half for good.
  uint64_t cuts = 20'000;
  uint64_t disks = 100;
  uint64_t seed = 1;
};

constexpr uint64_t kOutcomesPerCut = 8;

Options MakeOptions() {
  Options options;
  options.write_buffer_bytes = 64 << 10;  // Many rotations and compactions.
  options.disk_free_min_bytes = 0;        // To the edge, and over it.
  options.write_log = WriteLogOptions{.file_bytes_max = 128 << 10};
  options.observers = {std::make_shared<VetoObserver>(),
                       std::make_shared<AuditObserver>()};
  return options;
}

// Whether an error says no to the request, and not that something is broken.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return true;
    default:
      return false;
  }
}

absl::Status SendRequests(ScriptRun& run, const Settings& settings) {
  RequestMaker maker(settings.seed);
  for (uint64_t i = 1; i <= settings.ops; ++i) {
    const WriteBatch batch = maker.RandomRequest();
    if (batch.empty()) continue;
    const absl::Status status =
        run.Write({.sync = i % 50 == 0}, batch).status();
    if (!status.ok() && !IsRefusal(status)) return status;
    if (i == settings.ops / 3) {
      RETURN_IF_ERROR(
          run.engine().Checkpoint(run.directory() + "/copy", {}).status());
    }
    if (i == settings.ops / 2) RETURN_IF_ERROR(run.Reopen());
  }
  return absl::OkStatus();
}

// The sequence of the log's last record; 0 if it has none.
absl::StatusOr<uint64_t> LastInLog(const std::string& directory) {
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), directory);
  if (absl::IsNotFound(reader.status())) return 0;
  RETURN_IF_ERROR(reader.status());
  v1::WriteLogRecord record;
  uint64_t last = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&record));
    if (!more) return last;
    last = record.sequence();
  }
}

// The log has every commit, and no other: a reader sees to it that no sequence
// is left out.
absl::Status CheckLog(Engine& engine) {
  ASSIGN_OR_RETURN(const Stats stats, engine.GetStats());
  if (!stats.write_log.has_value()) {
    return absl::InternalError("the database does not record");
  }
  ASSIGN_OR_RETURN(const uint64_t last, LastInLog(stats.write_log->directory));
  const auto sequence = static_cast<uint64_t>(engine.open_report().sequence);
  if (last == sequence) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the log ends elsewhere: log_sequence=", last,
                   " store_sequence=", sequence));
}

absl::Status CheckAnswers(Engine& engine, const Model& model) {
  for (const ScanRequest& request :
       {ScanRequest{.table = "assets", .limit = 100'000},
        ScanRequest{.table = "assets", .index = "by_room", .limit = 100'000},
        ScanRequest{.table = "assets", .index = "by_slot", .limit = 100'000},
        ScanRequest{.table = "places", .index = "by_rank", .limit = 100'000}}) {
    ASSIGN_OR_RETURN(const Page page, engine.Scan({}, request));
    RETURN_IF_ERROR(model.CheckScan(request, page.rows));
  }
  return CheckLog(engine);
}

CrashTest MakeTest(const Settings& settings, const std::string& directory) {
  CrashTest test;
  test.schema = ModelSchema();
  test.directory = directory;
  test.options = [](const std::string&) { return MakeOptions(); };
  test.script = [&settings](ScriptRun& run) {
    return SendRequests(run, settings);
  };
  test.model = NewModel();  // Which knows the vetoes.
  test.predict = ApplyObserved;
  test.check = CheckAnswers;
  test.seed = settings.seed;
  return test;
}

void Report(const absl::StatusOr<CrashReport>& report, std::string_view what,
            Checks* checks) {
  if (!checks->Ok(report.status(), what)) return;
  std::printf("%.*s\n%s", static_cast<int>(what.size()), what.data(),
              report->Summary().c_str());
  std::fflush(stdout);
  for (const std::string& failure : report->failures) {
    checks->That(false, failure);
  }
  checks->Equal(report->failure_count, 0u, what);
}

void CheckFailingCalls(const Settings& settings, const TempDir& dir,
                       Checks* checks) {
  CrashTest test = MakeTest(settings, dir.Sub("faults"));
  test.options = [](const std::string&) {
    Options options = MakeOptions();
    options.disk_free_min_bytes = 1;  // Looks, and finds room.
    return options;
  };
  test.power_cuts = false;
  test.calls_max = settings.points / 2;
  const auto report = RunCrashTest(test);
  Report(report, "calls that fail", checks);
  if (!report.ok()) return;
  // Many points are of every kind of call there is but for the rarest.
  if (settings.points < 2000) return;
  checks->That(report->failed_once + report->failed_for_good >= 2000,
               "fault points");
  for (const char* verb :
       {"append", "flush", "sync", "close", "create", "delete", "list",
        "sync-directory", "open-random", "pread", "free-bytes"}) {
    checks->That(report->failed_calls.contains(verb),
                 absl::StrCat("points at ", verb));
  }
}

void CheckPowerCuts(const Settings& settings, const TempDir& dir,
                    Checks* checks) {
  CrashTest test = MakeTest(settings, dir.Sub("cuts"));
  test.fail_once = test.fail_for_good = false;
  test.outcomes_per_cut = kOutcomesPerCut;
  test.calls_max = settings.cuts / kOutcomesPerCut + 1;
  const auto report = RunCrashTest(test);
  Report(report, "power cuts", checks);
  if (!report.ok()) return;
  checks->That(report->cuts_with_losses > 0, "some cuts lose something");
  checks->That(report->tails_cut > 0, "some logs are torn");
}

// Opening what a power cut has left fails at each call in turn, and then the
// power goes again: the next open finds the same as the first one would have.
void CheckRecovery(const Settings& settings, const TempDir& dir,
                   Checks* checks) {
  using Fate = PowerCutOptions::Fate;
  FaultyFileSystem files(FileSystem::Posix(), settings.seed);
  const std::string left = dir.Sub("left");
  uint64_t points = 0;
  CrashTest script = MakeTest(settings, dir.Sub("recovery"));
  script.fail_once = script.fail_for_good = script.power_cuts = false;
  script.check = [&](Engine&, const Model&) { return absl::OkStatus(); };
  script.script = [&](ScriptRun& run) -> absl::Status {
    RETURN_IF_ERROR(SendRequests(run, settings));
    // The run goes on; what would be left of it here is looked at.
    RETURN_IF_ERROR(run.files().PowerCutInto(run.directory(), left,
                                             {.bytes = Fate::kByChance,
                                              .names = Fate::kKept,
                                              .seed = settings.seed}));
    return absl::OkStatus();
  };
  if (!checks->Ok(RunCrashTest(script).status(), "a run to be cut")) return;

  const auto open = [](FileSystem* under, const std::string& path) {
    Options options = MakeOptions();
    options.file_system = under;
    return Engine::Open(path + "/db", ModelSchema(), std::move(options));
  };
  const auto copy = [&](const std::string& name) {
    const std::string path = dir.Sub(name);
    std::filesystem::remove_all(path);
    std::filesystem::copy(left, path, std::filesystem::copy_options::recursive);
    return path;
  };
  SequenceNumber sequence{};
  {
    FaultyFileSystem calm(FileSystem::Posix());
    const auto engine = open(&calm, copy("calm"));
    if (!checks->Ok(engine.status(), "what was cut opens")) return;
    sequence = (*engine)->open_report().sequence;
  }
  for (const bool for_good : {false, true}) {
    for (uint64_t n = 1;; ++n) {
      FaultyFileSystem failing(FileSystem::Posix(), n);
      failing.SetFailuresArePartial(true);
      failing.SetDeletionsCanBeLost(true);
      const std::string path = copy("failing");
      failing.FailCall(n, absl::InternalError("this call is to fail"),
                       for_good);
      open(&failing, path).status().IgnoreError();  // Is to fail.
      const bool reached = failing.FaultReached();
      failing.FailCall(0, absl::OkStatus());
      if (for_good) {
        checks->Ok(failing.PowerCut({.bytes = Fate::kByChance,
                                     .names = Fate::kByChance,
                                     .seed = n}),
                   "power cut");
      }
      const auto engine = open(&failing, path);
      ++points;
      const std::string what =
          absl::StrCat("recovery call=", n, " for_good=", for_good);
      if (checks->Ok(engine.status(), what)) {
        checks->Equal(static_cast<uint64_t>((*engine)->open_report().sequence),
                      static_cast<uint64_t>(sequence), what);
        const auto verified = (*engine)->Verify({});
        checks->That(verified.ok() && verified->clean(), what);
        checks->Ok(CheckLog(**engine), what);
      }
      if (!reached) break;
    }
  }
  std::printf("%-44s %llu\n", "faults while a cut database opens",
              static_cast<unsigned long long>(points));
}

// Writes until the disk is full; then there is room again.
absl::Status FillDisk(ScriptRun& run, const Settings& settings,
                      uint64_t free_bytes, uint64_t* failed) {
  run.files().SetFreeBytes(free_bytes);
  const absl::Status status = SendRequests(run, settings);
  run.files().SetFreeBytes(std::nullopt);
  *failed += !status.ok();
  return absl::OkStatus();
}

void CheckFullDisks(const Settings& settings, const TempDir& dir,
                    Checks* checks) {
  std::mt19937_64 random(settings.seed);
  uint64_t failed = 0;
  for (uint64_t i = 0; i < settings.disks; ++i) {
    const uint64_t bytes = 8192 + random() % (settings.ops * 150);
    CrashTest test = MakeTest(settings, dir.Sub("disk"));
    test.fail_once = test.fail_for_good = test.power_cuts = false;
    test.script = [&](ScriptRun& run) {
      return FillDisk(run, settings, bytes, &failed);
    };
    checks->Ok(RunCrashTest(test).status(),
               absl::StrCat("disk of bytes=", bytes));
  }
  std::printf("%-44s %llu of %llu\n", "disks that were full before the end",
              static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(settings.disks));
}

// The same on a real file system of a few MiB.
void CheckSmallDisk(const Settings& settings, const TempDir& dir,
                    Checks* checks) {
  const std::string mount = dir.Sub("mount");
  std::filesystem::create_directory(mount);
  if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=4m") != 0) {
    std::printf("a real small disk: skipped, mounting one needs root\n");
    return;
  }
  const std::string ballast = mount + "/ballast";
  bool was_full = false;
  CrashTest test = MakeTest(settings, mount + "/runs");
  test.fail_once = test.fail_for_good = test.power_cuts = false;
  test.script = [&](ScriptRun& run) -> absl::Status {
    const uint64_t room = std::filesystem::space(mount).available;
    const uint64_t left = settings.ops * 100;  // For a fraction of them.
    std::ofstream(ballast, std::ios::binary) << std::string(room - left, 'b');
    was_full = !SendRequests(run, settings).ok();
    std::filesystem::remove(ballast);
    return absl::OkStatus();
  };
  checks->Ok(RunCrashTest(test).status(), "a real small disk");
  checks->That(was_full, "the real small disk was full");
  ::umount(mount.c_str());
}

bool ParseSettings(int argc, char** argv, Settings* settings) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    uint64_t* const number = flag == "--ops"      ? &settings->ops
                             : flag == "--points" ? &settings->points
                             : flag == "--cuts"   ? &settings->cuts
                             : flag == "--disks"  ? &settings->disks
                             : flag == "--seed"   ? &settings->seed
                                                  : nullptr;
    if (number == nullptr || !absl::SimpleAtoi(argv[i + 1], number)) {
      return false;
    }
  }
  return argc % 2 == 1;
}

int Main(int argc, char** argv) {
  Settings settings;
  if (!ParseSettings(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "usage: log_faults [--ops N] [--points N] [--cuts N] "
                 "[--disks N] [--seed N]\n");
    return 2;
  }
  std::printf("log-faults: seed=%llu ops=%llu\n",
              static_cast<unsigned long long>(settings.seed),
              static_cast<unsigned long long>(settings.ops));
  std::fflush(stdout);
  Checks checks("log-faults");
  const TempDir dir;
  const BareHole hole = FindHoleOfBareLevelDb(dir.Sub("bare"));
  std::printf("bare LevelDB, power cut behind a sync: %s\n",
              hole.in_words.c_str());
  checks.That(hole.found, "bare LevelDB shows its hole");
  CheckFailingCalls(settings, dir, &checks);
  CheckPowerCuts(settings, dir, &checks);
  CheckRecovery(settings, dir, &checks);
  CheckFullDisks(settings, dir, &checks);
  CheckSmallDisk(settings, dir, &checks);
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
