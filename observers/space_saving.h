// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The Space-Saving sketch of frequent keys (Metwally, Agrawal, El Abbadi,
// "Efficient computation of frequent and top-k elements in data streams", ICDT
// 2005): a key that has no counter takes over the smallest one.
//
// With m counters and a total weight W: the counts add up to W; a key of
// weight above W/m has a counter; a key's weight is at most its count, and at
// least its count less its error, and no error is above W/m. Scaling all
// counters by one factor keeps this true, so old weight can decay.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace dovetail::internal {

// Thread-compatible.
class SpaceSaving {
 public:
  struct Counter {
    std::string key;
    double count = 0;
    double error = 0;
  };

  // REQUIRES: counters_max > 0.
  explicit SpaceSaving(size_t counters_max) : counters_max_(counters_max) {}

  // Takes O(log m).
  void Add(std::string_view key, double weight);
  // Multiplies all weights. REQUIRES: 0 < factor <= 1.
  void Scale(double factor);

  double total() const { return total_; }
  // In no order.
  std::vector<Counter> Counters() const;

 private:
  struct Node : Counter {
    size_t place = 0;  // In heap_.
  };
  bool Less(size_t a, size_t b) const {
    return heap_[a]->count < heap_[b]->count;
  }
  void Swap(size_t a, size_t b);
  void SiftUp(size_t place);
  void SiftDown(size_t place);

  size_t counters_max_;
  double total_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> heap_;  // The smallest count first.
  absl::flat_hash_map<std::string_view, Node*> by_key_;  // Views of nodes.
};

}  // namespace dovetail::internal
