// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace dovetail::test {

// What must hold of every input; else it is a finding.
inline void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace dovetail::test
