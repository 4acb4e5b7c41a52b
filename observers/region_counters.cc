// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/region_counters.h"

#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace dovetail::internal {
namespace {

// One in `every`, at random, so that no rhythm of the caller's is in step.
bool Sampled(uint32_t every) {
  if (every <= 1) return true;
  thread_local uint64_t state = reinterpret_cast<uintptr_t>(&state) | 1;
  state ^= state << 13;  // Xorshift, Marsaglia 2003.
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 32) % every == 0;
}

// Behind which part the prefix ends that has so many columns.
size_t PrefixPart(const KeyLayout& layout, size_t columns) {
  const size_t wanted = std::min(columns, layout.columns().size());
  size_t part = 0;
  for (size_t i = 0; i < wanted; ++i) {
    // A column that is only hashed ends with its hash.
    part = std::max(part,
                    static_cast<size_t>(std::max(0, layout.columns()[i].part)));
  }
  return part;
}

}  // namespace

uint64_t CoarseHistogram::QuantileMicros(double q) const {
  uint64_t count = 0;
  for (const std::atomic<uint32_t>& bucket : buckets_) {
    count += bucket.load(std::memory_order_relaxed);
  }
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const uint64_t here = buckets_[i].load(std::memory_order_relaxed);
    seen += here;
    if (here > 0 &&
        static_cast<double>(seen) >= q * static_cast<double>(count)) {
      return UpperBound(i);
    }
  }
  return 0;
}

void KeyTrend::Add(std::string_view key) {
  if (seen_ % kLag == 0) {
    high_before_ = std::exchange(high_last_, high_);
    low_before_ = std::exchange(low_last_, low_);
  }
  if (seen_ >= 2 * kLag) {
    inserts_ += 1;
    rising_ += key > high_before_ ? 1 : 0;
    falling_ += key < low_before_ ? 1 : 0;
  }
  if (key > high_) high_ = std::string(key);
  if (seen_ == 0 || key < low_) low_ = std::string(key);
  ++seen_;
}

void KeyTrend::Scale(double factor) {
  inserts_ *= factor;
  rising_ *= factor;
  falling_ *= factor;
}

RegionCounters::RegionCounters(std::unique_ptr<const CompiledTable> table,
                               const RegionLoadOptions& options)
    : table_(std::move(table)),
      sample_every_(options.sample_every),
      prefix_part_(PrefixPart(table_->row_key(), options.prefix_columns)),
      prefixes_(options.prefixes_max) {
  UseMap(RegionMap::Whole());
}

void RegionCounters::UseMap(std::shared_ptr<const RegionMap> map) {
  const std::shared_ptr<const SlotMap> before = Slots();
  absl::flat_hash_map<uint64_t, size_t> places;
  if (before != nullptr) {
    for (size_t i = 0; i < before->slots.size(); ++i) {
      places[static_cast<uint64_t>(before->map->at(i).id)] = i;
    }
  }
  auto next = std::make_shared<SlotMap>();
  next->map = std::move(map);
  next->slots.reserve(next->map->size());
  for (const Region& region : next->map->List()) {
    const auto it = places.find(static_cast<uint64_t>(region.id));
    const Region* const old =
        it == places.end() ? nullptr : &before->map->at(it->second);
    const bool same =
        old != nullptr && old->start == region.start && old->end == region.end;
    next->slots.push_back(same ? before->slots[it->second]
                               : std::make_shared<RegionSlot>());
  }
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mu);
    shard.slots = next;
  }
}

RegionCounters::Shard& RegionCounters::MyShard(
    std::array<Shard, kShards>& shards) {
  static std::atomic<size_t> threads{0};
  thread_local const size_t mine = threads.fetch_add(1) % kShards;
  return shards[mine];
}

std::shared_ptr<const SlotMap> RegionCounters::Slots() const {
  Shard& shard = shards_[0];
  MutexLock lock(shard.mu);
  return shard.slots;
}

std::shared_ptr<RegionSlot> RegionCounters::Count(RegionSlot::Figure rows,
                                                  std::string_view key,
                                                  uint64_t bytes) {
  std::shared_ptr<RegionSlot> slot;
  {
    Shard& shard = MyShard(shards_);
    MutexLock lock(shard.mu);
    slot = shard.slots->slots[shard.slots->map->PositionOf(key)];
  }
  slot->Count(rows, bytes);
  if (Sampled(sample_every_)) {
    // A key that does not decode is some other table's, or damaged.
    const auto ends = table_->row_key().Split(key);
    if (ends.ok()) {
      MutexLock lock(mu_);
      prefixes_.Add(key.substr(0, (*ends)[prefix_part_]), sample_every_);
    }
  }
  return slot;
}

void RegionCounters::CountInsert(std::string_view key) {
  MutexLock lock(mu_);
  trend_.Add(key);
}

void RegionCounters::Fold(double micros, double half_life_micros,
                          bool halve_histograms) {
  const std::shared_ptr<const SlotMap> slots = Slots();
  const double keep = std::exp2(-micros / half_life_micros);
  for (const std::shared_ptr<RegionSlot>& slot : slots->slots) {
    for (size_t f = 0; f < RegionSlot::kFigures; ++f) {
      const uint64_t total = slot->totals[f].load(std::memory_order_relaxed);
      const auto came = static_cast<double>(total - slot->folded[f]);
      slot->folded[f] = total;
      slot->means[f] = keep * slot->means[f] + (1 - keep) * came * 1e6 / micros;
    }
    slot->weight = keep * slot->weight + (1 - keep);
    if (!halve_histograms) continue;
    slot->read_micros.Halve();
    slot->write_micros.Halve();
  }
  MutexLock lock(mu_);
  prefixes_.Scale(keep);
  trend_.Scale(keep);
}

RegionCounters::Snapshot RegionCounters::Read() const {
  Snapshot out;
  out.slots = Slots();
  MutexLock lock(mu_);
  out.prefixes = prefixes_.Counters();
  out.prefixes_total = prefixes_.total();
  out.rising = trend_.known() ? trend_.rising() : 0;
  out.falling = trend_.known() ? trend_.falling() : 0;
  return out;
}

}  // namespace dovetail::internal
