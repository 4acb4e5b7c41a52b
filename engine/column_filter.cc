// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/column_filter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dovetail {

absl::StatusOr<ColumnFilter> ColumnFilter::Make(
    const KeyLayout& layout, const std::vector<Value>& equal,
    const std::vector<Value>& any_of) {
  ColumnFilter filter;
  const size_t bound = equal.size() + (any_of.empty() ? 0 : 1);
  for (size_t i = 0; i < bound; ++i) {
    const Column& column = layout.columns()[i];
    if (column.part >= 0) continue;
    Condition condition{column.field, {}};
    const auto add = [&](const Value& value) -> absl::Status {
      ASSIGN_OR_RETURN(FieldValue field, ToFieldValue(value, column.type));
      condition.any_of.push_back(field);
      return absl::OkStatus();
    };
    if (i < equal.size()) {
      RETURN_IF_ERROR(add(equal[i]));
    } else {
      for (const Value& value : any_of) RETURN_IF_ERROR(add(value));
    }
    filter.conditions_.push_back(std::move(condition));
  }
  return filter;
}

absl::Status ColumnFilter::CheckHeld(const IndexDefinition& index) const {
  for (const Condition& condition : conditions_) {
    if (index.Holds(condition.field)) continue;
    return absl::InvalidArgumentError(
        "a value was given for a column of which the entries have a hash only, "
        "so the rows have to be read: ask without `covered`, or declare the "
        "field as covering");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ColumnFilter::MatchesRecord(
    const TableState& table, std::string_view record) const {
  EncodedRow row;
  // It may be a covered row's, of some fields.
  if (const absl::Status parsed =
          table.compiled->ExtractOldFields(record, &row);
      !parsed.ok()) {
    return absl::DataLossError(absl::StrCat(
        "stored record does not parse; run verify: table=", table.name(), ": ",
        parsed.message()));
  }
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&row](const Condition& c) {
                       return std::find(c.any_of.begin(), c.any_of.end(),
                                        row.fields[c.field]) != c.any_of.end();
                     });
}

}  // namespace dovetail
