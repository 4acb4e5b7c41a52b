// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/schema_state.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "engine/row_format.h"
#include "index/schema_compare.h"

namespace dovetail {
namespace {

std::string PrefixOf(const v1::Space& space) {
  return SpacePrefix(SpaceId{space.number()});
}

absl::Status Contradiction(std::string_view table, std::string_view what) {
  return absl::DataLossError(absl::StrCat(
      "catalog contradicts itself: table=", ToAbsl(table), ": ", ToAbsl(what)));
}

// The counters of the space with this prefix, if `before` has it.
std::shared_ptr<EntryCounters> CountersOf(const SchemaState* before,
                                          const std::string& prefix) {
  if (before != nullptr) {
    for (const TableState& table : before->tables()) {
      for (size_t i = 0; i < table.counters.size(); ++i) {
        if (table.prefix(static_cast<int>(i) - 1) == prefix) {
          return table.counters[i];
        }
      }
    }
  }
  return std::make_shared<EntryCounters>();
}

absl::StatusOr<TableState> StateOf(const v1::CatalogTable& stored,
                                   const SchemaState* before) {
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
  table.counters.push_back(CountersOf(before, table.rows_prefix));
  const ChangeOrder* const order = table.compiled->change_order();
  if (order != nullptr && order->remembers_deletes()) {
    if (stored.deletes().kind() != v1::DELETE_LEDGER) {
      return Contradiction(table.name(), "its deletes have no space");
    }
    table.deletes_prefix = PrefixOf(stored.deletes());
  }
  for (size_t i = 0; i < indexes.size(); ++i) {
    const v1::CatalogIndex& index = stored.indexes(static_cast<int>(i));
    if (index.name() != indexes[i].name() ||
        index.space().kind() != v1::INDEX_ENTRIES) {
      return Contradiction(table.name(), "an index has no space of its own");
    }
    if (!v1::IndexState_IsValid(index.state()) ||
        index.state() == v1::INDEX_DROPPING) {
      return Contradiction(table.name(), "an index is in no state");
    }
    table.entry_prefixes.push_back(PrefixOf(index.space()));
    table.indexes.push_back(index);
    table.counters.push_back(CountersOf(before, table.entry_prefixes.back()));
  }
  return table;
}

void TakeSpace(v1::SpaceKind kind, v1::Catalog* catalog, v1::Space* space) {
  space->set_number(catalog->next_space());
  space->set_kind(kind);
  catalog->set_next_space(catalog->next_space() + 1);
}

void AddTable(const CompiledTable& table, v1::Catalog* catalog) {
  v1::CatalogTable& stored = *catalog->add_tables();
  *stored.mutable_schema() = table.schema();
  TakeSpace(v1::ROWS, catalog, stored.mutable_rows());
  for (size_t i = 0; i < table.indexes().size(); ++i) {
    v1::CatalogIndex& index = *stored.add_indexes();
    index.set_name(table.indexes()[i].name());
    TakeSpace(v1::INDEX_ENTRIES, catalog, index.mutable_space());
    index.set_fingerprint(IndexFingerprint(table, static_cast<int>(i)));
  }
  if (table.change_order() != nullptr &&
      table.change_order()->remembers_deletes()) {
    TakeSpace(v1::DELETE_LEDGER, catalog, stored.mutable_deletes());
  }
}

// Raised whenever the same declaration and record begin to make other entries:
// by a change of the key codec, a hash, or what the extractor reads.
constexpr uint32_t kEntryFunctions = 1;

absl::Status NotReadable(const TableState& table, int index) {
  std::string_view why = "is hidden; show it first";
  switch (table.state(index)) {
    case v1::INDEX_BUILDING:
      why = "is being built; wait until it is readable";
      break;
    case v1::INDEX_DISABLED:
      why = "is disabled; see to the reason, then build it anew";
      break;
    default:
      break;
  }
  const std::string& reason = table.indexes[index].reason();
  return absl::FailedPreconditionError(absl::StrCat(
      "index ", ToAbsl(why), ": table=", table.name(), " index=",
      table.indexes[index].name(), reason.empty() ? "" : " reason=", reason));
}

bool IsOfFormat1(const v1::IndexSchema& index) {
  return index.kind() <= v1::IndexSchema::UNIQUE && index.covering().empty() &&
         index.predicate().empty() && index.fan_out().empty();
}

// The least that has all of the catalog.
uint32_t FormatVersionOf(const v1::Catalog& catalog) {
  for (const v1::CatalogTable& table : catalog.tables()) {
    for (const v1::IndexSchema& index : table.schema().indexes()) {
      if (!IsOfFormat1(index)) return kFormatVersionWithIndexKinds;
    }
  }
  return catalog.digests() ? kFormatVersionWithDigests : kFormatVersion;
}

// Whether the record type has only grown: what the database has of it is all
// there, so that taking the new one over loses nothing.
bool HasGrown(const std::vector<SchemaChange>& changes) {
  const auto is = [](const SchemaChange& change, std::string_view rule) {
    return change.rule->name == rule;
  };
  const auto adds = [&](const SchemaChange& c) {
    return is(c, "field-added") || is(c, "enum-value-added") ||
           is(c, "field-renamed") || is(c, "field-type-widened") ||
           is(c, "field-presence-changed") || is(c, "required-removed");
  };
  const auto takes = [&](const SchemaChange& c) {
    return is(c, "field-removed") || is(c, "enum-value-removed");
  };
  return std::any_of(changes.begin(), changes.end(), adds) &&
         std::none_of(changes.begin(), changes.end(), takes);
}

absl::StatusOr<bool> MergeTable(const CompiledTable& wanted, bool add_indexes,
                                v1::CatalogTable* stored,
                                v1::Catalog* catalog) {
  ASSIGN_OR_RETURN(const auto have, CompiledTable::Compile(stored->schema()));
  std::vector<SchemaChange> changes = CompareTables(*have, wanted);
  bool changed = HasGrown(changes);
  if (changed) {
    *stored->mutable_schema()->mutable_descriptors() =
        wanted.schema().descriptors();
  }
  if (add_indexes) {
    std::vector<SchemaChange> rest;
    for (SchemaChange& change : changes) {
      if (change.rule->verdict != SchemaVerdict::kNeedsOption) {
        rest.push_back(std::move(change));
      }
    }
    changes = std::move(rest);
  }
  RETURN_IF_ERROR(CheckAllowed(changes));
  for (const v1::IndexSchema& index : wanted.schema().indexes()) {
    if (have->FindIndex(ToStd(index.name())) >= 0) continue;
    RETURN_IF_ERROR(AddIndex(wanted.name(), index, catalog));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SchemaState>> SchemaState::FromCatalog(
    v1::Catalog catalog, const SchemaState* before) {
  if (catalog.format_version() < kFormatVersion ||
      catalog.format_version() > kFormatVersionWithIndexKinds) {
    return absl::FailedPreconditionError(absl::StrCat(
        "database has a format that this program does not know: format=",
        catalog.format_version(), " known=", kFormatVersion, ",",
        kFormatVersionWithDigests, ",", kFormatVersionWithIndexKinds,
        "; open it with the release that wrote it"));
  }
  if (catalog.format_version() < FormatVersionOf(catalog)) {
    return absl::DataLossError(
        "catalog contradicts itself: digests or indexes are not of its format "
        "version");
  }
  auto state = std::make_shared<SchemaState>();
  for (const v1::CatalogTable& stored : catalog.tables()) {
    ASSIGN_OR_RETURN(TableState table, StateOf(stored, before));
    table.schema_version = catalog.schema_version();
    if (table.rows_prefix.size() == 1) {
      state->row_bytes_.set(static_cast<uint8_t>(table.rows_prefix[0]));
    }
    state->tables_.push_back(std::move(table));
  }
  if (catalog.has_feed()) {
    if (catalog.feed().space().kind() != v1::CHANGE_FEED) {
      return absl::DataLossError(
          "catalog contradicts itself: the change feed has no space");
    }
    state->feed_prefix_ = PrefixOf(catalog.feed().space());
  }
  state->catalog_ = std::move(catalog);
  return std::shared_ptr<const SchemaState>(std::move(state));
}

v1::Schema SchemaOf(const SchemaState& state) {
  v1::Schema schema;
  for (const TableState& table : state.tables()) {
    *schema.add_tables() = table.compiled->schema();
  }
  return schema;
}

uint64_t SchemaFingerprint(const v1::Schema& schema) {
  const std::string bytes = schema.SerializeAsString();
  return XXH3_64bits(bytes.data(), bytes.size());
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

bool SchemaState::IsRowKey(std::string_view key) const {
  if (key.empty()) return false;
  if (row_bytes_.test(static_cast<uint8_t>(key[0]))) return true;
  // Only prefixes of several bytes begin so high; see AppendSpacePrefix.
  return static_cast<uint8_t>(key[0]) >= 0xF0 &&
         std::any_of(tables_.begin(), tables_.end(),
                     [key](const TableState& table) {
                       return key.starts_with(table.rows_prefix);
                     });
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

absl::StatusOr<int> FindReadableIndex(const TableState& table,
                                      std::string_view index) {
  ASSIGN_OR_RETURN(const int at, FindIndex(table, index));
  if (at < 0) return at;
  if (table.compiled->indexes()[at].aggregates()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "index counts rows and leads to none; use Aggregate or ForEachGroup: "
        "table=",
        table.name(), " index=", table.indexes[at].name()));
  }
  if (table.state(at) == v1::INDEX_READABLE) return at;
  return NotReadable(table, at);
}

absl::StatusOr<int> FindCountingIndex(const TableState& table,
                                      std::string_view index) {
  ASSIGN_OR_RETURN(const int at, FindIndex(table, index));
  if (at < 0 || !table.compiled->indexes()[at].aggregates()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "only COUNT and SUM indexes have groups: table=", table.name(),
        " index=", at < 0 ? "(row key)" : table.indexes[at].name()));
  }
  if (table.state(at) == v1::INDEX_READABLE) return at;
  return NotReadable(table, at);
}

uint64_t IndexFingerprint(const CompiledTable& table, int index) {
  std::string all;
  const auto add = [&all](std::string_view piece) {
    AppendVarint(piece.size(), &all);
    all.append(piece);
  };
  AppendVarint(kEntryFunctions, &all);
  const v1::IndexSchema& schema = table.schema().indexes(index);
  add(v1::IndexSchema::Kind_Name(schema.kind()));
  const auto add_field = [&](const std::string& path) {
    for (const FieldInfo& field : table.fields()) {
      if (field.path != path) continue;
      add(FieldTypeName(field.type));
      AppendVarint(field.nullable ? 1 : 0, &all);
      for (const int n : field.numbers) AppendVarint(n, &all);
    }
  };
  const auto add_parts = [&](const auto& parts) {
    AppendVarint(parts.size(), &all);
    for (const v1::KeyPart& part : parts) {
      add(ToStd(part.ShortDebugString()));
      for (const std::string& path : part.fields()) add_field(path);
    }
  };
  add_parts(schema.parts());
  add_parts(table.schema().row_key().parts());
  // What follows is nothing for indexes that have none of it.
  for (const v1::IndexSchema::Test& test : schema.predicate()) {
    add(ToStd(test.ShortDebugString()));
    add_field(test.field());
  }
  for (const std::string& path : schema.covering()) {
    add(path);
    add_field(path);
  }
  if (!schema.sum().empty()) add_field(schema.sum());
  if (!schema.fan_out().empty()) {
    add(schema.fan_out());
    AppendVarint(schema.fan_out_max(), &all);
  }
  return XXH3_64bits(all.data(), all.size());
}

absl::Status AddIndex(std::string_view table, const v1::IndexSchema& index,
                      v1::Catalog* catalog) {
  for (v1::CatalogTable& stored : *catalog->mutable_tables()) {
    if (stored.schema().name() != table) continue;
    for (const v1::IndexSchema& other : stored.schema().indexes()) {
      if (other.name() == index.name()) {
        return absl::AlreadyExistsError(absl::StrCat(
            "table has an index of that name: table=", stored.schema().name(),
            " index=", index.name()));
      }
    }
    *stored.mutable_schema()->add_indexes() = index;
    // The whole table, so that every limit and rule applies.
    ASSIGN_OR_RETURN(const auto compiled,
                     CompiledTable::Compile(stored.schema()));
    v1::CatalogIndex& entry = *stored.add_indexes();
    entry.set_name(index.name());
    TakeSpace(v1::INDEX_ENTRIES, catalog, entry.mutable_space());
    entry.set_state(v1::INDEX_BUILDING);
    entry.set_fingerprint(
        IndexFingerprint(*compiled, stored.indexes_size() - 1));
    catalog->set_format_version(FormatVersionOf(*catalog));
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrCat("no such table: table=", Quote(table)));
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

void SetDigests(bool on, v1::Catalog* catalog) {
  catalog->set_digests(on);
  catalog->set_format_version(FormatVersionOf(*catalog));
}

v1::Catalog EmptyCatalog() {
  v1::Catalog catalog;
  catalog.set_format_version(kFormatVersion);
  catalog.set_schema_version(0);
  catalog.set_next_space(static_cast<uint32_t>(kFirstTableSpace));
  return catalog;
}

absl::StatusOr<bool> MergeSchema(const v1::Schema& wanted, bool add_indexes,
                                 v1::Catalog* catalog) {
  bool changed = false;
  for (const v1::TableSchema& schema : wanted.tables()) {
    ASSIGN_OR_RETURN(const auto compiled, CompiledTable::Compile(schema));
    v1::CatalogTable* stored = nullptr;
    for (v1::CatalogTable& table : *catalog->mutable_tables()) {
      if (table.schema().name() == schema.name()) stored = &table;
    }
    if (stored != nullptr) {
      ASSIGN_OR_RETURN(const bool more,
                       MergeTable(*compiled, add_indexes, stored, catalog));
      changed |= more;
      continue;
    }
    if (static_cast<size_t>(catalog->tables_size()) >= kTablesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("too many tables: max=", kTablesMax));
    }
    AddTable(*compiled, catalog);
    catalog->set_format_version(FormatVersionOf(*catalog));
    changed = true;
  }
  if (changed) catalog->set_schema_version(catalog->schema_version() + 1);
  return changed;
}

}  // namespace dovetail
