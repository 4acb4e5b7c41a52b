// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// "Did you mean": the name that was most likely meant.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dovetail::cli {

// The one of `names` that differs least from `word` in letters changed, added,
// left out or swapped; empty if all differ in more than a third of it.
std::string Closest(std::string_view word,
                    const std::vector<std::string>& names);

// "Did you mean NAME?" and a space, or nothing.
std::string DidYouMean(std::string_view word,
                       const std::vector<std::string>& names);

}  // namespace dovetail::cli
