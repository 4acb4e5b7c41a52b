// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Bugs planted on purpose, to prove that the tests find them; see
// tests/acceptance/log-seeded. Only a build with DOVETAIL_SEEDED_BUGS has
// them, and there the one that $DOVETAIL_SEEDED_BUG names is on. In every
// other build the condition is a constant, and the compiler drops it.

#pragma once

#include <string_view>

namespace dovetail {

#ifdef DOVETAIL_SEEDED_BUGS
bool SeededBug(std::string_view name);
#else
constexpr bool SeededBug(std::string_view) { return false; }
#endif

}  // namespace dovetail
