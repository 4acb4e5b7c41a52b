// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A restore copies a checkpoint, opens the copy, and replays the log behind
// it. Everything happens under a passing name; the last step is the rename.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/backup.h"
#include "dovetail/engine.h"
#include "dovetail/replay.h"
#include "dovetail/write_log.h"
#include "engine/backup_directory.h"
#include "engine/file_copy.h"

namespace dovetail {
namespace {

constexpr char kSource[] = "restore";

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool IsTable(const std::string& name) {
  return name.ends_with(".ldb") || name.ends_with(".sst");
}

class Restorer {
 public:
  Restorer(const std::string& backup, const std::string& database,
           const RestoreOptions& options)
      : files_(options.file_system != nullptr ? options.file_system
                                              : FileSystem::Posix()),
        backup_(backup),
        database_(database),
        unfinished_(database + ".unfinished"),
        options_(options) {}

  absl::StatusOr<RestoreReport> Run();

 private:
  absl::Status CheckNames() const;
  absl::StatusOr<uint64_t> ChooseCheckpoint() const;
  // Whether the state of a checkpoint is that of `to_time_us`, or older.
  absl::StatusOr<bool> IsOldEnough(uint64_t checkpoint) const;
  // When a commit was made; nullopt if the log does not have it.
  absl::StatusOr<std::optional<int64_t>> TimeOf(uint64_t sequence) const;
  absl::Status CopyCheckpoint(uint64_t checkpoint);
  absl::Status CopyOne(const std::string& from, const std::string& to,
                       bool link);
  absl::Status Replay();
  absl::Status RunReplay(Engine* engine, ReplaySource* source);

  FileSystem* const files_;
  const std::string backup_;
  const std::string database_;
  const std::string unfinished_;
  const RestoreOptions options_;
  RestoreReport report_;
};

absl::StatusOr<RestoreReport> Restorer::Run() {
  RETURN_IF_ERROR(CheckNames());
  ASSIGN_OR_RETURN(const uint64_t checkpoint, ChooseCheckpoint());
  RETURN_IF_ERROR(RemoveDirectory(files_, unfinished_));
  RETURN_IF_ERROR(CopyCheckpoint(checkpoint));
  report_.checkpoint = SequenceNumber{checkpoint};
  RETURN_IF_ERROR(Replay());
  if (options_.to_sequence.has_value() &&
      report_.sequence < *options_.to_sequence) {
    return absl::OutOfRangeError(
        absl::StrCat("the backup ends before that commit: sequence=",
                     static_cast<uint64_t>(report_.sequence),
                     " wanted=", static_cast<uint64_t>(*options_.to_sequence)));
  }
  RETURN_IF_ERROR(files_->Rename(unfinished_, database_));
  RETURN_IF_ERROR(files_->SyncDirectory(ParentOf(database_)));
  return report_;
}

absl::Status Restorer::CheckNames() const {
  ASSIGN_OR_RETURN(const bool there, files_->Exists(backup_));
  if (!there) {
    return absl::NotFoundError(absl::StrCat("there is no backup: directory=",
                                            ToAbsl(Quote(backup_, 1024))));
  }
  ASSIGN_OR_RETURN(const bool exists, files_->Exists(database_));
  if (!exists) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("the new database's directory exists; give another one: "
                   "directory=",
                   ToAbsl(Quote(database_, 1024))));
}

absl::StatusOr<uint64_t> Restorer::ChooseCheckpoint() const {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> checkpoints,
                   ListBackupCheckpoints(files_, backup_));
  for (auto it = checkpoints.rbegin(); it != checkpoints.rend(); ++it) {
    if (options_.to_sequence.has_value() &&
        *it > static_cast<uint64_t>(*options_.to_sequence)) {
      continue;
    }
    ASSIGN_OR_RETURN(const bool old_enough, IsOldEnough(*it));
    if (old_enough) return *it;
  }
  return absl::NotFoundError(absl::StrCat(
      checkpoints.empty() ? "there is no checkpoint in the backup"
                          : "the backup has nothing as old as that",
      ": directory=", ToAbsl(Quote(backup_, 1024)),
      checkpoints.empty() ? ""
                          : absl::StrCat(" oldest=", checkpoints.front())));
}

// By the commit that the checkpoint ends with, if the log has it; else by the
// one behind it. Without either nothing is known of its age.
absl::StatusOr<bool> Restorer::IsOldEnough(uint64_t checkpoint) const {
  if (!options_.to_time_us.has_value()) return true;
  for (const uint64_t sequence : {checkpoint, checkpoint + 1}) {
    if (sequence == 0) continue;
    ASSIGN_OR_RETURN(const std::optional<int64_t> time, TimeOf(sequence));
    if (time.has_value()) return *time <= *options_.to_time_us;
  }
  return false;
}

absl::StatusOr<std::optional<int64_t>> Restorer::TimeOf(
    uint64_t sequence) const {
  WriteLogReaderOptions from;
  from.from_sequence = SequenceNumber{sequence};
  const auto reader =
      WriteLogReader::Open(files_, BackupLogPath(backup_), from);
  if (absl::IsNotFound(reader.status())) return std::optional<int64_t>();
  RETURN_IF_ERROR(reader.status());
  v1::WriteLogRecord record;
  ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&record));
  if (!more) return std::optional<int64_t>();
  return std::optional<int64_t>(record.commit_time_us());
}

absl::Status Restorer::CopyCheckpoint(uint64_t checkpoint) {
  const std::string from = BackupCheckpointPath(backup_, checkpoint);
  RETURN_IF_ERROR(files_->CreateDirectory(unfinished_));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(from));
  for (const std::string& name : names) {
    if (name == "lost" || name.ends_with("LOCK") || name.ends_with(".lock")) {
      continue;
    }
    RETURN_IF_ERROR(CopyOne(absl::StrCat(from, "/", name),
                            absl::StrCat(unfinished_, "/", name),
                            options_.link_tables && IsTable(name)));
  }
  RETURN_IF_ERROR(files_->SyncDirectory(unfinished_));
  return files_->SyncDirectory(ParentOf(unfinished_));
}

absl::Status Restorer::CopyOne(const std::string& from, const std::string& to,
                               bool link) {
  if (link) {
    const absl::Status linked = files_->HardLink(from, to);
    if (!absl::IsUnimplemented(linked)) return linked;
  }
  return CopyFile(files_, from, to).status();
}

absl::Status Restorer::Replay() {
  Options options;
  options.create_if_missing = false;
  options.background_work = false;
  options.file_system = files_;
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   Engine::Open(unfinished_, Schema(), std::move(options)));
  report_.sequence = engine->open_report().sequence;
  ASSIGN_OR_RETURN(const std::optional<int64_t> next,
                   TimeOf(static_cast<uint64_t>(report_.sequence) + 1));
  if (next.has_value()) {
    const std::unique_ptr<ReplaySource> source =
        OpenWriteLogSource(files_, BackupLogPath(backup_));
    RETURN_IF_ERROR(RunReplay(engine.get(), source.get()));
  }
  return engine->Close();
}

absl::Status Restorer::RunReplay(Engine* engine, ReplaySource* source) {
  ReplayOptions options;
  options.source = kSource;
  options.sequences = ReplaySequences::kKeep;
  options.progress = [&](const ReplayReport& report) {
    return options_.progress == nullptr ||
           options_.progress(report.applied, report.sequence);
  };
  options.file_system = files_;
  ASSIGN_OR_RETURN(const std::unique_ptr<Replayer> replayer,
                   Replayer::Open(engine, source, std::move(options)));
  ReplayStop stop;
  if (options_.to_sequence.has_value()) {
    stop.to_position = static_cast<uint64_t>(*options_.to_sequence);
  }
  stop.to_time_us = options_.to_time_us;
  RETURN_IF_ERROR(replayer->Run(stop));
  const ReplayReport& report = replayer->report();
  if (report.end == ReplayReport::End::kCancelled) {
    return absl::CancelledError("the restore was cancelled");
  }
  report_.replayed = report.applied;
  report_.sequence = std::max(report_.sequence, report.sequence);
  const absl::Status forgotten = Replayer::ForgetSource(engine, kSource);
  return absl::IsNotFound(forgotten) ? absl::OkStatus() : forgotten;
}

}  // namespace

absl::StatusOr<RestoreReport> Restore(const std::string& backup,
                                      const std::string& database,
                                      const RestoreOptions& options) {
  return Restorer(backup, database, options).Run();
}

}  // namespace dovetail
