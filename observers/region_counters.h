// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The load of one table, region by region: counters that every thread adds to,
// and rates that a fold makes of them now and then.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/region_load.h"
#include "dovetail/regions.h"
#include "index/compiled_table.h"
#include "observers/space_saving.h"

namespace dovetail::internal {

// Durations in log-linear buckets: four per power of two, so that none is off
// by more than a quarter. There are two a region, so they are small.
class CoarseHistogram {
 public:
  static constexpr int kPowerMax = 26;  // 2^26 us is 67 s.
  static constexpr size_t kBuckets = 4 * (kPowerMax - 1);

  static size_t BucketOf(uint64_t micros) {
    micros = std::min(micros, (uint64_t{1} << kPowerMax) - 1);
    if (micros < 4) return static_cast<size_t>(micros);
    const int shift = std::bit_width(micros) - 3;
    return static_cast<size_t>(4 * shift + (micros >> shift));
  }
  // The highest value of the bucket.
  static uint64_t UpperBound(size_t bucket) {
    if (bucket < 8) return bucket;
    return ((uint64_t{bucket % 4} + 5) << (bucket / 4 - 1)) - 1;
  }

  // Negative durations, from a clock that steps back, count as 0.
  void Add(int64_t micros) {
    const auto value = static_cast<uint64_t>(std::max<int64_t>(micros, 0));
    buckets_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  }
  // Drops half of what there is. Additions meanwhile are kept.
  void Halve() {
    for (std::atomic<uint32_t>& bucket : buckets_) {
      const uint32_t n = bucket.load(std::memory_order_relaxed);
      if (n > 0) bucket.fetch_sub((n + 1) / 2, std::memory_order_relaxed);
    }
  }
  // 0 if nothing was added.
  uint64_t QuantileMicros(double q) const;

 private:
  std::array<std::atomic<uint32_t>, kBuckets> buckets_ = {};
};

// Of one region, as long as it keeps its range.
struct alignas(64) RegionSlot {
  enum Figure { kReads, kReadBytes, kWrites, kWriteBytes, kFigures };

  void Count(Figure rows, uint64_t bytes) {
    totals[rows].fetch_add(1, std::memory_order_relaxed);
    totals[rows + 1].fetch_add(bytes, std::memory_order_relaxed);
  }

  std::array<std::atomic<uint64_t>, kFigures> totals = {};
  CoarseHistogram read_micros;
  CoarseHistogram write_micros;

  // Of whoever folds: exponentially weighted means, which begin at 0, and the
  // weight of the time that they have seen, to divide them by.
  std::array<uint64_t, kFigures> folded = {};
  std::array<double, kFigures> means = {};
  double weight = 0;
  double Rate(Figure figure) const {
    return weight > 0 ? means[figure] / weight : 0;
  }
};

// A region map with the slots of its regions.
struct SlotMap {
  std::shared_ptr<const RegionMap> map;
  std::vector<std::shared_ptr<RegionSlot>> slots;
};

// Whether new keys come at one end of the key space. A key is at the end if it
// is beyond all keys but the newest 64: streams are seldom in perfect order.
// Thread-compatible.
class KeyTrend {
 public:
  void Add(std::string_view key);
  void Scale(double factor);
  bool known() const { return seen_ >= kSeenMin; }
  double rising() const { return inserts_ > 0 ? rising_ / inserts_ : 0; }
  double falling() const { return inserts_ > 0 ? falling_ / inserts_ : 0; }

 private:
  static constexpr uint64_t kLag = 64;
  static constexpr uint64_t kSeenMin = 16 * kLag;

  uint64_t seen_ = 0;
  // As of now, of the last multiple of kLag keys, and of the one before it.
  std::string high_, high_last_, high_before_;
  std::string low_, low_last_, low_before_;
  double inserts_ = 0, rising_ = 0, falling_ = 0;  // Decaying.
};

// Thread-safe but where it says otherwise.
class RegionCounters {
 public:
  RegionCounters(std::unique_ptr<const CompiledTable> table,
                 const RegionLoadOptions& options);

  const CompiledTable& table() const { return *table_; }
  // Behind which part of a row key its prefix ends.
  size_t prefix_part() const { return prefix_part_; }

  // Regions that keep id and range keep their figures. Not by two threads at
  // once.
  void UseMap(std::shared_ptr<const RegionMap> map);

  // Counts one row; returns the slot of its region.
  std::shared_ptr<RegionSlot> Count(RegionSlot::Figure rows,
                                    std::string_view key, uint64_t bytes);
  void CountInsert(std::string_view key);

  // Lets `micros` pass. Not by two threads at once.
  void Fold(double micros, double half_life_micros, bool halve_histograms);

  struct Snapshot {
    std::shared_ptr<const SlotMap> slots;
    std::vector<SpaceSaving::Counter> prefixes;
    double prefixes_total = 0;
    double rising = 0;
    double falling = 0;
  };
  Snapshot Read() const;

 private:
  // Readers of the map, spread over shards so that they do not meet.
  struct alignas(64) Shard {
    Mutex mu;
    std::shared_ptr<const SlotMap> slots GUARDED_BY(mu);
  };
  static constexpr size_t kShards = 16;
  static Shard& MyShard(std::array<Shard, kShards>& shards);
  std::shared_ptr<const SlotMap> Slots() const;

  const std::unique_ptr<const CompiledTable> table_;
  const uint32_t sample_every_;
  size_t prefix_part_ = 0;

  mutable std::array<Shard, kShards> shards_;

  mutable Mutex mu_;
  SpaceSaving prefixes_ GUARDED_BY(mu_);
  KeyTrend trend_ GUARDED_BY(mu_);
};

}  // namespace dovetail::internal
