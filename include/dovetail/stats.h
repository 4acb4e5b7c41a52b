// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What an operator looks at. Figures "since open" start at 0 with the engine.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dovetail/dead_entries.h"
#include "dovetail/index_admin.h"
#include "dovetail/write_batch.h"

namespace dovetail {

struct StatsOptions {
  // Count the keys of each table and index: reads all of them.
  bool count_entries = false;
};

struct IndexStats {
  std::string table;
  std::string index;  // Empty: the rows themselves.
  IndexState state = IndexState::kReadable;
  // Rows or entries there are, exactly. Absent unless they are rows and the
  // database keeps digests, or StatsOptions::count_entries has them counted.
  std::optional<uint64_t> entries = std::nullopt;
  uint64_t bytes_on_disk = 0;    // Approximate.
  uint64_t entries_written = 0;  // Since open.
  uint64_t entries_deleted = 0;
  uint64_t entries_unchanged = 0;  // Writes saved by diffing.
  // By reads since open. Their ratio is what a row costs; far above one, the
  // index does not serve what is asked.
  uint64_t entries_read = 0;
  uint64_t rows_returned = 0;
  // Keys deleted and, as far as is known, not reclaimed yet: about so many.
  uint64_t entries_dead = 0;
};

// Of the store below; all 0 for one in memory.
struct StoreStats {
  struct Level {
    int level = 0;
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  std::vector<Level> levels;  // Those that hold files.
  // Files of level 0 are merged on every read; writes wait at 11.
  uint64_t level0_files = 0;
  // By which levels are over their size: what compaction has yet to move.
  uint64_t compaction_pending_bytes = 0;
  uint64_t memory_bytes = 0;        // Block cache and write buffers, as in use.
  uint64_t write_buffer_bytes = 0;  // Of it: changes not yet in a table.
};

// Of the filters that tell which keys are not in the store; see
// Options::key_filter_bytes.
struct KeyFilterStats {
  uint64_t keys = 0;
  uint64_t bytes = 0;        // In memory.
  uint64_t reads_saved = 0;  // Since open.
  // The spaces have been read; those without a filter now will get none.
  bool complete = false;
};

// Of the rows kept in memory; see Options::row_cache_bytes.
struct RowCacheStats {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t hits = 0;  // Since open.
  uint64_t misses = 0;
};

// Of the log that the engine records into; see recording.h.
struct WriteLogStats {
  std::string directory;
  uint64_t files = 0;
  uint64_t bytes = 0;
  SequenceNumber first_sequence{};  // 0: the log is empty.
  SequenceNumber last_sequence{};
  // The first error of dropping files that retention does not keep; in words.
  std::string retention_error;
};

struct ObserverStats {
  std::string name;
  uint64_t calls = 0;
  uint64_t failures = 0;
  uint64_t overruns = 0;
};

struct Stats {
  SequenceNumber sequence{};
  bool read_only = false;  // By Options; or a store write failed: reopen.
  uint64_t requests = 0;   // Committed since open.
  uint64_t requests_failed = 0;
  uint64_t groups = 0;  // Store commits they were grouped into.
  uint64_t syncs = 0;
  // Changes that came too late, of tables that declare a change order.
  uint64_t late_ignored = 0;
  uint64_t long_keys = 0;  // Over Limits::key_bytes_warn.
  // Snapshots that callers hold. What their states hold cannot be given back.
  uint64_t snapshots = 0;
  SequenceNumber oldest_snapshot{};    // If there are any.
  int64_t oldest_snapshot_micros = 0;  // Since it was taken.
  std::vector<IndexStats> indexes;
  std::vector<ObserverStats> observers;
  KeyFilterStats key_filters;
  DeadEntryStats dead_entries;
  RowCacheStats row_cache;
  StoreStats levels;
  std::optional<WriteLogStats> write_log;  // Absent: nothing is recorded.
  std::string store;                       // Its own report, for people.
};

}  // namespace dovetail
