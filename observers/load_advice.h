// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From the figures of a table to advice in words. See region_load.h.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dovetail/region_load.h"
#include "index/compiled_table.h"
#include "observers/region_counters.h"

namespace dovetail::internal {

// The columns in a prefix of row keys, as far as `last_part`:
// seller_id="s-1". Empty if the prefix does not decode.
std::string PrefixWords(const KeyLayout& layout, size_t last_part,
                        std::string_view prefix);

// A row key in which `listed`, a value of the first column, is spread over
// sub-buckets by the last column. nullopt if the layout has no room for it.
std::optional<v1::RowKeyLayout> WithSubBucket(const CompiledTable& table,
                                              std::string_view listed);

// A row key in which neighbouring keys lie apart: a hash first if the key is
// one column, else a salt.
std::optional<v1::RowKeyLayout> WithSpread(const CompiledTable& table);

// On the regions of one table.
std::vector<LoadAdvice> AdviseOnRegions(
    const TableLoad& load, const RegionCounters& counters,
    const RegionCounters::Snapshot& snapshot, const RegionLoadOptions& options);

}  // namespace dovetail::internal
