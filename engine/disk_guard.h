// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Refuses writes while there is still room on the disk for what a write sets
// off: a table of the write buffer, a compaction, the next log. A write that
// the disk cuts in the middle has an unknown outcome and ends all writing.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

// Thread-safe.
class DiskGuard {
 public:
  // `free_min` 0: lets all through. `file_system` must outlive this.
  DiskGuard(FileSystem* file_system, std::string directory, uint64_t free_min)
      : file_system_(file_system),
        directory_(std::move(directory)),
        free_min_(free_min) {}

  // ResourceExhausted while there is less room than that. Cheap, but while
  // room is short, when it looks each time.
  absl::Status CheckRoom() {
    if (!short_.load(std::memory_order_relaxed)) return absl::OkStatus();
    return Look();
  }
  // To be told of bytes that were written. Looks once in kLookEvery of them.
  void Wrote(size_t bytes) {
    if (free_min_ == 0) return;
    if (unseen_.fetch_add(bytes, std::memory_order_relaxed) + bytes <
        kLookEvery) {
      return;
    }
    unseen_.store(0, std::memory_order_relaxed);
    Look().IgnoreError();  // CheckRoom will say it.
  }
  // Takes down how it stands. OK if the file system cannot tell.
  absl::Status Look();

 private:
  static constexpr size_t kLookEvery = 1 << 20;

  FileSystem* const file_system_;
  const std::string directory_;
  const uint64_t free_min_;
  std::atomic<size_t> unseen_{0};
  std::atomic<bool> short_{false};
};

// The file that holds disk space for an open on a full disk.
inline constexpr char kReserveName[] = "RESERVE";

// Makes the reserve of `directory` `bytes` large, if there is room for it and
// `free_min` more; 0 deletes it. A disk that is too full for it is no error.
absl::Status KeepReserve(FileSystem& files, const std::string& directory,
                         uint64_t bytes, uint64_t free_min);
// True if there was a reserve, which is gone now.
absl::StatusOr<bool> SpendReserve(FileSystem& files,
                                  const std::string& directory);

}  // namespace dovetail
