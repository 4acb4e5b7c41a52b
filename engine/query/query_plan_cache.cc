// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/query_plan_cache.h"

#include <utility>

#include "xxhash.h"

namespace dovetail {

std::shared_ptr<const PreparedQuery> QueryPlanCache::Find(
    std::string_view key, const std::shared_ptr<const SchemaState>& schema) {
  const uint64_t hash = XXH3_64bits(key.data(), key.size());
  Shard& shard = shards_[hash % kLocks];
  MutexLock lock(shard.mu);
  const Slot& slot = shard.slots[hash / kLocks % shard.slots.size()];
  if (slot.query == nullptr || slot.query->schema != schema ||
      slot.key != key) {
    return nullptr;
  }
  return slot.query;
}

void QueryPlanCache::Insert(std::string_view key,
                            std::shared_ptr<const PreparedQuery> query) {
  if (!Takes(key.size()) || query->plan.by_sizes) return;
  size_t ranges = 0;
  for (const PlanRead& read : query->plan.reads) {
    ranges += read.access.ranges.size();
  }
  if (ranges > kRangesMax) return;
  const uint64_t hash = XXH3_64bits(key.data(), key.size());
  Shard& shard = shards_[hash % kLocks];
  std::string copy(key);
  MutexLock lock(shard.mu);
  Slot& slot = shard.slots[hash / kLocks % shard.slots.size()];
  // What the slot had goes after the lock.
  std::swap(slot.query, query);
  std::swap(slot.key, copy);
}

}  // namespace dovetail
