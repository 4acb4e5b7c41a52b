// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Follows the log that a LevelDB database is writing: syncs it in the
// background, syncs it before the next one is created, and keeps the first
// failure. See leveldb_env.h for why.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/file_system.h"

namespace dovetail {

// Thread-safe; but, as LevelDB does, only one thread at a time may append.
class LogKeeper {
 public:
  // Syncs in the background after each `sync_bytes` flushed to a log. Calls
  // `before_sync`, unless it is null, before each sync of a log, whose error
  // its own is.
  LogKeeper(FileSystem* file_system, uint64_t sync_bytes,
            std::function<absl::Status()> before_sync);
  // REQUIRES: every log is closed.
  ~LogKeeper();

  // Syncs the log before, if it is still open, creates `path`, and makes its
  // name durable. Only the newest log is synced in the background.
  absl::StatusOr<std::unique_ptr<WritableFile>> NewLog(const std::string& path);

  // Operations on `log`, which came from NewLog. It must be closed before it
  // is destroyed.
  absl::Status Append(WritableFile& log, std::string_view data);
  absl::Status Flush(WritableFile& log);
  absl::Status Sync(WritableFile& log);
  absl::Status Close(WritableFile& log);

  // Makes `status` the first failure, unless there was one.
  void Fail(absl::Status status) { Keep(std::move(status)).IgnoreError(); }
  // The first failure, or OK.
  absl::Status status() const;

 private:
  // Syncs `log`, and first what must not be behind it.
  absl::Status SyncLog(WritableFile& log) const;
  // Keeps `status` if it is the first failure, and returns it.
  absl::Status Keep(absl::Status status);
  absl::Status KeepLocked(absl::Status status) REQUIRES(mu_);
  // Returns once no background sync is wanted or under way, with the first
  // failure. The operating system reports a failed write-back to one sync
  // only: a sync beside another one could succeed because that one failed.
  absl::Status AwaitBackground();
  void SyncLoop();

  FileSystem* const file_system_;
  const uint64_t sync_bytes_;
  const std::function<absl::Status()> before_sync_;

  // So that an append costs no lock while all is well.
  std::atomic<bool> failed_{false};
  // Of the appending thread.
  uint64_t unsynced_bytes_ = 0;

  mutable Mutex mu_;
  CondVar changed_;
  absl::Status first_failure_ GUARDED_BY(mu_);
  WritableFile* current_ GUARDED_BY(mu_) = nullptr;
  bool sync_wanted_ GUARDED_BY(mu_) = false;
  bool syncing_ GUARDED_BY(mu_) = false;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace dovetail
