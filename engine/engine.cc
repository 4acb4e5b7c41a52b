// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/engine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/checkpoint.h"
#include "engine/committer.h"
#include "engine/reader.h"
#include "engine/repair.h"
#include "engine/row_format.h"
#include "engine/schema_state.h"
#include "engine/storage/store.h"
#include "engine/verifier.h"
#include "observers/observer_chain.h"

namespace dovetail {
namespace {

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& path,
                                                 const Options& options,
                                                 FileSystem* file_system,
                                                 StoreOpenReport* report) {
  if (options.in_memory && options.read_only) {
    return absl::InvalidArgumentError(
        "an engine in memory begins empty, so it cannot be read-only");
  }
  if (options.in_memory) {
    report->created = true;
    return NewMemoryStore();
  }
  LevelDbStoreOptions store;
  store.create_if_missing = options.create_if_missing && !options.read_only;
  store.block_cache_bytes = options.block_cache_bytes;
  store.write_buffer_bytes = options.write_buffer_bytes;
  store.compress = options.compress;
  store.open_files_max = options.open_files_max;
  store.file_system = file_system;
  store.mark_key = MarkKey();
  store.parse_mark = [](std::string_view value)
      -> absl::StatusOr<LevelDbStoreOptions::BatchMark> {
    ASSIGN_OR_RETURN(const CommitMark mark, DecodeMark(value));
    return LevelDbStoreOptions::BatchMark{static_cast<uint64_t>(mark.sequence),
                                          static_cast<uint64_t>(mark.synced)};
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
absl::StatusOr<Loaded> LoadCatalog(Store& store, const v1::Schema& wanted,
                                   bool read_only) {
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
  }
  ASSIGN_OR_RETURN(const bool marked, store.Get({}, MarkKey(), &bytes));
  if (marked) {
    ASSIGN_OR_RETURN(loaded.mark, DecodeMark(bytes));
  }
  // Checks the format before anything is compared or added.
  RETURN_IF_ERROR(SchemaState::FromCatalog(catalog).status());
  ASSIGN_OR_RETURN(const bool changed, MergeSchema(wanted, &catalog));
  if (read_only) RETURN_IF_ERROR(CheckNothingToAdd(found, changed));
  if (changed || !found) {
    const std::unique_ptr<StoreBatch> batch = store.NewBatch();
    batch->Put(CatalogKey(), catalog.SerializeAsString());
    batch->Put(MarkKey(), EncodeMark(loaded.mark));
    RETURN_IF_ERROR(store.Write(*batch, /*sync=*/true));
  }
  ASSIGN_OR_RETURN(loaded.schema, SchemaState::FromCatalog(std::move(catalog)));
  return loaded;
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
  std::shared_ptr<const SchemaState> schema;
  std::shared_ptr<Store> store;
  std::unique_ptr<Committer> committer;
  std::atomic<bool> closed{false};

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
      const Snapshot* snapshot,
      const std::shared_ptr<const internal::PublishedState>& theirs) const {
    return snapshot != nullptr ? theirs : committer->published();
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
    if (!result.ok() || !observers->Wants(post)) return result;
    event.rows = rows_of(*result);
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
  RETURN_IF_ERROR(MergeSchema(schema.proto(), &scratch).status());
  RETURN_IF_ERROR(impl->observers->CallAll(
      kPreOpen, "PreOpen", [](Observer& o) { return o.PreOpen(); }));

  StoreOpenReport report;
  absl::StatusOr<std::unique_ptr<Store>> store =
      OpenStore(path, options, options.file_system, &report);
  if (!store.ok()) return store.status();
  impl->store = *std::move(store);
  absl::StatusOr<Loaded> loaded =
      LoadCatalog(*impl->store, schema.proto(), options.read_only);
  if (!loaded.ok()) {
    return absl::Status(
        loaded.status().code(),
        absl::StrCat(loaded.status().message(), " database=", Quote(path)));
  }
  impl->schema = loaded->schema;
  impl->open_report.created = report.created;
  impl->open_report.sequence = loaded->mark.sequence;
  impl->open_report.log_bytes_cut = report.log_bytes_cut;
  impl->open_report.log_cut = report.log_cut;
  impl->options = std::move(options);
  impl->committer = std::make_unique<Committer>(
      impl->store, impl->schema, loaded->mark,
      Committer::Services{&impl->options.limits, impl->observers.get(),
                          impl->options.random, impl->options.clock,
                          impl->options.read_only});
  std::unique_ptr<Engine> engine(new Engine(std::move(impl)));
  RETURN_IF_ERROR(engine->impl_->observers->CallAll(
      kPostOpen, "PostOpen", [](Observer& o) { return o.PostOpen(); }));
  return engine;
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() = default;

absl::Status Engine::Close() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  absl::Status status = impl_->observers->CallAll(
      kPreClose, "PreClose", [](Observer& o) { return o.PreClose(); });
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

absl::StatusOr<Row> Engine::Get(const ReadOptions& options,
                                std::string_view table,
                                const std::vector<Value>& key) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(
      options.snapshot, options.snapshot ? options.snapshot->state_ : nullptr);
  return impl_->Observed(
      kPreGet, kPostGet, "PreGet", "PostGet", ReadEvent{table, {}, key},
      [&] { return Reader(*state, impl_->options.limits).Get(table, key); },
      [](const Row&) { return uint64_t{1}; });
}

absl::StatusOr<std::vector<Row>> Engine::GetBy(
    const ReadOptions& options, std::string_view table, std::string_view index,
    const std::vector<Value>& values) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(
      options.snapshot, options.snapshot ? options.snapshot->state_ : nullptr);
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
  const auto state = impl_->StateOf(
      options.snapshot, options.snapshot ? options.snapshot->state_ : nullptr);
  return impl_->Observed(
      kPreScan, kPostScan, "PreScan", "PostScan",
      ReadEvent{request.table, request.index, request.equal},
      [&] {
        return Reader(*state, impl_->options.limits).ForEach(request, visit);
      },
      [](const ScanEnd& end) { return end.work.entries; });
}

absl::StatusOr<Snapshot> Engine::GetSnapshot() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return Snapshot(impl_->committer->published());
}

absl::StatusOr<VerifyReport> Engine::Verify(const VerifyOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  const auto state = impl_->StateOf(
      options.snapshot, options.snapshot ? options.snapshot->state_ : nullptr);
  return Verifier(*state, options).Run();
}

absl::StatusOr<RepairReport> Engine::Repair(const RepairOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return dovetail::Repair(*impl_->committer, options);
}

absl::StatusOr<CheckpointReport> Engine::Checkpoint(
    const std::string& directory, const CheckpointOptions& options) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  return TakeCheckpoint(*impl_->committer, *impl_->store, *impl_->options.clock,
                        directory, options);
}

absl::StatusOr<v1::Schema> Engine::GetSchema() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  v1::Schema schema;
  for (const TableState& table : impl_->schema->tables()) {
    *schema.add_tables() = table.compiled->schema();
  }
  return schema;
}

absl::StatusOr<std::string> Engine::DecodeKey(std::string_view table,
                                              std::string_view row_key) {
  RETURN_IF_ERROR(impl_->CheckUsable());
  ASSIGN_OR_RETURN(const TableState* state, impl_->schema->Find(table));
  return state->compiled->row_key().DebugString(row_key);
}

absl::StatusOr<Stats> Engine::GetStats() {
  RETURN_IF_ERROR(impl_->CheckUsable());
  Stats stats;
  const Committer::Counts counts = impl_->committer->counts();
  stats.sequence = impl_->committer->published()->sequence;
  stats.read_only = counts.read_only;
  stats.requests = counts.requests;
  stats.requests_failed = counts.requests_failed;
  stats.groups = counts.groups;
  stats.syncs = counts.syncs;
  stats.long_keys = counts.long_keys;
  for (const TableState& table : impl_->schema->tables()) {
    const int indexes = static_cast<int>(table.compiled->indexes().size());
    for (int i = -1; i < indexes; ++i) {
      IndexStats index;
      index.table = table.name();
      if (i >= 0) index.index = table.compiled->indexes()[i].name();
      const std::string& prefix = table.prefix(i);
      index.bytes_on_disk =
          impl_->store->ApproximateSize(prefix, PrefixEnd(prefix));
      const EntryCounters& c = table.counters[i + 1];
      index.entries_written = c.written.load(std::memory_order_relaxed);
      index.entries_deleted = c.deleted.load(std::memory_order_relaxed);
      index.entries_unchanged = c.unchanged.load(std::memory_order_relaxed);
      stats.indexes.push_back(std::move(index));
    }
  }
  for (size_t i = 0; i < impl_->observers->size(); ++i) {
    const ObserverChain::Counts c = impl_->observers->counts(i);
    stats.observers.push_back(
        {impl_->observers->traits(i).name, c.calls, c.failures, c.overruns});
  }
  stats.store = impl_->store->Report();
  return stats;
}

const Limits& Engine::limits() const { return impl_->options.limits; }

const OpenReport& Engine::open_report() const { return impl_->open_report; }

}  // namespace dovetail
