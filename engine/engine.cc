// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/engine.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/async_queue.h"
#include "engine/backup.h"
#include "engine/change_feed.h"
#include "engine/checkpoint.h"
#include "engine/committer.h"
#include "engine/digest_admin.h"
#include "engine/digest_keeper.h"
#include "engine/disk_guard.h"
#include "engine/group_reader.h"
#include "engine/held_snapshots.h"
#include "engine/index_admin.h"
#include "engine/known_keys.h"
#include "engine/live_keeper.h"
#include "engine/query/query_service.h"
#include "engine/reader.h"
#include "engine/reclaimer.h"
#include "engine/recorder.h"
#include "engine/region_admin.h"
#include "engine/repair.h"
#include "engine/row_cache.h"
#include "engine/row_format.h"
#include "engine/schema_state.h"
#include "engine/storage/store.h"
#include "engine/store_options.h"
#include "engine/verifier.h"
#include "observers/observer_chain.h"

namespace dovetail {
namespace {

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& path,
                                                 const Options& options,
                                                 Recorder* recorder,
                                                 StoreOpenReport* report) {
  if (options.in_memory && options.read_only) {
    return absl::InvalidArgumentError(
        "an engine in memory begins empty, so it cannot be read-only");
  }
  if (options.in_memory) {
    report->created = true;
    return NewMemoryStore();
  }
  LevelDbStoreOptions store = MakeStoreOptions(options, options.file_system);
  store.before_sync = [recorder] { return recorder->Sync(); };
  store.keep_up_to = [&](const LevelDbStoreOptions::Found& found) {
    return recorder->Open(found, options.write_log, options.read_only);
  };
  return OpenLevelDbStore(path, store, report);
}

struct Loaded {
  std::shared_ptr<const SchemaState> schema;
  CommitMark mark;
};

// What a read-only engine finds missing.
absl::Status CheckNothingToAdd(bool found, bool changed) {
  if (!found) {
    return absl::NotFoundError("there is no database: its creation was cut");
  }
  if (!changed) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the schema has tables that the database lacks, and a read-only engine "
      "adds none; open it for writing once, or leave them out");
}

// Reads the catalog, adds what `wanted` has beyond it, and compiles it.
absl::StatusOr<Loaded> LoadCatalog(const std::shared_ptr<Store>& shared,
                                   const v1::Schema& wanted,
                                   const Options& options) {
  Store& store = *shared;
  Loaded loaded;
  v1::Catalog catalog;
  std::string bytes;
  ASSIGN_OR_RETURN(const bool found, store.Get({}, CatalogKey(), &bytes));
  if (found) {
    if (!catalog.ParseFromString(bytes)) {
      return absl::DataLossError("catalog does not parse");
    }
  } else {
    const auto it = store.NewIterator({});
    it->Seek({});
    RETURN_IF_ERROR(it->status());
    if (it->Valid()) {
      return absl::FailedPreconditionError(
          "directory holds a LevelDB that is not a Dovetail database; give "
          "another directory");
    }
    catalog = EmptyCatalog();
    SetDigests(options.digests, &catalog);
  }
  ASSIGN_OR_RETURN(const bool marked, store.Get({}, MarkKey(), &bytes));
  if (marked) {
    ASSIGN_OR_RETURN(loaded.mark, DecodeMark(bytes));
  }
  // Checks the format before anything is compared or added.
  ASSIGN_OR_RETURN(loaded.schema, SchemaState::FromCatalog(catalog, nullptr));
  const uint32_t spaces = catalog.next_space();
  ASSIGN_OR_RETURN(bool changed,
                   MergeSchema(wanted, options.add_indexes, &catalog));
  if (options.read_only) {
    RETURN_IF_ERROR(CheckNothingToAdd(found, catalog.next_space() != spaces));
  }
  if (changed) {
    ASSIGN_OR_RETURN(loaded.schema, SchemaState::FromCatalog(catalog, nullptr));
  }
  ASSIGN_OR_RETURN(
      std::optional<v1::Catalog> checked,
      CheckFingerprints(shared, loaded.schema, loaded.mark.sequence));
  if (checked.has_value()) {
    catalog = *std::move(checked);
    catalog.set_schema_version(catalog.schema_version() + 1);
    changed = true;
    ASSIGN_OR_RETURN(loaded.schema, SchemaState::FromCatalog(catalog, nullptr));
  }
  if (options.read_only || (!changed && found)) return loaded;
  const std::unique_ptr<StoreBatch> batch = store.NewBatch();
  bytes = catalog.SerializeAsString();
  batch->Put(CatalogKey(), bytes);
  batch->Put(CatalogCopyKey(), bytes);
  batch->Put(MarkKey(), EncodeMark(loaded.mark));
  RETURN_IF_ERROR(store.Write(*batch, /*sync=*/true));
  return loaded;
}

// Of the spaces that a put looks into for a key that is often not there.
std::vector<std::string> PrefixesLookedInto(const SchemaState& schema) {
  std::vector<std::string> prefixes;
  for (const TableState& table : schema.tables()) {
    if (table.compiled->identity() < 0) prefixes.push_back(table.rows_prefix);
    if (!table.deletes_prefix.empty()) prefixes.push_back(table.deletes_prefix);
    const auto& indexes = table.compiled->indexes();
    for (size_t i = 0; i < indexes.size(); ++i) {
      const bool looked_into = indexes[i].unique() || indexes[i].aggregates();
      if (looked_into && table.Maintains(i)) {
        prefixes.push_back(table.entry_prefixes[i]);
      }
    }
  }
  return prefixes;
}

// The keys in a space.
absl::StatusOr<uint64_t> CountKeys(Store& store, const std::string& prefix,
                                   const StoreSnapshot* snapshot) {
  StoreReadOptions options;
  options.snapshot = snapshot;
  options.fill_cache = false;
  const std::unique_ptr<StoreIterator> it = store.NewIterator(options);
  uint64_t keys = 0;
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    ++keys;
  }
  RETURN_IF_ERROR(it->status());
  return keys;
}

template <typename T>
T* OrDefault(T* given, T* fallback) {
  return given != nullptr ? given : fallback;
}

}  // namespace

SequenceNumber Snapshot::sequence() const { return state_->sequence; }

class Engine::Impl {
 public:
  Options options;
  OpenReport open_report;
  std::unique_ptr<ObserverChain> observers;
  std::unique_ptr<Recorder> recorder;  // Before the store, which calls it.
  std::shared_ptr<Store> store;
  std::unique_ptr<DiskGuard> disk;
  std::unique_ptr<KnownKeys> known_keys;
  std::unique_ptr<LiveKeeper> live;
  std::unique_ptr<RowCache> rows;
  std::unique_ptr<Committer> committer;
  std::unique_ptr<IndexAdmin> indexes;
  std::unique_ptr<Regions> regions;
  Regions::Impl* region_maps = nullptr;  // Of `regions`.
  std::atomic<bool> closed{false};
  QueryPlanCache plans;
  Mutex repair_mu;
  Mutex async_mu;
  std::vector<std::weak_ptr<internal::AsyncCore>> async_fronts
      GUARDED_BY(async_mu);
  const std::shared_ptr<HeldSnapshots> snapshots =
      std::make_shared<HeldSnapshots>();
  std::unique_ptr<Reclaimer> reclaimer;

  // What is known of dead keys, and who reclaims them.
  absl::Status StartLive() {
    live = std::make_unique<LiveKeeper>(options.dead_entries);
    return live->Load(*store);
  }
  void StartReclaimer() {
    reclaimer = std::make_unique<Reclaimer>(Reclaimer::Services{
        committer.get(), store.get(), live.get(), options.clock, disk.get(),
        [this]() -> std::optional<uint64_t> {
          const auto oldest = snapshots->CountAndOldest().second;
          if (!oldest.has_value()) return std::nullopt;
          return static_cast<uint64_t>(oldest->first);
        }});
    live->OnFound([this] { committer->ShowView(); });
    live->OnDead([this] { reclaimer->Wake(); });
  }

  absl::Status LoadRegions() {
    auto maps = std::make_unique<Regions::Impl>(Regions::Impl::Services{
        committer.get(), &options.limits, [this] { return CheckUsable(); },
        [this](std::string_view table,
               const std::shared_ptr<const RegionMap>& map) {
          observers
              ->CallAll(kRegionsChanged, "RegionsChanged",
                        [&](Observer& o) {
                          o.RegionsChanged(table, map);
                          return absl::OkStatus();
                        })
              .IgnoreError();  // It was thrown, and is counted.
        }});
    region_maps = maps.get();
    regions.reset(new Regions(std::move(maps)));
    return region_maps->Load(*store);
  }

  // Those that are still there.
  std::vector<std::shared_ptr<internal::AsyncCore>> AsyncFronts() {
    std::vector<std::shared_ptr<internal::AsyncCore>> fronts;
    MutexLock lock(async_mu);
    for (const auto& weak : async_fronts) {
      if (auto front = weak.lock()) fronts.push_back(std::move(front));
    }
    return fronts;
  }

  absl::Status StartRecording(const WriteLogOptions& wanted) {
    // Synced, so that what the log does not have is never lost from the store.
    return committer->RunMaintenance(
        [&](const SchemaState& state, SerialView&) {
          return recorder->Start(wanted, committer->published()->sequence,
                                 state);
        },
        Committer::Leaves::kSyncedChanges);
  }

  std::shared_ptr<const SchemaState> schema() const {
    return committer->published()->schema;
  }

  // What every call checks first.
  absl::Status CheckUsable() const {
    if (observers->InHook()) {
      return absl::FailedPreconditionError(
          "a hook called the engine it observes; use its HookContext");
    }
    if (closed.load(std::memory_order_acquire)) {
      return absl::FailedPreconditionError("engine is closed");
    }
    return absl::OkStatus();
  }

  std::shared_ptr<const internal::PublishedState> StateOf(
      const Snapshot* snapshot) const {
    return snapshot != nullptr ? snapshot->state_ : committer->published();
  }

  // To observers a query is a scan of its table, by no index in particular.
  absl::StatusOr<QueryEnd> RunQuery(const ReadOptions& read,
                                    const dovetail::Query& query,
                                    uint64_t bytes_max, RowVisitor visit) {
    RETURN_IF_ERROR(CheckUsable());
    const auto state = StateOf(read.snapshot);
    static const std::vector<Value> kNoValues;
    const ReadEvent event{query.proto().table(), {}, kNoValues, 0, &query};
    return Observed(
        kPreScan, kPostScan, "PreScan", "PostScan", event,
        [&] {
          return Showing(event, visit, [&](RowVisitor shown) {
            return QueryService(*state, options.limits, options.clock, &plans)
                .Run(query.proto(), bytes_max, shown);
          });
        },
        [](const QueryEnd& end) { return end.work.entries; });
  }

  // Shows a row that a read returns to the observers that want to see it.
  void ShowRow(const ReadEvent& event, const RowView& row) {
    observers
        ->CallAll(kRowRead, "RowRead",
                  [&](Observer& o) {
                    o.RowRead(event, row);
                    return absl::OkStatus();
                  })
        .IgnoreError();  // It was thrown, and is counted.
  }
  void ShowRow(const ReadEvent& event, const Row& row) {
    ShowRow(event, RowView{row.key, row.record, row.version});
  }
  // Calls `read` with a visitor that shows each row before `visit` has it.
  template <typename Read>
  auto Showing(const ReadEvent& event, RowVisitor visit, Read read)
      -> decltype(read(visit)) {
    if (!observers->Wants(kRowRead)) return read(visit);
    return read([&](const RowView& row) {
      ShowRow(event, row);
      return visit(row);
    });
  }

  // Calls `read` between the observers' pre and post hooks.
  template <typename Read, typename RowsOf>
  auto Observed(uint32_t pre, uint32_t post, std::string_view pre_name,
                std::string_view post_name, ReadEvent event, Read read,
                RowsOf rows_of) -> decltype(read()) {
    RETURN_IF_ERROR(observers->CallAll(pre, pre_name, [&](Observer& o) {
      return pre == kPreGet ? o.PreGet(event) : o.PreScan(event);
    }));
    auto result = read();
    if (!result.ok() || !observers->Wants(post | kRowRead)) return result;
    event.rows = rows_of(*result);
    if constexpr (std::is_same_v<decltype(result), absl::StatusOr<Row>>) {
      ShowRow(event, *result);
    } else if constexpr (std::is_same_v<decltype(result),
                                        absl::StatusOr<std::vector<Row>>>) {
      for (const Row& row : *result) ShowRow(event, row);
    }
    RETURN_IF_ERROR(observers->CallAll(post, post_name, [&](Observer& o) {
      return post == kPostGet ? o.PostGet(event) : o.PostScan(event);
    }));
    return result;
  }
};

absl::StatusOr<std::unique_ptr<Engine>> Engine::Open(std::string path,
                                                     const Schema& schema,
                                                     Options options) {
  auto impl = std::make_unique<Impl>();
  options.clock = OrDefault(options.clock, Clock::System());
  options.random = OrDefault(options.random, RandomSource::System());
  options.file_system = OrDefault(options.file_system, FileSystem::Posix());
  ASSIGN_OR_RETURN(impl->observers,
                   ObserverChain::Create(options.observers, options.clock));
  // A schema that is wrong in itself should not leave a directory behind.
  v1::Catalog scratch = EmptyCatalog();
  RETURN_IF_ERROR(MergeSchema(schema.proto(), false, &scratch).status());
  RETURN_IF_ERROR(impl->observers->CallAll(
      kPreOpen, "PreOpen", [](Observer& o) { return o.PreOpen(); }));

  impl->recorder = std::make_unique<Recorder>(
      options.in_memory ? "" : path,
      Recorder::Services{options.file_system, options.clock, options.random});
  StoreOpenReport report;
  absl::StatusOr<std::unique_ptr<Store>> store =
      OpenStore(path, options, impl->recorder.get(), &report);
  if (absl::IsResourceExhausted(store.status()) && !options.in_memory) {
    ASSIGN_OR_RETURN(impl->open_report.reserve_spent,
                     SpendReserve(*options.file_system, path));
    if (impl->open_report.reserve_spent) {
      store = OpenStore(path, options, impl->recorder.get(), &report);
    }
  }
  if (!store.ok()) return store.status();
  impl->store = *std::move(store);
  absl::StatusOr<Loaded> loaded =
      LoadCatalog(impl->store, schema.proto(), options);
  if (!loaded.ok()) {
    return absl::Status(
        loaded.status().code(),
        absl::StrCat(loaded.status().message(), " database=", Quote(path)));
  }
  ASSIGN_OR_RETURN(DigestKeeper digests,
                   DigestKeeper::Load(*impl->store, loaded->schema));
  impl->open_report.created = report.created;
  impl->open_report.sequence = loaded->mark.sequence;
  impl->open_report.log_bytes_cut = report.log_bytes_cut;
  impl->open_report.log_cut = report.log_cut;
  impl->open_report.write_log_cuts = impl->recorder->cuts();
  RETURN_IF_ERROR(impl->recorder->UseSchema(*loaded->schema));
  impl->options = std::move(options);
  if (!impl->options.read_only && !impl->options.in_memory) {
    RETURN_IF_ERROR(KeepReserve(*impl->options.file_system, path,
                                impl->options.disk_reserve_bytes,
                                impl->options.disk_free_min_bytes));
    impl->disk = std::make_unique<DiskGuard>(impl->options.file_system, path,
                                             impl->options.disk_free_min_bytes);
    impl->disk->Look().IgnoreError();
  }
  // A database that is not new has to be read for it, in the background.
  if (!impl->options.read_only && !impl->options.in_memory &&
      (report.created || impl->options.background_work)) {
    impl->known_keys = std::make_unique<KnownKeys>(
        impl->store.get(), PrefixesLookedInto(*loaded->schema),
        /*empty=*/report.created, impl->options.key_filter_bytes);
  }
  RETURN_IF_ERROR(impl->StartLive());
  if (impl->options.row_cache_bytes > 0) {
    impl->rows = std::make_unique<RowCache>(impl->options.row_cache_bytes);
  }
  impl->committer = std::make_unique<Committer>(
      impl->store, loaded->schema, loaded->mark, std::move(digests),
      Committer::Services{
          &impl->options.limits, impl->observers.get(), impl->options.random,
          impl->options.clock, impl->recorder.get(), impl->disk.get(),
          impl->known_keys.get(), impl->live.get(), impl->rows.get(),
          impl->options.read_only, impl->options.cross_check,
          impl->options.tamper.get()});
  if (!impl->options.read_only) {
    const std::optional<WriteLogOptions>& wanted = impl->options.write_log;
    if (wanted.has_value() && !impl->recorder->on()) {
      RETURN_IF_ERROR(impl->StartRecording(*wanted));
    }
    impl->recorder->Committed(loaded->mark.sequence, /*synced=*/true);
  }
  impl->indexes =
      std::make_unique<IndexAdmin>(impl->committer.get(), impl->store.get(),
                                   &impl->options.limits, impl->options.clock);
  RETURN_IF_ERROR(impl->LoadRegions());
  impl->StartReclaimer();
  std::unique_ptr<Engine> engine(new Engine(std::move(impl)));
  engine->impl_->region_maps->Announce();
  RETURN_IF_ERROR(engine->impl_->observers->CallAll(
      kPostOpen, "PostOpen", [](Observer& o) { return o.PostOpen(); }));
  const Options& opened = engine->impl_->options;
  if (opened.background_work && !opened.read_only) {
    engine->impl_->indexes->StartBackgroundWork();
    engine->impl_->reclaimer->StartBackgroundWork();
  }
  return engine;
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  for (const auto& front : impl_->AsyncFronts()) {
    front->Close(AsyncOptions::OnClose::kCancel).IgnoreError();
  }
}

std::shared_ptr<internal::AsyncCore> Engine::NewAsyncCore(
    AsyncOptions options) {
  auto front = std::make_shared<AsyncQueue>(
      std::move(options),
      AsyncQueue::Services{impl_->committer.get(), impl_->observers.get(),
                           impl_->options.clock,
                           impl_->options.limits.group_bytes_max});
  MutexLock lock(impl_->async_mu);
  std::erase_if(impl_->async_fronts,
                [](const auto& weak) { return weak.expired(); });
  impl_->async_fronts.push_back(front);
  return front;
}

absl::Status Engine::Close() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  for (const auto& front : impl_->AsyncFronts()) {
    RETURN_IF_ERROR(front->Close(front->on_close()));
  }
  absl::Status status = impl_->observers->CallAll(
      kPreClose, "PreClose", [](Observer& o) { return o.PreClose(); });
  impl_->indexes->Stop();
  impl_->reclaimer->Stop();
  status.Update(impl_->committer->Close());
  impl_->closed.store(true, std::memory_order_release);
  status.Update(impl_->observers->CallAll(
      kPostClose, "PostClose", [](Observer& o) { return o.PostClose(); }));
  return status;
}

absl::StatusOr<Commit> Engine::Write(const WriteOptions& options,
                                     WriteBatch batch) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->committer->Write(options, batch);
}

absl::StatusOr<Committer*> Engine::UsableCommitter() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->committer.get();
}

absl::StatusOr<Row> Engine::Get(const ReadOptions& options,
                                std::string_view table,
                                const std::vector<Value>& key) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  return impl_->Observed(
      kPreGet, kPostGet, "PreGet", "PostGet", ReadEvent{table, {}, key},
      [&] { return Reader(*state, impl_->options.limits).Get(table, key); },
      [](const Row&) { return uint64_t{1}; });
}

absl::StatusOr<std::vector<Row>> Engine::GetBy(
    const ReadOptions& options, std::string_view table, std::string_view index,
    const std::vector<Value>& values) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  return impl_->Observed(
      kPreGet, kPostGet, "PreGet", "PostGet", ReadEvent{table, index, values},
      [&] {
        return Reader(*state, impl_->options.limits)
            .GetBy(table, index, values);
      },
      [](const std::vector<Row>& rows) { return uint64_t{rows.size()}; });
}

absl::StatusOr<Page> Engine::Scan(const ReadOptions& options,
                                  const ScanRequest& request) {
  Page page;
  // Not what the limit says: it may be 2^64 - 1.
  page.rows.reserve(std::min<uint64_t>(request.limit, 32));
  size_t bytes = 0;
  ASSIGN_OR_RETURN(
      static_cast<ScanEnd&>(page),
      ForEach(options, request, [&](const RowView& row) {
        page.rows.push_back(
            {std::string(row.key), std::string(row.record), row.version});
        bytes += row.record.size() + row.key.size() + sizeof(Row);
        return bytes < limits().page_bytes_max;
      }));
  return page;
}

absl::StatusOr<ScanEnd> Engine::ForEach(const ReadOptions& options,
                                        const ScanRequest& request,
                                        RowVisitor visit) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  const ReadEvent event{request.table, request.index, request.equal};
  return impl_->Observed(
      kPreScan, kPostScan, "PreScan", "PostScan", event,
      [&] {
        return impl_->Showing(event, visit, [&](RowVisitor shown) {
          return Reader(*state, impl_->options.limits).ForEach(request, shown);
        });
      },
      [](const ScanEnd& end) { return end.work.entries; });
}

absl::StatusOr<Totals> Engine::Aggregate(const ReadOptions& options,
                                         const GroupRange& range) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  return impl_->Observed(
      kPreScan, kPostScan, "PreScan", "PostScan",
      ReadEvent{range.table, range.index, range.equal},
      [&] { return dovetail::Aggregate(*state, impl_->options.limits, range); },
      [](const Totals& totals) { return totals.groups; });
}

absl::StatusOr<ScanEnd> Engine::ForEachGroup(const ReadOptions& options,
                                             const ScanRequest& request,
                                             GroupVisitor visit) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  return impl_->Observed(
      kPreScan, kPostScan, "PreScan", "PostScan",
      ReadEvent{request.table, request.index, request.equal},
      [&] {
        return dovetail::ForEachGroup(*state, impl_->options.limits, request,
                                      visit);
      },
      [](const ScanEnd& end) { return end.work.entries; });
}

absl::StatusOr<QueryPage> Engine::Query(const ReadOptions& options,
                                        const dovetail::Query& query) {
  QueryPage page;
  ASSIGN_OR_RETURN(
      static_cast<QueryEnd&>(page),
      impl_->RunQuery(
          options, query, limits().page_bytes_max, [&page](const RowView& row) {
            page.rows.push_back(
                {std::string(row.key), std::string(row.record), row.version});
            return true;
          }));
  return page;
}

absl::StatusOr<QueryEnd> Engine::ForEach(const ReadOptions& options,
                                         const dovetail::Query& query,
                                         RowVisitor visit) {
  return impl_->RunQuery(options, query, std::numeric_limits<uint64_t>::max(),
                         visit);
}

absl::StatusOr<v1::QueryPlan> Engine::Explain(const ReadOptions& options,
                                              const dovetail::Query& query,
                                              const ExplainOptions& explain) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  return QueryService(*state, impl_->options.limits, impl_->options.clock,
                      nullptr)
      .Explain(query.proto(), explain.run);
}

absl::StatusOr<std::vector<IndexAdvice>> Engine::Advise(
    const std::vector<dovetail::Query>& queries) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return AdviseIndexes(*impl_->committer->published(), queries);
}

absl::StatusOr<Snapshot> Engine::GetSnapshot() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->committer->published();
  return Snapshot(state, std::make_shared<internal::HeldSnapshot>(
                             impl_->snapshots,
                             HeldSnapshots::Taken(
                                 state->sequence,
                                 impl_->options.clock->MonotonicMicros())));
}

absl::StatusOr<VerifyReport> Engine::Verify(const VerifyOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  return Verifier(*state, options).Run();
}

absl::StatusOr<RepairReport> Engine::Repair(const RepairOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  // Two at once would each take the same difference off a counter.
  MutexLock one_at_a_time(impl_->repair_mu);
  return dovetail::Repair(*impl_->committer, options);
}

absl::StatusOr<DigestReport> Engine::Digest(const DigestOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return DigestOf(*impl_->committer->published(), options);
}

absl::Status Engine::EnableDigests() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return dovetail::EnableDigests(*impl_->committer, *impl_->store);
}

absl::Status Engine::DisableDigests() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return dovetail::DisableDigests(*impl_->committer);
}

absl::Status Engine::AddIndex(std::string_view table,
                              const v1::IndexSchema& index) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->indexes->Add(table, index);
}

absl::StatusOr<BuildReport> Engine::BuildIndex(std::string_view table,
                                               std::string_view index,
                                               const BuildOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->indexes->Build(table, index, options);
}

absl::Status Engine::HideIndex(std::string_view table, std::string_view index) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->indexes->Hide(table, index);
}

absl::Status Engine::ShowIndex(std::string_view table, std::string_view index) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->indexes->Show(table, index);
}

absl::Status Engine::DropIndex(std::string_view table, std::string_view index) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->indexes->Drop(table, index);
}

absl::StatusOr<std::vector<IndexInfo>> Engine::ListIndexes() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->indexes->List();
}

Regions& Engine::regions() { return *impl_->regions; }

absl::Status Engine::EnableChangeFeed(const ChangeFeedOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return dovetail::EnableChangeFeed(*impl_->committer, options);
}

absl::Status Engine::DisableChangeFeed() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  RETURN_IF_ERROR(dovetail::DisableChangeFeed(*impl_->committer));
  impl_->indexes->Wake();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ChangeFeed>> Engine::OpenFeed(
    std::string_view consumer, FeedStart start) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  ASSIGN_OR_RETURN(const SequenceNumber place,
                   OpenFeedCursor(*impl_->committer, consumer, start));
  // Not make_unique: the constructor is private.
  return std::unique_ptr<ChangeFeed>(
      new ChangeFeed(impl_->committer.get(), std::string(consumer), place));
}

absl::StatusOr<std::vector<FeedConsumer>> Engine::ListFeedConsumers() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return dovetail::ListFeedConsumers(*impl_->committer);
}

absl::Status Engine::DropFeedConsumer(std::string_view consumer) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return DropFeedCursor(*impl_->committer, consumer);
}

absl::Status Engine::EnableWriteLog(const WriteLogOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->StartRecording(options);
}

absl::Status Engine::DisableWriteLog() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->committer->RunMaintenance(
      [&](const SchemaState&, SerialView&) { return impl_->recorder->Stop(); },
      Committer::Leaves::kSyncedChanges);
}

absl::StatusOr<CheckpointReport> Engine::Checkpoint(
    const std::string& directory, const CheckpointOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return TakeCheckpoint(*impl_->committer, *impl_->store, *impl_->options.clock,
                        directory, options);
}

absl::StatusOr<BackupReport> Engine::Backup(const std::string& directory,
                                            const BackupOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return TakeBackup(
      {impl_->committer.get(), impl_->store.get(), impl_->recorder.get(),
       impl_->options.file_system, impl_->options.clock},
      directory, options);
}

absl::Status Engine::ForEachStored(const ReadOptions& options,
                                   std::string_view table,
                                   std::string_view index,
                                   std::string_view from, StoredVisitor visit) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(options.snapshot);
  ASSIGN_OR_RETURN(const TableState* found, state->schema->Find(table));
  ASSIGN_OR_RETURN(const int at, FindIndex(*found, index));
  const std::string& prefix = found->prefix(at);
  StoreReadOptions read;
  read.snapshot = state->snapshot.get();
  read.fill_cache = false;
  const std::unique_ptr<StoreIterator> it = state->store->NewIterator(read);
  it->Seek(prefix + std::string(from));
  for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
    if (!visit({it->key().substr(prefix.size()), it->value()})) break;
  }
  return it->status();
}

absl::StatusOr<v1::Schema> Engine::GetSchema() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return SchemaOf(*impl_->schema());
}

absl::StatusOr<std::string> Engine::DecodeKey(std::string_view table,
                                              std::string_view row_key) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto schema = impl_->schema();
  ASSIGN_OR_RETURN(const TableState* state, schema->Find(table));
  return state->compiled->row_key().DebugString(row_key);
}

absl::StatusOr<ReclaimReport> Engine::ReclaimDead(
    const ReclaimOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return impl_->reclaimer->Reclaim(options.dead_min);
}

absl::StatusOr<Stats> Engine::GetStats(const StatsOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  Stats stats;
  const Committer::Counts counts = impl_->committer->counts();
  const auto state = impl_->committer->published();
  stats.sequence = state->sequence;
  stats.read_only = counts.read_only;
  stats.requests = counts.requests;
  stats.requests_failed = counts.requests_failed;
  stats.groups = counts.groups;
  stats.syncs = counts.syncs;
  stats.long_keys = counts.long_keys;
  StoreReadOptions read;
  read.snapshot = state->snapshot.get();
  ASSIGN_OR_RETURN(const std::vector<SpaceSum> digests,
                   ReadDigests(*state->store, read, *state->schema));
  const std::shared_ptr<const LiveView> dead = impl_->live->newest().view;
  for (size_t t = 0; t < state->schema->tables().size(); ++t) {
    const TableState& table = state->schema->tables()[t];
    stats.late_ignored +=
        table.counters[0]->late.load(std::memory_order_relaxed);
    const int indexes = static_cast<int>(table.compiled->indexes().size());
    for (int i = -1; i < indexes; ++i) {
      IndexStats index;
      index.table = table.name();
      if (i >= 0) {
        index.index = table.compiled->indexes()[i].name();
        index.state = ToIndexState(table.state(i));
      }
      if (i < 0 && !digests.empty()) index.entries = digests[t].count;
      const std::string& prefix = table.prefix(i);
      index.bytes_on_disk =
          impl_->store->ApproximateSize(prefix, PrefixEnd(prefix));
      index.entries_dead = dead->DeadIn(prefix, PrefixEnd(prefix));
      if (options.count_entries) {
        ASSIGN_OR_RETURN(index.entries, CountKeys(*impl_->store, prefix,
                                                  state->snapshot.get()));
      }
      const EntryCounters& c = *table.counters[i + 1];
      index.entries_written = c.written.load(std::memory_order_relaxed);
      index.entries_deleted = c.deleted.load(std::memory_order_relaxed);
      index.entries_unchanged = c.unchanged.load(std::memory_order_relaxed);
      index.entries_read = c.entries_read.load(std::memory_order_relaxed);
      index.rows_returned = c.rows_returned.load(std::memory_order_relaxed);
      stats.indexes.push_back(std::move(index));
    }
  }
  for (size_t i = 0; i < impl_->observers->size(); ++i) {
    const ObserverChain::Counts c = impl_->observers->counts(i);
    stats.observers.push_back(
        {impl_->observers->traits(i).name, c.calls, c.failures, c.overruns});
  }
  const auto [held, oldest] = impl_->snapshots->CountAndOldest();
  stats.snapshots = held;
  if (oldest.has_value()) {
    stats.oldest_snapshot = oldest->first;
    stats.oldest_snapshot_micros =
        impl_->options.clock->MonotonicMicros() - oldest->second;
  }
  if (impl_->known_keys != nullptr) {
    const KnownKeys::Figures known = impl_->known_keys->figures();
    stats.key_filters = {known.keys, known.bytes, known.reads_saved,
                         known.complete};
  }
  stats.dead_entries = impl_->live->GetStats();
  stats.dead_entries.reclaimed = impl_->reclaimer->total();
  if (impl_->rows != nullptr) stats.row_cache = impl_->rows->GetStats();
  stats.levels = impl_->store->GetStats();
  stats.store = impl_->store->Report();
  stats.write_log = impl_->recorder->GetStats();
  return stats;
}

const Limits& Engine::limits() const { return impl_->options.limits; }

const OpenReport& Engine::open_report() const { return impl_->open_report; }

}  // namespace dovetail
