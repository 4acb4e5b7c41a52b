// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which queries read far more than they return, by shape: the table, the
// fields that the filter and the order name, and how.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "dovetail/query.h"

namespace dovetail::internal {

// Thread-safe. Keeps some dozen shapes; the cheapest makes way for a new one.
class QueryCosts {
 public:
  struct Shape {
    std::string name;  // What tells it from others.
    Query query;       // The last one of it.
    uint64_t calls = 0;
    uint64_t entries = 0;
    uint64_t rows = 0;
  };

  void Add(const Query& query, uint64_t entries, uint64_t rows);
  // Those that cost most first.
  std::vector<Shape> Read() const;

 private:
  static constexpr size_t kShapesMax = 32;

  mutable Mutex mu_;
  std::vector<Shape> shapes_ GUARDED_BY(mu_);
};

}  // namespace dovetail::internal
