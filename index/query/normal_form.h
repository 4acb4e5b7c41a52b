// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A filter as what key ranges can be made of: alternatives, each a set of
// values per field.

#pragma once

#include <span>
#include <utility>
#include <vector>

#include "index/query/checked_query.h"

namespace dovetail {

// Fields (by slot, ascending) that must have a value in their set; others may
// have any. No set is empty or everything.
using Conjunction = std::vector<std::pair<size_t, ValueSet>>;

// Everything if the conjunction says nothing about the field.
const ValueSet* FindSet(const Conjunction& conjunction, size_t slot);

bool Holds(const Conjunction& conjunction, std::span<const QueryField> fields,
           std::span<const FieldValue> values);

// Alternatives beyond this many are not planned one by one.
inline constexpr size_t kAlternativesMax = 32;

struct NormalForm {
  // Rows that match are in one of these; none: no row matches.
  std::vector<Conjunction> any;
  // And rows in one of these match. Otherwise, with too many alternatives,
  // there is one that holds for more than the filter.
  bool exact = true;
  // What holds for all rows that match.
  Conjunction common;
};

NormalForm Normalize(const Predicate& where,
                     std::span<const QueryField> fields);

}  // namespace dovetail
