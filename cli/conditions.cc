// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/conditions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/column_map.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "dovetail/errors.h"

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

absl::Status ExplainChange(const absl::Status& refused, bool narrowed,
                           std::string_view done, std::string_view verb) {
  const absl::Status status(refused.code(), MutationCause(refused));
  const std::string nothing = absl::StrCat("Nothing was ", ToAbsl(done), ".");
  if (absl::IsNotFound(status)) return WithHint(status, nothing);
  if (absl::IsResourceExhausted(status)) {
    return WithHint(status, absl::StrCat(nothing, " Give more values."));
  }
  if (!absl::IsFailedPrecondition(status)) return status;
  return WithHint(status,
                  narrowed
                      ? nothing
                      : absl::StrCat(nothing, " Give more values, or --all to ",
                                     ToAbsl(verb), " every matching row."));
}

}  // namespace dovetail::cli
