// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Rows in memory, in the form the store has them: those that were last read by
// their key or through an entry. A point read of LevelDB takes microseconds
// even where its block is in memory.
//
// A row is kept with the sequence from which on it is known to be so, and is
// for states of that sequence and later. A commit changes or drops what it
// writes before its state is published, so what is found is never old. What a
// reader of an older state brings along is refused if any row of the same
// shard has changed since: whether it was this one nobody remembers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"
#include "dovetail/stats.h"

namespace dovetail {

// Thread-safe: any number of readers beside one writer.
class RowCache {
 public:
  // Of keys and values, and what it takes to keep them. 0: keeps nothing.
  explicit RowCache(size_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

  // Copies the stored value under `key`, the whole key of the store, if it is
  // kept and is that of the state of `sequence`.
  bool Find(std::string_view key, uint64_t sequence, std::string* value);
  // Keeps what a reader of the state of `sequence` found in the store.
  void Insert(std::string_view key, std::string_view value, uint64_t sequence);
  // The store has this value of a row, nullopt if it was deleted, from
  // `sequence` on, whose state has not been published yet. Sequences ascend.
  void Changed(std::string_view key, const std::optional<std::string>& value,
               uint64_t sequence);

  RowCacheStats GetStats() const;

 private:
  static constexpr size_t kShards = 64;
  // Of a shard that one row may take.
  static constexpr size_t kLargestPart = 8;
  // About what a row takes besides its key and value.
  static constexpr size_t kRowOverhead = 128;

  struct Row {
    std::string key;
    std::string value;
    uint64_t since;
    size_t Bytes() const { return key.size() + value.size() + kRowOverhead; }
  };
  struct Shard {
    mutable Mutex mu;
    std::list<Row> rows GUARDED_BY(mu);  // The last one used first.
    absl::flat_hash_map<std::string_view, std::list<Row>::iterator> by_key
        GUARDED_BY(mu);
    size_t bytes GUARDED_BY(mu) = 0;
    uint64_t changed GUARDED_BY(mu) = 0;  // The last sequence of a change.
    uint64_t hits GUARDED_BY(mu) = 0;
    uint64_t misses GUARDED_BY(mu) = 0;

    void Drop(std::list<Row>::iterator row) REQUIRES(mu);
  };

  Shard& ShardOf(std::string_view key);

  const size_t shard_bytes_max_;
  Shard shards_[kShards];
};

}  // namespace dovetail
