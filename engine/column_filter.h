// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Columns that a key holds as a hash only: the key leads to the rows whose
// values hash alike, and their records decide.

#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/value.h"
#include "engine/schema_state.h"
#include "index/key_layout.h"

namespace dovetail {

// Of one request. The request's values must outlive it. Thread-compatible.
class ColumnFilter {
 public:
  // `equal` binds the first columns, `any_of`, unless empty, the next one; both
  // have been accepted by the layout.
  static absl::StatusOr<ColumnFilter> Make(const KeyLayout& layout,
                                           const std::vector<Value>& equal,
                                           const std::vector<Value>& any_of);

  // Nearly always: the keys decide everything.
  bool empty() const { return conditions_.empty(); }

  // InvalidArgument if it needs a field that the index's entries do not hold.
  absl::Status CheckHeld(const IndexDefinition& index) const;

  // Whether the record is one that was asked for. DataLoss if it has to be
  // looked at and does not parse.
  absl::StatusOr<bool> Matches(const TableState& table,
                               std::string_view record) const {
    if (empty()) return true;
    return MatchesRecord(table, record);
  }

 private:
  absl::StatusOr<bool> MatchesRecord(const TableState& table,
                                     std::string_view record) const;

  struct Condition {
    int field;
    std::vector<FieldValue> any_of;
  };
  std::vector<Condition> conditions_;
};

}  // namespace dovetail
