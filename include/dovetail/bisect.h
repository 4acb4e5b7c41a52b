// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Bisect: which record of a write log is it after which something is wrong?
//
//   BisectOptions options;
//   options.scratch = "/var/tmp/bisect";
//   auto report = Bisect("primary/write-log", VerifyIsClean(), options);
//   if (report->first_wrong != SequenceNumber{}) {
//     std::cout << report->first_wrong << ": " << report->why << "\n";
//   }
//
// The log is replayed into a scratch database that is copied, by links, at
// some places on the way. The check is asked of the copies, always between
// one that is right and one that is wrong; then the part between them is
// replayed again, with places that lie closer. So 1,000,000 records take
// about 20 checks, and little more than one replay.
//
// A check may turn right again further on, and wrong once more: then the
// record found is one of those after which it turned wrong.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "dovetail/file_system.h"
#include "dovetail/v1/write_log.pb.h"

namespace dovetail {

struct BisectCheck {
  // Whether a database, in the state after `record`, is right: OK, or DataLoss
  // saying what is wrong. Every other error ends the bisection. Before the
  // first record `record` is empty.
  std::function<absl::Status(Engine& engine, const v1::WriteLogRecord& record)>
      ask;
  // The records after which it can be asked. Null: all.
  std::function<bool(const v1::WriteLogRecord& record)> applies = {};
};

// Engine::Verify finds nothing.
BisectCheck VerifyIsClean();
// The digests are those that the record carries; asked where it carries some.
BisectCheck DigestsAreTheRecords();

struct BisectProgress {
  uint64_t first = 0;  // It is one of these records.
  uint64_t last = 0;
  uint64_t replayed = 0;  // Records, those replayed twice twice.
  uint64_t checks = 0;
};

struct BisectOptions {
  // A directory for the scratch databases, which must not exist; it is made,
  // and removed at the end.
  std::string scratch;
  // A database at an earlier commit of the log, to begin with, which no
  // process has open; it is copied. Empty: the log begins with the first
  // commit of its database.
  std::string base = {};

  // Of the scratch databases.
  Options engine = {};
  // Copies at a time.
  uint32_t copies = 16;

  // Called now and then; false ends it with Cancelled.
  std::function<bool(const BisectProgress&)> progress = {};

  // Of the log; the scratch databases are on the machine's own. Must outlive
  // the call. Null: the machine's own, too.
  FileSystem* file_system = nullptr;
};

struct BisectReport {
  // The record after which the check is wrong for the first time; 0 if it is
  // right to the end.
  SequenceNumber first_wrong{};
  // Of the record before it that was found right, or of the log's end. The
  // next one, unless the check cannot be asked of those between.
  SequenceNumber last_right{};
  v1::WriteLogRecord record;  // The first wrong one.
  std::string why;            // What the check said of it.
  uint64_t records = 0;       // Of the log, behind the base.
  uint64_t replayed = 0;
  uint64_t checks = 0;
};

// `log` is the directory of a write log. Memory: that of an engine, and, for a
// check that does not apply to all records, 8 bytes for each it applies to.
//   AlreadyExists       the scratch directory is there
//   FailedPrecondition  the check is wrong before the first record
//   Cancelled           `progress` said so
//   the errors of WriteLogReader, Replayer and Engine::Checkpoint
absl::StatusOr<BisectReport> Bisect(const std::string& log,
                                    const BisectCheck& check,
                                    const BisectOptions& options);

}  // namespace dovetail
