// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/committer.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "engine/change_feed.h"

namespace dovetail {
namespace {

// LevelDB stops writes at 12 level-0 files until compaction has caught up,
// however long that takes. One short of it a caller is told so instead.
constexpr int kLevel0FilesMax = 11;
// Asking the store takes its lock, so the leader asks once in so many bytes:
// less than a write buffer, so no file of level 0 goes unnoticed.
constexpr size_t kLevel0PollBytes = 256 << 10;
constexpr auto kStallStep = std::chrono::milliseconds(1);
constexpr int64_t kStallMaxMicros = 10'000'000;

SequenceNumber Next(SequenceNumber sequence) {
  return SequenceNumber{static_cast<uint64_t>(sequence) + 1};
}

}  // namespace

// One waiting call. Lives on its caller's stack.
struct Committer::Writer {
  bool sync = false;
  size_t bytes = 0;
  const WriteBatch* batch = nullptr;
  std::shared_ptr<const SchemaState> schema;  // It was admitted under.
  std::vector<AdmittedMutation> mutations;
  // One of these instead of a batch; runs alone in its group.
  MaintenanceBody* maintenance = nullptr;
  CatalogBody* catalog = nullptr;
  // A request of a replay, and the one that must have gone well before.
  ReplayRequest* replay = nullptr;
  const Writer* before = nullptr;
  const ReplayPlaceOf* place = nullptr;
  // Rows that a log has are changed without observers.
  bool observed() const { return replay == nullptr || batch != nullptr; }
  bool alone() const { return maintenance != nullptr || catalog != nullptr; }
  bool stores = true;  // Off: maintenance that only looks.

  // Set by the leader.
  absl::Status status;
  std::optional<RequestEffects> effects;  // Of a request that ran well.
  bool began = false;                     // Its hooks have been called.

  bool done = false;  // Under mu_.
  CondVar wake;
};

Committer::Committer(std::shared_ptr<Store> store,
                     std::shared_ptr<const SchemaState> schema,
                     const CommitMark& mark, DigestKeeper digests,
                     const Services& services)
    : store_(std::move(store)),
      services_(services),
      schema_(std::move(schema)),
      view_(store_.get(), services.known_keys, std::move(digests)),
      batch_(store_->NewBatch()),
      sequence_(mark.sequence),
      pending_(mark.sequence),
      synced_(mark.synced),
      runner_(&view_, {services.limits, services.observers, &plans_,
                       services.random, &long_keys_, services.recorder,
                       services.cross_check ? &cross_check_ : nullptr,
                       services.tamper}) {
  Publish();
}

Committer::~Committer() = default;

absl::Status Committer::CheckIntact() const {
  if (read_only_.load(std::memory_order_acquire)) {
    return absl::FailedPreconditionError(
        "engine is read-only since a write to the store or its write log "
        "failed; close it, see to the cause, and open it again");
  }
  return absl::OkStatus();
}

absl::Status Committer::CheckWritable() const {
  if (services_.read_only) {
    return absl::FailedPreconditionError("engine was opened read-only");
  }
  return CheckIntact();
}

absl::StatusOr<Commit> Committer::Write(const WriteOptions& options,
                                        const WriteBatch& batch) {
  RETURN_IF_ERROR(WaitUntilWritable());
  Writer writer;
  RETURN_IF_ERROR(Admit(options, batch, &writer));
  Enqueue({&writer});
  RETURN_IF_ERROR(writer.status);
  return std::move(writer.effects->commit);
}

std::vector<absl::StatusOr<Commit>> Committer::WriteAll(
    const std::vector<Request>& requests) {
  std::deque<Writer> writers(requests.size());
  std::vector<Writer*> admitted;
  admitted.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Writer& writer = writers[i];
    writer.status = Admit(requests[i].options, *requests[i].batch, &writer);
    if (writer.status.ok()) admitted.push_back(&writer);
  }
  Enqueue(admitted);
  std::vector<absl::StatusOr<Commit>> results;
  results.reserve(requests.size());
  for (Writer& writer : writers) {
    if (writer.status.ok()) {
      results.push_back(std::move(writer.effects->commit));
    } else {
      results.push_back(std::move(writer.status));
    }
  }
  return results;
}

void Committer::Replay(const WriteOptions& options,
                       absl::Span<ReplayRequest> requests,
                       ReplayPlaceOf place) {
  std::deque<Writer> writers(requests.size());
  std::vector<Writer*> admitted;
  admitted.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Writer& writer = writers[i];
    ReplayRequest& request = requests[i];
    writer.replay = &request;
    writer.before = i == 0 ? nullptr : &writers[i - 1];
    writer.place = &place;
    writer.status = AdmitReplayed(options, &writer);
    if (!writer.status.ok()) {
      request.refused = true;
      break;
    }
    admitted.push_back(&writer);
  }
  Enqueue(admitted);
  for (size_t i = 0; i < requests.size(); ++i) {
    const bool tried = i < admitted.size() || requests[i].refused;
    requests[i].status = tried ? std::move(writers[i].status)
                               : absl::CancelledError("not tried");
  }
}

absl::Status Committer::CheckReplay(ReplayRequest* request) {
  Writer writer;
  writer.replay = request;
  RETURN_IF_ERROR(AdmitReplayed({}, &writer));
  request->rows = request->batch != nullptr ? writer.mutations.size()
                                            : request->effects.size();
  return absl::OkStatus();
}

absl::Status Committer::AdmitReplayed(const WriteOptions& options,
                                      Writer* writer) {
  if (writer->replay->batch != nullptr) {
    return Admit(options, *writer->replay->batch, writer);
  }
  writer->sync = options.sync;
  writer->schema = published()->schema;
  const v1::WriteLogRecord* record = writer->replay->record;
  if (record == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      writer->replay->effects,
      AdmitEffects(*writer->schema, *record, *writer->replay->run->coverage));
  for (const v1::RowEffect& effect : record->effects()) {
    writer->bytes += effect.record().size() + effect.new_key().size();
  }
  return absl::OkStatus();
}

absl::Status Committer::WaitUntilWritable() {
  RETURN_IF_ERROR(CheckWritable());
  if (services_.disk != nullptr) RETURN_IF_ERROR(services_.disk->CheckRoom());
  return WaitForCompaction();
}

absl::Status Committer::Admit(const WriteOptions& options,
                              const WriteBatch& batch, Writer* writer) {
  writer->sync = options.sync;
  writer->batch = &batch;
  writer->schema = published()->schema;
  ASSIGN_OR_RETURN(
      writer->mutations,
      AdmitBatch(*writer->schema, *services_.limits, plans_, batch));
  for (const AdmittedMutation& m : writer->mutations) {
    writer->bytes += RequestBytes(*m.mutation);
  }
  return absl::OkStatus();
}

absl::Status Committer::RunMaintenance(MaintenanceBody body, Leaves leaves) {
  Writer writer;
  writer.stores = leaves != Leaves::kNothing;
  RETURN_IF_ERROR(writer.stores ? CheckWritable() : CheckIntact());
  writer.sync = leaves == Leaves::kSyncedChanges;
  writer.maintenance = &body;
  Enqueue({&writer});
  return writer.status;
}

absl::Status Committer::ChangeCatalog(CatalogBody body) {
  RETURN_IF_ERROR(CheckWritable());
  Writer writer;
  writer.sync = true;
  writer.catalog = &body;
  Enqueue({&writer});
  return writer.status;
}

absl::Status Committer::WaitForCompaction() {
  if (level0_files_.load(std::memory_order_relaxed) < kLevel0FilesMax) {
    return absl::OkStatus();
  }
  const int64_t start = services_.clock->MonotonicMicros();
  while (store_->Level0Files() >= kLevel0FilesMax) {
    if (services_.clock->MonotonicMicros() - start > kStallMaxMicros) {
      return absl::UnavailableError(absl::StrCat(
          "store is behind on compaction; retry later: level0_files=",
          store_->Level0Files(), " max=", kLevel0FilesMax));
    }
    std::this_thread::sleep_for(kStallStep);
  }
  level0_files_.store(0, std::memory_order_relaxed);
  return absl::OkStatus();
}

// Queues all of `writers`, one behind the other, and returns once they are
// done. Their thread waits for one at a time, and leads whenever that one is
// at the head.
void Committer::Enqueue(absl::Span<Writer* const> writers) {
  for (size_t i = 0; i < writers.size(); ++i) {
    Writer& writer = *writers[i];
    std::vector<Writer*> group;
    {
      MutexLock lock(mu_);
      if (i == 0 && !AddToQueue(writers)) return;
      while (!writer.done && queue_.front() != &writer) writer.wake.Wait(mu_);
      if (writer.done) continue;
      group = TakeGroup();
    }
    RunGroup(group);
    MutexLock lock(mu_);
    for (Writer* member : group) {
      DOVETAIL_CHECK(queue_.front() == member);
      queue_.pop_front();
      if (member == &writer) continue;
      member->done = true;
      member->wake.Signal();
    }
    if (queue_.empty()) {
      drained_.SignalAll();
    } else {
      queue_.front()->wake.Signal();
    }
  }
}

bool Committer::AddToQueue(absl::Span<Writer* const> writers) {
  if (closed_) {
    for (Writer* writer : writers) {
      writer->status = absl::FailedPreconditionError("engine is closed");
    }
    return false;
  }
  queue_.insert(queue_.end(), writers.begin(), writers.end());
  return true;
}

std::vector<Committer::Writer*> Committer::TakeGroup() {
  std::vector<Writer*> group = {queue_.front()};
  if (queue_.front()->alone()) return group;
  size_t bytes = queue_.front()->bytes;
  for (size_t i = 1; i < queue_.size(); ++i) {
    Writer* next = queue_[i];
    bytes += next->bytes;
    if (next->alone() || bytes > services_.limits->group_bytes_max) {
      break;
    }
    group.push_back(next);
  }
  return group;
}

void Committer::RunGroup(const std::vector<Writer*>& group) {
  // The engine may have turned read-only while the group waited.
  const absl::Status usable =
      group.front()->stores ? CheckWritable() : CheckIntact();
  if (!usable.ok()) {
    for (Writer* writer : group) writer->status = usable;
    return;
  }
  pending_ = sequence_;
  cross_check_.Begin(schema_);
  RunRequests(group);
  bool sync = false;
  bool any = false;
  for (const Writer* writer : group) {
    if (!writer->status.ok() || !writer->stores) continue;
    any = true;
    sync |= writer->sync;
  }
  absl::Status stored;
  if (any) stored = CommitGroup(sync);
  Finish(group, stored);
  view_.groups().EndGroup(view_.overlay(), any && stored.ok());
  view_.overlay().Clear();
}

void Committer::RunRequests(const std::vector<Writer*>& group) {
  for (Writer* writer : group) {
    if (writer->alone()) {
      view_.digests().Mark();
      writer->status = RunAlone(*writer);
      if (!writer->status.ok()) {
        view_.overlay().Clear();
        view_.digests().RollBack();
        view_.groups().Drop();
      }
      continue;
    }
    absl::StatusOr<RequestEffects> effects = RunRequest(*writer);
    if (!effects.ok()) {
      writer->status = effects.status();
      continue;
    }
    pending_ = effects->commit.sequence;
    if (!schema_->feed_prefix().empty()) AddToFeed(*effects);
    writer->effects = *std::move(effects);
  }
  PutPlaces(group);
}

void Committer::PutPlaces(const std::vector<Writer*>& group) {
  std::vector<const ReplayRun*> done;
  for (auto it = group.rbegin(); it != group.rend(); ++it) {
    const Writer& writer = **it;
    if (writer.replay == nullptr || !writer.status.ok()) continue;
    const ReplayRun* run = writer.replay->run;
    if (std::find(done.begin(), done.end(), run) != done.end()) continue;
    done.push_back(run);
    view_.overlay().Put(run->place_key, (*writer.place)(*writer.replay));
  }
}

void Committer::AddToFeed(const RequestEffects& effects) {
  const SequenceNumber sequence = effects.commit.sequence;
  const v1::ChangeFeedState& feed = schema_->catalog().feed();
  const std::string& prefix = schema_->feed_prefix();
  view_.overlay().Put(FeedKey(prefix, sequence), effects.feed_record);
  const auto n = static_cast<uint64_t>(sequence);
  if (feed.commits_max() > 0 &&
      n >= feed.first_sequence() + feed.commits_max()) {
    view_.overlay().Delete(
        FeedKey(prefix, SequenceNumber{n - feed.commits_max()}));
  }
}

absl::Status Committer::RunAlone(Writer& writer) {
  if (writer.maintenance != nullptr) {
    return (*writer.maintenance)(*schema_, view_);
  }
  ASSIGN_OR_RETURN(v1::Catalog catalog, (*writer.catalog)(*schema_, view_));
  catalog.set_schema_version(catalog.schema_version() + 1);
  std::string bytes = catalog.SerializeAsString();
  ASSIGN_OR_RETURN(std::shared_ptr<const SchemaState> next,
                   SchemaState::FromCatalog(std::move(catalog), schema_.get()));
  RETURN_IF_ERROR(services_.recorder->CheckSchema(*next));
  next_schema_ = std::move(next);
  view_.overlay().Put(CatalogCopyKey(), bytes);
  view_.overlay().Put(CatalogKey(), std::move(bytes));
  view_.digests().Adopt(next_schema_);
  return absl::OkStatus();
}

absl::StatusOr<RequestEffects> Committer::RunReplayed(Writer& writer) {
  ReplayRequest& request = *writer.replay;
  if (writer.before != nullptr && !writer.before->status.ok()) {
    return absl::CancelledError("not tried");
  }
  if (request.sequence.value_or(Next(pending_)) != Next(pending_)) {
    return absl::AbortedError(absl::StrCat(
        "somebody else writes to the database, so a replay cannot keep the "
        "sequences of its log: sequence=",
        static_cast<uint64_t>(*request.sequence),
        " due=", static_cast<uint64_t>(Next(pending_))));
  }
  absl::StatusOr<RequestEffects> effects = [&] {
    return request.batch != nullptr ? RunAdmitted(writer)
                                    : RunReplayedRecord(writer);
  }();
  if (effects.ok()) {
    request.rows = request.effects.size();
    for (const uint64_t rows : effects->commit.rows_changed) {
      request.rows += rows;
    }
    return effects;
  }
  request.refused = !absl::IsDataLoss(effects.status()) &&
                    !absl::IsInternal(effects.status());
  return effects;
}

absl::StatusOr<RequestEffects> Committer::RunReplayedRecord(Writer& writer) {
  ReplayRequest& request = *writer.replay;
  if (writer.schema != schema_ && request.record != nullptr) {
    ASSIGN_OR_RETURN(request.effects, AdmitEffects(*schema_, *request.record,
                                                   *request.run->coverage));
  }
  return runner_.RunReplayed(*schema_, request, Next(pending_));
}

absl::StatusOr<RequestEffects> Committer::RunRequest(Writer& writer) {
  return writer.replay != nullptr ? RunReplayed(writer) : RunAdmitted(writer);
}

absl::StatusOr<RequestEffects> Committer::RunAdmitted(Writer& writer) {
  if (writer.schema != schema_) {
    ASSIGN_OR_RETURN(writer.mutations, AdmitBatch(*schema_, *services_.limits,
                                                  plans_, *writer.batch));
  }
  writer.began = true;
  return runner_.Run(*schema_, writer.mutations, Next(pending_), writer.replay);
}

absl::Status Committer::CommitGroup(bool sync) {
  batch_->Clear();
  view_.overlay().AppendTo(batch_.get(), services_.known_keys);
  if (services_.live != nullptr) services_.live->WriteSample(batch_.get());
  Recorder& recorder = *services_.recorder;
  const absl::Status recorded = recorder.Append(sync);
  CommitMark mark{pending_, synced_, recorder.synced()};
  view_.digests().WriteTo(batch_.get(), &mark.digests);
  if (!SeededBug("mark_not_written")) {
    batch_->Put(MarkKey(), EncodeMark(mark));
  }
  const bool sync_store = sync && !SeededBug("sync_skipped");
  const absl::Status status =
      recorded.ok() ? store_->Write(*batch_, sync_store) : recorded;
  if (!status.ok()) {
    read_only_.store(!SeededBug("writable_after_failure"),
                     std::memory_order_release);
    next_schema_ = nullptr;
    return absl::UnknownError(absl::StrCat(
        recorded.ok() ? "store" : "write log",
        " failed while writing, so the outcome is unknown; the engine is "
        "read-only until it is opened again: ",
        status.message()));
  }
  sequence_ = pending_;
  if (next_schema_ != nullptr) {
    schema_ = std::move(next_schema_);
    // Its size was checked; a log that has failed says so to the next commit.
    recorder.UseSchema(*schema_).IgnoreError();
  }
  unpolled_bytes_ += view_.overlay().bytes();
  if (services_.disk != nullptr) {
    services_.disk->Wrote(view_.overlay().bytes());
  }
  if (unpolled_bytes_ >= kLevel0PollBytes) {
    unpolled_bytes_ = 0;
    level0_files_.store(store_->Level0Files(), std::memory_order_relaxed);
  }
  groups_.fetch_add(1, std::memory_order_relaxed);
  if (sync) {
    synced_ = sequence_;
    syncs_.fetch_add(1, std::memory_order_relaxed);
  }
  if (services_.live != nullptr) {
    services_.live->Committed(view_.overlay(),
                              static_cast<uint64_t>(sequence_));
  }
  if (services_.rows != nullptr) KeepRowsRight();
  Publish();
  recorder.Committed(sequence_, sync);
  return absl::OkStatus();
}

void Committer::KeepRowsRight() {
  view_.overlay().ForEach(
      [this](const std::string& key, const std::optional<std::string>& value) {
        if (!schema_->IsRowKey(key)) return;
        services_.rows->Changed(key, value, static_cast<uint64_t>(sequence_));
      });
}

void Committer::Publish() {
  auto state = std::make_shared<internal::PublishedState>();
  state->store = store_;
  state->snapshot = store_->GetSnapshot();
  state->schema = schema_;
  state->sequence =
      SeededBug("old_sequence_published") ? SequenceNumber{} : sequence_;
  state->rows = services_.rows;
  if (services_.live != nullptr) {
    state->live = services_.live;
    LiveKeeper::Newest newest = services_.live->newest();
    state->view = std::move(newest.view);
    state->version = newest.version;
  }
  view_.UseState(state);
  std::shared_ptr<const internal::PublishedState> old = std::move(state);
  MutexLock lock(published_mu_);
  published_.swap(old);
  if (published_waiters_ > 0) published_changed_.SignalAll();
  // The old state, if nobody reads it, is released behind the lock: `old` is
  // destroyed after `lock`.
}

void Committer::ShowView() {
  auto state = std::make_shared<internal::PublishedState>();
  std::shared_ptr<const internal::PublishedState> old;
  MutexLock lock(published_mu_);
  LiveKeeper::Newest newest = services_.live->newest();
  // Else the commit that is on its way publishes it.
  if (newest.version != published_->version) return;
  state->store = published_->store;
  state->snapshot = published_->snapshot;
  state->schema = published_->schema;
  state->sequence = published_->sequence;
  state->live = services_.live;
  state->rows = published_->rows;
  state->view = std::move(newest.view);
  state->version = newest.version;
  old = std::exchange(published_, std::move(state));
}

// `stored` is the group's own outcome, OK if there was nothing to store.
void Committer::Finish(const std::vector<Writer*>& group,
                       const absl::Status& stored) {
  for (Writer* writer : group) {
    if (writer->status.ok()) {
      writer->status = stored;
      if (stored.ok() && writer->effects.has_value()) {
        if (writer->observed()) runner_.RunPostHooks(*writer->effects);
        requests_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    if (!writer->began) continue;
    if (!writer->status.ok()) {
      requests_failed_.fetch_add(1, std::memory_order_relaxed);
    }
    runner_.RunFinally(writer->status);
  }
}

std::shared_ptr<const internal::PublishedState> Committer::published() const {
  MutexLock lock(published_mu_);
  return published_;
}

std::shared_ptr<const internal::PublishedState> Committer::WaitForCommit(
    SequenceNumber sequence, std::chrono::microseconds timeout) const {
  const auto end = std::chrono::steady_clock::now() + timeout;
  MutexLock lock(published_mu_);
  ++published_waiters_;
  while (published_->sequence <= sequence) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    published_changed_.WaitFor(published_mu_, left);
  }
  --published_waiters_;
  return published_;
}

absl::Status Committer::Close() {
  {
    MutexLock lock(mu_);
    if (closed_) return absl::FailedPreconditionError("engine is closed");
    closed_ = true;
    while (!queue_.empty()) drained_.Wait(mu_);
  }
  // Nobody leads any more, so this thread may use what the leader uses.
  if (!CheckWritable().ok() || synced_ == sequence_) {
    return absl::OkStatus();
  }
  view_.overlay().Clear();
  pending_ = sequence_;
  const absl::Status synced = CommitGroup(/*sync=*/true);
  if (synced.ok()) return synced;
  return absl::Status(
      absl::StatusCode::kInternal,
      absl::StrCat("last sync failed; unsynced commits survive the process "
                   "but perhaps not the machine: ",
                   synced.message()));
}

Committer::Counts Committer::counts() const {
  return {!CheckWritable().ok(),
          requests_.load(std::memory_order_relaxed),
          requests_failed_.load(std::memory_order_relaxed),
          groups_.load(std::memory_order_relaxed),
          syncs_.load(std::memory_order_relaxed),
          long_keys_.load(std::memory_order_relaxed)};
}

}  // namespace dovetail
