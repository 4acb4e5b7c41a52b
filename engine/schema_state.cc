// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/schema_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "engine/row_format.h"

namespace dovetail {
namespace {

std::string PrefixOf(const v1::Space& space) {
  return SpacePrefix(SpaceId{space.number()});
}

absl::Status Contradiction(std::string_view table, std::string_view what) {
  return absl::DataLossError(absl::StrCat(
      "catalog contradicts itself: table=", ToAbsl(table), ": ", ToAbsl(what)));
}

absl::StatusOr<TableState> StateOf(const v1::CatalogTable& stored) {
  TableState table;
  ASSIGN_OR_RETURN(table.compiled, CompiledTable::Compile(stored.schema()));
  const std::vector<IndexDefinition>& indexes = table.compiled->indexes();
  if (static_cast<size_t>(stored.indexes_size()) != indexes.size()) {
    return Contradiction(table.name(), "indexes and spaces differ in number");
  }
  if (stored.rows().kind() != v1::ROWS) {
    return Contradiction(table.name(), "rows are in a space of another kind");
  }
  table.rows_prefix = PrefixOf(stored.rows());
  for (size_t i = 0; i < indexes.size(); ++i) {
    const v1::CatalogIndex& index = stored.indexes(static_cast<int>(i));
    if (index.name() != indexes[i].name() ||
        index.space().kind() != v1::INDEX_ENTRIES) {
      return Contradiction(table.name(), "an index has no space of its own");
    }
    table.entry_prefixes.push_back(PrefixOf(index.space()));
  }
  table.counters = std::make_unique<EntryCounters[]>(indexes.size() + 1);
  return table;
}

void AddTable(const v1::TableSchema& schema, v1::Catalog* catalog) {
  const auto take = [catalog](v1::SpaceKind kind, v1::Space* space) {
    space->set_number(catalog->next_space());
    space->set_kind(kind);
    catalog->set_next_space(catalog->next_space() + 1);
  };
  v1::CatalogTable& table = *catalog->add_tables();
  *table.mutable_schema() = schema;
  take(v1::ROWS, table.mutable_rows());
  for (const v1::IndexSchema& index : schema.indexes()) {
    v1::CatalogIndex& entry = *table.add_indexes();
    entry.set_name(index.name());
    take(v1::INDEX_ENTRIES, entry.mutable_space());
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SchemaState>> SchemaState::FromCatalog(
    v1::Catalog catalog) {
  if (catalog.format_version() != kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "database has a format that this program does not know: format=",
        catalog.format_version(), " known=", kFormatVersion,
        "; open it with the release that wrote it"));
  }
  auto state = std::make_shared<SchemaState>();
  for (const v1::CatalogTable& stored : catalog.tables()) {
    ASSIGN_OR_RETURN(TableState table, StateOf(stored));
    state->tables_.push_back(std::move(table));
  }
  state->catalog_ = std::move(catalog);
  return std::shared_ptr<const SchemaState>(std::move(state));
}

// Tables are few and names short: a scan beats hashing the name.
absl::StatusOr<const TableState*> SchemaState::Find(
    std::string_view name) const {
  for (const TableState& table : tables_) {
    if (table.name() == name) return &table;
  }
  return absl::NotFoundError(absl::StrCat(
      "no such table: table=", Quote(name), " tables=",
      absl::StrJoin(tables_, ",", [](std::string* out, const TableState& t) {
        out->append(t.name());
      })));
}

absl::StatusOr<int> FindIndex(const TableState& table, std::string_view index) {
  if (index.empty()) return -1;
  const int at = table.compiled->FindIndex(index);
  if (at >= 0) return at;
  return absl::NotFoundError(absl::StrCat(
      "no such index: table=", table.name(), " index=", Quote(index),
      " indexes=",
      absl::StrJoin(table.compiled->indexes(), ",",
                    [](std::string* out, const IndexDefinition& i) {
                      out->append(i.name());
                    })));
}

absl::Status EntryWithoutRow(const TableState& table, int index,
                             std::string_view entry_key,
                             const absl::Status& decoded) {
  return absl::DataLossError(
      absl::StrCat(decoded.ok() ? "index entry has no row" : decoded.message(),
                   "; run verify and repair: table=", table.name(),
                   " index=", table.compiled->indexes()[index].name(),
                   " entry_key=", Quote(entry_key)));
}

v1::Catalog EmptyCatalog() {
  v1::Catalog catalog;
  catalog.set_format_version(kFormatVersion);
  catalog.set_schema_version(0);
  catalog.set_next_space(static_cast<uint32_t>(kFirstTableSpace));
  return catalog;
}

absl::StatusOr<bool> MergeSchema(const v1::Schema& wanted,
                                 v1::Catalog* catalog) {
  bool added = false;
  for (const v1::TableSchema& schema : wanted.tables()) {
    ASSIGN_OR_RETURN(const auto compiled, CompiledTable::Compile(schema));
    const v1::CatalogTable* stored = nullptr;
    for (const v1::CatalogTable& table : catalog->tables()) {
      if (table.schema().name() == schema.name()) stored = &table;
    }
    if (stored != nullptr) {
      ASSIGN_OR_RETURN(const auto have,
                       CompiledTable::Compile(stored->schema()));
      RETURN_IF_ERROR(CheckCompatible(*have, *compiled));
      continue;
    }
    if (static_cast<size_t>(catalog->tables_size()) >= kTablesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("too many tables: max=", kTablesMax));
    }
    AddTable(schema, catalog);
    added = true;
  }
  if (added) catalog->set_schema_version(catalog->schema_version() + 1);
  return added;
}

}  // namespace dovetail
