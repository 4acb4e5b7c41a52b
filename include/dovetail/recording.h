// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Recording: the engine appends every committed request to a write log, from
// which a database can be copied, brought back to any commit, or asked what
// happened.
//
//   auto engine = Engine::Open("db", schema, {.write_log = WriteLogOptions()});
//   (*engine)->Write({}, batch);               // In db/write-log, too.
//   auto log = FindWriteLog(FileSystem::Posix(), "db");
//   auto reader = WriteLogReader::Open(FileSystem::Posix(), log->directory);
//
// What it gives: the log has every commit from the first one recorded on, in
// commit order, with the final changes of its rows, those of observers
// included; and never less than the store, whatever crash there was. A commit
// is appended before the store takes it, and synced before the store syncs it.
// docs/write-log.md has the protocol, and what it costs.
//
// Recording is part of the database, kept in a file of its own beside the
// store's: whoever opens the database records, the command included. A
// checkpoint is a database without it.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "dovetail/write_batch.h"
#include "dovetail/write_log.h"

namespace dovetail {

struct WriteLogOptions {
  // Where the log's files are. Empty: "write-log" in the database's directory,
  // to which any relative path is relative. Its parent must exist. Another
  // device than the store's costs a commit no more, and survives its loss.
  std::string directory = {};
  // See WriteLogWriterOptions.
  uint64_t file_bytes_max = 64 << 20;
  // Applied when a file is begun, and when the database is opened. No bounds:
  // everything stays.
  WriteLogRetention retention = {};
  // Where the log lacks commits that the store has, because files of it are
  // gone or somebody wrote without recording: begin a new log behind the
  // store's newest commit. What is there of the old one is kept, in
  // before-<sequence> of its directory. Off: FailedPrecondition.
  bool start_over = false;
};

// How a database records.
struct WriteLogSetup {
  std::string directory;  // As a path that can be opened.
  uint64_t file_bytes_max = 0;
  WriteLogRetention retention;
  // Everything above this sequence was committed while recording was on.
  SequenceNumber recorded_above{};
};

// Of the database in the directory `database`, which need not be open, and may
// be in any process. NotFound if it does not record, DataLoss if the file that
// says so is damaged.
absl::StatusOr<WriteLogSetup> FindWriteLog(FileSystem* file_system,
                                           const std::string& database);

}  // namespace dovetail
