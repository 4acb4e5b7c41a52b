// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/schema_lookup.h"

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail::internal {

absl::StatusOr<RecordType> RecordTypeOf(const Schema& schema,
                                        std::string_view table) {
  for (const v1::TableSchema& t : schema.proto().tables()) {
    if (t.name() == table) {
      return LoadRecordType(t.descriptors(), t.record_type());
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("observer names a table that the schema does not have: "
                   "table=",
                   Quote(table)));
}

}  // namespace dovetail::internal
