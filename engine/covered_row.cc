// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/covered_row.h"

namespace dovetail {

absl::StatusOr<RowView> CoveredRow::Of(std::string_view entry_key,
                                       std::string_view entry_value) {
  const auto index = static_cast<size_t>(index_);
  absl::Status decoded = table_.compiled->indexes()[index].RowKeyOf(
      entry_key, entry_value, &row_key_);
  if (decoded.ok()) {
    decoded =
        table_.compiled->RecordOfEntry(index, entry_key, entry_value, &record_);
  }
  if (!decoded.ok()) {
    return EntryWithoutRow(table_, index_, entry_key, decoded);
  }
  return RowView{row_key_, record_, SequenceNumber{}};
}

}  // namespace dovetail
