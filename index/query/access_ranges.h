// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From the values that fields may have to ranges of a key space.

#pragma once

#include <span>
#include <vector>

#include "index/key_layout.h"
#include "index/query/access.h"

namespace dovetail {

// The ranges of keys of `layout` that can hold rows of the conjunction, by
// their begin; at most `ranges_max`, or one that binds nothing. None: no row
// can have such values. `field_count` is that of the table.
std::vector<AccessRange> MakeRanges(const KeyLayout& layout,
                                    const Conjunction& conjunction,
                                    std::span<const QueryField> fields,
                                    size_t field_count, size_t ranges_max);

}  // namespace dovetail
