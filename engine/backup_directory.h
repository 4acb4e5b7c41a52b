// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The names in a backup's directory.
//
//   checkpoint-<20 digits>/  a database, up to that sequence
//   checkpoint-new/          one that is being made
//   write-log/               a write log's files
//   LOCK                     held while a backup is made

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

std::string BackupCheckpointPath(const std::string& backup, uint64_t sequence);
std::string BackupNewCheckpointPath(const std::string& backup);
std::string BackupLogPath(const std::string& backup);
std::string BackupLockPath(const std::string& backup);

// The sequences of the checkpoints in a backup, ascending. FailedPrecondition
// if something is in the directory that is no part of a backup.
absl::StatusOr<std::vector<uint64_t>> ListBackupCheckpoints(
    FileSystem* file_system, const std::string& backup);

// The log id in the head of one of a log's files.
absl::StatusOr<uint64_t> WriteLogIdOf(FileSystem* file_system,
                                      const std::string& log_directory,
                                      uint64_t first_sequence);

}  // namespace dovetail
