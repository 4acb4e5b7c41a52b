// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Runs one request inside the serial section: resolves what each mutation is
// about, computes the row changes, lets the observers see them, and leaves
// rows and entries in the group's overlay. On an error it takes all of that
// back.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "dovetail/observer.h"
#include "dovetail/v1/write_log.pb.h"
#include "engine/cross_check.h"
#include "engine/request.h"
#include "engine/serial_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "observers/entry_sink.h"
#include "observers/index_maintenance.h"
#include "observers/observer_chain.h"

namespace dovetail {

class Recorder;

// A row change as hooks see it after the mutation has been applied.
struct OwnedChange {
  const TableState* table;
  std::string old_key;
  std::string new_key;
  std::optional<std::string> old_record;
  std::optional<std::string> new_record;
  // Of the old record, what keys and indexes read; only for the write log.
  std::string old_fields;
  std::string added_by;
  // What the old row was in its table's digest; 0 if none is kept.
  absl::uint128 old_sum = 0;

  RowChange View() const;
};

struct AdmittedEffect;  // See replay_request.h.
struct ReplayRequest;

// What a request that ran leaves for after the commit.
struct RequestEffects {
  Commit commit;
  // Of a replayed request: when it was made, and where it comes from.
  std::optional<int64_t> commit_time_us;
  std::string source;
  uint64_t source_position = 0;
  // Kept only if some observer's batch or post hook wants them, or the
  // recorder does.
  std::vector<OwnedChange> changes;
  std::string feed_record;  // Of the change feed, if it is on.
  // After the request; with some of the write log's records.
  google::protobuf::RepeatedPtrField<v1::SpaceDigest> digests;
};

// Used by one thread at a time.
class RequestRunner {
 public:
  struct Services {
    const Limits* limits;
    ObserverChain* observers;
    PlanCache* plans;
    RandomSource* random;
    std::atomic<uint64_t>* long_keys;
    Recorder* recorder;
    CrossCheck* cross_check = nullptr;          // Null: off.
    internal::PendingTamper* tamper = nullptr;  // Null: none.
  };
  // All must outlive the runner.
  RequestRunner(SerialView* view, const Services& services);
  ~RequestRunner();

  // Runs the mutations under `sequence`. `replay`, if it is not null, is where
  // they come from. On an error the overlay is as it was.
  absl::StatusOr<RequestEffects> Run(const SchemaState& schema,
                                     std::vector<AdmittedMutation>& mutations,
                                     SequenceNumber sequence,
                                     const ReplayRequest* replay);

  // Applies a replayed record, which has been admitted, without observers. On
  // an error the overlay is as it was.
  absl::StatusOr<RequestEffects> RunReplayed(const SchemaState& schema,
                                             ReplayRequest& request,
                                             SequenceNumber sequence);

  // The post hooks of a request that is committed. The first error is kept in
  // effects.commit.post_commit.
  void RunPostHooks(RequestEffects& effects);
  // "After, whatever happened": of each request that Run began.
  void RunFinally(const absl::Status& outcome);

 private:
  class Context;
  class Sink;

  // A mutation that an observer added, waiting for the hook to end.
  struct Added {
    std::unique_ptr<Mutation> mutation;  // Stable address.
    AdmittedMutation admitted;
    std::string added_by;
  };
  // The new image of a row: fields view `record`.
  struct NewRow {
    EncodedRow* row;
    std::string_view record;
  };

  // An index entry of a replayed request, to be put once all that goes is gone.
  struct EntryToPut {
    const TableState* table;
    size_t index;
    std::string key;
    std::string value;
  };

  void Begin(const SchemaState& schema, SequenceNumber sequence,
             const ReplayRequest* replay);
  // Has the request's record made. Returns `status`, or the error of that;
  // undoes everything if it is an error.
  absl::Status End(size_t overlay_mark, absl::Status status);
  absl::Status SettleGroups();
  absl::Status CrossCheckRequest();
  absl::Status PrepareRecord();

  absl::Status ApplyEffects(ReplayRequest& request);
  absl::Status CheckDigests(const ReplayRequest& request) const;
  absl::Status ApplyKnown(const std::vector<AdmittedEffect>& effects);
  absl::Status ApplyRead(AdmittedEffect& effect, bool check_old);
  absl::Status Remove(const AdmittedEffect& effect, CurrentRow row);
  absl::Status RemoveElsewhere(const AdmittedEffect& effect);
  absl::Status DiffEntries(const TableState& table, const EncodedRow* old_row,
                           const EncodedRow* new_row);
  absl::Status DiffMany(const TableState& table, size_t index,
                        const EncodedRow* old_row, const EncodedRow* new_row);
  // `old_row` is null if there was no row.
  void KeepChange(const TableState& table, const RowChange& change,
                  const EncodedRow* old_row, absl::uint128 old_sum);

  absl::Status RunMutations(std::vector<AdmittedMutation>& mutations);
  absl::Status RunMutation(AdmittedMutation& m, std::string_view added_by,
                           uint64_t* rows_changed);
  absl::Status ApplyMutation(AdmittedMutation& m, std::string_view added_by,
                             uint64_t* rows_changed);
  absl::Status RunAdded();

  absl::Status ApplyPut(AdmittedMutation& m, std::string_view added_by);
  absl::Status ApplyPatch(AdmittedMutation& m, CurrentRow old,
                          std::string_view added_by);
  absl::Status ApplyMerged(const TableState& table, CurrentRow old,
                           std::string record, std::string_view added_by);
  absl::Status ApplyDelete(AdmittedMutation& m, CurrentRow old,
                           std::string_view added_by);
  absl::Status ApplyChange(const TableState& table,
                           const std::optional<CurrentRow>& old,
                           std::optional<NewRow> next,
                           std::string_view added_by);

  // See ordered_change.cc.
  absl::Status ApplyOrderedPut(AdmittedMutation& m,
                               const std::optional<CurrentRow>& old,
                               std::string_view added_by);
  absl::Status ApplyOrderedPatch(AdmittedMutation& m, CurrentRow old,
                                 std::string patched,
                                 std::string_view added_by);
  absl::Status ApplyOrderedDelete(AdmittedMutation& m,
                                  std::optional<CurrentRow> old,
                                  std::string_view added_by);
  absl::StatusOr<bool> IsBehindADelete(const TableState& table,
                                       const EncodedRow& row,
                                       std::string_view record);
  absl::StatusOr<std::string> LedgerKey(const TableState& table,
                                        const EncodedRow& row) const;
  absl::StatusOr<std::string> LedgerKey(const AdmittedMutation& m) const;
  absl::Status Ignore(const TableState& table);

  // The row a put replaces: the one that has its identity, else the one under
  // its row key. Sets m.row's key.
  absl::StatusOr<std::optional<CurrentRow>> FindReplaced(AdmittedMutation& m);
  absl::StatusOr<std::vector<CurrentRow>> Resolve(const AdmittedMutation& m);
  absl::Status KeepMatching(const AdmittedMutation& m,
                            std::vector<CurrentRow>* rows) const;
  absl::Status ResolveRowKey(const AdmittedMutation& m,
                             std::vector<CurrentRow>* rows);
  absl::Status ResolveUnique(const AdmittedMutation& m,
                             std::vector<CurrentRow>* rows);
  absl::Status ResolveScan(const AdmittedMutation& m,
                           std::vector<CurrentRow>* rows);
  absl::Status CheckConditions(const AdmittedMutation& m,
                               const CurrentRow* row) const;
  absl::Status CheckKeySize(const TableState& table, std::string_view what,
                            size_t bytes) const;
  absl::Status RunUserHooks(const RowChange& change, bool is_put);
  absl::Status RunBatchHooks();
  std::vector<RowChange> ChangeViews(const RequestEffects& effects) const;
  void Count(std::atomic<uint64_t>& counter);

  SerialView* const view_;
  const Services services_;
  IndexMaintenance maintenance_;
  const bool observers_keep_changes_;

  // Of the request that runs.
  bool keep_changes_ = false;
  bool hooks_ = true;  // Those of users run.
  const SchemaState* schema_ = nullptr;
  SequenceNumber sequence_{};
  RequestEffects effects_;
  std::deque<Added> added_;
  size_t added_count_ = 0;
  size_t request_bytes_ = 0;
  std::vector<std::atomic<uint64_t>*> counts_;  // To raise on success.
  uint64_t ignored_ = 0;  // Changes of the mutation that came too late.
  // The store key of a unique entry that was just looked for and not found.
  std::string absent_entry_;
  std::vector<EntryToPut> entries_to_put_;
};

}  // namespace dovetail
