// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A restore copies a checkpoint, opens the copy, and replays the log behind
// it. Everything happens under a passing name; the last step is the rename.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
#include "engine/write_log_directory.h"
#include "engine/write_log_recovery.h"

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

// Whether the table has this very index in `schema`.
bool HasIndex(const v1::Schema& schema, std::string_view table,
              const v1::IndexSchema& index) {
  for (const v1::TableSchema& other : schema.tables()) {
    if (ToStd(other.name()) != table) continue;
    for (const v1::IndexSchema& candidate : other.indexes()) {
      if (candidate.SerializeAsString() == index.SerializeAsString()) {
        return true;
      }
    }
  }
  return false;
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
  absl::Status OpenEngine(const v1::Schema& schema);
  absl::Status Replay();
  // Whether the log has the commit, and the restore is to go that far.
  absl::StatusOr<bool> IsWanted(uint64_t sequence) const;
  absl::Status AdoptSchema(uint64_t first_sequence);
  absl::Status BuildIndexes();
  absl::Status ReplayUpTo(std::optional<uint64_t> last);

  FileSystem* const files_;
  const std::string backup_;
  const std::string database_;
  const std::string unfinished_;
  const RestoreOptions options_;
  RestoreReport report_;
  std::unique_ptr<Engine> engine_;
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

absl::Status Restorer::OpenEngine(const v1::Schema& schema) {
  engine_.reset();
  Options options;
  options.create_if_missing = false;
  options.background_work = false;
  options.add_indexes = true;
  options.file_system = files_;
  ASSIGN_OR_RETURN(
      engine_, Engine::Open(unfinished_, Schema(schema), std::move(options)));
  report_.sequence = engine_->open_report().sequence;
  return absl::OkStatus();
}

// A file of the log at a time, since each has one schema.
absl::Status Restorer::Replay() {
  RETURN_IF_ERROR(OpenEngine({}));
  ASSIGN_OR_RETURN(const std::vector<uint64_t> firsts,
                   ListWriteLogFiles(files_, BackupLogPath(backup_)));
  for (size_t i = 0; i < firsts.size(); ++i) {
    const uint64_t next = static_cast<uint64_t>(report_.sequence) + 1;
    std::optional<uint64_t> last;
    if (i + 1 < firsts.size()) last = firsts[i + 1] - 1;
    if (last.has_value() && *last < next) continue;
    ASSIGN_OR_RETURN(const bool wanted, IsWanted(next));
    if (!wanted) break;
    RETURN_IF_ERROR(AdoptSchema(firsts[i]));
    RETURN_IF_ERROR(ReplayUpTo(last));
  }
  const absl::Status forgotten = Replayer::ForgetSource(engine_.get(), kSource);
  if (!absl::IsNotFound(forgotten)) RETURN_IF_ERROR(forgotten);
  RETURN_IF_ERROR(BuildIndexes());
  return engine_->Close();
}

absl::StatusOr<bool> Restorer::IsWanted(uint64_t sequence) const {
  if (options_.to_sequence.has_value() &&
      sequence > static_cast<uint64_t>(*options_.to_sequence)) {
    return false;
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> time, TimeOf(sequence));
  if (!time.has_value()) return false;
  return !options_.to_time_us.has_value() || *time <= *options_.to_time_us;
}

// What was changed in the catalog between two files: indexes that went, came,
// or were made anew, tables that came, record types that grew.
absl::Status Restorer::AdoptSchema(uint64_t first_sequence) {
  ASSIGN_OR_RETURN(
      const v1::WriteLogFileHeader header,
      ReadWriteLogFileHeader(
          files_, WriteLogPath(BackupLogPath(backup_), first_sequence)));
  ASSIGN_OR_RETURN(const v1::Schema has, engine_->GetSchema());
  if (has.SerializeAsString() == header.schema().SerializeAsString()) {
    return absl::OkStatus();
  }
  for (const v1::TableSchema& table : has.tables()) {
    for (const v1::IndexSchema& index : table.indexes()) {
      if (HasIndex(header.schema(), ToStd(table.name()), index)) continue;
      RETURN_IF_ERROR(
          engine_->DropIndex(ToStd(table.name()), ToStd(index.name())));
    }
  }
  RETURN_IF_ERROR(engine_->Close());
  RETURN_IF_ERROR(OpenEngine(header.schema()));
  return BuildIndexes();
}

absl::Status Restorer::BuildIndexes() {
  ASSIGN_OR_RETURN(const std::vector<IndexInfo> indexes,
                   engine_->ListIndexes());
  for (const IndexInfo& index : indexes) {
    if (index.state != IndexState::kBuilding) continue;
    RETURN_IF_ERROR(engine_->BuildIndex(index.table, index.index, {}).status());
  }
  return absl::OkStatus();
}

absl::Status Restorer::ReplayUpTo(std::optional<uint64_t> last) {
  ReplayOptions options;
  options.source = kSource;
  options.sequences = ReplaySequences::kKeep;
  options.progress = [&](const ReplayReport& report) {
    return options_.progress == nullptr ||
           options_.progress(report_.replayed + report.applied,
                             report.sequence);
  };
  options.file_system = files_;
  const std::unique_ptr<ReplaySource> source =
      OpenWriteLogSource(files_, BackupLogPath(backup_));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Replayer> replayer,
      Replayer::Open(engine_.get(), source.get(), std::move(options)));
  ReplayStop stop;
  stop.to_position = last;
  if (options_.to_sequence.has_value()) {
    const auto wanted = static_cast<uint64_t>(*options_.to_sequence);
    stop.to_position = std::min(wanted, last.value_or(wanted));
  }
  stop.to_time_us = options_.to_time_us;
  RETURN_IF_ERROR(replayer->Run(stop));
  const ReplayReport& report = replayer->report();
  if (report.end == ReplayReport::End::kCancelled) {
    return absl::CancelledError("the restore was cancelled");
  }
  report_.replayed += report.applied;
  report_.sequence = std::max(report_.sequence, report.sequence);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RestoreReport> Restore(const std::string& backup,
                                      const std::string& database,
                                      const RestoreOptions& options) {
  return Restorer(backup, database, options).Run();
}

}  // namespace dovetail
