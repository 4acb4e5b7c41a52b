// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// "--if FIELD=VALUE": what must hold of a row for a change of it.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/dynamic_table.h"

namespace dovetail::cli {

// Adds them to the mutation added last. UsageError names the wrong one.
absl::Status AddConditions(const DynamicTable& table,
                           const std::vector<std::string>& conditions,
                           WriteBatch* batch);

}  // namespace dovetail::cli
