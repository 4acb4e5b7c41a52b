// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A backup of a database that records: checkpoints, and the write log's files
// from the oldest one on. What is between two checkpoints is restored from
// the log.
//
//   engine->Backup("/backup/orders", {});   // The first one: everything.
//   engine->Backup("/backup/orders", {});   // From then on: the log's tail.
//   Restore("/backup/orders", "/var/lib/orders2", {.to_sequence = ...});
//
// A backup's directory has checkpoint-<sequence>/, one or several, each a
// database, and write-log/. It may be copied and moved as a whole. Of one
// database only, and made by one call at a time.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "dovetail/write_batch.h"

namespace dovetail {

struct BackupOptions {
  // Make a checkpoint, though the log in the backup reaches back to the one
  // that is there. A restore has then less to replay.
  bool new_checkpoint = false;
  // See CheckpointOptions. The log's files are always copied.
  bool link_tables = true;
};

struct BackupReport {
  // The last commit that can be restored from it; durable in the database.
  SequenceNumber sequence{};
  // Of the newest checkpoint, made now or before.
  SequenceNumber checkpoint{};
  bool checkpoint_made = false;
  uint64_t log_files_copied = 0;
  uint64_t bytes_copied = 0;  // Of the log and of a checkpoint made now.
};

struct RestoreOptions {
  // Stop behind the commit with this sequence, or behind the last one that was
  // made at this time or before. Neither: the last one there is.
  std::optional<SequenceNumber> to_sequence = std::nullopt;
  std::optional<int64_t> to_time_us = std::nullopt;  // Since 1970, UTC.
  // See CheckpointOptions; of the backup's tables and the new database.
  bool link_tables = true;

  // Told now and then how many commits were replayed, and up to which; false
  // ends the restore with Cancelled.
  std::function<bool(uint64_t replayed, SequenceNumber sequence)> progress = {};

  // Must outlive the call. Null: the machine's own.
  FileSystem* file_system = nullptr;
};

struct RestoreReport {
  SequenceNumber checkpoint{};  // That it began with.
  SequenceNumber sequence{};    // Of the last commit restored.
  uint64_t replayed = 0;        // Commits taken from the log.
};

// Makes `database`, which must not exist, the database as the backup has it:
// the same rows, entries and sequences. It does not record. It appears
// complete or not at all; what is left of a restore that came to no end is in
// `database`.unfinished, which the next one removes. The backup stays as it is.
//   NotFound            no backup there; or it has nothing as old as that
//   OutOfRange          it ends before `to_sequence`
//   AlreadyExists       `database` exists
//   DataLoss            the backup is damaged; names file and offset
absl::StatusOr<RestoreReport> Restore(const std::string& backup,
                                      const std::string& database,
                                      const RestoreOptions& options);

}  // namespace dovetail
