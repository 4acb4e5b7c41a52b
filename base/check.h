// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Assertions that stay on in release builds: cheap, on the write path, about
// our own invariants, never about bytes that a caller or a file sent.

#pragma once

#include <cstdio>
#include <cstdlib>

#define DOVETAIL_CHECK(condition)                                     \
  do {                                                                \
    if (!(condition)) [[unlikely]] {                                  \
      std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, \
                   __LINE__, #condition);                             \
      std::abort();                                                   \
    }                                                                 \
  } while (false)
