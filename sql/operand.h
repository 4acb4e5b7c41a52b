// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The right side of a comparison in SQL, as a bound of a Dovetail read.
//
// SQLite compares what it gets from a table again, so a bound may let through
// too much, and must never leave out a row that SQLite would keep. SQLite
// hands values over as the statement has them: '7' for a number, 7 for a text,
// 1.5 for an integer. What such a comparison means is decided here, by the
// rules of https://sqlite.org/datatype3.html, section 4.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dovetail/value.h"
#include "sql/columns.h"
#include "sql/sqlite_api.h"

namespace dovetail::sql {

enum class Comparison { kEqual, kAbove, kAtLeast, kBelow, kAtMost };

// How texts are compared.
enum class Collation { kBinary, kNoCase };

struct Operand {
  enum class Kind {
    kNothing,   // The comparison holds for no row.
    kAnything,  // There is no bound that would be right.
    kBound,     // It holds only for rows within `value`.
  };
  Kind kind = Kind::kAnything;
  Value value = {};
  bool inclusive = true;  // Of a range.

  static Operand Nothing() { return {Kind::kNothing, {}, true}; }
  static Operand Anything() { return {Kind::kAnything, {}, true}; }
  static Operand Bound(Value value, bool inclusive = true) {
    return {Kind::kBound, std::move(value), inclusive};
  }
};

// `literal`: the value stands in the statement, so that its type is all there
// is to know about it; a column of another table may have an affinity too.
Operand OperandOf(const Column& column, Comparison comparison,
                  Collation collation, bool literal, sqlite3_value* value);

// Whether some value would make OperandOf return kAnything for kEqual.
bool MayBeUnbounded(const Column& column);

}  // namespace dovetail::sql
