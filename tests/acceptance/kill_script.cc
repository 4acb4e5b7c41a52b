// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The script is a list of steps, each due before the request of a number. A
// run begins with the first request that is not in `db`; a step whose request
// is there has been done, and one that was cut off is done again, so each
// bears what an earlier run left of it.

#include "tests/acceptance/kill_script.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/doctor.h"
#include "dovetail/replay.h"
#include "engine/keyspace.h"
#include "engine/storage/store.h"
#include "tests/acceptance/kill_hooks.h"
#include "tests/acceptance/kill_points.h"
#include "tests/acceptance/kill_requests.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReserveBytes = 256 << 10;
// How long the engine may take to empty a space.
constexpr int kNapsMax = 200'000;
constexpr useconds_t kNapMicros = 500;

// The file of a directory that ends in `suffix` and has the highest name.
fs::path NewestWith(const std::string& directory, std::string_view suffix) {
  fs::path newest;
  for (const auto& file : fs::directory_iterator(directory)) {
    const std::string name = file.path().filename();
    if (absl::EndsWith(name, ToAbsl(suffix)) && name > newest.filename()) {
      newest = file.path();
    }
  }
  return newest;
}

// As a write that the machine did not get to the end of.
void TearEnd(const fs::path& path) {
  std::ofstream(path, std::ios::binary | std::ios::app)
      << std::string(100, '\x5a');
}

absl::Status Allow(absl::Status status, absl::StatusCode code) {
  return status.code() == code ? absl::OkStatus() : status;
}

class Script {
 public:
  Script(std::string root, ScriptBoard* board, uint64_t seed,
         KillPoints* points)
      : root_(std::move(root)),
        board_(*board),
        seed_(seed),
        points_(*points),
        files_(FileSystem::Posix(), points) {}

  absl::Status Run();

 private:
  struct Step {
    uint64_t due;  // Before this request.
    std::string phase;
    absl::Status (Script::*run)();
  };

  std::string Path(std::string_view name) const {
    return absl::StrCat(root_, "/", ToAbsl(name));
  }
  Options OptionsOf() {
    Options options = ScriptOptions();
    options.file_system = &files_;
    return options;
  }
  absl::Status Open(uint64_t reserve_bytes, bool background);
  absl::StatusOr<uint64_t> NextRequest();
  absl::Status Write(uint64_t number);
  // Whether the added index is there, in the schema or being emptied.
  absl::StatusOr<bool> HasAddedIndex(bool dropping);

  absl::Status AddIndex();
  absl::Status BuildIndex();
  absl::Status HideIndex();
  absl::Status Checkpoint();
  absl::Status Backup();
  absl::Status DropIndex();
  absl::Status Reopen();
  absl::Status BeginFeed();
  absl::Status ReadFeed();
  absl::Status ReplayCopy();
  absl::Status ReplayPartial();
  absl::Status Replay(Engine* engine, ReplayOptions options,
                      std::atomic<uint64_t>* reported, uint64_t to);
  absl::Status Repair();
  absl::Status Rescue();
  absl::Status Restore();
  // `checkpoint` anew, without help of the engine, under another name.
  std::string CopyOfCheckpoint(std::string_view name);

  const std::string root_;
  ScriptBoard& board_;
  const uint64_t seed_;
  KillPoints& points_;
  KillFileSystem files_;
  std::unique_ptr<Engine> engine_;
};

absl::Status Script::Run() {
  const std::vector<Step> steps = {
      {60, "add-index", &Script::AddIndex},
      {60, "build-index", &Script::BuildIndex},
      {60, "hide-index", &Script::HideIndex},
      {90, "checkpoint", &Script::Checkpoint},
      {90, "backup", &Script::Backup},
      {90, "replay", &Script::ReplayCopy},
      {120, "drop-index", &Script::DropIndex},
      {120, "reopen", &Script::Reopen},
      {150, "begin-feed", &Script::BeginFeed},
      {165, "read-feed", &Script::ReadFeed},
      {kScriptRequests, "backup", &Script::Backup},
      {kScriptRequests, "replay", &Script::ReplayCopy},
      {kScriptRequests, "partial", &Script::ReplayPartial},
      {kScriptRequests, "repair", &Script::Repair},
      {kScriptRequests, "rescue", &Script::Rescue},
      {kScriptRequests, "restore", &Script::Restore},
  };
  RETURN_IF_ERROR(Open(kReserveBytes, /*background=*/false));
  ASSIGN_OR_RETURN(uint64_t next, NextRequest());
  for (const Step& step : steps) {
    if (step.due < next) continue;
    for (; next < step.due; ++next) RETURN_IF_ERROR(Write(next));
    points_.SetPhase(step.phase);
    RETURN_IF_ERROR((this->*step.run)());
    points_.SetPhase("");
  }
  RETURN_IF_ERROR(engine_->Close());
  engine_.reset();
  return absl::OkStatus();
}

absl::Status Script::Open(uint64_t reserve_bytes, bool background) {
  Options options = OptionsOf();
  options.background_work = background;
  options.disk_reserve_bytes = reserve_bytes;
  options.observers = {std::make_shared<PointObserver>(&points_)};
  options.write_log = WriteLogOptions{.file_bytes_max = 30'000};
  ASSIGN_OR_RETURN(engine_, Engine::Open(Path("db"), KillSchema(), options));
  // What is there from now on stays there.
  const auto found = static_cast<uint64_t>(engine_->open_report().sequence);
  board_.acknowledged.store(std::max(found, board_.acknowledged.load()));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Script::NextRequest() {
  ASSIGN_OR_RETURN(const Page page, engine_->Scan({}, {.table = "log",
                                                       .index = "by_thread",
                                                       .equal = {0},
                                                       .limit = 1}));
  if (page.rows.empty()) return 0;
  LogEntry entry;
  if (!entry.ParseFromString(page.rows[0].record)) {
    return absl::DataLossError("a log row does not parse");
  }
  return entry.number() + 1;
}

absl::Status Script::Write(uint64_t number) {
  board_.started.store(board_.acknowledged.load() + 1);
  const auto commit = engine_->Write({.sync = number % 8 == 0},
                                     KillRequest(seed_, {1, 0, number}));
  if (absl::IsAlreadyExists(commit.status())) return absl::OkStatus();
  RETURN_IF_ERROR(commit.status());
  board_.acknowledged.store(static_cast<uint64_t>(commit->sequence));
  return absl::OkStatus();
}

absl::StatusOr<bool> Script::HasAddedIndex(bool dropping) {
  ASSIGN_OR_RETURN(const std::vector<IndexInfo> list, engine_->ListIndexes());
  return std::any_of(list.begin(), list.end(), [&](const IndexInfo& info) {
    return info.index == kAddedIndex &&
           (info.state == IndexState::kDropping) == dropping;
  });
}

absl::Status Script::AddIndex() {
  ASSIGN_OR_RETURN(const bool is_there, HasAddedIndex(/*dropping=*/false));
  if (!is_there) {
    RETURN_IF_ERROR(
        engine_->AddIndex("orders", ValueIndex(kAddedIndex, {Field("note")})));
  }
  board_.index_added.store(1);
  return absl::OkStatus();
}

absl::Status Script::BuildIndex() {
  BuildOptions options;
  options.progress = [this](const BuildProgress&) {
    points_.Reach("build progress");
    return true;
  };
  return engine_->BuildIndex("orders", kAddedIndex, options).status();
}

absl::Status Script::HideIndex() {
  // Hidden by an earlier run, it is shown, and hidden again.
  RETURN_IF_ERROR(Allow(engine_->ShowIndex("orders", kAddedIndex),
                        absl::StatusCode::kFailedPrecondition));
  RETURN_IF_ERROR(engine_->HideIndex("orders", kAddedIndex));
  return engine_->ShowIndex("orders", kAddedIndex);
}

absl::Status Script::DropIndex() {
  ASSIGN_OR_RETURN(const bool is_there, HasAddedIndex(/*dropping=*/false));
  if (is_there) RETURN_IF_ERROR(engine_->DropIndex("orders", kAddedIndex));
  board_.index_dropped.store(1);
  return absl::OkStatus();
}

// Both logs have a torn end, and the engine empties the dropped index's space.
absl::Status Script::Reopen() {
  RETURN_IF_ERROR(engine_->Close());
  engine_.reset();
  TearEnd(NewestWith(Path("db"), ".log"));
  TearEnd(NewestWith(Path("db/write-log"), ".dvlog"));
  RETURN_IF_ERROR(Open(0, /*background=*/true));
  bool is_dropping = true;
  for (int naps = 0; is_dropping; ++naps) {
    if (naps > kNapsMax) return absl::DeadlineExceededError("not emptied");
    usleep(kNapMicros);
    ASSIGN_OR_RETURN(is_dropping, HasAddedIndex(/*dropping=*/true));
  }
  return absl::OkStatus();
}

absl::Status Script::Checkpoint() {
  board_.checkpointed.store(0);
  fs::remove_all(Path("checkpoint"));
  fs::remove_all(Path("checkpoint.unfinished"));
  ASSIGN_OR_RETURN(const CheckpointReport report,
                   engine_->Checkpoint(Path("checkpoint"), {}));
  board_.checkpointed.store(static_cast<uint64_t>(report.sequence));
  return absl::OkStatus();
}

absl::Status Script::Backup() {
  // The second time with a checkpoint more.
  ASSIGN_OR_RETURN(
      const BackupReport report,
      engine_->Backup(Path("backup"),
                      {.new_checkpoint = board_.index_dropped.load() != 0}));
  board_.backed_up.store(static_cast<uint64_t>(report.sequence));
  return absl::OkStatus();
}

absl::Status Script::BeginFeed() {
  return Allow(engine_->EnableChangeFeed({.commits_max = 10}),
               absl::StatusCode::kAlreadyExists);
}

absl::Status Script::ReadFeed() {
  auto feed = engine_->OpenFeed("reader", FeedStart::kOldest);
  // An earlier run has come to the end of this.
  if (absl::IsFailedPrecondition(feed.status())) return absl::OkStatus();
  RETURN_IF_ERROR(feed.status());
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more,
                     (*feed)->Next(&record, std::chrono::microseconds(0)));
    if (!more) break;
    RETURN_IF_ERROR(
        (*feed)->Acknowledge(SequenceNumber{record.sequence()}, true));
  }
  return engine_->DisableChangeFeed();
}

absl::Status Script::Replay(Engine* engine, ReplayOptions options,
                            std::atomic<uint64_t>* reported, uint64_t to) {
  PointSource source(
      &points_, OpenWriteLogSource(FileSystem::Posix(), Path("db/write-log")));
  options.source = "db";
  options.batch_items = 7;
  options.file_system = &files_;
  options.progress_interval_us = 0;
  options.progress = [this, reported](const ReplayReport& report) {
    reported->store(report.position);
    points_.Reach("replay progress");
    return true;
  };
  ASSIGN_OR_RETURN(const auto replayer,
                   Replayer::Open(engine, &source, options));
  RETURN_IF_ERROR(replayer->Run({.to_position = to}));
  reported->store(replayer->report().position);
  return absl::OkStatus();
}

// Recorded up to a place, not recorded behind it, and then into a new log.
absl::Status Script::ReplayCopy() {
  ASSIGN_OR_RETURN(const auto copy,
                   Engine::Open(Path("copy"), KillSchema(), OptionsOf()));
  WriteLogOptions log = {.file_bytes_max = 15'000,
                         .retention = {.bytes_max = 40'000}};
  const bool is_new = copy->open_report().sequence == SequenceNumber{};
  if (is_new) RETURN_IF_ERROR(copy->EnableWriteLog(log));
  const ReplayOptions options = {.sequences = ReplaySequences::kKeep};
  const uint64_t last = board_.acknowledged.load();
  RETURN_IF_ERROR(
      Replay(copy.get(), options, &board_.replayed, last - last / 4));
  RETURN_IF_ERROR(Allow(copy->DisableWriteLog(), absl::StatusCode::kNotFound));
  RETURN_IF_ERROR(Replay(copy.get(), options, &board_.replayed, last));
  log.start_over = true;
  RETURN_IF_ERROR(copy->EnableWriteLog(log));
  return copy->Close();
}

absl::Status Script::ReplayPartial() {
  ASSIGN_OR_RETURN(const auto partial,
                   Engine::Open(Path("partial"), PartialSchema(), OptionsOf()));
  const ReplayOptions options = {.sequences = ReplaySequences::kOwn,
                                 .on_error = ReplayOnError::kSkip,
                                 .rejects_path = Path("rejects")};
  RETURN_IF_ERROR(Replay(partial.get(), options, &board_.partial, UINT64_MAX));
  return partial->Close();
}

std::string Script::CopyOfCheckpoint(std::string_view name) {
  const std::string path = Path(name);
  fs::remove_all(path);
  fs::copy(Path("checkpoint"), path, fs::copy_options::recursive);
  return path;
}

absl::Status Script::Repair() {
  const std::string path = CopyOfCheckpoint("damaged");
  {
    LevelDbStoreOptions options;
    options.file_system = FileSystem::Posix();
    StoreOpenReport report;
    ASSIGN_OR_RETURN(const auto store,
                     OpenLevelDbStore(path, options, &report));
    // Spaces are numbered in the order of the schema: the log's rows, then
    // its entries. Every fifth row goes, and every third entry.
    const auto batch = store->NewBatch();
    for (const uint32_t space : {1, 2}) {
      const std::string prefix = SpacePrefix(SpaceId{space});
      const auto it = store->NewIterator({});
      uint64_t n = 0;
      for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
           it->Next()) {
        if (n++ % (space == 1 ? 5 : 3) == 0) batch->Delete(it->key());
      }
    }
    RETURN_IF_ERROR(store->Write(*batch, true));
  }
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(path, Schema(), OptionsOf()));
  ASSIGN_OR_RETURN(const RepairReport report, engine->Repair({}));
  if (report.entries_added == 0 || report.entries_removed == 0) {
    return absl::InternalError("repair had nothing to do");
  }
  ASSIGN_OR_RETURN(const VerifyReport verify, engine->Verify({}));
  if (!verify.clean()) return absl::InternalError("repair left something");
  return engine->Close();
}

absl::Status Script::Rescue() {
  const std::string path = CopyOfCheckpoint("broken");
  fs::path table = NewestWith(path, ".ldb");
  {
    std::fstream file(table, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(fs::file_size(table) / 3));
    file << "damage";
  }
  fs::remove_all(Path("rescued"));
  DoctorOptions options;
  options.file_system = &files_;
  return dovetail::Rescue(path, Path("rescued"), options).status();
}

absl::Status Script::Restore() {
  fs::remove_all(Path("restored"));
  RestoreOptions options;
  options.file_system = &files_;
  return dovetail::Restore(Path("backup"), Path("restored"), options).status();
}

absl::Status WriteCounts(const KillPoints& points, const std::string& path) {
  std::ofstream out(path);
  for (const auto& [name, count] : points.counts()) {
    out << count << ' ' << name << '\n';
  }
  out.close();
  return out ? absl::OkStatus() : absl::InternalError("cannot write points");
}

}  // namespace

Schema PartialSchema() {
  const Schema whole = KillSchema();
  v1::Schema schema;
  for (const v1::TableSchema& table : whole.proto().tables()) {
    if (table.name() != kMissingTable) *schema.add_tables() = table;
  }
  return Schema(std::move(schema));
}

Options ScriptOptions() {
  Options options;
  options.write_buffer_bytes = 64 << 10;  // Flushes and compacts.
  options.disk_free_min_bytes = 0;
  options.background_work = false;  // So that runs do the same.
  return options;
}

int RunScript(const std::string& root, ScriptBoard* board, uint64_t seed,
              const std::string& point, uint64_t hit) {
  KillPoints points(point, hit);
  absl::Status status = Script(root, board, seed, &points).Run();
  if (status.ok()) status = WriteCounts(points, root + "/points");
  if (status.ok()) return 0;
  std::snprintf(board->error, sizeof(board->error), "%s",
                status.ToString().c_str());
  board->failed.store(1);
  return 1;
}

ScriptBoard* MapScriptBoard(const std::string& root) {
  const std::string path = root + "/board";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (ftruncate(fd, sizeof(ScriptBoard)) == 0) {
    memory = mmap(nullptr, sizeof(ScriptBoard), PROT_READ | PROT_WRITE,
                  MAP_SHARED, fd, 0);
  }
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<ScriptBoard*>(memory);
}

void UnmapScriptBoard(ScriptBoard* board) {
  munmap(board, sizeof(ScriptBoard));
}

}  // namespace dovetail::test
