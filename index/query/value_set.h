// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A set of values of one field: what any condition on that field alone comes
// down to. Null is a member or not, beside the values.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/field_value.h"
#include "index/query/value_order.h"

namespace dovetail {

// Values as sortable bytes: [begin, end), each bound the bytes of a value or,
// if `..._after` is set, the place right behind them.
struct ValueInterval {
  std::string begin;  // "" is below every value.
  bool begin_after = false;
  std::optional<std::string> end;  // nullopt: above every value.
  bool end_after = false;

  // Whether it is one value alone.
  bool is_point() const {
    return end.has_value() && *end == begin && !begin_after && end_after;
  }
  friend bool operator==(const ValueInterval&, const ValueInterval&) = default;
};

// Thread-compatible value type.
class ValueSet {
 public:
  ValueSet() = default;  // Nothing.
  static ValueSet All();
  static ValueSet Values();  // All but null.
  static ValueSet Null();
  static ValueSet Point(std::string value);
  // In any order, with duplicates.
  static ValueSet Points(std::vector<std::string> values);
  static ValueSet Of(ValueInterval interval);  // Nothing if it is empty.

  bool has_null() const { return has_null_; }
  // Ascending; neither overlap nor touch.
  const std::vector<ValueInterval>& intervals() const { return intervals_; }
  bool empty() const { return !has_null_ && intervals_.empty(); }
  bool is_all() const;
  // Whether it is finitely many values, null included: what an equality or an
  // IN leaves.
  bool is_points() const;
  // REQUIRES: is_points(). Null included.
  size_t point_count() const { return intervals_.size() + (has_null_ ? 1 : 0); }
  bool is_single() const { return is_points() && point_count() == 1; }

  bool Contains(FieldType type, const FieldValue& value) const;

  ValueSet Complement() const;
  ValueSet Intersect(const ValueSet& other) const;
  ValueSet Unite(const ValueSet& other) const;
  bool IsSubsetOf(const ValueSet& other) const;

  friend bool operator==(const ValueSet&, const ValueSet&) = default;

 private:
  void Normalize();

  bool has_null_ = false;
  std::vector<ValueInterval> intervals_;
};

}  // namespace dovetail
