// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/disk_guard.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/storage/leveldb_files.h"

namespace dovetail {
namespace {

constexpr size_t kChunk = 1 << 20;

// Not a hole: zeros take no room on a file system that compresses them.
std::string Filler() {
  std::string bytes(kChunk, '\0');
  uint64_t x = 1;
  for (char& byte : bytes) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(x >> 56);
  }
  return bytes;
}

absl::Status Fill(FileSystem& files, const std::string& path, uint64_t bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                   files.NewWritableFile(path));
  const std::string filler = Filler();
  for (uint64_t left = bytes; left > 0;) {
    const size_t n = std::min<uint64_t>(left, filler.size());
    RETURN_IF_ERROR(file->Append(std::string_view(filler).substr(0, n)));
    left -= n;
  }
  RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status DiskGuard::Look() {
  if (free_min_ == 0) return absl::OkStatus();
  const absl::StatusOr<uint64_t> free = file_system_->FreeBytes(directory_);
  const bool is_short = free.ok() && *free < free_min_;
  short_.store(is_short, std::memory_order_relaxed);
  if (!is_short) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("disk is nearly full, nothing was written; make room and "
                   "retry: free_bytes=",
                   *free, " min=", free_min_));
}

absl::Status KeepReserve(FileSystem& files, const std::string& directory,
                         uint64_t bytes, uint64_t free_min) {
  const std::string path = JoinPath(directory, kReserveName);
  ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
  if (exists) {
    ASSIGN_OR_RETURN(const uint64_t size, files.Size(path));
    if (size == bytes) return absl::OkStatus();
    RETURN_IF_ERROR(files.Delete(path));
  }
  if (bytes == 0) return absl::OkStatus();
  const absl::StatusOr<uint64_t> free = files.FreeBytes(directory);
  if (free.ok() && *free < bytes + free_min) return absl::OkStatus();
  const absl::Status filled = Fill(files, path, bytes);
  if (filled.ok() || !absl::IsResourceExhausted(filled)) return filled;
  return files.Delete(path);
}

absl::StatusOr<bool> SpendReserve(FileSystem& files,
                                  const std::string& directory) {
  const std::string path = JoinPath(directory, kReserveName);
  ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
  if (!exists) return false;
  RETURN_IF_ERROR(files.Delete(path));
  return true;
}

}  // namespace dovetail
