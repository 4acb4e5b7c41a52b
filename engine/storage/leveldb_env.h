// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// LevelDB's view of the outside world, over our FileSystem. Threads and time
// are LevelDB's own; every file call goes through the seam, with the rules
// that LevelDB 1.23 needs to lose nothing (docs/design.md):
//
// - a log is synced before the log that follows it is created, and the
//   directory after, so what a power cut leaves is a prefix of the writes;
// - a log is also synced by a background thread every kLogSyncBytes, so that
//   the sync at rotation, which holds LevelDB's mutex, is short;
// - the first failed operation on a log is the answer to every later one;
// - the directory is synced with each table, before the manifest names it, with
//   the manifest, and after CURRENT is replaced;
// - before a log is synced, so is what must not be behind it: the engine's
//   write log. Tables hold only what was in a synced log before;
// - nothing is deleted once a log, a new CURRENT, or the sync behind it failed;
// - nothing is deleted while somebody copies the database;
// - a table is made as a new file, never in one that has its name already,
//   which a copy of the database may share;
// - reads go on until all bytes are there or the file ends.
//
// LevelDB is built without exceptions, so all overrides are noexcept: one that
// would have to cross it ends the process instead.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "dovetail/file_system.h"
#include "leveldb/env.h"

namespace dovetail {

class LogKeeper;

// Thread-safe. One for each open database: it follows the one log that the
// database is writing. Must outlive the leveldb::DB that uses it.
class LevelDbEnv final : public leveldb::EnvWrapper {
 public:
  static constexpr uint64_t kLogSyncBytes = 4 << 20;

  // `file_system` must outlive this. See LevelDbStoreOptions::before_sync.
  explicit LevelDbEnv(FileSystem* file_system,
                      std::function<absl::Status()> before_sync = nullptr);
  ~LevelDbEnv() override;

  // The failure that has stopped all writing of logs, or OK.
  absl::Status FirstFailure() const;

  // From HoldFiles to ReleaseFiles the files that LevelDB deletes stay, and it
  // is told that they are gone. They go with the last release; those that
  // cannot be deleted then, LevelDB finds again. Holds are counted.
  void HoldFiles();
  void ReleaseFiles();
  // The numbers of the logs that LevelDB has created and not deleted.
  std::set<uint64_t> logs() const;

  leveldb::Status NewSequentialFile(
      const std::string& path,
      leveldb::SequentialFile** result) noexcept override;
  leveldb::Status NewRandomAccessFile(
      const std::string& path,
      leveldb::RandomAccessFile** result) noexcept override;
  leveldb::Status NewWritableFile(
      const std::string& path,
      leveldb::WritableFile** result) noexcept override;
  leveldb::Status NewAppendableFile(
      const std::string& path,
      leveldb::WritableFile** result) noexcept override;
  bool FileExists(const std::string& path) noexcept override;
  leveldb::Status GetChildren(
      const std::string& directory,
      std::vector<std::string>* result) noexcept override;
  leveldb::Status RemoveFile(const std::string& path) noexcept override;
  leveldb::Status CreateDir(const std::string& path) noexcept override;
  leveldb::Status RemoveDir(const std::string& path) noexcept override;
  leveldb::Status GetFileSize(const std::string& path,
                              uint64_t* size) noexcept override;
  leveldb::Status RenameFile(const std::string& from,
                             const std::string& to) noexcept override;
  leveldb::Status LockFile(const std::string& path,
                           leveldb::FileLock** lock) noexcept override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) noexcept override;
  leveldb::Status NewLogger(const std::string& path,
                            leveldb::Logger** result) noexcept override;

 private:
  // Whether `path` may be deleted now; if not, ReleaseFiles does it.
  bool MayDelete(const std::string& path);

  FileSystem* const file_system_;
  const std::unique_ptr<LogKeeper> log_keeper_;

  mutable Mutex mu_;
  std::set<uint64_t> logs_ GUARDED_BY(mu_);
  int holds_ GUARDED_BY(mu_) = 0;
  std::set<std::string> held_ GUARDED_BY(mu_);  // To be deleted.
};

}  // namespace dovetail
