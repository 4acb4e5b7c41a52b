// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Filters and orders of queries, as they are written on the command line:
//
//   seller_id = "s-1" and status in (CREATED, APPROVED) and amount_cents > 100
//   not (note is null or note prefix "draft") and ts_ms between 2026-01-01 and
//   2026-02-01
//
// Tests: = != < <= > >=, in (...), between A and B, prefix, is null; `not`
// before in, between, prefix and null. `and` binds closer than `or`. Words may
// be in any case. A value is a word, or stands in single or double quotes.

#pragma once

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/query.h"

namespace dovetail::cli {

// A field's value from a word.
using WordParser = std::function<absl::StatusOr<Value>(std::string_view field,
                                                       std::string_view word)>;

// UsageError shows the place in the text and what could stand there.
absl::StatusOr<Filter> ParseFilter(std::string_view text,
                                   const WordParser& parse_word);

// "ts_ms desc, note nulls first", added to the query. UsageError.
absl::Status ParseOrder(std::string_view text, Query* query);

}  // namespace dovetail::cli
