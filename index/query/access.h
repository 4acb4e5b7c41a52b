// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One way to read rows: ranges of the row key or of an index, made from a
// conjunction; and whether they come in a query's order.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/compiled_table.h"
#include "index/query/checked_query.h"
#include "index/query/normal_form.h"

namespace dovetail {

// One range of a key space.
struct AccessRange {
  KeyRange keys;  // keys.prefix is of the parts in front of `parts_bound`.
  size_t parts_bound = 0;
  // For messages: which values the next part has, if they narrow the range.
  std::optional<ValueInterval> interval;
};

// A condition that an entry's own bytes decide, though its range does not.
struct EntryTest {
  size_t part;  // Of entry_parts.
  size_t slot;
  ValueSet set;
};

struct Access {
  int index = -1;  // -1: the row key.
  // What a key consists of: the layout's parts, then the row-key parts that a
  // VALUE entry carries behind them.
  // Of the table.
  std::vector<const KeyPart*> entry_parts;
  std::vector<AccessRange> ranges;  // By begin; they do not overlap.
  // All ranges begin with the same bytes up to this part.
  size_t common_parts = 0;
  // Parts that every range binds.
  size_t bound_parts = 0;
  // Whether the ranges hold exactly the conjunction's rows.
  bool exact = false;
  // Whether nothing narrows it: every key is read.
  bool full = false;
  // Whether each range holds one row at most.
  bool point = false;
  // By slot of the conjunction: whether the ranges decide it.
  std::vector<size_t> decided;
  std::vector<EntryTest> tests;
};

// The ranges of `index` (-1: the row key) for the rows of the conjunction, at
// most `ranges_max`: with more, fewer parts are bound. nullopt if the index
// does not have all of these rows.
std::optional<Access> MakeAccess(const CompiledTable& table, int index,
                                 const Conjunction& conjunction,
                                 std::span<const QueryField> fields,
                                 size_t ranges_max);

// How many leading parts of a layout have the same bytes in all ranges, which
// bind `bound` parts or more.
size_t CommonParts(std::span<const KeyPart> parts,
                   const std::vector<AccessRange>& ranges, size_t bound);

// Whether an index has one entry for every row of the conjunction: a UNIQUE
// index has none for a row with a null part, a partial one none for a row that
// its predicate leaves out; a fan-out index has many, an aggregate none.
bool HasAllRows(const CompiledTable& table, int index,
                const Conjunction& conjunction,
                std::span<const QueryField> fields);

// The layout of an index's keys, or, for -1, of the row key.
const KeyLayout& LayoutOf(const CompiledTable& table, int index);
// The part of `parts` that holds the field itself, or -1.
int PartHolding(std::span<const KeyPart* const> parts, int field);

// How an access gives a query's order.
struct AccessOrder {
  // By field of the order: the part of the entry that has it, or -1: it has one
  // value in all rows that match.
  std::vector<int> parts;
  // One range behind the other is in the order; else the ranges have to be
  // merged.
  bool concatenated = false;
};

// nullopt if the access has not the order `order` and then the row key.
std::optional<AccessOrder> OrderOf(const CompiledTable& table,
                                   const Access& access,
                                   std::span<const OrderField> order,
                                   const Conjunction& conjunction,
                                   std::span<const QueryField> fields);

}  // namespace dovetail
