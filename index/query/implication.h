// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Whether a query's filter implies the predicate of a partial index, so that
// the index has an entry for every row the query may return.

#pragma once

#include <span>

#include "index/query/checked_query.h"
#include "index/query/normal_form.h"
#include "index/row_predicate.h"

namespace dovetail {

// True only if every row of the conjunction satisfies the predicate: for each
// of its tests the conjunction leaves the field no other value.
bool Implies(const Conjunction& conjunction, std::span<const QueryField> fields,
             const RowPredicate& predicate);

}  // namespace dovetail
