// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/conditions.h"

#include <utility>

#include "base/status_macros.h"
#include "cli/column_map.h"
#include "cli/database.h"
#include "cli/exit_code.h"

namespace dovetail::cli {

absl::Status AddConditions(const DynamicTable& table,
                           const std::vector<std::string>& conditions,
                           WriteBatch* batch) {
  for (const std::string& condition : conditions) {
    std::string path, text;
    RETURN_IF_ERROR(SplitAssignment("--if", condition, &path, &text));
    absl::StatusOr<Value> value = ParseWord(table, path, text);
    if (!value.ok()) {
      return WithExitCode(WithContext("--if", value.status()),
                          ExitCode::kUsage);
    }
    batch->If(Precondition::FieldEquals(path, *std::move(value)));
  }
  return {};
}

}  // namespace dovetail::cli
