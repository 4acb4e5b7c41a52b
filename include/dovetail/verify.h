// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Verify and repair: does every row have exactly its entries, and every entry
// its row? And, if the database keeps digests, are the rows those that were
// committed, byte for byte?

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dovetail/read.h"

namespace dovetail {

struct Finding {
  enum class Kind {
    kMissingEntry,     // A row without one of its entries.
    kDanglingEntry,    // An entry whose row is absent or has other values.
    kWrongEntry,       // An entry under the right key with wrong content.
    kDuplicateUnique,  // Two rows claim one unique entry. Not repairable: the
                       // rows contradict each other.
    kWrongRow,         // A row that does not parse, or whose key is not the
                       // key of its record. Not repairable from entries.
    kWrongDigest,      // The rows of a table differ from what commits left
                       // there: changed, lost, or brought back.
  };
  Kind kind;
  std::string table;
  std::string index;      // Empty for kWrongRow and kWrongDigest.
  std::string entry_key;  // Encoded, without the space prefix.
  std::string row_key;    // Encoded, without the space prefix.
  std::string detail;     // In words.
};

struct VerifyProgress {
  std::string table;
  std::string index;  // Empty while rows are read.
  uint64_t rows = 0;  // So far, over all tables.
  uint64_t entries = 0;
};

struct VerifyOptions {
  // Null: the newest published state.
  const Snapshot* snapshot = nullptr;
  // Called about every `progress_every` rows or entries; false cancels the
  // run, which then returns Cancelled.
  std::function<bool(const VerifyProgress&)> progress = {};
  uint64_t progress_every = 100'000;
  // Findings kept in the report; all are counted.
  uint64_t findings_max = 1000;
  // Called for each finding as it is made, kept or not.
  std::function<void(const Finding&)> on_finding = {};
};

struct VerifyReport {
  SequenceNumber sequence{};
  uint64_t rows = 0;
  uint64_t entries = 0;
  uint64_t missing = 0;
  uint64_t dangling = 0;
  uint64_t wrong_entries = 0;
  uint64_t duplicate_unique = 0;
  uint64_t wrong_rows = 0;
  uint64_t wrong_digests = 0;  // Of tables; 0 if none are kept.
  std::vector<Finding> findings;

  bool clean() const {
    return missing + dangling + wrong_entries + duplicate_unique + wrong_rows +
               wrong_digests ==
           0;
  }
  // One line: "rows=3 entries=6 missing=0 dangling=0 ...".
  std::string Summary() const;
};

struct RepairOptions {
  // Report what would be done, change nothing.
  bool dry_run = false;
  std::function<bool(const VerifyProgress&)> progress = {};
};

struct RepairReport {
  VerifyReport before;
  uint64_t entries_added = 0;
  uint64_t entries_removed = 0;
  // Findings that a writer had settled by the time repair looked again.
  uint64_t already_right = 0;
  // Digests that were set to what is there now. A row that was lost or changed
  // on disk does not come back by it: copy the database away before.
  uint64_t digests_set = 0;
  // kDuplicateUnique and kWrongRow: for a person to decide.
  uint64_t not_repairable = 0;
};

}  // namespace dovetail
