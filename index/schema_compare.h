// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Comparing the tables of two schemas; see schema_change.h for the rules.

#pragma once

#include <vector>

#include "absl/status/status.h"
#include "dovetail/schema_change.h"
#include "index/compiled_table.h"

namespace dovetail {

// The changes from one table to another of the same name.
std::vector<SchemaChange> CompareTables(const CompiledTable& stored,
                                        const CompiledTable& wanted);

// Those of the record type alone.
std::vector<SchemaChange> CompareRecords(const CompiledTable& stored,
                                         const CompiledTable& wanted);

// OK, or FailedPrecondition with the first change that is not allowed and
// what to do about it.
absl::Status CheckAllowed(const std::vector<SchemaChange>& changes);

// For the files of this comparison.
SchemaChange MakeChange(std::string_view rule, const CompiledTable& table,
                        std::string place, std::string stored,
                        std::string wanted);

}  // namespace dovetail
