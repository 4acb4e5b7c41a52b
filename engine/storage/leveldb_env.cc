// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_env.h"

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_log_keeper.h"
#include "engine/storage/leveldb_status.h"

namespace dovetail {
namespace {

// In the classes below, an unqualified WritableFile is their base, LevelDB's.

// LevelDB takes a short read for the end of the file, so none may reach it.
class EnvSequentialFile final : public leveldb::SequentialFile {
 public:
  explicit EnvSequentialFile(std::unique_ptr<dovetail::SequentialFile> file)
      : file_(std::move(file)) {}

  leveldb::Status Read(size_t n, leveldb::Slice* result,
                       char* scratch) noexcept override {
    size_t done = 0;
    while (done < n) {
      const absl::StatusOr<size_t> got = file_->Read(n - done, scratch + done);
      if (!got.ok()) return ToLevelDb(got.status());
      if (*got == 0) break;
      done += *got;
    }
    *result = leveldb::Slice(scratch, done);
    return leveldb::Status::OK();
  }

  leveldb::Status Skip(uint64_t n) noexcept override {
    return ToLevelDb(file_->Skip(n));
  }

 private:
  const std::unique_ptr<dovetail::SequentialFile> file_;
};

class EnvRandomAccessFile final : public leveldb::RandomAccessFile {
 public:
  explicit EnvRandomAccessFile(std::unique_ptr<dovetail::RandomAccessFile> file)
      : file_(std::move(file)) {}

  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                       char* scratch) const noexcept override {
    const auto got = file_->Read(offset, n, scratch);
    if (!got.ok()) return ToLevelDb(got.status());
    *result = ToSlice(*got);
    return leveldb::Status::OK();
  }

 private:
  const std::unique_ptr<dovetail::RandomAccessFile> file_;
};

class EnvWritableFile final : public leveldb::WritableFile {
 public:
  explicit EnvWritableFile(std::unique_ptr<dovetail::WritableFile> file)
      : file_(std::move(file)) {}

  leveldb::Status Append(const leveldb::Slice& data) noexcept override {
    return ToLevelDb(file_->Append(ToStd(data)));
  }
  leveldb::Status Flush() noexcept override {
    return ToLevelDb(file_->Flush());
  }
  leveldb::Status Sync() noexcept override { return ToLevelDb(file_->Sync()); }
  leveldb::Status Close() noexcept override {
    return ToLevelDb(file_->Close());
  }

 private:
  const std::unique_ptr<dovetail::WritableFile> file_;
};

// CURRENT names a manifest, so its own name is durable with its bytes.
class EnvManifestFile final : public leveldb::WritableFile {
 public:
  EnvManifestFile(FileSystem* file_system, const std::string& path,
                  std::unique_ptr<dovetail::WritableFile> file)
      : file_system_(file_system),
        directory_(DirectoryOf(path)),
        file_(std::move(file)) {}

  leveldb::Status Append(const leveldb::Slice& data) noexcept override {
    return ToLevelDb(file_->Append(ToStd(data)));
  }
  leveldb::Status Flush() noexcept override {
    return ToLevelDb(file_->Flush());
  }
  leveldb::Status Sync() noexcept override {
    absl::Status status = file_system_->SyncDirectory(directory_);
    if (status.ok()) status = file_->Sync();
    return ToLevelDb(status);
  }
  leveldb::Status Close() noexcept override {
    return ToLevelDb(file_->Close());
  }

 private:
  FileSystem* const file_system_;
  const std::string directory_;
  const std::unique_ptr<dovetail::WritableFile> file_;
};

// A table has a durable name before the manifest gets to know it: of what the
// manifest says, a power cut may leave even what was never synced.
class EnvTableFile final : public leveldb::WritableFile {
 public:
  EnvTableFile(FileSystem* file_system, const std::string& path,
               std::unique_ptr<dovetail::WritableFile> file)
      : file_system_(file_system),
        directory_(DirectoryOf(path)),
        file_(std::move(file)) {}

  leveldb::Status Append(const leveldb::Slice& data) noexcept override {
    return ToLevelDb(file_->Append(ToStd(data)));
  }
  leveldb::Status Flush() noexcept override {
    return ToLevelDb(file_->Flush());
  }
  leveldb::Status Sync() noexcept override {
    absl::Status status = file_->Sync();
    if (status.ok()) status = file_system_->SyncDirectory(directory_);
    return ToLevelDb(status);
  }
  leveldb::Status Close() noexcept override {
    return ToLevelDb(file_->Close());
  }

 private:
  FileSystem* const file_system_;
  const std::string directory_;
  const std::unique_ptr<dovetail::WritableFile> file_;
};

class EnvLogFile final : public leveldb::WritableFile {
 public:
  EnvLogFile(LogKeeper* keeper, std::unique_ptr<dovetail::WritableFile> file)
      : keeper_(keeper), file_(std::move(file)) {}
  // LevelDB closes its last log by destroying it, and asks for no status.
  ~EnvLogFile() override { keeper_->Close(*file_).IgnoreError(); }

  leveldb::Status Append(const leveldb::Slice& data) noexcept override {
    return ToLevelDb(keeper_->Append(*file_, ToStd(data)));
  }
  leveldb::Status Flush() noexcept override {
    return ToLevelDb(keeper_->Flush(*file_));
  }
  leveldb::Status Sync() noexcept override {
    return ToLevelDb(keeper_->Sync(*file_));
  }
  leveldb::Status Close() noexcept override {
    return ToLevelDb(keeper_->Close(*file_));
  }

 private:
  LogKeeper* const keeper_;
  const std::unique_ptr<dovetail::WritableFile> file_;
};

class EnvFileLock final : public leveldb::FileLock {
 public:
  explicit EnvFileLock(std::unique_ptr<dovetail::FileLock> lock)
      : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<dovetail::FileLock> lock_;
};

// LevelDB's account of its own work: one line an event. What cannot be written
// is dropped, since it is about work that has its own errors.
class EnvLogger final : public leveldb::Logger {
 public:
  explicit EnvLogger(std::unique_ptr<dovetail::WritableFile> file)
      : file_(std::move(file)) {}

  void Logv(const char* format, std::va_list arguments) noexcept override {
    char text[kLineBytesMax];
    const int size = std::vsnprintf(text, sizeof(text), format, arguments);
    if (size < 0) return;
    std::string line = absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ ", absl::Now(),
                                        absl::UTCTimeZone());
    line += text;  // Cut to its buffer, if it was longer.
    if (line.back() != '\n') line += '\n';
    MutexLock lock(mu_);
    if (file_->Append(line).ok()) file_->Flush().IgnoreError();
  }

 private:
  static constexpr size_t kLineBytesMax = 2048;

  Mutex mu_;
  const std::unique_ptr<dovetail::WritableFile> file_ GUARDED_BY(mu_);
};

// Hands `file`, wrapped as `Wrapper`, to LevelDB.
template <typename Wrapper, typename File, typename Interface>
leveldb::Status Deliver(absl::StatusOr<std::unique_ptr<File>> file,
                        Interface** result) {
  *result = nullptr;
  if (!file.ok()) return ToLevelDb(file.status());
  *result = new Wrapper(*std::move(file));
  return leveldb::Status::OK();
}

}  // namespace

LevelDbEnv::LevelDbEnv(FileSystem* file_system,
                       std::function<absl::Status()> before_sync)
    : EnvWrapper(leveldb::Env::Default()),
      file_system_(file_system),
      log_keeper_(std::make_unique<LogKeeper>(file_system, kLogSyncBytes,
                                              std::move(before_sync))) {}

LevelDbEnv::~LevelDbEnv() = default;

absl::Status LevelDbEnv::FirstFailure() const { return log_keeper_->status(); }

void LevelDbEnv::HoldFiles() {
  MutexLock lock(mu_);
  ++holds_;
}

void LevelDbEnv::ReleaseFiles() {
  std::set<std::string> paths;
  {
    MutexLock lock(mu_);
    if (--holds_ > 0) return;
    paths.swap(held_);
  }
  for (const std::string& path : paths) RemoveFile(path);
}

std::set<uint64_t> LevelDbEnv::logs() const {
  MutexLock lock(mu_);
  return logs_;
}

bool LevelDbEnv::MayDelete(const std::string& path) {
  const LevelDbFileName file = ParseLevelDbFileName(BaseName(path));
  MutexLock lock(mu_);
  if (holds_ > 0) {
    held_.insert(path);
    return false;
  }
  if (file.kind == LevelDbFileKind::kLog) logs_.erase(file.number);
  return true;
}

leveldb::Status LevelDbEnv::NewSequentialFile(
    const std::string& path, leveldb::SequentialFile** result) noexcept {
  return Deliver<EnvSequentialFile>(file_system_->NewSequentialFile(path),
                                    result);
}

leveldb::Status LevelDbEnv::NewRandomAccessFile(
    const std::string& path, leveldb::RandomAccessFile** result) noexcept {
  return Deliver<EnvRandomAccessFile>(file_system_->NewRandomAccessFile(path),
                                      result);
}

leveldb::Status LevelDbEnv::NewWritableFile(
    const std::string& path, leveldb::WritableFile** result) noexcept {
  *result = nullptr;
  const auto [kind, number] = ParseLevelDbFileName(BaseName(path));
  if (kind == LevelDbFileKind::kLog) {
    auto log = log_keeper_->NewLog(path);
    if (!log.ok()) return ToLevelDb(log.status());
    *result = new EnvLogFile(log_keeper_.get(), *std::move(log));
    MutexLock lock(mu_);
    logs_.insert(number);
    return leveldb::Status::OK();
  }
  if (kind == LevelDbFileKind::kTable) {
    // After a power cut LevelDB may give a number again that a lost edit of
    // the manifest had used. A copy made in between has the old file.
    const absl::Status gone = file_system_->Delete(path);
    if (!gone.ok() && !absl::IsNotFound(gone)) return ToLevelDb(gone);
  }
  auto file = file_system_->NewWritableFile(path);
  if (file.ok() && kind == LevelDbFileKind::kTable) {
    *result = new EnvTableFile(file_system_, path, *std::move(file));
    return leveldb::Status::OK();
  }
  if (file.ok() && kind == LevelDbFileKind::kManifest) {
    *result = new EnvManifestFile(file_system_, path, *std::move(file));
    return leveldb::Status::OK();
  }
  return Deliver<EnvWritableFile>(std::move(file), result);
}

// LevelDB appends to existing files only when it reuses logs, which it is
// never asked to do: behind a torn tail that loses acknowledged writes.
leveldb::Status LevelDbEnv::NewAppendableFile(
    const std::string& path, leveldb::WritableFile** result) noexcept {
  *result = nullptr;
  return leveldb::Status::NotSupported("files are not reopened to append",
                                       path);
}

bool LevelDbEnv::FileExists(const std::string& path) noexcept {
  // LevelDB asks for CURRENT only, and only after our own look at it: an
  // error here ends in its refusing to open, never in a new database.
  const absl::StatusOr<bool> exists = file_system_->Exists(path);
  return exists.ok() && *exists;
}

leveldb::Status LevelDbEnv::GetChildren(
    const std::string& directory, std::vector<std::string>* result) noexcept {
  result->clear();
  auto names = file_system_->List(directory);
  if (!names.ok()) return ToLevelDb(names.status());
  *result = *std::move(names);
  return leveldb::Status::OK();
}

leveldb::Status LevelDbEnv::RemoveFile(const std::string& path) noexcept {
  // A failed sync leaves open which state of the directory is on the disk.
  const absl::Status failure = FirstFailure();
  if (!failure.ok()) return ToLevelDb(failure);
  if (!MayDelete(path)) return leveldb::Status::OK();
  return ToLevelDb(file_system_->Delete(path));
}

leveldb::Status LevelDbEnv::CreateDir(const std::string& path) noexcept {
  return ToLevelDb(file_system_->CreateDirectory(path));
}

leveldb::Status LevelDbEnv::RemoveDir(const std::string& path) noexcept {
  return ToLevelDb(file_system_->DeleteDirectory(path));
}

leveldb::Status LevelDbEnv::GetFileSize(const std::string& path,
                                        uint64_t* size) noexcept {
  *size = 0;
  const absl::StatusOr<uint64_t> found = file_system_->Size(path);
  if (!found.ok()) return ToLevelDb(found.status());
  *size = *found;
  return leveldb::Status::OK();
}

leveldb::Status LevelDbEnv::RenameFile(const std::string& from,
                                       const std::string& to) noexcept {
  const absl::Status status = file_system_->Rename(from, to);
  if (ParseLevelDbFileName(BaseName(to)).kind == LevelDbFileKind::kCurrent) {
    // LevelDB removes the old manifest and logs next. They may be gone from
    // the disk before the new CURRENT is on it, unless that is made sure here.
    // A failure is not one of the rename: told so, LevelDB would remove the
    // manifest that CURRENT now names. It stops deletions and writes instead;
    // so does a failed rename, which may have happened all the same.
    log_keeper_->Fail(
        status.ok() ? file_system_->SyncDirectory(DirectoryOf(to)) : status);
  }
  return ToLevelDb(status);
}

leveldb::Status LevelDbEnv::LockFile(const std::string& path,
                                     leveldb::FileLock** lock) noexcept {
  return Deliver<EnvFileLock>(file_system_->Lock(path), lock);
}

leveldb::Status LevelDbEnv::UnlockFile(leveldb::FileLock* lock) noexcept {
  delete lock;
  return leveldb::Status::OK();
}

leveldb::Status LevelDbEnv::NewLogger(const std::string& path,
                                      leveldb::Logger** result) noexcept {
  return Deliver<EnvLogger>(file_system_->NewWritableFile(path), result);
}

}  // namespace dovetail
