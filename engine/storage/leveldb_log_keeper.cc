// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_log_keeper.h"

#include <utility>

#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "engine/storage/leveldb_files.h"

namespace dovetail {

LogKeeper::LogKeeper(FileSystem* file_system, uint64_t sync_bytes,
                     std::function<absl::Status()> before_sync)
    : file_system_(file_system),
      sync_bytes_(sync_bytes),
      before_sync_(std::move(before_sync)),
      thread_([this] { SyncLoop(); }) {}

LogKeeper::~LogKeeper() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
    changed_.SignalAll();
  }
  thread_.join();
}

absl::StatusOr<std::unique_ptr<WritableFile>> LogKeeper::NewLog(
    const std::string& path) {
  RETURN_IF_ERROR(AwaitBackground());
  WritableFile* previous;
  {
    MutexLock lock(mu_);
    previous = current_;
  }
  if (previous != nullptr && !SeededBug("old_log_not_synced")) {
    RETURN_IF_ERROR(Keep(SyncLog(*previous)));
  }
  auto log = file_system_->NewWritableFile(path);
  if (!log.ok()) return Keep(std::move(log).status());
  RETURN_IF_ERROR(Keep(file_system_->SyncDirectory(DirectoryOf(path))));

  unsynced_bytes_ = 0;
  MutexLock lock(mu_);
  current_ = log->get();
  return log;
}

absl::Status LogKeeper::Append(WritableFile& log, std::string_view data) {
  if (failed_.load(std::memory_order_acquire)) return status();
  unsynced_bytes_ += data.size();
  return Keep(log.Append(data));
}

absl::Status LogKeeper::Flush(WritableFile& log) {
  if (failed_.load(std::memory_order_acquire)) return status();
  RETURN_IF_ERROR(Keep(log.Flush()));
  if (unsynced_bytes_ < sync_bytes_) return absl::OkStatus();
  unsynced_bytes_ = 0;
  MutexLock lock(mu_);
  sync_wanted_ = true;
  changed_.SignalAll();
  return absl::OkStatus();
}

absl::Status LogKeeper::Sync(WritableFile& log) {
  RETURN_IF_ERROR(AwaitBackground());
  unsynced_bytes_ = 0;
  return Keep(SyncLog(log));
}

absl::Status LogKeeper::Close(WritableFile& log) {
  {
    MutexLock lock(mu_);
    if (current_ == &log) {
      sync_wanted_ = false;
      current_ = nullptr;
    }
    // The background sync may be inside this very file.
    while (syncing_) changed_.Wait(mu_);
  }
  return Keep(log.Close());
}

absl::Status LogKeeper::SyncLog(WritableFile& log) const {
  if (before_sync_ != nullptr) RETURN_IF_ERROR(before_sync_());
  return log.Sync();
}

absl::Status LogKeeper::AwaitBackground() {
  MutexLock lock(mu_);
  sync_wanted_ = false;
  while (syncing_) changed_.Wait(mu_);
  return first_failure_;
}

absl::Status LogKeeper::status() const {
  MutexLock lock(mu_);
  return first_failure_;
}

absl::Status LogKeeper::Keep(absl::Status status) {
  if (status.ok()) return status;
  MutexLock lock(mu_);
  return KeepLocked(std::move(status));
}

absl::Status LogKeeper::KeepLocked(absl::Status status) {
  if (!status.ok() && first_failure_.ok()) {
    first_failure_ = status;
    failed_.store(!SeededBug("failed_append_forgotten"),
                  std::memory_order_release);
  }
  return status;
}

void LogKeeper::SyncLoop() {
  MutexLock lock(mu_);
  while (true) {
    while (!stopping_ && !sync_wanted_) changed_.Wait(mu_);
    if (stopping_) return;
    sync_wanted_ = false;
    WritableFile* const log = current_;
    if (log == nullptr || !first_failure_.ok()) continue;
    syncing_ = true;
    mu_.Unlock();
    absl::Status status = SyncLog(*log);
    mu_.Lock();
    syncing_ = false;
    KeepLocked(std::move(status)).IgnoreError();  // The next append tells.
    changed_.SignalAll();
  }
}

}  // namespace dovetail
