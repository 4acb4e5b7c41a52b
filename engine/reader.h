// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads on one published state.

#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/limits.h"
#include "dovetail/read.h"
#include "engine/published_state.h"

namespace dovetail {

// Cheap to make; not shared between threads. The state must outlive it.
class Reader {
 public:
  Reader(const internal::PublishedState& state, const Limits& limits)
      : state_(state), limits_(limits) {
    options_.snapshot = state.snapshot.get();
  }

  absl::StatusOr<Row> Get(std::string_view table,
                          const std::vector<Value>& key) const;
  absl::StatusOr<std::vector<Row>> GetBy(
      std::string_view table, std::string_view index,
      const std::vector<Value>& values) const;
  absl::StatusOr<ScanEnd> ForEach(const ScanRequest& request,
                                  RowVisitor visit) const;

 private:
  const internal::PublishedState& state_;
  const Limits& limits_;
  StoreReadOptions options_;
};

}  // namespace dovetail
