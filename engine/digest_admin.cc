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
};

// Calls `add(key, value)` for everything in a space.
template <typename Add>
absl::Status ForEach(Store& store, const StoreReadOptions& read,
                     const std::string& prefix, Add add) {
  const auto it = store.NewIterator(read);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    RETURN_IF_ERROR(add(it->key().substr(prefix.size()), it->value()));
  }
  return it->status();
}

absl::StatusOr<SpaceSum> SumRows(Store& store, const StoreReadOptions& read,
                                 const TableState& table) {
  const SpaceHasher hasher(table.name(), {});
  SpaceSum sum;
  const auto add = [&](std::string_view key,
                       std::string_view value) -> absl::Status {
    const absl::StatusOr<StoredRow> row = DecodeRow(value);
    if (!row.ok()) {
      return absl::DataLossError(absl::StrCat(
          row.status().message(), "; run verify: table=", table.name(),
          " row_key=", Quote(key)));
    }
    sum += hasher.Of(key, row->record);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ForEach(store, read, table.rows_prefix, add));
  return sum;
}

absl::StatusOr<SpaceSum> SumEntries(Store& store, const StoreReadOptions& read,
                                    const TableState& table, size_t index) {
  const SpaceHasher hasher(table.name(), table.indexes[index].name());
  SpaceSum sum;
  const auto add = [&](std::string_view key, std::string_view value) {
    sum += hasher.Of(key, value);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ForEach(store, read, table.entry_prefixes[index], add));
  return sum;
}

absl::StatusOr<RowSums> SumAll(Store& store, const Base& base) {
  StoreReadOptions read;
  read.snapshot = base.snapshot.get();
  read.fill_cache = false;
  RowSums sums;
  for (int t = 0; t < static_cast<int>(base.schema->tables().size()); ++t) {
    const uint32_t space = base.schema->catalog().tables(t).rows().number();
    ASSIGN_OR_RETURN(
        sums[space],
        SumRows(store, read, base.schema->tables()[static_cast<size_t>(t)]));
  }
  return sums;
}

absl::Status Off() {
  return absl::FailedPreconditionError(
      "the database keeps no digests; enable them first");
}

}  // namespace

absl::StatusOr<DigestReport> DigestOf(const internal::PublishedState& state,
                                      const DigestOptions& options) {
  StoreReadOptions read;
  read.snapshot = state.snapshot.get();
  if (!state.schema->catalog().digests()) return Off();
  ASSIGN_OR_RETURN(const std::vector<SpaceSum> rows,
                   ReadDigests(*state.store, read, *state.schema));
  read.fill_cache = false;
  DigestReport report;
  report.sequence = state.sequence;
  for (size_t t = 0; t < rows.size(); ++t) {
    const TableState& table = state.schema->tables()[t];
    report.spaces.push_back({table.name(), {}, rows[t].count, rows[t].sum});
    if (!options.indexes) continue;
    for (size_t i = 0; i < table.indexes.size(); ++i) {
      if (!table.Follows(i)) continue;
      ASSIGN_OR_RETURN(const SpaceSum sum,
                       SumEntries(*state.store, read, table, i));
      report.spaces.push_back(
          {table.name(), table.indexes[i].name(), sum.count, sum.sum});
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
    RETURN_IF_ERROR(view.digests().Collect());
    base.schema = committer.published()->schema;
    base.snapshot = store.GetSnapshot();
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(committer.CheckWritable());
  RETURN_IF_ERROR(committer.RunMaintenance(begin, Committer::Leaves::kNothing));

  const auto end = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const RowSums before, SumAll(store, base));
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
