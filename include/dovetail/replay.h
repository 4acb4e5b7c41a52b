// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Replay: applies what a write log, or a stream of changes, holds to a
// database, each request exactly once, however often the replay is killed and
// started again.
//
//   auto source = OpenWriteLogSource(FileSystem::Posix(), "primary/write-log");
//   auto replayer = Replayer::Open(engine.get(), source->get(),
//                                  {.source = "primary"});
//   absl::Status status = (*replayer)->Run();
//   std::cout << (*replayer)->report().applied << " requests\n";
//
// How far a source has been applied is kept in the database under the source's
// name, in the commit of the rows themselves. So a replay that begins again
// goes on behind what was committed, whatever happened, and nothing is applied
// twice or left out.
//
// A write log's records are applied as they are: the rows under their keys,
// and the index entries that follow. No observer sees them, since what
// observers did is in the log. A stream's items are requests, and run like
// those of Engine::Write. docs/replay.md has more.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "dovetail/file_system.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/v1/write_log.pb.h"
#include "dovetail/write_batch.h"
#include "dovetail/write_log.h"

namespace dovetail {

// A place in a source: behind the item of this position. 0: its beginning.
struct ReplayPlace {
  uint64_t position = 0;
  // By which that item is recognized; 0: not known.
  uint64_t fingerprint = 0;
};

// What a source yields: one request, applied whole or not at all.
struct ReplayItem {
  enum class Kind {
    kEffects,  // `record`: the final changes of rows, under exact keys.
    kRequest,  // `batch`: to be run against the rows that are there.
    kNothing,  // An entry that asks for nothing; its place counts.
  };
  Kind kind = Kind::kNothing;
  // Larger than that of the item before. Of a write log, the sequence.
  uint64_t position = 0;
  // A hash of what the item was made from, to tell on the next start whether
  // the source still has it. 0: none.
  uint64_t fingerprint = 0;
  // When it was made, in microseconds since 1970; absent if not known.
  std::optional<int64_t> time_us = std::nullopt;

  v1::WriteLogRecord record = {};
  WriteBatch batch = {};
  // The entry as it stands in the source, for the reject file. Of kEffects
  // the record is written there instead.
  std::string raw = {};
};

// Where the items come from. Used by one replayer, from one thread.
class ReplaySource {
 public:
  virtual ~ReplaySource() = default;

  // Goes to the item behind `place`, which Next then returns. Called once,
  // before Next. FailedPrecondition if the source is not the one in which the
  // place was: it ends before it, or has something else there. NotFound if
  // there is nothing, or it begins behind the place.
  virtual absl::Status Start(const ReplayPlace& place) = 0;

  // True with the next item; false at the end, which may be the end for now:
  // a replayer that follows calls again. `item` comes with the memory of an
  // earlier one, for reuse. InvalidArgument: the entry is no request; its
  // position and `raw` are in `item`, and the next call goes on behind it.
  // Every other error is final.
  virtual absl::StatusOr<bool> Next(ReplayItem* item) = 0;

  // By which the source is recognized, whatever its name or place: of a write
  // log its log id. Known once Next has returned an item; empty: never.
  virtual std::string id() const = 0;

  // Whether positions are the dense sequences of the commits that the items
  // were, as in a write log.
  virtual bool is_numbered() const { return false; }

  // The schema under which the last item was recorded; null if not known.
  // Valid until the next call of Next, and the same object with the same
  // content as long as `schema_version` is the same.
  virtual const v1::Schema* schema() const { return nullptr; }
  virtual uint64_t schema_version() const { return 0; }

  // For progress: of the part from the start on. A total of 0 is not known.
  virtual uint64_t bytes_read() const { return 0; }
  virtual uint64_t bytes_total() const { return 0; }
};

struct WriteLogSourceOptions {
  // See WriteLogReaderOptions.
  bool follow = false;
  // Passing over damage leaves a gap, which a replay does not accept: to be
  // used with ReplaySequences::kOwn only.
  bool skip_damaged = false;
  size_t record_bytes_max = kWriteLogRecordBytesMax;
};

// The log in the directory, or the one file, `path`. Nothing is read before
// Start, whose errors are those of WriteLogReader::Open, too.
std::unique_ptr<ReplaySource> OpenWriteLogSource(
    FileSystem* file_system, std::string path,
    WriteLogSourceOptions options = {});

// Which sequences the commits of a replayed write log get.
enum class ReplaySequences {
  // What the source began with; of a new source kKeep if the database has no
  // commit yet, and FailedPrecondition, asking which, if it has.
  kAuto,
  // The log's own: the database is the one that recorded, at an earlier
  // commit, be it a checkpoint or an empty database, and goes on with the
  // history of the log. The record behind the database's newest commit is
  // applied first. Sequences are the versions of rows, so preconditions on
  // versions hold here as they do there. Nobody else may write: a commit that
  // is not the log's ends the replay with Aborted.
  kKeep,
  // The database's own: it has writers, or sources, beside this one.
  kOwn,
};

// What to make of a row's old image, as a record of a write log has it.
enum class ReplayOldRows {
  // Believe it, and read nothing, where the sequences prove that the row is
  // what the log left: with kKeep, as long as no record was rejected. Where
  // they do not, or the log does not have all fields that indexes here read,
  // as kCheck; after a rejected record as kReplace.
  kTrust,
  // Read the row. One that is not as the log says, or is there or absent
  // against what it says, makes the record fail: FailedPrecondition.
  kCheck,
  // Read the row, and replace what is there; in a table with an identity, what
  // has the record's identity, too.
  kReplace,
};

// What to do with an item that cannot be applied because of what is in it.
enum class ReplayOnError {
  kStop,  // Run returns the error; everything before the item is committed.
  kSkip,  // Note it in the reject file, if there is one, and go on.
};

struct ReplayReport;

struct ReplayOptions {
  // The name under which the place is kept, of 1 to kNameBytesMax bytes. One
  // replayer at a time per name is for the caller to see to.
  std::string source = "default";

  ReplaySequences sequences = ReplaySequences::kAuto;
  ReplayOldRows old_rows = ReplayOldRows::kTrust;
  // Run a write log's records as requests, with the database's observers: they
  // see every row change, and may veto or add. What observers added when the
  // log was recorded is left out. Rows get the keys their records have here.
  // Not for tables with salts (InvalidArgument); promises no digest.
  bool rerun_observers = false;
  // Compare the rows of each table with the digest that some of a write log's
  // records (one in 64) carry, and end with DataLoss where they are not those
  // that the log had. Done where they must be the same: sequences are kept, no
  // record was rejected, and old_rows is not kReplace.
  bool check_digests = true;

  // Items in one store commit, at most.
  size_t batch_items = 256;
  size_t batch_bytes = 256 << 10;
  // Each store commit is on stable storage before the next. Off: as with
  // WriteOptions; a crash of the machine sets rows and place back together.
  bool sync = false;
  uint64_t items_per_second = 0;  // 0: as fast as it goes.

  // Read and check everything, apply nothing, and keep no place.
  bool dry_run = false;

  ReplayOnError on_error = ReplayOnError::kStop;
  // kSkip: where rejected items go, one v1::ReplayReject as JSON a line.
  // Exactly those behind which the place is, after a kill too: what a killed
  // run wrote ahead is cut off. Empty: they are only counted.
  std::string rejects_path = {};

  // At the end of the source, wait for more until `progress` says stop.
  bool follow = false;
  int64_t poll_interval_us = 100'000;

  // Called about this often; false ends Run with everything so far committed.
  std::function<bool(const ReplayReport&)> progress = {};
  int64_t progress_interval_us = 200'000;

  // Of the reject file. Must outlive the replayer. Null: the machine's own.
  FileSystem* file_system = nullptr;
};

// Where Run stops, before the end of the source.
struct ReplayStop {
  // Behind the last item at or below this position.
  std::optional<uint64_t> to_position = std::nullopt;
  // Before the first item that was made later, in microseconds since 1970.
  std::optional<int64_t> to_time_us = std::nullopt;
};

struct ReplayReport {
  enum class End {
    kRunning,
    kEnd,        // Of the source.
    kStop,       // What ReplayStop says.
    kCancelled,  // `progress` said so.
    kError,
  };
  End end = End::kRunning;

  // Of this replayer.
  uint64_t applied = 0;   // Requests.
  uint64_t rows = 0;      // Changed by them.
  uint64_t rejected = 0;  // Items.
  uint64_t nothing = 0;   // Items that asked for nothing.
  // Since the source was begun, under this name.
  uint64_t applied_total = 0;
  uint64_t rejected_total = 0;

  uint64_t position = 0;           // Applied, or rejected, up to here.
  SequenceNumber sequence{};       // Of the last commit.
  std::optional<int64_t> time_us;  // When the last item was made.
  bool rows_were_read = false;     // Old images were not enough.
  std::string first_reject;        // Its place and cause, in words.

  uint64_t bytes_read = 0;
  uint64_t bytes_total = 0;  // 0: not known.
  int64_t elapsed_us = 0;    // In Run.

  double rows_per_second() const {
    return elapsed_us > 0 ? 1e6 * static_cast<double>(rows) /
                                static_cast<double>(elapsed_us)
                          : 0;
  }
  // Absent if nothing is known of it.
  std::optional<double> seconds_left() const {
    if (bytes_read == 0 || bytes_total < bytes_read) return std::nullopt;
    return static_cast<double>(elapsed_us) / 1e6 *
           static_cast<double>(bytes_total - bytes_read) /
           static_cast<double>(bytes_read);
  }
};

// A source that has been replayed into the database.
struct ReplayedSource {
  std::string name;
  std::string id;  // See ReplaySource::id.
  uint64_t position = 0;
  uint64_t applied = 0;
  uint64_t rejected = 0;
  bool keeps_sequences = false;
};

// Thread-compatible. Engine and source must outlive it.
class Replayer {
 public:
  // Finds the source's place in the database, and goes there.
  //   InvalidArgument     options that contradict each other or the source
  //   FailedPrecondition  the source is not the one that was begun under this
  //                       name, or was changed underneath: it ends before the
  //                       place, or has another record there; kKeep, and the
  //                       database has commits that are not the log's; or it
  //                       must be said which sequences are meant
  //   NotFound            there is no source, or it begins behind the place
  //   AlreadyExists       the reject file is not this replay's
  static absl::StatusOr<std::unique_ptr<Replayer>> Open(Engine* engine,
                                                        ReplaySource* source,
                                                        ReplayOptions options);
  ~Replayer();
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  // Applies items until the source ends, `stop` or `progress` says so, or an
  // error. In every case what report() counts is committed, and nothing else.
  // May be called again; after an error, to try the same item again.
  //   the code of the refusal   an item could not be applied (kStop); names
  //                             its position
  //   FailedPrecondition        the source was changed underneath, or has a
  //                             gap; the engine is closed or read-only
  //   Aborted                   kKeep, and somebody else has written
  //   DataLoss                  the source is damaged
  //   Unknown                   a store write failed
  absl::Status Run(const ReplayStop& stop = {});

  const ReplayReport& report() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The sources that have a place in the database, by name.
  static absl::StatusOr<std::vector<ReplayedSource>> ListSources(
      Engine* engine);
  // Forgets a place: the source begins anew. NotFound if there is none.
  static absl::Status ForgetSource(Engine* engine, std::string_view source);

 private:
  class Impl;
  explicit Replayer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail
