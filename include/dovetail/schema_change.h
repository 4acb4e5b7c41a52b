// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What may change between the schema a database has and the one a program
// declares. Engine::Open applies these rules, and refuses the schema if one of
// its changes is refused; `dovetail schema check` prints them beforehand.
// docs/schema-changes.md shows the table.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/schema.h"

namespace dovetail {

enum class SchemaVerdict {
  kAllowed,
  kNeedsOption,  // Options::add_indexes, or Engine::AddIndex beforehand.
  kRefused,
};

// "allowed", "needs option", "refused".
std::string_view SchemaVerdictName(SchemaVerdict verdict);

struct SchemaRule {
  std::string_view name;  // "field-added"; stable.
  SchemaVerdict verdict;
  std::string_view what;     // Happens to the database, or why it is refused.
  std::string_view instead;  // kRefused, kNeedsOption: what to do.
};

// All of them, in the order of the documentation.
std::span<const SchemaRule> SchemaRules();

struct SchemaChange {
  const SchemaRule* rule;  // One of SchemaRules().
  std::string table;
  std::string place;   // "index=by_note part 2", "field=ship_to.country".
  std::string stored;  // Empty: there is none.
  std::string wanted;

  // One line: table, place, both sides, rule.
  std::string DebugString() const;
};

// Every change from `stored` to `wanted`, in the order of the tables and of
// their parts; empty if there is none. InvalidArgument if either is not valid.
absl::StatusOr<std::vector<SchemaChange>> CompareSchemas(
    const v1::Schema& stored, const v1::Schema& wanted);

}  // namespace dovetail
