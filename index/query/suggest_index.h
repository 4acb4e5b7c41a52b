// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which index a query lacks.

#pragma once

#include <optional>
#include <string>

#include "index/compiled_table.h"
#include "index/query/checked_query.h"
#include "index/query/normal_form.h"

namespace dovetail {

// An index that would serve the query well, of a name that is free: values that
// are equal in front, then the order, or, without one, the ranges. nullopt if
// the filter gives every index all of the table to read.
std::optional<v1::IndexSchema> SuggestIndex(const CompiledTable& table,
                                            const CheckedQuery& query,
                                            const NormalForm& form);

// In words, for messages: (seller_id, status, ts_ms desc).
std::string IndexText(const v1::IndexSchema& index);

}  // namespace dovetail
