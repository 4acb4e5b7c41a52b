// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The ways into a table: its row key and its indexes, in terms of SQL columns.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/index_admin.h"
#include "sql/columns.h"

namespace dovetail::sql {

// One part of a key.
struct PathPart {
  enum class Kind {
    kField,     // The value of `inputs[0]`.
    kComputed,  // A hash or bucket of all `inputs`.
    kSalt,      // No inputs.
  };
  Kind kind = Kind::kField;
  std::vector<int> inputs;  // SQL columns.
  // Of a field: whether keys are in the order that SQL gives the column, and
  // whether a range of its values is one of keys.
  bool sql_order = false;
  bool ranges = false;
  bool descending = false;
};

struct AccessPath {
  std::string index;  // Empty: the row key.
  std::vector<PathPart> parts;
  // SQL columns in the order in which reads bind them; see ScanRequest.
  std::vector<int> columns;
  // By position in `columns`: the part that holds it, or -1: it is only hashed.
  std::vector<int> part_of;
  bool unique = false;
  // SQL columns that are null in no entry, though they may be in a row: rows
  // with a null there have none.
  std::vector<int> never_null;
  // By SQL column: whether entries hold it.
  std::vector<bool> holds;
  // Ranges that one set of values is spread over: by a salt, or a split of
  // listed values.
  size_t spread = 1;
  // Spread over more ranges than a scan merges, so that only a query can read
  // it, and no values are bound.
  bool query_only = false;

  bool is_row_key() const { return index.empty(); }
  // Positions in `columns` that a read may bind with values for all of them.
  bool CanBind(size_t count) const;
  // How many parts values for the first `count` columns determine.
  size_t PartsBound(size_t count) const;
  // The part that a range of the column at `position` narrows, if all columns
  // before it are bound; -1: none does.
  int RangePart(size_t position) const;
};

// The row key first, and every index that serves reads now and has one entry
// for each row, but for those with a null in a part of a UNIQUE index. `utf8`:
// whether SQLite's database holds texts as UTF-8, and so compares them as
// Dovetail does.
absl::StatusOr<std::vector<AccessPath>> RowPaths(
    const DynamicTable& table, const std::vector<Column>& columns,
    const std::vector<IndexInfo>& indexes, size_t merge_streams_max, bool utf8);

// The COUNT or SUM index itself.
absl::StatusOr<AccessPath> GroupPath(const DynamicTable& table,
                                     std::string_view index,
                                     const std::vector<Column>& columns,
                                     bool utf8);

}  // namespace dovetail::sql
