// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Early return on errors, with the meaning newer Abseil gives these names.

#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Names carry the line, so that one may stand inside another's lambda.
#define RETURN_IF_ERROR(expr) \
  DOVETAIL_RETURN_IF_ERROR_(DOVETAIL_CONCAT_(status_macro_, __LINE__), expr)

#define DOVETAIL_RETURN_IF_ERROR_(tmp, expr)    \
  do {                                          \
    if (absl::Status tmp = (expr); !tmp.ok()) { \
      return tmp;                               \
    }                                           \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr)                                        \
  DOVETAIL_ASSIGN_OR_RETURN_(DOVETAIL_CONCAT_(status_or_macro_, __LINE__), \
                             lhs, expr)

#define DOVETAIL_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return std::move(tmp).status();   \
  lhs = *std::move(tmp)

#define DOVETAIL_CONCAT_(a, b) DOVETAIL_CONCAT_INNER_(a, b)
#define DOVETAIL_CONCAT_INNER_(a, b) a##b
