// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Rows as index entries alone tell of them: the key, and a record of the fields
// that the entry holds.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "engine/schema_state.h"

namespace dovetail {

// Of one index; used by one thread. The table must outlive it.
class CoveredRow {
 public:
  CoveredRow(const TableState& table, int index)
      : table_(table), index_(index) {}

  // The row is valid until the next call. DataLoss if the bytes are no entry.
  absl::StatusOr<RowView> Of(std::string_view entry_key,
                             std::string_view entry_value);

 private:
  const TableState& table_;
  const int index_;
  std::string row_key_;
  std::string record_;
};

}  // namespace dovetail
