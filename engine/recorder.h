// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Makes the record of each committed request, for the change feed and for the
// write log, and appends the latter before the store takes the commit. What
// recording promises, and why this order keeps the promise, is in
// docs/write-log.md.
//
//   Open       before the store: where does the log end, so that the store
//              keeps no more? (LevelDbStoreOptions::keep_up_to)
//   Prepare    in the serial section, for each request that ran well
//   Append     before the group's store write; with a sync if that has one
//   Sync       before every sync of the store's log, from any thread
//              (LevelDbStoreOptions::before_sync)
//   Committed  behind the store write

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/environment.h"
#include "dovetail/file_system.h"
#include "dovetail/recording.h"
#include "dovetail/stats.h"
#include "dovetail/v1/write_log.pb.h"
#include "engine/request_runner.h"
#include "engine/schema_state.h"
#include "engine/storage/store.h"

namespace dovetail {

// Of one database. Calls belong to the serial section, or to the opening of
// the engine, unless they say otherwise. Must outlive the store.
class Recorder {
 public:
  struct Services {
    FileSystem* file_system;
    Clock* clock;
    RandomSource* random;
  };
  // `database` is the directory; empty: it is in memory, and cannot record.
  Recorder(std::string database, const Services& services);
  ~Recorder();

  // Opens the log if the database records; else does nothing. `found` is what
  // an intact store holds; returns what of it the log has too, nullopt if all.
  // The log is then synced, and no more than the store's. `wanted` replaces
  // the setup. A read-only engine does without a log that is not as it should
  // be.
  //   FailedPrecondition  the store has synced commits that the log lacks, and
  //                       `wanted` does not say to start over; or `wanted`
  //                       names another directory
  absl::StatusOr<std::optional<uint64_t>> Open(
      const LevelDbStoreOptions::Found& found,
      const std::optional<WriteLogOptions>& wanted, bool read_only);
  // What Open cut.
  const std::vector<WriteLogCut>& cuts() const { return cuts_; }

  // Records from the commit behind `sequence` on, which must be synced before
  // the next one. Errors are those of Engine::EnableWriteLog.
  absl::Status Start(const WriteLogOptions& options, SequenceNumber sequence,
                     const SchemaState& schema);
  absl::Status Stop();
  bool on() const { return writer_ != nullptr; }

  // Records from now on are made under `schema`. ResourceExhausted, from both,
  // if the log cannot hold it. Nothing if nothing is recorded.
  absl::Status CheckSchema(const SchemaState& schema) const;
  absl::Status UseSchema(const SchemaState& schema);

  // Whether requests are to be recorded, for the log or for the feed, and
  // changes therefore kept.
  bool wants_changes(const SchemaState& schema) const {
    return on() || !schema.feed_prefix().empty();
  }
  // Makes the request's record: the feed's is left in `effects`, the log's is
  // kept until Append. ResourceExhausted or InvalidArgument if there cannot be
  // one; the request must fail then.
  absl::Status Prepare(const SchemaState& schema, RequestEffects* effects);
  // Appends what was prepared, and hands it to the operating system; with
  // `sync` all of the log is on stable storage.
  absl::Status Append(bool sync);
  // The store has everything up to `sequence`; `synced`: durably. Drops files
  // that are not to be kept, if one was begun.
  void Committed(SequenceNumber sequence, bool synced);

  // Up to which sequence the log is on stable storage, at least; nullopt if
  // nothing is recorded.
  std::optional<SequenceNumber> synced() const;

  // No file is dropped meanwhile.
  void HoldFiles() { ++holds_; }
  void ReleaseFiles() { --holds_; }

  // Once it returns OK, all that Append took is on stable storage. From any
  // thread.
  absl::Status Sync();
  // From any thread. Nullopt if nothing is recorded.
  std::optional<WriteLogStats> GetStats() const;

 private:
  absl::StatusOr<std::shared_ptr<WriteLogWriter>> OpenWriter(
      const v1::WriteLogSettings& settings,
      std::optional<SequenceNumber> cut_above,
      std::optional<SequenceNumber> synced) const;
  // Opens the log of `settings`. FailedPrecondition or DataLoss if it lacks
  // what it must have.
  absl::StatusOr<std::shared_ptr<WriteLogWriter>> OpenWhole(
      const v1::WriteLogSettings& settings,
      const LevelDbStoreOptions::Found& found) const;
  // The same for a log that goes on behind `sequence`, or is empty.
  absl::StatusOr<std::shared_ptr<WriteLogWriter>> OpenToGoOn(
      const v1::WriteLogSettings& settings, uint64_t sequence) const;
  // Keeps what is in the directory aside, and begins anew behind `sequence`.
  absl::StatusOr<std::shared_ptr<WriteLogWriter>> StartOver(
      v1::WriteLogSettings* settings, uint64_t sequence) const;
  absl::Status SetAside(const std::string& directory, uint64_t sequence) const;
  void Use(std::shared_ptr<WriteLogWriter> writer,
           const v1::WriteLogSettings& settings);
  absl::Status SyncLog(WriteLogWriter& writer);
  void DropFiles();

  const std::string database_;
  const Services services_;

  std::vector<WriteLogCut> cuts_;
  v1::WriteLogSettings settings_;
  WriteLogSetup setup_;
  std::shared_ptr<WriteLogWriter> writer_;  // Null: nothing is recorded.
  uint64_t schema_fingerprint_ = 0;

  v1::WriteLogRecord record_;  // Kept for its memory.
  struct Prepared {
    SequenceNumber sequence;
    std::string bytes;
  };
  std::vector<Prepared> prepared_;
  size_t prepared_count_ = 0;

  int holds_ = 0;
  SequenceNumber newest_file_{};  // When retention was last applied in full.

  mutable Mutex mu_;
  // The same as writer_, for other threads.
  std::shared_ptr<WriteLogWriter> shared_writer_ GUARDED_BY(mu_);
  std::string shared_directory_ GUARDED_BY(mu_);
  std::string retention_error_ GUARDED_BY(mu_);
  SequenceNumber synced_ GUARDED_BY(mu_){};  // Of the log.
  // What the store had, and what it had when its log was last synced by
  // itself; that is known to be over only at the next one.
  SequenceNumber committed_ GUARDED_BY(mu_){};
  SequenceNumber syncing_ GUARDED_BY(mu_){};
  SequenceNumber durable_ GUARDED_BY(mu_){};
};

}  // namespace dovetail
