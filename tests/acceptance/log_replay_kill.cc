// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A process that replays a write log is killed at random moments and started
// again, until the log is through; then anew with another database, until it
// was killed often enough.
//
//   log_replay_kill [--kills N] [--records N] [--seed N]
//
// After each kill the database must be at one place of the log: its sequence
// is its place, and what was applied and rejected adds up to it. At the end it
// must hold what the log leads to, byte by byte, and every record that cannot
// be applied must be in the reject file once. Half of the databases keep the
// log's sequences; the others have commits of their own, and read their rows.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/replay.h"
#include "tests/acceptance/kill_requests.h"
#include "tests/support/checks.h"
#include "tests/support/spawn_self.h"
#include "tests/support/stored_content.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

namespace fs = std::filesystem;

// One record in so many cannot be applied.
constexpr uint64_t kBadEvery = 997;

Options KillOptions() {
  Options options;
  options.write_buffer_bytes = 64 << 10;  // Flushes and compacts all the time.
  return options;
}

struct Paths {
  std::string database;
  std::string log;
  std::string rejects;
};

ReplayOptions OptionsOf(const Paths& paths, bool keep, uint64_t batch) {
  ReplayOptions options;
  options.source = "log";
  options.sequences = keep ? ReplaySequences::kKeep : ReplaySequences::kOwn;
  options.batch_items = batch;
  options.on_error = ReplayOnError::kSkip;
  options.rejects_path = paths.rejects;
  return options;
}

// ---- The process that is killed: DATABASE LOG REJECTS KEEP BATCH.

absl::Status ReplayAll(const Paths& paths, bool keep, uint64_t batch) {
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(paths.database, KillSchema(), KillOptions()));
  const auto source = OpenWriteLogSource(FileSystem::Posix(), paths.log);
  ASSIGN_OR_RETURN(const auto replayer,
                   Replayer::Open(engine.get(), source.get(),
                                  OptionsOf(paths, keep, batch)));
  return replayer->Run();
}

int VictimMain(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  uint64_t batch = 0;
  if (!absl::SimpleAtoi(argv[6], &batch)) return 2;
  const absl::Status status =
      ReplayAll({argv[2], argv[3], argv[4]}, argv[5][0] == '1', batch);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// ---- The process that kills and checks.

class Killer {
 public:
  Killer(uint64_t seed, uint64_t records, Checks* checks)
      : seed_(seed), records_(records), checks_(*checks), random_(seed) {}

  absl::Status Run(uint64_t kills);

 private:
  absl::Status RecordLog();
  // Replays it without interruption, for what has to come out.
  absl::StatusOr<uint64_t> ContentWanted(bool keep);
  absl::Status CreateDatabase(const std::string& path, bool keep);
  absl::Status RunDatabase(uint64_t number, uint64_t kills);
  // True if the process was killed, false if it was through before.
  absl::StatusOr<bool> RunVictim(const Paths& paths, bool keep);
  absl::Status CheckPlace(const Paths& paths, bool keep);
  absl::Status CheckEnd(const Paths& paths, bool keep);

  const uint64_t seed_;
  const uint64_t records_;
  Checks& checks_;
  std::mt19937_64 random_;
  TempDir dir_;
  std::string log_ = dir_.Sub("log");
  uint64_t last_ = 0;      // Sequence of the log.
  uint64_t rejected_ = 0;  // Records of it.
  uint64_t wanted_[2] = {};
  std::vector<SpaceDigest> digests_[2];

  uint64_t kills_ = 0;
  uint64_t before_first_ = 0;  // Killed before anything was applied.
  uint64_t databases_ = 0;
};

absl::Status Killer::RecordLog() {
  const std::string plain = dir_.Sub("plain");
  Options recording;
  recording.write_log = WriteLogOptions{.directory = plain};
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(dir_.Sub("recorded"), KillSchema(), recording));
  uint64_t sequence = 0;
  for (uint64_t n = 0; n < records_; ++n) {
    WriteBatch batch = KillRequest(seed_, {1, 0, n});
    if ((sequence + 1) % kBadEvery == 0) {
      // What is left out later must be nothing that others build on.
      const Mutation row = batch.mutations()[0];
      batch.Clear();
      batch.Add(row);
    }
    const auto commit = engine->Write({}, batch);
    if (commit.ok()) {
      sequence = static_cast<uint64_t>(commit->sequence);
    } else if (!absl::IsAlreadyExists(commit.status())) {
      return commit.status();
    }
  }
  // The same with records that cannot be applied; and in several files.
  WriteLogWriterOptions options;
  ASSIGN_OR_RETURN(options.schema, engine->GetSchema());
  options.file_bytes_max = 1 << 20;
  ASSIGN_OR_RETURN(const auto writer,
                   WriteLogWriter::Open(FileSystem::Posix(), log_, options));
  ASSIGN_OR_RETURN(const auto reader,
                   WriteLogReader::Open(FileSystem::Posix(), plain));
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    last_ = record.sequence();
    if (record.sequence() % kBadEvery == 0) {
      record.mutable_effects(0)->set_table("nowhere");
      ++rejected_;
    }
    RETURN_IF_ERROR(writer->Append(record));
  }
  return writer->Close();
}

absl::Status Killer::CreateDatabase(const std::string& path, bool keep) {
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(path, KillSchema(), KillOptions()));
  if (keep) return engine->Close();
  RETURN_IF_ERROR(
      engine->Write({}, KillRequest(seed_ + 1, {9, 9, 9})).status());
  WriteBatch clear;  // All that request did, but for its sequence.
  ASSIGN_OR_RETURN(const Page rows, engine->Scan({}, {.table = "orders"}));
  for (const Row& row : rows.rows) {
    clear.Delete("orders", RowRef::EncodedKey(row.key));
  }
  ASSIGN_OR_RETURN(const Page assets, engine->Scan({}, {.table = "assets"}));
  for (const Row& row : assets.rows) {
    clear.Delete("assets", RowRef::EncodedKey(row.key));
  }
  RETURN_IF_ERROR(engine->Write({}, clear).status());
  return engine->Close();
}

absl::StatusOr<uint64_t> Killer::ContentWanted(bool keep) {
  const Paths paths = {dir_.Sub(keep ? "kept" : "own"), log_,
                       dir_.Sub(keep ? "kept.rejects" : "own.rejects")};
  RETURN_IF_ERROR(CreateDatabase(paths.database, keep));
  RETURN_IF_ERROR(ReplayAll(paths, keep, 100));
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(paths.database, KillSchema()));
  ASSIGN_OR_RETURN(const VerifyReport verify, engine->Verify({}));
  checks_.That(verify.clean(), absl::StrCat("verify: ", verify.Summary()));
  ASSIGN_OR_RETURN(const DigestReport digests, engine->Digest());
  digests_[keep] = digests.spaces;
  return ContentHash(*engine);
}

absl::Status Killer::Run(uint64_t kills) {
  RETURN_IF_ERROR(RecordLog());
  for (const bool keep : {false, true}) {
    ASSIGN_OR_RETURN(wanted_[keep], ContentWanted(keep));
  }
  while (kills_ < kills && checks_.failed() == 0) {
    RETURN_IF_ERROR(RunDatabase(databases_++, kills));
  }
  const auto print = [](const char* what, uint64_t count) {
    std::printf("%-44s %9llu\n", what, static_cast<unsigned long long>(count));
  };
  print("records in the log", last_);
  print("  of them cannot be applied", rejected_);
  print("kills", kills_);
  print("  before anything was applied", before_first_);
  print("databases replayed to the end", databases_);
  return absl::OkStatus();
}

absl::Status Killer::RunDatabase(uint64_t number, uint64_t kills) {
  const bool keep = number % 2 == 0;
  const Paths paths = {dir_.Sub("database"), log_, dir_.Sub("rejects")};
  fs::remove_all(paths.database);
  fs::remove(paths.rejects);
  RETURN_IF_ERROR(CreateDatabase(paths.database, keep));
  bool through = false;
  while (!through) {
    if (kills_ >= kills) {
      RETURN_IF_ERROR(ReplayAll(paths, keep, 100));
      break;
    }
    ASSIGN_OR_RETURN(const bool killed, RunVictim(paths, keep));
    through = !killed;
    kills_ += killed;
    if (killed) RETURN_IF_ERROR(CheckPlace(paths, keep));
    if (checks_.failed() > 0) return absl::OkStatus();
  }
  return CheckEnd(paths, keep);
}

// The nap only picks the moment of the kill: nothing depends on its length.
absl::StatusOr<bool> Killer::RunVictim(const Paths& paths, bool keep) {
  ASSIGN_OR_RETURN(const pid_t victim,
                   SpawnSelf({"log_replay_kill", "--victim", paths.database,
                              paths.log, paths.rejects, keep ? "1" : "0",
                              absl::StrCat(1 + random_() % 200)}));
  usleep(static_cast<useconds_t>(random_() % 120'000));
  kill(victim, SIGKILL);
  const int result = WaitForEnd(victim);
  if (WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL) return true;
  if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return false;
  return absl::InternalError(
      absl::StrCat("the replay failed by itself: wait_status=", result));
}

absl::Status Killer::CheckPlace(const Paths& paths, bool keep) {
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(paths.database, KillSchema(), KillOptions()));
  const auto sequence = static_cast<uint64_t>(engine->open_report().sequence);
  ASSIGN_OR_RETURN(const auto sources, Replayer::ListSources(engine.get()));
  if (sources.empty() || sources[0].position == 0) {
    ++before_first_;
    checks_.Equal(sequence, keep ? 0u : 2u, "nothing is there before a place");
    return absl::OkStatus();
  }
  const ReplayedSource& place = sources[0];
  checks_.Equal(place.applied + place.rejected, place.position,
                "every record up to the place was applied or rejected");
  checks_.Equal(place.rejected, place.position / kBadEvery, "rejected");
  checks_.Equal(sequence, keep ? place.position : 2 + place.applied,
                "the sequence is that of the place");
  if (random_() % 10 != 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const VerifyReport verify, engine->Verify({}));
  checks_.That(verify.clean(), absl::StrCat("verify: ", verify.Summary()));
  return absl::OkStatus();
}

absl::Status Killer::CheckEnd(const Paths& paths, bool keep) {
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(paths.database, KillSchema(), KillOptions()));
  ASSIGN_OR_RETURN(const auto sources, Replayer::ListSources(engine.get()));
  if (sources.size() != 1) return absl::InternalError("the place is lost");
  checks_.Equal(sources[0].position, last_, "position");
  checks_.Equal(sources[0].applied, last_ - rejected_, "applied");
  checks_.Equal(sources[0].rejected, rejected_, "rejected");
  checks_.Equal(ContentHash(*engine), wanted_[keep], "content");
  ASSIGN_OR_RETURN(const DigestReport digests, engine->Digest());
  checks_.That(digests.spaces == digests_[keep], "digests");
  ASSIGN_OR_RETURN(const VerifyReport verify, engine->Verify({}));
  checks_.That(verify.clean(), absl::StrCat("verify: ", verify.Summary()));
  std::ifstream in(paths.rejects);
  uint64_t due = 0;
  for (std::string line; std::getline(in, line);) {
    due += kBadEvery;
    checks_.That(line.starts_with(absl::StrCat("{\"position\":\"", due, "\"")),
                 absl::StrCat("the reject of ", due));
  }
  checks_.Equal(due / kBadEvery, rejected_, "lines of the reject file");
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  if (argc == 7 && std::string_view(argv[1]) == "--victim") {
    return VictimMain(argv);
  }
  uint64_t seed = std::random_device()();
  uint64_t kills = 500;
  uint64_t records = 20'000;
  bool ok = argc % 2 == 1;
  for (int i = 1; ok && i < argc; i += 2) {
    const std::string_view flag = argv[i];
    ok = (flag == "--kills" && absl::SimpleAtoi(argv[i + 1], &kills)) ||
         (flag == "--records" && absl::SimpleAtoi(argv[i + 1], &records)) ||
         (flag == "--seed" && absl::SimpleAtoi(argv[i + 1], &seed));
  }
  if (!ok) {
    std::fprintf(stderr,
                 "usage: log_replay_kill [--kills N] [--records N] [--seed "
                 "N]\n");
    return 2;
  }
  std::printf("log-replay-kill: seed=%llu\n",
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  Checks checks("log-replay-kill");
  checks.Ok(Killer(seed, records, &checks).Run(kills), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
