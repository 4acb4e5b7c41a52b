// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the store knows of a table's sizes, for the planner.

#pragma once

#include <optional>
#include <vector>

#include "engine/published_state.h"
#include "index/query/planner.h"

namespace dovetail {

// Cheap to make. State and table must outlive it.
class StoreStatistics final : public PlanStatistics {
 public:
  StoreStatistics(const internal::PublishedState& state,
                  const TableState& table)
      : state_(state), table_(table) {}

  double Rows() const override;
  std::optional<double> Keys(
      int index, const std::vector<AccessRange>& ranges) const override;

 private:
  double Bytes(int index, const std::string& begin,
               const std::string& end) const;

  const internal::PublishedState& state_;
  const TableState& table_;
  mutable std::optional<double> rows_;
};

}  // namespace dovetail
