// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Indexes of a database that runs: add, build, hide, drop.
//
//   engine->AddIndex("orders", ValueIndex("by_note", {Field("note")}));
//   engine->BuildIndex("orders", "by_note", {});  // or let the engine do it
//   engine->DropIndex("orders", "by_status");
//
//                AddIndex             all rows done
//   (none) ------------------> building ----------> readable <---> hidden
//                                 ^  |               |  |   Hide/Show  |
//              BuildIndex, anew   |  | duplicates    |  | definition   |
//                                 |  v               |  v differs      |
//                              disabled <------------+------           |
//                                 |                                    |
//                                 +------> dropping <------------------+
//                                  DropIndex, from every state
//
// Each arrow is one commit. A build survives the end of the process: it goes
// on where it stopped. While it runs, writers keep the entries of the rows
// they change, on both sides of where it is.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dovetail/schema.h"

namespace dovetail {

enum class IndexState {
  // Not kept up to date: its entries are worthless. After a build that found
  // duplicates, or because the functions that make its entries have changed.
  kDisabled,
  // Kept up to date for rows that change; entries of other rows are being
  // added. Refuses reads. A UNIQUE index refuses new duplicates already.
  kBuilding,
  kReadable,
  // Kept up to date and enforced, but refuses reads: to see who would miss it.
  kHidden,
  // No longer in the schema; its space is being emptied. Its name is free.
  kDropping,
};
// "disabled", "building", ...
std::string_view IndexStateName(IndexState state);

// Declarations, in the words of schema.h, where IndexBuilder has the others.
v1::IndexSchema ValueIndex(std::string_view name, std::vector<Part> parts);
v1::IndexSchema UniqueIndex(std::string_view name, std::vector<Part> parts);

struct IndexInfo {
  std::string table;
  std::string index;
  IndexState state = IndexState::kReadable;
  bool unique = false;
  v1::IndexSchema::Kind kind = v1::IndexSchema::VALUE;
  std::string reason;          // kDisabled: why.
  uint64_t bytes_on_disk = 0;  // Approximate.
  uint64_t rows_built = 0;     // kBuilding: rows seen so far.
  uint64_t duplicates = 0;     // kBuilding: rows whose values another has.
};

struct BuildProgress {
  uint64_t rows = 0;     // Seen, those of earlier runs included.
  uint64_t entries = 0;  // Of rows seen.
  uint64_t duplicates = 0;
};

struct BuildOptions {
  // Called after each step, on the building thread; false stops the build,
  // which then returns Cancelled and can be resumed.
  std::function<bool(const BuildProgress&)> progress = {};
  // Rows a second at most; 0: as fast as writers allow. A build holds writers
  // up for about a quarter of a millisecond at a time, and rests three times
  // as long while there are any.
  uint64_t rows_per_second_max = 0;
};

struct BuildReport {
  IndexState state = IndexState::kBuilding;  // kReadable, or kDisabled.
  BuildProgress done;
  bool resumed = false;  // Part of it was done by an earlier run.
  // Some of the duplicates, in words: values and row key.
  std::vector<std::string> duplicate_samples;
};

}  // namespace dovetail
