// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Clang's thread-safety attributes, nothing elsewhere. GUARDED_BY and
// NO_THREAD_SAFETY_ANALYSIS are Abseil's, which defines both without a prefix.

#pragma once

#include "absl/base/thread_annotations.h"

#if defined(__clang__)
#define DOVETAIL_THREAD_ATTRIBUTE_(x) __attribute__((x))
#else
#define DOVETAIL_THREAD_ATTRIBUTE_(x)
#endif

#define CAPABILITY(x) DOVETAIL_THREAD_ATTRIBUTE_(capability(x))
#define SCOPED_CAPABILITY DOVETAIL_THREAD_ATTRIBUTE_(scoped_lockable)
#define REQUIRES(...) \
  DOVETAIL_THREAD_ATTRIBUTE_(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) DOVETAIL_THREAD_ATTRIBUTE_(acquire_capability(__VA_ARGS__))
#define RELEASE(...) DOVETAIL_THREAD_ATTRIBUTE_(release_capability(__VA_ARGS__))
#define EXCLUDES(...) DOVETAIL_THREAD_ATTRIBUTE_(locks_excluded(__VA_ARGS__))
