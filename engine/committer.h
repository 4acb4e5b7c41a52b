// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The one write path. Requests queue; the writer at the head of the queue
// leads: it takes those behind it into one group, runs them in order against
// the store and what the group has done so far, commits the group as one
// store batch, publishes the new state, runs post hooks, and hands the lead
// on. That one order is the commit order, the order of sequences, and the
// order observers see.
//
//   queue   [A B C | D E]      A leads, group = A B C
//   run     A ok, B vetoed (undone), C ok
//   record  A and C appended to the write log, if there is one
//   commit  rows and entries of A and C, the mark: one batch, one sync if A
//           or C asked for it
//   publish sequence = C's
//   done    A, B (its error) and C wake; D leads
//
// A thread may bring several requests at once (WriteAll): they queue one behind
// the other, as if from as many threads.
//
// There are no row locks, so there are no deadlocks. A failed write of the
// log or the store makes the engine read-only: of its group nobody can say
// whether it is in the store, and whatever came later might be torn off with
// it.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "dovetail/engine.h"
#include "engine/disk_guard.h"
#include "engine/live_keeper.h"
#include "engine/published_state.h"
#include "engine/recorder.h"
#include "engine/replay_request.h"
#include "engine/request.h"
#include "engine/request_runner.h"
#include "engine/row_cache.h"
#include "engine/row_format.h"
#include "engine/serial_view.h"
#include "observers/observer_chain.h"

namespace dovetail {

// Thread-safe.
class Committer {
 public:
  struct Services {
    const Limits* limits;
    ObserverChain* observers;
    RandomSource* random;
    Clock* clock;
    Recorder* recorder;
    DiskGuard* disk = nullptr;        // Null: no disk.
    KnownKeys* known_keys = nullptr;  // Null: look for every key.
    LiveKeeper* live = nullptr;       // Null: nothing is known.
    RowCache* rows = nullptr;         // Null: none are kept.
    bool read_only = false;           // Refuse to write.
    bool cross_check = false;         // See Options.
    internal::PendingTamper* tamper = nullptr;
  };
  // Starts from `mark` and `digests`, the newest the store holds. All of
  // `services` must outlive the committer.
  Committer(std::shared_ptr<Store> store,
            std::shared_ptr<const SchemaState> schema, const CommitMark& mark,
            DigestKeeper digests, const Services& services);
  ~Committer();

  // Commits the batch; blocks until its outcome is known. See Engine::Write.
  absl::StatusOr<Commit> Write(const WriteOptions& options,
                               const WriteBatch& batch);

  // Commits several requests, each by itself, in their order, as one group if
  // Limits::group_bytes_max allows; the outcome of each, in the same order.
  // Does not wait for compaction: call WaitUntilWritable before.
  struct Request {
    WriteOptions options;
    const WriteBatch* batch;
  };
  std::vector<absl::StatusOr<Commit>> WriteAll(
      const std::vector<Request>& requests);

  // Commits the requests of a replay, each by itself, in their order, up to the
  // first that fails; those behind it are Cancelled. The outcome is left in
  // them. `place` gives what is put under their run's place_key in the commit
  // of a request, the requests before it included; it is called in the serial
  // section. Does not wait for compaction.
  using ReplayPlaceOf =
      absl::FunctionRef<std::string(const ReplayRequest& last)>;
  void Replay(const WriteOptions& options, absl::Span<ReplayRequest> requests,
              ReplayPlaceOf place);
  // What of a request can be checked without looking at rows.
  absl::Status CheckReplay(ReplayRequest* request);

  // FailedPrecondition if the engine is read-only.
  absl::Status CheckWritable() const;
  // OK once the store can take writes; else why it cannot.
  absl::Status WaitUntilWritable();

  // Runs `body` inside the serial section, in a group of its own; what it
  // leaves in the view's overlay is committed, without a sequence of its own
  // and without observers. For repair and builds; and for looking at the store
  // while nobody writes, which leaves nothing and which a read-only engine can
  // do.
  using MaintenanceBody =
      absl::FunctionRef<absl::Status(const SchemaState&, SerialView&)>;
  enum class Leaves { kSyncedChanges, kChanges, kNothing };
  absl::Status RunMaintenance(MaintenanceBody body, Leaves leaves);

  // The same for a body that returns the catalog as it shall be: commits it
  // and serves it from then on. Requests that were admitted under the schema
  // before are admitted anew. Always synced.
  using CatalogBody = absl::FunctionRef<absl::StatusOr<v1::Catalog>(
      const SchemaState&, SerialView&)>;
  absl::Status ChangeCatalog(CatalogBody body);

  // The newest state.
  std::shared_ptr<const internal::PublishedState> published() const;
  // The newest state once it has a commit behind `sequence`, or whatever it is
  // after `timeout`.
  std::shared_ptr<const internal::PublishedState> WaitForCommit(
      SequenceNumber sequence, std::chrono::microseconds timeout) const;

  // Serves the newest view of the newest state from now on.
  void ShowView();

  // Waits for the queue to drain, syncs, and refuses later writes.
  absl::Status Close();

  struct Counts {
    bool read_only;
    uint64_t requests;
    uint64_t requests_failed;
    uint64_t groups;
    uint64_t syncs;
    uint64_t long_keys;
  };
  Counts counts() const;

 private:
  struct Writer;

  absl::Status CheckIntact() const;  // No write to log or store has failed.
  absl::Status WaitForCompaction();
  absl::Status Admit(const WriteOptions& options, const WriteBatch& batch,
                     Writer* writer);
  absl::Status AdmitReplayed(const WriteOptions& options, Writer* writer);
  void Enqueue(absl::Span<Writer* const> writers);
  // False, and an error in each, if the engine is closed.
  bool AddToQueue(absl::Span<Writer* const> writers) REQUIRES(mu_);
  std::vector<Writer*> TakeGroup() REQUIRES(mu_);
  void RunGroup(const std::vector<Writer*>& group);
  void RunRequests(const std::vector<Writer*>& group);
  absl::Status RunAlone(Writer& writer);
  absl::StatusOr<RequestEffects> RunRequest(Writer& writer);
  absl::StatusOr<RequestEffects> RunAdmitted(Writer& writer);
  absl::StatusOr<RequestEffects> RunReplayed(Writer& writer);
  absl::StatusOr<RequestEffects> RunReplayedRecord(Writer& writer);
  // The place of each replay in the group, behind its last request that ran.
  void PutPlaces(const std::vector<Writer*>& group);
  void AddToFeed(const RequestEffects& effects);
  absl::Status CommitGroup(bool sync);
  // Of the rows kept in memory, those that the group has changed.
  void KeepRowsRight();
  void Publish();
  void Finish(const std::vector<Writer*>& group, const absl::Status& stored);

  const std::shared_ptr<Store> store_;
  const Services services_;
  PlanCache plans_;

  mutable Mutex mu_;
  std::deque<Writer*> queue_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  CondVar drained_;

  mutable Mutex published_mu_;
  mutable CondVar published_changed_;
  mutable int published_waiters_ GUARDED_BY(published_mu_) = 0;
  std::shared_ptr<const internal::PublishedState> published_
      GUARDED_BY(published_mu_);

  // Of the leader.
  std::shared_ptr<const SchemaState> schema_;
  std::shared_ptr<const SchemaState> next_schema_;  // Of the group, or null.
  SerialView view_;
  std::unique_ptr<StoreBatch> batch_;
  SequenceNumber sequence_;  // Of the newest request in the store.
  SequenceNumber pending_;   // Of the newest request in the group.
  SequenceNumber synced_;
  std::atomic<uint64_t> long_keys_{0};
  CrossCheck cross_check_;
  RequestRunner runner_;

  size_t unpolled_bytes_ = 0;

  std::atomic<int> level0_files_{0};  // As the leader last saw them.
  std::atomic<bool> read_only_{false};
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> requests_failed_{0};
  std::atomic<uint64_t> groups_{0};
  std::atomic<uint64_t> syncs_{0};
};

}  // namespace dovetail
