// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/seeded_bug.h"

#ifdef DOVETAIL_SEEDED_BUGS

#include <cstdlib>

namespace dovetail {

bool SeededBug(std::string_view name) {
  static const char* const is_on = std::getenv("DOVETAIL_SEEDED_BUG");
  return is_on != nullptr && name == is_on;
}

}  // namespace dovetail

#endif  // DOVETAIL_SEEDED_BUGS
