// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The cells of one edit of HBase's write-ahead log, as the changes of rows
// that they come to.
//
// HBase keeps versions: a delete hides every cell that is not newer than it,
// whichever of the two was written first. A table here keeps the newest row
// only, so that is settled inside the edit, and edits apply in their order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/change_stream.h"
#include "engine/changes/decoder.h"

namespace dovetail::changes {

struct HBaseCell {
  std::string row;  // Bytes.
  std::string family;
  std::string qualifier;
  std::string type;                  // "Put", "DeleteFamily", ...
  std::optional<int64_t> timestamp;  // Milliseconds.
  std::optional<std::string> value;  // Bytes; absent if not printed.
  size_t at = 0;
};

// What Bytes.toStringBinary made: printable characters, others as \xHH.
// InvalidArgument if it cannot have made that.
absl::StatusOr<std::string> FromStringBinary(std::string_view text);

// "ns:table" into its two halves.
void SetHBaseTable(std::string_view name, ForeignChange* change);

// One kMerge a row, in the order in which rows come first; one kInternal if
// all cells are HBase's own. Each has the names of `common`. InvalidArgument,
// by line->Error at the cell, for what a table without versions cannot follow.
absl::Status AppendHBaseChanges(Line* line, const ForeignChange& common,
                                const std::vector<HBaseCell>& cells,
                                std::vector<ForeignChange>* changes);

}  // namespace dovetail::changes
