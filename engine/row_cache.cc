// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/row_cache.h"

#include <functional>
#include <utility>

namespace dovetail {

RowCache::Shard& RowCache::ShardOf(std::string_view key) {
  // The high bits, since the map of the shard uses the low ones.
  static_assert(kShards == 64);
  return shards_[static_cast<uint64_t>(std::hash<std::string_view>()(key)) >>
                 58];
}

void RowCache::Shard::Drop(std::list<Row>::iterator row) {
  bytes -= row->Bytes();
  by_key.erase(row->key);
  rows.erase(row);
}

bool RowCache::Find(std::string_view key, uint64_t sequence,
                    std::string* value) {
  if (shard_bytes_max_ == 0) return false;
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mu);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end() || found->second->since > sequence) {
    ++shard.misses;
    return false;
  }
  ++shard.hits;
  shard.rows.splice(shard.rows.begin(), shard.rows, found->second);
  value->assign(found->second->value);
  return true;
}

void RowCache::Insert(std::string_view key, std::string_view value,
                      uint64_t sequence) {
  const size_t bytes = key.size() + value.size() + kRowOverhead;
  if (bytes > shard_bytes_max_ / kLargestPart) return;
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mu);
  if (shard.changed > sequence || shard.by_key.contains(key)) return;
  while (shard.bytes + bytes > shard_bytes_max_) {
    shard.Drop(std::prev(shard.rows.end()));
  }
  shard.rows.push_front(Row{std::string(key), std::string(value), sequence});
  shard.by_key.emplace(shard.rows.front().key, shard.rows.begin());
  shard.bytes += bytes;
}

void RowCache::Changed(std::string_view key,
                       const std::optional<std::string>& value,
                       uint64_t sequence) {
  if (shard_bytes_max_ == 0) return;
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mu);
  shard.changed = sequence;
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return;
  const std::list<Row>::iterator row = found->second;
  if (!value.has_value() || value->size() > row->value.size()) {
    // Larger ones would have to make room: the next reader does.
    shard.Drop(row);
    return;
  }
  shard.bytes -= row->value.size() - value->size();
  row->value = *value;
  row->since = sequence;
}

RowCacheStats RowCache::GetStats() const {
  RowCacheStats stats;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    stats.rows += shard.rows.size();
    stats.bytes += shard.bytes;
    stats.hits += shard.hits;
    stats.misses += shard.misses;
  }
  return stats;
}

}  // namespace dovetail
