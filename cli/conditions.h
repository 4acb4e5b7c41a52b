// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// "--if FIELD=VALUE": what must hold of a row for a change of it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/dynamic_table.h"

namespace dovetail::cli {

// Adds them to the mutation added last. UsageError names the wrong one.
absl::Status AddConditions(const DynamicTable& table,
                           const std::vector<std::string>& conditions,
                           WriteBatch* batch);

// What to do about a refused change of the rows that values lead to, of which
// the request has but this one. `done` is "changed" or "deleted", `verb` what
// it does; `narrowed`: by --all or --if, so that one row is not the question.
absl::Status ExplainChange(const absl::Status& refused, bool narrowed,
                           std::string_view done, std::string_view verb);

}  // namespace dovetail::cli
