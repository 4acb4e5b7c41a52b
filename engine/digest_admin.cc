// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Turning digests on, while writers go on:
//
//   serial section   takes a snapshot, and begins to collect what changes
//   outside          sums up the snapshot, in one pass
//   serial section   adds the two, and commits them with the catalog's word
//                    that digests are kept
//
// Sums commute, so the two meet in the state of the last step. A process that
// ends in between has changed nothing.

#include "engine/digest_admin.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/digest_keeper.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"

namespace dovetail {
namespace {

// What the first step leaves for the second.
struct Base {
  std::unique_ptr<StoreSnapshot> snapshot;
  std::shared_ptr<const SchemaState> schema;
  // By space, how far the build of an index had come.
  absl::flat_hash_map<uint32_t, std::string> built;
};

absl::StatusOr<SpaceSum> SumRows(Store& store, const StoreReadOptions& read,
                                 const TableState& table) {
  const SpaceHasher hasher(table.name(), {});
  const std::string& prefix = table.rows_prefix;
  SpaceSum sum;
  const auto it = store.NewIterator(read);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    const std::string_view key = it->key().substr(prefix.size());
    const absl::StatusOr<StoredRow> row = DecodeRow(it->value());
    if (!row.ok()) {
      return absl::DataLossError(absl::StrCat(
          row.status().message(), "; run verify: table=", table.name(),
          " row_key=", Quote(key)));
    }
    sum += hasher.Of(key, row->record);
  }
  RETURN_IF_ERROR(it->status());
  return sum;
}

// Of an index that is being built (`built` is not null), the entries of rows up
// to that key; of groups all, which are of no other rows.
absl::StatusOr<SpaceSum> SumEntries(Store& store, const StoreReadOptions& read,
                                    const TableState& table, size_t index,
                                    const std::string* built) {
  const SpaceHasher hasher(table.name(), table.indexes[index].name());
  const std::string& prefix = table.entry_prefixes[index];
  SpaceSum sum;
  if (table.compiled->indexes()[index].aggregates()) built = nullptr;
  std::string row_key;
  const auto it = store.NewIterator(read);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    const std::string_view key = it->key().substr(prefix.size());
    if (built != nullptr) {
      const absl::Status decoded =
          table.compiled->indexes()[index].RowKeyOf(key, it->value(), &row_key);
      if (!decoded.ok() || row_key > *built) continue;
    }
    sum += hasher.Of(key, it->value());
  }
  RETURN_IF_ERROR(it->status());
  return sum;
}

absl::StatusOr<SpaceSums> SumAll(Store& store, const Base& base) {
  StoreReadOptions read;
  read.snapshot = base.snapshot.get();
  read.fill_cache = false;
  SpaceSums sums;
  for (int t = 0; t < static_cast<int>(base.schema->tables().size()); ++t) {
    const TableState& table = base.schema->tables()[static_cast<size_t>(t)];
    const uint32_t rows = base.schema->catalog().tables(t).rows().number();
    ASSIGN_OR_RETURN(sums[rows], SumRows(store, read, table));
    for (size_t i = 0; i < table.indexes.size(); ++i) {
      if (table.state(i) == v1::INDEX_DISABLED) continue;
      const uint32_t space = table.indexes[i].space().number();
      const auto built = base.built.find(space);
      ASSIGN_OR_RETURN(
          sums[space],
          SumEntries(store, read, table, i,
                     built == base.built.end() ? nullptr : &built->second));
    }
  }
  return sums;
}

absl::Status Off() {
  return absl::FailedPreconditionError(
      "the database keeps no digests; enable them first");
}

}  // namespace

absl::StatusOr<DigestReport> DigestOf(const internal::PublishedState& state) {
  StoreReadOptions read;
  read.snapshot = state.snapshot.get();
  if (!state.schema->catalog().digests()) return Off();
  ASSIGN_OR_RETURN(const StoredDigests stored,
                   ReadDigests(*state.store, read, *state.schema));
  DigestReport report;
  report.sequence = state.sequence;
  for (size_t t = 0; t < stored.size(); ++t) {
    const TableState& table = state.schema->tables()[t];
    for (size_t i = 0; i < stored[t].size(); ++i) {
      if (i > 0 && !table.Follows(i - 1)) continue;
      report.spaces.push_back({table.name(),
                               i == 0 ? "" : table.indexes[i - 1].name(),
                               stored[t][i]->count, stored[t][i]->sum});
    }
  }
  return report;
}

absl::Status EnableDigests(Committer& committer, Store& store) {
  Base base;
  const auto begin = [&](const SchemaState& now,
                         SerialView& view) -> absl::Status {
    if (now.catalog().digests()) {
      return absl::AlreadyExistsError("the database keeps digests already");
    }
    ASSIGN_OR_RETURN(base.built, view.digests().Collect());
    base.schema = committer.published()->schema;
    base.snapshot = store.GetSnapshot();
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(committer.CheckWritable());
  RETURN_IF_ERROR(committer.RunMaintenance(begin, Committer::Leaves::kNothing));

  const auto end = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const SpaceSums before, SumAll(store, base));
    const auto body = [&](const SchemaState& now,
                          SerialView& view) -> absl::StatusOr<v1::Catalog> {
      RETURN_IF_ERROR(view.digests().Finish(before));
      v1::Catalog catalog = now.catalog();
      SetDigests(true, &catalog);
      return catalog;
    };
    return committer.ChangeCatalog(body);
  };
  const absl::Status status = end();
  if (status.ok()) return status;
  const auto give_up = [](const SchemaState&, SerialView& view) {
    view.digests().GiveUp();
    return absl::OkStatus();
  };
  // Fails only where the engine is closed, or can write no more.
  committer.RunMaintenance(give_up, Committer::Leaves::kNothing).IgnoreError();
  return status;
}

absl::Status DisableDigests(Committer& committer) {
  const auto body = [](const SchemaState& now,
                       SerialView& view) -> absl::StatusOr<v1::Catalog> {
    if (!now.catalog().digests()) return Off();
    v1::Catalog catalog = now.catalog();
    SetDigests(false, &catalog);
    for (const v1::CatalogTable& table : catalog.tables()) {
      view.overlay().Delete(DigestKey(SpaceId{table.rows().number()}));
    }
    return catalog;
  };
  return committer.ChangeCatalog(body);
}

}  // namespace dovetail
