// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Durations counted in log-linear buckets: eight per power of two, so that
// the smallest are exact and none is off by more than an eighth.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dovetail/metrics.h"

namespace dovetail::internal {

// Thread-safe; Add takes two relaxed additions.
class LatencyHistogram {
 public:
  static constexpr int kPowerMax = 36;  // 2^36 us is about 19 hours.
  static constexpr size_t kBuckets = 8 * (kPowerMax - 2);

  // The bucket of values of [2^e, 2^(e+1)) is their top four bits, 1xxx,
  // behind eight buckets for each smaller e; below 8 it is the value.
  static size_t BucketOf(uint64_t micros) {
    micros = std::min(micros, (uint64_t{1} << kPowerMax) - 1);
    if (micros < 8) return static_cast<size_t>(micros);
    const int shift = std::bit_width(micros) - 4;
    return static_cast<size_t>(8 * shift + (micros >> shift));
  }
  // The highest value of the bucket.
  static uint64_t UpperBound(size_t bucket) {
    if (bucket < 16) return bucket;
    const size_t shift = bucket / 8 - 1;
    return ((uint64_t{bucket % 8} + 9) << shift) - 1;
  }

  // Negative durations, from a clock that steps back, count as 0.
  void Add(int64_t micros) {
    const auto value = static_cast<uint64_t>(std::max<int64_t>(micros, 0));
    buckets_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  LatencySnapshot Read() const {
    LatencySnapshot out;
    out.sum_micros = sum_.load(std::memory_order_relaxed);
    out.buckets.reserve(kBuckets);
    for (const std::atomic<uint64_t>& bucket : buckets_) {
      out.buckets.push_back(bucket.load(std::memory_order_relaxed));
      out.count += out.buckets.back();
    }
    return out;
  }

 private:
  std::array<std::atomic<uint64_t>, kBuckets> buckets_ = {};
  std::atomic<uint64_t> sum_{0};
};

}  // namespace dovetail::internal
