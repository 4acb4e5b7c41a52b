// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The schema as the engine serves it: compiled tables and the spaces of their
// rows and entries.

#pragma once

#include <atomic>
#include <bitset>
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
  std::atomic<uint64_t> entries_read{0};
  std::atomic<uint64_t> rows_returned{0};
  std::atomic<uint64_t> late{0};  // Changes that were ignored.

  void CountRead(uint64_t entries, uint64_t rows) {
    entries_read.fetch_add(entries, std::memory_order_relaxed);
    rows_returned.fetch_add(rows, std::memory_order_relaxed);
  }
};

// Immutable but for its counters.
struct TableState {
  uint64_t schema_version = 0;  // Of the catalog it is of.
  std::unique_ptr<const CompiledTable> compiled;
  std::string rows_prefix;
  std::string deletes_prefix;  // Empty: deletes are not remembered.
  std::vector<std::string> entry_prefixes;  // By position of the index.
  std::vector<v1::CatalogIndex> indexes;    // By position: state, reason.
  // [0] the rows, [1 + i] index i. Outlives changes of the schema.
  std::vector<std::shared_ptr<EntryCounters>> counters;

  const std::string& name() const { return compiled->name(); }
  v1::IndexState state(size_t i) const { return indexes[i].state(); }
  // Whether the entries of index `i` follow from the rows.
  bool Follows(size_t i) const {
    return state(i) == v1::INDEX_READABLE || state(i) == v1::INDEX_HIDDEN;
  }
  // Whether changes of rows reach index `i`.
  bool Maintains(size_t i) const { return state(i) != v1::INDEX_DISABLED; }
  // Whether rows may lack entries, because a build has not come to them.
  bool IsBuilding() const {
    for (const v1::CatalogIndex& index : indexes) {
      if (index.state() == v1::INDEX_BUILDING) return true;
    }
    return false;
  }
  // The prefix of index `i`'s entries, or of the rows for -1.
  const std::string& prefix(int i) const {
    return i < 0 ? rows_prefix : entry_prefixes[i];
  }
};

// Immutable.
class SchemaState {
 public:
  // Compiles a stored catalog. FailedPrecondition for a format this program
  // does not know, DataLoss for a catalog that contradicts itself. What was
  // counted goes on from `before`, which may be null.
  static absl::StatusOr<std::shared_ptr<const SchemaState>> FromCatalog(
      v1::Catalog catalog, const SchemaState* before);

  // NotFound lists the tables there are.
  absl::StatusOr<const TableState*> Find(std::string_view table) const;
  const std::vector<TableState>& tables() const { return tables_; }
  const v1::Catalog& catalog() const { return catalog_; }
  // Of the change feed; empty if there is none.
  const std::string& feed_prefix() const { return feed_prefix_; }
  // Whether a key of the store is that of a row of a table.
  bool IsRowKey(std::string_view key) const;

 private:
  v1::Catalog catalog_;
  std::vector<TableState> tables_;
  std::string feed_prefix_;
  // By the first byte of a key; set for the spaces of rows that have one alone.
  std::bitset<256> row_bytes_;
};

// The tables, as they were declared, descriptors included.
v1::Schema SchemaOf(const SchemaState& state);
// Differs between schemas that differ.
uint64_t SchemaFingerprint(const v1::Schema& schema);

// The position of the named index, -1 for an empty name (the row key).
// NotFound lists the indexes there are.
absl::StatusOr<int> FindIndex(const TableState& table, std::string_view index);

// The same, and FailedPrecondition, saying why, if the index does not serve
// reads now; InvalidArgument if its entries lead to no rows.
absl::StatusOr<int> FindReadableIndex(const TableState& table,
                                      std::string_view index);
// The same of an index that counts rows.
absl::StatusOr<int> FindCountingIndex(const TableState& table,
                                      std::string_view index);

// Changes whenever the entries that rows have in the index might: of the
// declaration, of the fields it reads, and of the functions behind it.
uint64_t IndexFingerprint(const CompiledTable& table, int index);

// Adds an index to a table of the catalog, in a space of its own, in the state
// INDEX_BUILDING. AlreadyExists if the table has one of that name.
absl::Status AddIndex(std::string_view table, const v1::IndexSchema& index,
                      v1::Catalog* catalog);

// DataLoss: the entry of index `index` has no row, or, if `decoded` is not OK,
// is no entry. Says what to run.
absl::Status EntryWithoutRow(const TableState& table, int index,
                             std::string_view entry_key,
                             const absl::Status& decoded);

// Whether the database keeps digests, from this catalog's commit on.
void SetDigests(bool on, v1::Catalog* catalog);

// The catalog of a database that holds nothing yet.
v1::Catalog EmptyCatalog();

// Changes `catalog` into what serves `wanted` by the rules of schema_change.h:
// adds the tables it lacks, with `add_indexes` the indexes, and takes over
// record types that have grown. True if anything was changed. InvalidArgument
// if `wanted` is not a valid schema, FailedPrecondition for a change that is
// not allowed.
absl::StatusOr<bool> MergeSchema(const v1::Schema& wanted, bool add_indexes,
                                 v1::Catalog* catalog);

}  // namespace dovetail
