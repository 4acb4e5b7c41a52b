// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The schema as the engine serves it: compiled tables and the spaces of their
// rows and entries.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/keyspace.h"
#include "index/compiled_table.h"

namespace dovetail {

// Since open; of one index, or of a table's rows.
struct EntryCounters {
  std::atomic<uint64_t> written{0};
  std::atomic<uint64_t> deleted{0};
  std::atomic<uint64_t> unchanged{0};
};

// Immutable but for its counters.
struct TableState {
  std::unique_ptr<const CompiledTable> compiled;
  std::string rows_prefix;
  std::vector<std::string> entry_prefixes;  // By position of the index.
  // [0] the rows, [1 + i] index i.
  std::unique_ptr<EntryCounters[]> counters;

  const std::string& name() const { return compiled->name(); }
  // The prefix of index `i`'s entries, or of the rows for -1.
  const std::string& prefix(int i) const {
    return i < 0 ? rows_prefix : entry_prefixes[i];
  }
};

// Immutable.
class SchemaState {
 public:
  // Compiles a stored catalog. FailedPrecondition for a format this program
  // does not know, DataLoss for a catalog that contradicts itself.
  static absl::StatusOr<std::shared_ptr<const SchemaState>> FromCatalog(
      v1::Catalog catalog);

  // NotFound lists the tables there are.
  absl::StatusOr<const TableState*> Find(std::string_view table) const;
  const std::vector<TableState>& tables() const { return tables_; }
  const v1::Catalog& catalog() const { return catalog_; }

 private:
  v1::Catalog catalog_;
  std::vector<TableState> tables_;
};

// The position of the named index, -1 for an empty name (the row key).
// NotFound lists the indexes there are.
absl::StatusOr<int> FindIndex(const TableState& table, std::string_view index);

// DataLoss: the entry of index `index` has no row, or, if `decoded` is not OK,
// is no entry. Says what to run.
absl::Status EntryWithoutRow(const TableState& table, int index,
                             std::string_view entry_key,
                             const absl::Status& decoded);

// The catalog of a database that holds nothing yet.
v1::Catalog EmptyCatalog();

// Adds to `catalog` the tables of `wanted` that it lacks, and checks the others
// with CheckCompatible. True if anything was added. InvalidArgument if
// `wanted` is not a valid schema.
absl::StatusOr<bool> MergeSchema(const v1::Schema& wanted,
                                 v1::Catalog* catalog);

}  // namespace dovetail
