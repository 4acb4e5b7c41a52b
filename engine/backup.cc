// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Nothing gets its final name in the backup before the database has all of it
// on stable storage: a power cut must not leave a backup with commits that the
// database has lost, and then makes anew. Hence the order:
//
//   1. the log's files are held
//   2. a checkpoint, if there is to be one, under a passing name
//   3. inside the serial section: the size of the log's newest file, the
//      sequence; then a synced commit, which makes all of both durable
//   4. the log's files are copied, each under a passing name first
//   5. the checkpoint gets its name

#include "engine/backup.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/backup_directory.h"
#include "engine/checkpoint.h"
#include "engine/file_copy.h"
#include "engine/write_log_directory.h"

namespace dovetail {
namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

class Backup {
 public:
  Backup(const BackupParts& parts, std::string directory,
         const BackupOptions& options)
      : committer_(*parts.committer),
        store_(*parts.store),
        recorder_(*parts.recorder),
        files_(parts.file_system),
        clock_(*parts.clock),
        directory_(std::move(directory)),
        log_(BackupLogPath(directory_)),
        options_(options) {}

  absl::StatusOr<BackupReport> Run();

 private:
  // The log as it is being copied.
  struct Log {
    std::string directory;
    std::vector<uint64_t> firsts;  // Ascending, not empty.
    uint64_t newest_bytes = 0;
  };

  absl::Status Prepare();
  absl::Status Hold(bool hold);
  // The sequence from which on the log is to be copied, so that the backup's
  // newest checkpoint leads to now. Nullopt if nothing can do that.
  absl::StatusOr<std::optional<uint64_t>> GoOnFrom() const;
  absl::Status MakeCheckpoint();
  absl::Status FreezeAndSync();
  absl::Status CopyLog(uint64_t from_sequence);
  absl::Status NameCheckpoint();

  Committer& committer_;
  Store& store_;
  Recorder& recorder_;
  FileSystem* const files_;
  Clock& clock_;
  const std::string directory_;
  const std::string log_;
  const BackupOptions options_;

  std::unique_ptr<FileLock> lock_;
  std::vector<uint64_t> checkpoints_;  // In the backup, ascending.
  std::vector<uint64_t> copied_;       // Its log's files, ascending.
  std::optional<Log> source_;          // Absent: nothing is recorded.
  BackupReport report_;
};

absl::StatusOr<BackupReport> Backup::Run() {
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(Hold(true));
  const auto work = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::optional<uint64_t> from, GoOnFrom());
    if (!from.has_value() || options_.new_checkpoint) {
      RETURN_IF_ERROR(MakeCheckpoint());
    }
    RETURN_IF_ERROR(FreezeAndSync());
    if (source_.has_value()) {
      RETURN_IF_ERROR(CopyLog(from.value_or(checkpoints_.back() + 1)));
    }
    if (report_.checkpoint_made) RETURN_IF_ERROR(NameCheckpoint());
    return absl::OkStatus();
  };
  absl::Status status = work();
  status.Update(Hold(false));
  RETURN_IF_ERROR(status);
  return report_;
}

absl::Status Backup::Prepare() {
  RETURN_IF_ERROR(files_->CreateDirectory(directory_));
  RETURN_IF_ERROR(files_->SyncDirectory(ParentOf(directory_)));
  // Before the lock is put into a directory that may not be a backup.
  RETURN_IF_ERROR(ListBackupCheckpoints(files_, directory_).status());
  ASSIGN_OR_RETURN(lock_, files_->Lock(BackupLockPath(directory_)));
  ASSIGN_OR_RETURN(checkpoints_, ListBackupCheckpoints(files_, directory_));
  // What a backup that came to no end has left, whole or not.
  const std::string made = BackupNewCheckpointPath(directory_);
  for (const std::string& left : {made, made + ".unfinished"}) {
    RETURN_IF_ERROR(RemoveDirectory(files_, left));
  }
  RETURN_IF_ERROR(files_->CreateDirectory(log_));
  ASSIGN_OR_RETURN(copied_, ListWriteLogFiles(files_, log_));
  const auto now = static_cast<uint64_t>(committer_.published()->sequence);
  if (checkpoints_.empty() || checkpoints_.back() <= now) return {};
  return absl::FailedPreconditionError(absl::StrCat(
      "the backup is ahead of the database, so it is another one's: "
      "directory=",
      ToAbsl(Quote(directory_, 1024)), " backup_sequence=", checkpoints_.back(),
      " sequence=", now));
}

absl::Status Backup::Hold(bool hold) {
  return committer_.RunMaintenance(
      [&](const SchemaState&, SerialView&) {
        hold ? recorder_.HoldFiles() : recorder_.ReleaseFiles();
        return absl::OkStatus();
      },
      Committer::Leaves::kNothing);
}

absl::StatusOr<std::optional<uint64_t>> Backup::GoOnFrom() const {
  const std::optional<WriteLogStats> stats = recorder_.GetStats();
  if (!stats.has_value() || checkpoints_.empty()) return std::nullopt;
  const uint64_t next = checkpoints_.back() + 1;
  ASSIGN_OR_RETURN(const std::vector<uint64_t> firsts,
                   ListWriteLogFiles(files_, stats->directory));
  if (firsts.empty()) {
    // Nothing was recorded yet; that will do if nothing was to be.
    const bool nothing_new =
        SequenceNumber{checkpoints_.back()} == committer_.published()->sequence;
    if (nothing_new && copied_.empty()) return next;
    return std::nullopt;
  }
  if (copied_.empty()) {
    if (firsts.front() <= next) return next;
    return std::nullopt;
  }
  // The newest file may have grown, so the log must still have it.
  if (std::find(firsts.begin(), firsts.end(), copied_.back()) == firsts.end()) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const uint64_t here,
                   WriteLogIdOf(files_, stats->directory, copied_.back()));
  ASSIGN_OR_RETURN(const uint64_t there,
                   WriteLogIdOf(files_, log_, copied_.back()));
  if (here != there) return std::nullopt;
  return copied_.back();
}

absl::Status Backup::MakeCheckpoint() {
  ASSIGN_OR_RETURN(const CheckpointReport made,
                   TakeCheckpoint(committer_, store_, clock_,
                                  BackupNewCheckpointPath(directory_),
                                  {.link_tables = options_.link_tables}));
  report_.checkpoint_made = true;
  report_.bytes_copied += made.bytes_copied;
  checkpoints_.push_back(static_cast<uint64_t>(made.sequence));
  return absl::OkStatus();
}

absl::Status Backup::FreezeAndSync() {
  const auto freeze = [&](const SchemaState&, SerialView&) -> absl::Status {
    report_.sequence = committer_.published()->sequence;
    const std::optional<WriteLogStats> stats = recorder_.GetStats();
    if (!stats.has_value()) return absl::OkStatus();
    Log log;
    log.directory = stats->directory;
    ASSIGN_OR_RETURN(log.firsts, ListWriteLogFiles(files_, log.directory));
    if (log.firsts.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(log.newest_bytes, files_->Size(WriteLogPath(
                                           log.directory, log.firsts.back())));
    source_ = std::move(log);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      committer_.RunMaintenance(freeze, Committer::Leaves::kSyncedChanges));
  report_.checkpoint = SequenceNumber{checkpoints_.back()};
  return absl::OkStatus();
}

absl::Status Backup::CopyLog(uint64_t from_sequence) {
  auto from = std::upper_bound(source_->firsts.begin(), source_->firsts.end(),
                               from_sequence);
  if (from != source_->firsts.begin()) --from;
  for (; from != source_->firsts.end(); ++from) {
    const std::string path = WriteLogPath(source_->directory, *from);
    const std::string copy = WriteLogPath(log_, *from);
    uint64_t bytes = source_->newest_bytes;
    if (*from != source_->firsts.back()) {
      ASSIGN_OR_RETURN(bytes, files_->Size(path));
    }
    ASSIGN_OR_RETURN(const bool exists, files_->Exists(copy));
    if (exists) {
      ASSIGN_OR_RETURN(const uint64_t has, files_->Size(copy));
      if (has == bytes) continue;
    }
    const std::string unfinished = copy + ".unfinished";
    RETURN_IF_ERROR(CopyFile(files_, path, unfinished, bytes).status());
    RETURN_IF_ERROR(files_->Rename(unfinished, copy));
    RETURN_IF_ERROR(files_->SyncDirectory(log_));
    ++report_.log_files_copied;
    report_.bytes_copied += bytes;
  }
  return absl::OkStatus();
}

absl::Status Backup::NameCheckpoint() {
  const std::string made = BackupNewCheckpointPath(directory_);
  const std::string path =
      BackupCheckpointPath(directory_, checkpoints_.back());
  ASSIGN_OR_RETURN(const bool same, files_->Exists(path));
  if (same) return RemoveDirectory(files_, made);
  RETURN_IF_ERROR(files_->Rename(made, path));
  return files_->SyncDirectory(directory_);
}

}  // namespace

absl::StatusOr<BackupReport> TakeBackup(const BackupParts& parts,
                                        const std::string& directory,
                                        const BackupOptions& options) {
  return Backup(parts, directory, options).Run();
}

}  // namespace dovetail
