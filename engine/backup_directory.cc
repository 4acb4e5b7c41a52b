// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/backup_directory.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/write_log_directory.h"
#include "engine/write_log_recovery.h"

namespace dovetail {
namespace {

constexpr std::string_view kCheckpoint = "checkpoint-";
constexpr std::string_view kNew = "checkpoint-new";
constexpr std::string_view kLog = "write-log";
constexpr std::string_view kLock = "LOCK";
constexpr size_t kDigits = 20;

std::string PathOf(const std::string& backup, std::string_view name) {
  return absl::StrCat(backup, "/", ToAbsl(name));
}

std::optional<uint64_t> CheckpointSequence(std::string_view name) {
  if (!name.starts_with(kCheckpoint)) return std::nullopt;
  name.remove_prefix(kCheckpoint.size());
  uint64_t sequence = 0;
  if (name.size() != kDigits || name > "18446744073709551615") {
    return std::nullopt;
  }
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    sequence = sequence * 10 + static_cast<uint64_t>(c - '0');
  }
  return sequence;
}

bool IsOfBackup(std::string_view name) {
  return name == kLog || name == kLock || name == kNew ||
         name == std::string(kNew) + ".unfinished";
}

}  // namespace

std::string BackupCheckpointPath(const std::string& backup, uint64_t sequence) {
  return PathOf(backup, absl::StrFormat("checkpoint-%020d", sequence));
}
std::string BackupNewCheckpointPath(const std::string& backup) {
  return PathOf(backup, kNew);
}
std::string BackupLogPath(const std::string& backup) {
  return PathOf(backup, kLog);
}
std::string BackupLockPath(const std::string& backup) {
  return PathOf(backup, kLock);
}

absl::StatusOr<std::vector<uint64_t>> ListBackupCheckpoints(
    FileSystem* file_system, const std::string& backup) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   file_system->List(backup));
  std::vector<uint64_t> checkpoints;
  for (const std::string& name : names) {
    if (const auto sequence = CheckpointSequence(name)) {
      checkpoints.push_back(*sequence);
    } else if (!IsOfBackup(name)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the directory holds something other than a backup: directory=",
          ToAbsl(Quote(backup, 1024)), " name=", ToAbsl(Quote(name))));
    }
  }
  std::sort(checkpoints.begin(), checkpoints.end());
  return checkpoints;
}

absl::StatusOr<uint64_t> WriteLogIdOf(FileSystem* file_system,
                                      const std::string& log_directory,
                                      uint64_t first_sequence) {
  ASSIGN_OR_RETURN(
      const v1::WriteLogFileHeader header,
      ReadWriteLogFileHeader(file_system,
                             WriteLogPath(log_directory, first_sequence)));
  return header.log_id();
}

}  // namespace dovetail
