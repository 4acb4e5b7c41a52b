// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Places in the order that a plan's reads have in common: the sort key of the
// order's fields, then the row key. Every read can say where one of its keys
// stands there, and where in its ranges a place is, whichever read it is from.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/compiled_table.h"
#include "index/query/plan.h"

namespace dovetail {

// A row's place. Compares like the order.
struct RowPlace {
  std::string order_key;
  std::string row_key;

  friend auto operator<=>(const RowPlace&, const RowPlace&) = default;
};

// One read of an ordered plan. Thread-compatible; what it is made from must
// outlive it.
class ReadPlaces {
 public:
  ReadPlaces(const CompiledTable& table, const std::vector<OrderField>& order,
             const PlanRead& read)
      : table_(table), order_(order), read_(read) {}

  // Replaces `*out`. InvalidArgument if the bytes are no key of the read's.
  absl::Status OrderKeyOf(std::string_view key, std::string* out) const;
  absl::Status RowKeyOf(std::string_view key, std::string_view value,
                        std::string* out) const;

  // A key of the range's space: no key in the range before it is behind the
  // place. nullopt: no key in the range is. Nearly always the first one at or
  // behind the place; `range` is one of the read's. InvalidArgument if the
  // place is none of this order.
  absl::StatusOr<std::optional<std::string>> Find(const AccessRange& range,
                                                  const RowPlace& place) const;

 private:
  class Search;

  const CompiledTable& table_;
  const std::vector<OrderField>& order_;
  const PlanRead& read_;
};

}  // namespace dovetail
