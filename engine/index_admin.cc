// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/index_admin.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/index_build.h"
#include "engine/keyspace.h"
#include "engine/verifier.h"

namespace dovetail {
namespace {

// An index's place in a catalog.
struct IndexPlace {
  v1::CatalogTable* table;
  int position;
  v1::CatalogIndex& entry() const { return *table->mutable_indexes(position); }
};

absl::StatusOr<IndexPlace> FindPlace(v1::Catalog& catalog,
                                     std::string_view table,
                                     std::string_view index) {
  for (v1::CatalogTable& stored : *catalog.mutable_tables()) {
    if (stored.schema().name() != table) continue;
    for (int i = 0; i < stored.indexes_size(); ++i) {
      if (stored.indexes(i).name() == index) return IndexPlace{&stored, i};
    }
    return absl::NotFoundError(absl::StrCat(
        "no such index: table=", stored.schema().name(),
        " index=", Quote(index), " indexes=",
        absl::StrJoin(stored.indexes(), ",",
                      [](std::string* out, const v1::CatalogIndex& i) {
                        out->append(i.name());
                      })));
  }
  return absl::NotFoundError(
      absl::StrCat("no such table: table=", Quote(table)));
}

absl::Status WrongState(const v1::CatalogTable& table,
                        const v1::CatalogIndex& index) {
  return absl::FailedPreconditionError(absl::StrCat(
      "index is in another state: table=", table.schema().name(),
      " index=", index.name(),
      " state=", ToAbsl(IndexStateName(ToIndexState(index.state())))));
}

// Leaves the index's space to be emptied.
void GiveUpSpace(const IndexPlace& place, v1::Catalog* catalog) {
  v1::DroppedIndex& dropped = *catalog->add_dropped();
  dropped.set_table(place.table->schema().name());
  dropped.set_name(place.entry().name());
  *dropped.mutable_space() = place.entry().space();
}

// A new, empty space, to be built.
void TakeNewSpace(const IndexPlace& place, uint64_t fingerprint,
                  v1::Catalog* catalog) {
  v1::CatalogIndex& entry = place.entry();
  entry.mutable_space()->set_number(catalog->next_space());
  catalog->set_next_space(catalog->next_space() + 1);
  entry.set_state(v1::INDEX_BUILDING);
  entry.clear_reason();
  entry.set_fingerprint(fingerprint);
}

BuildProgress ToProgress(const v1::IndexBuild& build) {
  return {build.rows(), build.entries(), build.duplicates()};
}

std::string WhyNotUnique(const v1::IndexBuild& build) {
  return absl::StrCat("rows share values that the index wants unique: rows=",
                      build.duplicates(), " ",
                      absl::StrJoin(build.duplicate_samples(), "; "));
}

// The end of a build: readable, or, for `reason`, disabled.
absl::Status FinishBuild(Committer& committer, const BuildTarget& target,
                         std::string_view reason) {
  const auto body = [&](const SchemaState& schema,
                        SerialView& view) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    ASSIGN_OR_RETURN(const IndexPlace place,
                     FindPlace(catalog, target.table, target.index));
    v1::CatalogIndex& entry = place.entry();
    if (entry.state() != v1::INDEX_BUILDING ||
        entry.space().number() != target.space.number()) {
      return WrongState(*place.table, entry);
    }
    entry.set_state(reason.empty() ? v1::INDEX_READABLE : v1::INDEX_DISABLED);
    entry.set_reason(std::string(reason));
    view.overlay().Delete(BuildKey(SpaceId{target.space.number()}));
    return catalog;
  };
  return committer.ChangeCatalog(body);
}

absl::StatusOr<v1::IndexBuild> LoadBuild(Store& store, const v1::Space& space) {
  std::string bytes;
  ASSIGN_OR_RETURN(const bool found,
                   store.Get({}, BuildKey(SpaceId{space.number()}), &bytes));
  if (!found) return v1::IndexBuild();
  return ParseIndexBuild(bytes);
}

}  // namespace

IndexState ToIndexState(v1::IndexState state) {
  switch (state) {
    case v1::INDEX_HIDDEN:
      return IndexState::kHidden;
    case v1::INDEX_BUILDING:
      return IndexState::kBuilding;
    case v1::INDEX_DISABLED:
      return IndexState::kDisabled;
    case v1::INDEX_DROPPING:
      return IndexState::kDropping;
    default:
      return IndexState::kReadable;
  }
}

std::string_view IndexStateName(IndexState state) {
  switch (state) {
    case IndexState::kDisabled:
      return "disabled";
    case IndexState::kBuilding:
      return "building";
    case IndexState::kReadable:
      return "readable";
    case IndexState::kHidden:
      return "hidden";
    case IndexState::kDropping:
      return "dropping";
  }
  return "unknown";
}

v1::IndexSchema ValueIndex(std::string_view name, std::vector<Part> parts) {
  v1::IndexSchema index;
  index.set_name(std::string(name));
  for (const Part& part : parts) *index.add_parts() = part.proto();
  return index;
}

v1::IndexSchema UniqueIndex(std::string_view name, std::vector<Part> parts) {
  v1::IndexSchema index = ValueIndex(name, std::move(parts));
  index.set_kind(v1::IndexSchema::UNIQUE);
  return index;
}

IndexAdmin::IndexAdmin(Committer* committer, Store* store, const Limits* limits,
                       Clock* clock)
    : committer_(committer), store_(store), limits_(limits), clock_(clock) {}

IndexAdmin::~IndexAdmin() { Stop(); }

void IndexAdmin::StartBackgroundWork() {
  Wake();
  thread_ = std::thread([this] { BackgroundLoop(); });
}

void IndexAdmin::Stop() {
  {
    MutexLock lock(mu_);
    stopping_.store(true, std::memory_order_release);
  }
  wake_.SignalAll();
  if (thread_.joinable()) thread_.join();
  MutexLock nobody_builds(work_mu_);
}

void IndexAdmin::Wake() {
  MutexLock lock(mu_);
  work_to_do_ = true;
  wake_.SignalAll();
}

void IndexAdmin::Rest(std::chrono::microseconds time) {
  MutexLock lock(mu_);
  if (!stopping()) wake_.WaitFor(mu_, time);
}

absl::Status IndexAdmin::CheckRunning() const {
  if (!stopping()) return absl::OkStatus();
  return absl::FailedPreconditionError("engine is closed");
}

void IndexAdmin::BackgroundLoop() {
  while (true) {
    {
      MutexLock lock(mu_);
      while (!work_to_do_ && !stopping()) wake_.Wait(mu_);
      if (stopping()) return;
      work_to_do_ = false;
    }
    // What fails here fails for good or is tried again at the next change; the
    // state of each index says how it stands.
    WorkInBackground().IgnoreError();
  }
}

absl::Status IndexAdmin::WorkInBackground() {
  MutexLock lock(work_mu_);
  const auto schema = committer_->published()->schema;
  for (const TableState& table : schema->tables()) {
    for (size_t i = 0; i < table.indexes.size(); ++i) {
      if (table.state(i) != v1::INDEX_BUILDING) continue;
      const auto go_on = [this](const BuildProgress&) {
        return callers_.load(std::memory_order_acquire) == 0;
      };
      RETURN_IF_ERROR(BuildLocked(table.name(), table.indexes[i].name(),
                                  {.progress = go_on})
                          .status());
    }
  }
  return EmptyDropped();
}

absl::Status IndexAdmin::Add(std::string_view table,
                             const v1::IndexSchema& index) {
  RETURN_IF_ERROR(CheckRunning());
  const auto body = [&](const SchemaState& schema,
                        SerialView&) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    RETURN_IF_ERROR(AddIndex(table, index, &catalog));
    return catalog;
  };
  RETURN_IF_ERROR(committer_->ChangeCatalog(body));
  Wake();
  return absl::OkStatus();
}

absl::StatusOr<BuildReport> IndexAdmin::Build(std::string_view table,
                                              std::string_view index,
                                              const BuildOptions& options) {
  // The thread in the background makes way, so that this one can report.
  callers_.fetch_add(1, std::memory_order_acq_rel);
  absl::StatusOr<BuildReport> report;
  {
    MutexLock lock(work_mu_);
    callers_.fetch_sub(1, std::memory_order_acq_rel);
    report = BuildLocked(table, index, options);
  }
  Wake();
  return report;
}

absl::StatusOr<BuildReport> IndexAdmin::BuildLocked(
    std::string_view table, std::string_view index,
    const BuildOptions& options) {
  RETURN_IF_ERROR(CheckRunning());
  BuildTarget target;
  BuildReport report;
  for (bool anew = false;; anew = true) {
    const auto schema = committer_->published()->schema;
    ASSIGN_OR_RETURN(const TableState* state, schema->Find(table));
    ASSIGN_OR_RETURN(const int at, FindIndex(*state, index));
    if (at < 0) return absl::InvalidArgumentError("index has no name");
    report.state = ToIndexState(state->state(at));
    target = {std::string(table), std::string(index),
              state->indexes[at].space()};
    if (report.state != IndexState::kDisabled || anew) break;
    RETURN_IF_ERROR(StartAnew(table, index));
  }
  if (report.state != IndexState::kBuilding) return report;

  ASSIGN_OR_RETURN(v1::IndexBuild build, LoadBuild(*store_, target.space));
  report.resumed = build.rows() > 0;
  Pacer pacer(
      committer_, clock_, [this](auto time) { Rest(time); },
      options.rows_per_second_max);
  const absl::Status added = AddEntries(
      pacer, *limits_, target, &build, [&](const v1::IndexBuild& so_far) {
        return !stopping() &&
               (!options.progress || options.progress(ToProgress(so_far)));
      });
  report.done = ToProgress(build);
  report.duplicate_samples.assign(build.duplicate_samples().begin(),
                                  build.duplicate_samples().end());
  std::string reason;
  if (build.duplicates() > 0) reason = WhyNotUnique(build);
  if (!added.ok()) {
    // A row that has no entry stays so however often it is tried.
    if (!absl::IsDataLoss(added) && !absl::IsInvalidArgument(added)) {
      return added;
    }
    reason = std::string(added.message());
  }
  RETURN_IF_ERROR(FinishBuild(*committer_, target, reason));
  RETURN_IF_ERROR(added);
  report.state = reason.empty() ? IndexState::kReadable : IndexState::kDisabled;
  return report;
}

absl::Status IndexAdmin::StartAnew(std::string_view table,
                                   std::string_view index) {
  const auto body = [&](const SchemaState& schema,
                        SerialView&) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    ASSIGN_OR_RETURN(const IndexPlace place, FindPlace(catalog, table, index));
    if (place.entry().state() != v1::INDEX_DISABLED) {
      return WrongState(*place.table, place.entry());
    }
    ASSIGN_OR_RETURN(const TableState* state, schema.Find(table));
    GiveUpSpace(place, &catalog);
    TakeNewSpace(place, IndexFingerprint(*state->compiled, place.position),
                 &catalog);
    return catalog;
  };
  return committer_->ChangeCatalog(body);
}

absl::Status IndexAdmin::Move(std::string_view table, std::string_view index,
                              v1::IndexState from, v1::IndexState to) {
  RETURN_IF_ERROR(CheckRunning());
  const auto body = [&](const SchemaState& schema,
                        SerialView&) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    ASSIGN_OR_RETURN(const IndexPlace place, FindPlace(catalog, table, index));
    if (place.entry().state() != from) {
      return WrongState(*place.table, place.entry());
    }
    place.entry().set_state(to);
    return catalog;
  };
  return committer_->ChangeCatalog(body);
}

absl::Status IndexAdmin::Hide(std::string_view table, std::string_view index) {
  return Move(table, index, v1::INDEX_READABLE, v1::INDEX_HIDDEN);
}

absl::Status IndexAdmin::Show(std::string_view table, std::string_view index) {
  return Move(table, index, v1::INDEX_HIDDEN, v1::INDEX_READABLE);
}

absl::Status IndexAdmin::Drop(std::string_view table, std::string_view index) {
  RETURN_IF_ERROR(CheckRunning());
  const auto body = [&](const SchemaState& schema,
                        SerialView&) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    ASSIGN_OR_RETURN(const IndexPlace place, FindPlace(catalog, table, index));
    if (place.table->schema().identity() == index) {
      return absl::FailedPreconditionError(absl::StrCat(
          "index is the identity of its table: table=",
          place.table->schema().name(), " index=", place.entry().name()));
    }
    GiveUpSpace(place, &catalog);
    place.table->mutable_schema()->mutable_indexes()->DeleteSubrange(
        place.position, 1);
    place.table->mutable_indexes()->DeleteSubrange(place.position, 1);
    return catalog;
  };
  RETURN_IF_ERROR(committer_->ChangeCatalog(body));
  Wake();
  return absl::OkStatus();
}

absl::Status IndexAdmin::EmptyDropped() {
  const auto schema = committer_->published()->schema;
  for (const v1::DroppedIndex& dropped : schema->catalog().dropped()) {
    Pacer pacer(
        committer_, clock_, [this](auto time) { Rest(time); }, 0);
    RETURN_IF_ERROR(DeleteEntries(pacer, dropped.space(), [this] {
      return !stopping() && callers_.load(std::memory_order_acquire) == 0;
    }));
    const auto body = [&](const SchemaState& now,
                          SerialView& view) -> absl::StatusOr<v1::Catalog> {
      v1::Catalog catalog = now.catalog();
      auto& all = *catalog.mutable_dropped();
      all.erase(std::remove_if(all.begin(), all.end(),
                               [&](const v1::DroppedIndex& d) {
                                 return d.space().number() ==
                                        dropped.space().number();
                               }),
                all.end());
      // Of a build that was not finished.
      view.overlay().Delete(BuildKey(SpaceId{dropped.space().number()}));
      return catalog;
    };
    RETURN_IF_ERROR(committer_->ChangeCatalog(body));
    const std::string prefix = SpacePrefix(SpaceId{dropped.space().number()});
    store_->Compact(prefix, PrefixEnd(prefix));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<IndexInfo>> IndexAdmin::List() const {
  const auto schema = committer_->published()->schema;
  const auto size = [this](const v1::Space& space) {
    const std::string prefix = SpacePrefix(SpaceId{space.number()});
    return store_->ApproximateSize(prefix, PrefixEnd(prefix));
  };
  std::vector<IndexInfo> list;
  for (const TableState& table : schema->tables()) {
    for (size_t i = 0; i < table.indexes.size(); ++i) {
      const v1::CatalogIndex& entry = table.indexes[i];
      IndexInfo& info = list.emplace_back();
      info.table = table.name();
      info.index = entry.name();
      info.state = ToIndexState(entry.state());
      info.unique = table.compiled->indexes()[i].unique();
      info.kind = table.compiled->indexes()[i].kind();
      info.reason = entry.reason();
      info.bytes_on_disk = size(entry.space());
      if (info.state != IndexState::kBuilding) continue;
      ASSIGN_OR_RETURN(const v1::IndexBuild build,
                       LoadBuild(*store_, entry.space()));
      info.rows_built = build.rows();
      info.duplicates = build.duplicates();
    }
  }
  for (const v1::DroppedIndex& dropped : schema->catalog().dropped()) {
    IndexInfo& info = list.emplace_back();
    info.table = dropped.table();
    info.index = dropped.name();
    info.state = IndexState::kDropping;
    info.bytes_on_disk = size(dropped.space());
  }
  return list;
}

absl::StatusOr<std::optional<v1::Catalog>> CheckFingerprints(
    std::shared_ptr<Store> store, std::shared_ptr<const SchemaState> schema,
    SequenceNumber sequence) {
  std::optional<v1::Catalog> changed;
  internal::PublishedState state;
  state.store = store;
  state.snapshot = store->GetSnapshot();
  state.schema = schema;
  state.sequence = sequence;
  for (int t = 0; t < static_cast<int>(schema->tables().size()); ++t) {
    const TableState& table = schema->tables()[t];
    for (int i = 0; i < static_cast<int>(table.indexes.size()); ++i) {
      const uint64_t now = IndexFingerprint(*table.compiled, i);
      const v1::CatalogIndex& stored = table.indexes[i];
      if (stored.fingerprint() == now || stored.state() == v1::INDEX_DISABLED) {
        continue;
      }
      if (!changed.has_value()) changed = schema->catalog();
      const IndexPlace place{changed->mutable_tables(t), i};
      if (stored.state() == v1::INDEX_BUILDING) {
        GiveUpSpace(place, &*changed);
        TakeNewSpace(place, now, &*changed);
        continue;
      }
      const VerifyOptions options;
      ASSIGN_OR_RETURN(const std::optional<Finding> difference,
                       Verifier(state, options).FirstDifference(table, i));
      place.entry().set_fingerprint(now);
      if (!difference.has_value()) continue;
      place.entry().set_state(v1::INDEX_DISABLED);
      place.entry().set_reason(absl::StrCat(
          "its definition makes other entries than it holds, first: ",
          difference->detail, " row_key=", Quote(difference->row_key)));
    }
  }
  return changed;
}

}  // namespace dovetail
