// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Queries answered the simple way: every row is looked at as a parsed message,
// and what matches is sorted. Shares nothing with the engine's own filters.

#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/engine.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {

// A table: records by row key.
using Rows = std::map<std::string, Anything>;

// Read with Engine::Scan.
absl::StatusOr<Rows> ReadTable(Engine& engine, const std::string& table);

bool Matches(const v1::Expression& filter, const Anything& record);

// The query with its order spelled out: behind the fields it names, those of
// the row key.
v1::Query WithWholeOrder(v1::Query query, const v1::TableSchema& table);

// By the fields that the query orders by.
std::weak_ordering CompareByOrder(const v1::Query& query, const Anything& a,
                                  const Anything& b);

// The row keys of all that matches, in the query's order; in that of the row
// key if it names none.
std::vector<std::string> Answer(const v1::Query& query, const Rows& rows);

// The record without the fields that are not selected.
Anything Selected(const v1::Query& query, const Anything& record);

}  // namespace dovetail::test
