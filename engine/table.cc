// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/table.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::internal {

absl::Status CheckRecordType(Engine& engine, std::string_view table,
                             std::string_view full_name) {
  ASSIGN_OR_RETURN(const v1::Schema schema, engine.GetSchema());
  for (const v1::TableSchema& stored : schema.tables()) {
    if (stored.name() != table) continue;
    if (stored.record_type() == full_name) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "table holds other records: table=", stored.name(),
        " record_type=", stored.record_type(), " wanted=", ToAbsl(full_name)));
  }
  return absl::NotFoundError(
      absl::StrCat("no such table: table=", Quote(table)));
}

absl::Status RecordDoesNotParse(std::string_view table,
                                std::string_view row_key) {
  return absl::DataLossError(absl::StrCat(
      "stored record does not parse; run verify: table=", ToAbsl(table),
      " row_key=", Quote(row_key)));
}

}  // namespace dovetail::internal
