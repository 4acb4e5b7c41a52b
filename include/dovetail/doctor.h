// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// For a database that does not open, or that reads with DataLoss: what is
// damaged, and what can be saved.
//
//   auto found = Diagnose("/var/lib/orders", {});   // Changes nothing.
//   auto saved = Rescue("/var/lib/orders", "/var/lib/orders.rescued", {});
//
// If there is a backup and a write log, restore them instead: that loses
// nothing that is in the log.
//
// A rescue never changes the damaged database. It reads what checksums vouch
// for: tables block by block, logs up to the first break, so that they add a
// prefix of the commits. Of each row the newest version that is left goes into
// a new database; there the entries are made to agree with the rows. What was
// in a damaged block is gone, and what it may have hidden is said: rows whose
// entries are left are named, and so are rows of which the block may have held
// a newer version, or the deletion.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "dovetail/verify.h"
#include "dovetail/write_batch.h"

namespace dovetail {

struct DoctorOptions {
  // Called now and then with the number of keys read; false cancels the run,
  // which then returns Cancelled.
  std::function<bool(uint64_t keys)> progress = {};
  // Kept in reports, of damaged parts and of named rows each; all are counted.
  size_t named_max = 1000;
  // Must outlive the call. Null: the machine's own.
  FileSystem* file_system = nullptr;
};

// A part of a file that cannot be read.
struct DamagedPart {
  std::string file;  // Its name, without the directory.
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
  // What was in it: between which keys, in words. Empty: not known.
  std::string keys;
};

struct Diagnosis {
  enum class Verdict {
    kSound,     // Nothing is wrong with it.
    kTornTail,  // It opens: a write that never became durable will be cut off.
    kDamaged,
  };
  Verdict verdict = Verdict::kSound;
  std::string refusal;  // What Engine::Open says; empty if it opens.

  std::string manifest_damage;  // Empty: whole. Else deleted rows may be back.
  uint64_t tables = 0;
  uint64_t tables_damaged = 0;        // Or missing.
  uint64_t tables_without_index = 0;  // Searched for blocks.
  uint64_t logs = 0;
  std::vector<DamagedPart> damage;
  uint64_t damage_count = 0;
  uint64_t damage_bytes = 0;

  // Of the newest commit that is left, and up to which commits are known to
  // have been synced; the higher of the two is what there was at least.
  SequenceNumber last_sequence{};
  SequenceNumber synced_sequence{};
  // The newest commit behind the break of a log, 0 if there is none: it and
  // those before it, from the break on, are not part of a rescue.
  SequenceNumber behind_break{};

  // Without it there is nothing to read the rest with, and no rescue.
  bool catalog_lost = false;
  struct Space {
    std::string table;
    std::string index;  // Empty: the rows.
    uint64_t keys = 0;  // That are left.
    uint64_t doubtful = 0;
  };
  std::vector<Space> spaces;
};

// A row that a report names.
struct NamedRow {
  std::string table;
  std::string row_key;  // Encoded.
  std::string key;      // In words.
};

struct RescueReport {
  Diagnosis found;
  uint64_t rows = 0;  // In the new database.
  // Entries that were made or removed there.
  uint64_t entries_added = 0;
  uint64_t entries_removed = 0;
  uint64_t not_repairable = 0;  // See RepairReport.
  // Rows that are gone, as far as entries still tell of them.
  std::vector<NamedRow> lost;
  uint64_t lost_count = 0;
  // Rows that are there, but may be older than they were, or deleted.
  std::vector<NamedRow> doubtful;
  uint64_t doubtful_count = 0;
};

// Reads all of the database at `path`, which no process may have open.
//   NotFound            nothing of a database is there
//   FailedPrecondition  a process has it open (it is named)
absl::StatusOr<Diagnosis> Diagnose(const std::string& path,
                                   const DoctorOptions& options);

// Makes a database at `destination`, which must not exist and appears whole or
// not at all, of what is left of the one at `path`. Verified before this
// returns.
//   AlreadyExists       something is at the destination
//   DataLoss            the catalog is lost
//   and what Diagnose returns
absl::StatusOr<RescueReport> Rescue(const std::string& path,
                                    const std::string& destination,
                                    const DoctorOptions& options);

}  // namespace dovetail
