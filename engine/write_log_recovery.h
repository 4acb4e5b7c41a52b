// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where a write log that was closed, or was not, goes on: what is behind that
// place is cut, or the log is refused.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "dovetail/v1/write_log.pb.h"
#include "dovetail/write_log.h"
#include "engine/write_log_format.h"

namespace dovetail {

// The newest file of a log.
struct WriteLogTail {
  WriteLogFileId id;
  v1::WriteLogFileHeader header;
  uint64_t records = 0;
  bool complete = false;  // It has its trailer.

  uint64_t next_sequence() const { return id.first_sequence + records; }
};

struct RecoveredWriteLog {
  std::vector<uint64_t> files;  // First sequences, ascending.
  // Absent if there are no files.
  std::optional<WriteLogTail> tail;
  WriteLogOpenReport report;
};

// As in WriteLogWriterOptions.
struct WriteLogRecoveryOptions {
  std::optional<SequenceNumber> cut_above;
  std::optional<SequenceNumber> synced;
};

// Finds the end of the log in `directory`, and cuts what is behind it. Errors
// are those of WriteLogWriter::Open; on DataLoss and FailedPrecondition nothing
// has been changed. A failure halfway leaves a log that can be recovered again.
absl::StatusOr<RecoveredWriteLog> RecoverWriteLog(
    FileSystem* file_system, const std::string& directory,
    const WriteLogRecoveryOptions& options);

// The header of one file. DataLoss if it is damaged or cut off.
absl::StatusOr<v1::WriteLogFileHeader> ReadWriteLogFileHeader(
    FileSystem* file_system, const std::string& path);

}  // namespace dovetail
