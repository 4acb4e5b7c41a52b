// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// How large a part of the rows a condition is guessed to keep, from its form
// alone.

#pragma once

#include <algorithm>

#include "index/field_value.h"
#include "index/query/value_set.h"

namespace dovetail {

inline double PointSelectivity(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return 0.5;
    case FieldType::kEnum:
      return 0.15;
    default:
      return 0.01;
  }
}

inline double Selectivity(FieldType type, const ValueSet& set) {
  double part = set.has_null() ? 0.1 : 0;
  for (const ValueInterval& i : set.intervals()) {
    if (i.is_point()) {
      part += PointSelectivity(type);
    } else {
      const bool from = !i.begin.empty() || i.begin_after;
      part += from && i.end.has_value() ? 0.1 : 0.3;
    }
    if (part >= 1) break;
  }
  return std::min(part, 1.0);
}

}  // namespace dovetail
