// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads what is left of a damaged database, without LevelDB's own repair,
// which takes bytes for data that no checksum vouches for and brings back what
// had been deleted.
//
//   manifest  says which tables and logs count, and what lies above what. If
//             it is lost, all that are there count: rows that compaction had
//             removed may then come back.
//   tables    block by block; a damaged block leaves a gap.
//   logs      up to the first break, so that what they add is a prefix of the
//             commits; what lies behind it is counted.
//
// The newest version of each key counts. Where a gap may have hidden a newer
// one, or its deletion, the version is doubtful, and said to be.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/storage/store.h"

namespace dovetail {

// A part of a file that could not be read.
struct SalvageDamage {
  std::string file;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
  // Store keys: what was in it lies between them. Empty: no bound is known.
  std::string after_key;
  std::string before_key;
};

struct SalvageReport {
  std::string manifest_damage;  // Empty: it could be read.
  uint64_t tables = 0;
  uint64_t tables_damaged = 0;  // Or missing.
  uint64_t tables_without_index = 0;
  uint64_t logs = 0;
  // The first kDamageKeptMax; all are counted.
  static constexpr size_t kDamageKeptMax = 1000;
  std::vector<SalvageDamage> damage;
  uint64_t damage_count = 0;
  uint64_t damage_bytes = 0;
  // Of intact batches behind the break of a log, by their marks: the highest
  // commit that was there, and the highest that was synced. 0: none.
  uint64_t sequence_behind_break = 0;
  uint64_t synced_behind_break = 0;
  uint64_t keys = 0;  // That have a value.
  uint64_t doubtful = 0;
};

struct SalvagedEntry {
  std::string_view key;
  std::string_view value;
  bool doubtful = false;
};

// Visits the entries in the order of their keys; an error of `visit` ends it.
// Changes nothing. Of `options` it uses the file system and the mark.
// REQUIRES: the directory is locked. Errors are those of listing it and of
// `visit`; NotFound if there is neither a table nor a log.
absl::StatusOr<SalvageReport> SalvageLevelDb(
    const std::string& directory, const LevelDbStoreOptions& options,
    absl::FunctionRef<absl::Status(const SalvagedEntry&)> visit);

}  // namespace dovetail
