// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The store below the engine: an ordered map from bytes to bytes with atomic
// batches and snapshots. Keys are compared bytewise.
//
// Keys arrive with the prefix of their space in front (keyspace.h): LevelDB
// keeps it, a store with column families would cut it off.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/file_system.h"
#include "dovetail/stats.h"

namespace dovetail {

// A state of the store that reads can be made on. Immutable. Must be released
// before its store is destroyed.
class StoreSnapshot {
 public:
  virtual ~StoreSnapshot() = default;
};

// Puts and deletes, applied in order, all or none. Thread-compatible.
class StoreBatch {
 public:
  virtual ~StoreBatch() = default;
  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Delete(std::string_view key) = 0;
  virtual void Clear() = 0;
  // Of the batch as the store will log it.
  virtual size_t ApproximateBytes() const = 0;
};

// A position in one state of the store. Thread-compatible. Must be destroyed
// before its store. Views are valid until the next non-const call.
class StoreIterator {
 public:
  virtual ~StoreIterator() = default;
  // At the first key >= `key`, or invalid.
  virtual void Seek(std::string_view key) = 0;
  // REQUIRES: Valid().
  virtual void Next() = 0;
  // False at the end and after an error; status() tells which.
  virtual bool Valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual absl::Status status() const = 0;
};

struct StoreReadOptions {
  // Null: the newest state.
  const StoreSnapshot* snapshot = nullptr;
  // Off for scans of everything, which would evict what others use.
  bool fill_cache = true;
};

struct StoreCheckpointReport {
  uint64_t tables_linked = 0;
  uint64_t tables_copied = 0;
  uint64_t bytes_copied = 0;
};

// A copy of the store that is being made. While it lives, the store keeps
// files that it needs no more. Thread-compatible. Must be destroyed before its
// store.
class StoreCheckpoint {
 public:
  virtual ~StoreCheckpoint() = default;
  // Chooses the present state, in a time that does not grow with the store.
  // To be called once. REQUIRES: no Write is running.
  virtual absl::Status Freeze() = 0;
  // Makes `directory`, which must not exist, a store in that state, durable
  // when this returns; after an error there is no such directory. To be called
  // once. REQUIRES: Freeze has returned OK.
  virtual absl::StatusOr<StoreCheckpointReport> CopyTo(
      const std::string& directory, bool link_tables) = 0;
};

// Thread-safe. All errors of damaged bytes are DataLoss.
class Store {
 public:
  virtual ~Store() = default;

  virtual std::unique_ptr<StoreBatch> NewBatch() = 0;
  // `batch` must come from this store's NewBatch. An error means that nobody
  // knows whether the batch is in the store.
  virtual absl::Status Write(StoreBatch& batch, bool sync) = 0;

  // True and the value if the key is there, false if not.
  virtual absl::StatusOr<bool> Get(const StoreReadOptions& options,
                                   std::string_view key,
                                   std::string* value) = 0;
  virtual std::unique_ptr<StoreIterator> NewIterator(
      const StoreReadOptions& options) = 0;
  virtual std::unique_ptr<StoreSnapshot> GetSnapshot() = 0;

  // Bytes on disk of keys in [begin, end), roughly; newest writes excluded.
  virtual uint64_t ApproximateSize(std::string_view begin,
                                   std::string_view end) = 0;
  virtual void CompactAll() = 0;
  // Gives back the space of deleted keys in [begin, end); empty: no bound.
  virtual void Compact(std::string_view begin, std::string_view end) = 0;
  // Unimplemented for a store without files.
  virtual absl::StatusOr<std::unique_ptr<StoreCheckpoint>>
  BeginCheckpoint() = 0;
  // Files waiting on level 0 of a log-structured store, else 0. Cheap.
  virtual int Level0Files() = 0;
  virtual StoreStats GetStats() = 0;
  virtual std::string Report() = 0;
};

// What opening found. Filled by OpenLevelDbStore.
struct StoreOpenReport {
  bool created = false;
  uint64_t log_bytes_cut = 0;
  std::string log_cut;  // File, offset, reason, where the bytes are kept.
};

struct LevelDbStoreOptions {
  bool create_if_missing = true;
  size_t block_cache_bytes = 64 << 20;
  size_t write_buffer_bytes = 32 << 20;
  bool compress = true;
  int open_files_max = 1000;
  FileSystem* file_system = nullptr;  // Required.
  // Reads, from a batch that was found in the log, the highest sequence that
  // was known to be synced when that batch was written, and the batch's own
  // sequence; nullopt if the batch does not say. `get` returns the value the
  // batch puts under a key, or nullopt. The open check uses it to tell a torn
  // tail that was never synced from damage to what was.
  struct BatchMark {
    uint64_t sequence = 0;
    uint64_t synced_sequence = 0;
    // Up to which sequence the engine's write log was synced by then; absent
    // if there was none.
    std::optional<uint64_t> recorded = std::nullopt;
  };
  std::string mark_key;  // The key whose value carries the mark.
  std::function<absl::StatusOr<BatchMark>(std::string_view value)> parse_mark;

  // Called before each sync of the store's own log, and so before anything
  // that the store holds is made durable; its error is that of the sync. From
  // any thread, with locks of the store held: it must not call the store.
  std::function<absl::Status()> before_sync = nullptr;

  // What the open check found in an existing store, by the marks.
  struct Found {
    uint64_t newest = 0;  // Of the last intact batch.
    // What a write log must have: it was certainly synced here, or a mark says
    // that it was synced there, or that there was no write log.
    uint64_t recorded = 0;
  };
  // Called by the open check when all else is well and nothing is changed yet.
  // Batches above the sequence that is returned are cut; those up to
  // `recorded` must not be among them. An error is that of opening.
  std::function<absl::StatusOr<std::optional<uint64_t>>(const Found&)>
      keep_up_to = nullptr;
};

// Opens the LevelDB in `directory` under the fixed rules of docs/design.md.
//   NotFound            none there, and create_if_missing is off
//   FailedPrecondition  another process, or this one, has it open
//   PermissionDenied    the directory cannot be read or written
//   DataLoss            damage at or below what was synced; nothing is changed
absl::StatusOr<std::unique_ptr<Store>> OpenLevelDbStore(
    const std::string& directory, const LevelDbStoreOptions& options,
    StoreOpenReport* report);

// A store in memory, with the same contract; for tests and scratch data.
std::unique_ptr<Store> NewMemoryStore();

}  // namespace dovetail
