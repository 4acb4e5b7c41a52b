// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which bytes make up the database at one moment, if no batch is being
// written? Those of CURRENT, of the manifest that it names, of the tables that
// the manifest names, and of the logs from the manifest's log number on.
//
// - CURRENT changes only while LevelDB opens.
// - The manifest grows, by compactions that nobody can hold up; but each of
//   its whole edits describes the same rows, in other files. So its size at
//   that moment, and any earlier one that ends with an edit, will do.
// - Tables do not change, and all that the manifest named at that moment stay
//   while the environment holds deletions.
// - Logs grow by batches, so their sizes at that moment say what is in them.
//
// So sizes are all that has to be taken down while writers wait, and the rest
// is done beside them.

#include "engine/storage/leveldb_checkpoint.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_manifest.h"
#include "engine/storage/leveldb_open_check.h"
#include "engine/storage/leveldb_store.h"

namespace dovetail {
namespace {

constexpr size_t kCheckpointCopyBytes = 1 << 20;

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// The directory that a checkpoint is made in: under another name until it is
// complete, and locked. CURRENT comes last into it and goes first out of it,
// so what a checkpoint leaves that came to no end is told from a database.
class NewDirectory {
 public:
  NewDirectory(FileSystem* files, const std::string& path)
      : files_(*files),
        final_path_(WithoutTrailingSlashes(path)),
        path_(final_path_ + kUnfinishedSuffix) {}

  const std::string& path() const { return path_; }

  // Makes the directory, empty but for its lock.
  absl::Status Make();
  // Gives it its final name, durably. REQUIRES: all in it is durable.
  absl::Status Finish();
  // Removes it with all that is in it. Returns `why`, with what is left.
  absl::Status Undo(const absl::Status& why);

 private:
  absl::Status CheckNames() const;
  absl::Status Claim();
  absl::Status DeleteFiles();
  absl::Status Remove();

  FileSystem& files_;
  const std::string final_path_;
  std::string path_;  // What it is called now.
  std::unique_ptr<FileLock> lock_;
  bool ours_ = false;
};

absl::Status NewDirectory::CheckNames() const {
  ASSIGN_OR_RETURN(const bool exists, files_.Exists(final_path_));
  if (exists) {
    return absl::AlreadyExistsError(
        absl::StrCat("the checkpoint's directory exists; give another one: "
                     "directory=",
                     ToAbsl(Quote(final_path_, 1024))));
  }
  ASSIGN_OR_RETURN(const bool parent_exists,
                   files_.Exists(DirectoryOf(final_path_)));
  if (!parent_exists) {
    return absl::NotFoundError(
        absl::StrCat("the parent directory does not exist: directory=",
                     ToAbsl(Quote(final_path_, 1024))));
  }
  return absl::OkStatus();
}

absl::Status NewDirectory::Make() {
  RETURN_IF_ERROR(CheckNames());
  RETURN_IF_ERROR(files_.CreateDirectory(path_));
  const absl::Status status = Claim();
  // The directory may be somebody else's: then it stays as it is.
  if (status.ok() || absl::IsFailedPrecondition(status)) return status;
  return Undo(status);
}

absl::Status NewDirectory::Finish() {
  RETURN_IF_ERROR(files_.SyncDirectory(path_));
  RETURN_IF_ERROR(files_.Rename(path_, final_path_));
  path_ = final_path_;
  return files_.SyncDirectory(DirectoryOf(path_));
}

absl::Status NewDirectory::Undo(const absl::Status& why) {
  const absl::Status removed = Remove();
  if (removed.ok()) return why;
  return absl::Status(
      why.code(),
      absl::StrCat(why.message(),
                   "; what there is of the checkpoint could not be removed: "
                   "left=",
                   ToAbsl(Quote(path_, 1024)), " reason=", removed.message()));
}

absl::Status NewDirectory::Claim() {
  // Once before the lock file is put there, and once under the lock, for what
  // counts.
  for (const bool locked : {false, true}) {
    if (locked) {
      ASSIGN_OR_RETURN(lock_, files_.Lock(JoinPath(path_, kStoreLockName)));
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(path_));
    for (const std::string& name : names) {
      const LevelDbFileKind kind = ParseLevelDbFileName(name).kind;
      if (name == kStoreLockName || (kind != LevelDbFileKind::kOther &&
                                     kind != LevelDbFileKind::kCurrent)) {
        continue;
      }
      return absl::FailedPreconditionError(absl::StrCat(
          "the directory that the checkpoint is made in holds something else; "
          "remove or rename it: directory=",
          ToAbsl(Quote(path_, 1024)), " file=", ToAbsl(Quote(name))));
    }
  }
  ours_ = true;
  return DeleteFiles();
}

absl::Status NewDirectory::DeleteFiles() {
  ASSIGN_OR_RETURN(std::vector<std::string> names, files_.List(path_));
  std::partition(names.begin(), names.end(),
                 [](const std::string& name) { return name == "CURRENT"; });
  for (const std::string& name : names) {
    if (name == kStoreLockName) continue;
    RETURN_IF_ERROR(files_.Delete(JoinPath(path_, name)));
  }
  return absl::OkStatus();
}

absl::Status NewDirectory::Remove() {
  if (ours_) RETURN_IF_ERROR(DeleteFiles());
  if (lock_ != nullptr) {
    RETURN_IF_ERROR(files_.Delete(JoinPath(path_, kStoreLockName)));
  }
  return files_.DeleteDirectory(path_);
}

class LevelDbCheckpoint final : public StoreCheckpoint {
 public:
  LevelDbCheckpoint(const std::string& directory,
                    const LevelDbStoreOptions& options, LevelDbEnv* env)
      : directory_(directory),
        options_(options),
        files_(*options.file_system),
        env_(*env) {
    env_.HoldFiles();
  }
  ~LevelDbCheckpoint() override { env_.ReleaseFiles(); }

  absl::Status ReadCurrent() {
    ASSIGN_OR_RETURN(manifest_name_, ReadLevelDbCurrent(files_, directory_));
    return absl::OkStatus();
  }

  absl::Status Freeze() override;
  absl::StatusOr<StoreCheckpointReport> CopyTo(const std::string& directory,
                                               bool link_tables) override;

 private:
  absl::Status CheckLog() const;
  absl::Status Fill(const std::string& to, bool link_tables);
  // Copies the manifest as far as its edits are whole, and returns them.
  absl::StatusOr<LevelDbManifest> CopyManifest(const std::string& to);
  absl::Status AddTable(uint64_t number, uint64_t size, const std::string& to,
                        bool link);
  // Copies the first `size` bytes of a file, durably but for its name.
  absl::Status CopyFile(const std::string& name, uint64_t size,
                        const std::string& to);
  absl::Status WriteCurrent(const std::string& to);

  std::string Source(std::string_view name) const {
    return JoinPath(directory_, name);
  }

  const std::string& directory_;
  const LevelDbStoreOptions& options_;
  FileSystem& files_;
  LevelDbEnv& env_;
  std::string manifest_name_;

  // As they were at Freeze.
  uint64_t manifest_bytes_ = 0;
  std::map<uint64_t, uint64_t> log_bytes_;  // By number.

  StoreCheckpointReport report_;
};

// What a failed log holds is for the next open to find out.
absl::Status LevelDbCheckpoint::CheckLog() const {
  const absl::Status failure = env_.FirstFailure();
  if (failure.ok()) return failure;
  return absl::FailedPreconditionError(absl::StrCat(
      "the store's log has failed, so there is nothing to copy until it is "
      "opened again: ",
      failure.message()));
}

absl::Status LevelDbCheckpoint::Freeze() {
  RETURN_IF_ERROR(CheckLog());
  // Before the logs: the one that it begins with is there by now.
  ASSIGN_OR_RETURN(manifest_bytes_, files_.Size(Source(manifest_name_)));
  for (const uint64_t number : env_.logs()) {
    ASSIGN_OR_RETURN(log_bytes_[number], files_.Size(Source(LogName(number))));
  }
  return absl::OkStatus();
}

absl::StatusOr<StoreCheckpointReport> LevelDbCheckpoint::CopyTo(
    const std::string& directory, bool link_tables) {
  NewDirectory target(&files_, directory);
  RETURN_IF_ERROR(target.Make());
  absl::Status status = Fill(target.path(), link_tables);
  if (status.ok()) status = target.Finish();
  if (!status.ok()) return target.Undo(status);
  return report_;
}

absl::Status LevelDbCheckpoint::Fill(const std::string& to, bool link_tables) {
  ASSIGN_OR_RETURN(const LevelDbManifest manifest, CopyManifest(to));
  for (const auto& [level_and_number, table] : manifest.tables) {
    RETURN_IF_ERROR(
        AddTable(level_and_number.second, table.size, to, link_tables));
  }
  for (const auto& [number, size] : log_bytes_) {
    if (number < manifest.log_number) continue;
    RETURN_IF_ERROR(CopyFile(LogName(number), size, to));
  }
  RETURN_IF_ERROR(CheckLog());
  RETURN_IF_ERROR(WriteCurrent(to));
  // It must open as it is, without recovery.
  return CheckLevelDbCopy(to, options_);
}

absl::StatusOr<LevelDbManifest> LevelDbCheckpoint::CopyManifest(
    const std::string& to) {
  RETURN_IF_ERROR(CopyFile(manifest_name_, manifest_bytes_, to));
  ASSIGN_OR_RETURN(LevelDbManifest manifest,
                   ReadLevelDbManifest(files_, to, manifest_name_));
  if (manifest.whole_bytes < manifest_bytes_) {
    const std::string path = JoinPath(to, manifest_name_);
    RETURN_IF_ERROR(files_.Truncate(path, manifest.whole_bytes));
    ASSIGN_OR_RETURN(const auto file, files_.NewAppendableFile(path));
    RETURN_IF_ERROR(file->Sync());
    RETURN_IF_ERROR(file->Close());
  }
  return manifest;
}

absl::Status LevelDbCheckpoint::AddTable(uint64_t number, uint64_t size,
                                         const std::string& to, bool link) {
  std::string name = TableName(number);
  ASSIGN_OR_RETURN(const bool is_new_name, files_.Exists(Source(name)));
  if (!is_new_name) name = OldTableName(number);
  if (link) {
    const absl::Status linked =
        files_.HardLink(Source(name), JoinPath(to, name));
    if (linked.ok()) ++report_.tables_linked;
    if (!absl::IsUnimplemented(linked)) return linked;
  }
  ++report_.tables_copied;
  return CopyFile(name, size, to);
}

absl::Status LevelDbCheckpoint::CopyFile(const std::string& name, uint64_t size,
                                         const std::string& to) {
  ASSIGN_OR_RETURN(const auto source, files_.NewSequentialFile(Source(name)));
  ASSIGN_OR_RETURN(const auto target,
                   files_.NewWritableFile(JoinPath(to, name)));
  std::string buffer(std::min<uint64_t>(size, kCheckpointCopyBytes), '\0');
  for (uint64_t left = size; left > 0;) {
    ASSIGN_OR_RETURN(
        const size_t got,
        source->Read(std::min<uint64_t>(left, buffer.size()), buffer.data()));
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(
          "the database is damaged: file=", name,
          " reason=the file is shorter than it was missing=", left));
    }
    RETURN_IF_ERROR(target->Append(std::string_view(buffer).substr(0, got)));
    left -= got;
  }
  report_.bytes_copied += size;
  RETURN_IF_ERROR(target->Sync());
  return target->Close();
}

absl::Status LevelDbCheckpoint::WriteCurrent(const std::string& to) {
  const std::string line = manifest_name_ + "\n";
  ASSIGN_OR_RETURN(const auto file,
                   files_.NewWritableFile(JoinPath(to, "CURRENT")));
  RETURN_IF_ERROR(file->Append(line));
  RETURN_IF_ERROR(file->Sync());
  report_.bytes_copied += line.size();
  return file->Close();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreCheckpoint>> BeginLevelDbCheckpoint(
    const std::string& directory, const LevelDbStoreOptions& options,
    LevelDbEnv* env) {
  auto checkpoint =
      std::make_unique<LevelDbCheckpoint>(directory, options, env);
  RETURN_IF_ERROR(checkpoint->ReadCurrent());
  return checkpoint;
}

}  // namespace dovetail
