// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The engine: tables of Protobuf records whose index entries change with
// their rows, in one atomic commit.
//
//   dovetail::Schema schema;
//   schema.Add(dovetail::presets::SellerOrders("orders"));
//   auto engine = dovetail::Engine::Open("/var/lib/orders", schema);
//   if (!engine.ok()) ...
//   dovetail::WriteBatch batch;
//   batch.Put("orders", order.SerializeAsString());
//   auto commit = (*engine)->Write({.sync = true}, batch);
//   auto rows = (*engine)->GetBy({}, "orders", "by_order_id", {"o-17"});
//
// table.h wraps this for one record type.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/backup.h"
#include "dovetail/change_feed.h"
#include "dovetail/checkpoint.h"
#include "dovetail/dead_entries.h"
#include "dovetail/digest.h"
#include "dovetail/environment.h"
#include "dovetail/file_system.h"
#include "dovetail/index_admin.h"
#include "dovetail/inspect.h"
#include "dovetail/limits.h"
#include "dovetail/observer.h"
#include "dovetail/query.h"
#include "dovetail/read.h"
#include "dovetail/recording.h"
#include "dovetail/schema.h"
#include "dovetail/stats.h"
#include "dovetail/verify.h"
#include "dovetail/write_batch.h"

namespace dovetail {

class AsyncEngine;  // See async.h.
struct AsyncOptions;
class Regions;  // See regions.h.
namespace internal {
class AsyncCore;
class PendingTamper;
}  // namespace internal

struct Options {
  // Create the database if the directory holds none. Off: NotFound.
  bool create_if_missing = true;
  // Serve reads, refuse every write with FailedPrecondition, create no
  // database and no table: rows and entries stay as they are. The directory
  // does not: opening takes its lock, against readers too, and as ever cuts
  // off a torn write and moves the log into tables, so it must be writable.
  bool read_only = false;
  // Keep everything in memory and write no file; the path is only a name.
  bool in_memory = false;

  // Memory for blocks of table files, and for changes not yet in one.
  size_t block_cache_bytes = 64 << 20;
  size_t write_buffer_bytes = 32 << 20;
  // Memory for the rows last read by their key or through an entry, which
  // then cost no read of the store. 0: none.
  size_t row_cache_bytes = 16 << 20;
  // Memory for filters of the keys that a write looks for before it writes:
  // those of unique indexes, and of rows without an identity. A filter saves
  // the read of a key that is not there, which with new orders is most of
  // them. It takes 1.5 to 3 bytes a key; a database that was not new is read
  // for it once after Open, in the background. What does not fit has none.
  size_t key_filter_bytes = 32 << 20;
  // Snappy-compress blocks. Off is faster where the data fits in memory.
  bool compress = true;
  // Open table files at most; the rest of the process's limit stays free.
  int open_files_max = 1000;

  // Refuse writes with ResourceExhausted, before anything is written, while
  // the disk has less room than this: a disk that fills up in the middle of a
  // write leaves its outcome unknown and the engine read-only. Should cover
  // two write buffers. 0: go on to the end.
  uint64_t disk_free_min_bytes = 64 << 20;
  // Keep a file of this size in the database's directory, to be given up by an
  // Open that finds the disk full: for a disk that others fill too. 0: none.
  uint64_t disk_reserve_bytes = 0;

  Limits limits = {};

  // Build indexes that are being built, and empty the spaces of those that
  // were dropped, on a thread of the engine's own; fill key filters, and
  // reclaim dead entries, on others. Off: builds run in BuildIndex only, and
  // dead entries go with ReclaimDead only; space is reclaimed after the next
  // open with it on, and only a new database has key filters.
  bool background_work = true;
  // Add the indexes that the schema declares and the database lacks, to be
  // built while it is in use. Off: such a schema is refused.
  bool add_indexes = false;

  // How reads stay fast where many entries were deleted; see dead_entries.h.
  DeadEntryOptions dead_entries = {};

  // Keep digests, and exact counts of rows, in a database that Open creates;
  // see digest.h. One that exists stays as it is:
  // Engine::EnableDigests and DisableDigests change it.
  bool digests = true;
  // Before each commit, derive from the rows it changes, by other code than
  // index maintenance, which entries must change, and refuse with kInternal
  // what differs. Several times slower writes: for tests, and for a doubt.
  bool cross_check = false;

  // Record every commit; see recording.h. A database that records does so
  // whether this is given or not; what is given becomes its setup, but for
  // the directory, which must be the same. Not for engines in memory, and
  // passed over by read-only ones.
  std::optional<WriteLogOptions> write_log = std::nullopt;

  // Called by priority; see observer.h. Owned by the engine.
  std::vector<std::shared_ptr<Observer>> observers = {};

  // Must outlive the engine. Null: the machine's own.
  Clock* clock = nullptr;
  RandomSource* random = nullptr;
  FileSystem* file_system = nullptr;

  // For the tests of the engine itself: damages what a request leaves.
  std::shared_ptr<internal::PendingTamper> tamper = nullptr;
};

struct WriteOptions {
  // Return only once the commit is on stable storage. Off: it survives the
  // death of the process, but not yet of the machine.
  bool sync = false;
};

// What a committed request did.
struct Commit {
  SequenceNumber sequence{};
  // Rows written or removed by each of the caller's mutations, in order.
  std::vector<uint64_t> rows_changed;
  // Words that observers attached.
  std::vector<std::string> annotations;
  // OK, or the first error of a post hook. The commit stands either way.
  absl::Status post_commit;
};

// A write has three results. An error of code kUnknown means that nobody can
// say: the store failed while writing. Every other error means that nothing
// was written. After kUnknown the engine refuses writes (FailedPrecondition)
// until it is opened again; then the request is found whole or not at all.
enum class WriteOutcome { kCommitted, kNotCommitted, kUnknown };
inline WriteOutcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return WriteOutcome::kCommitted;
  return status.code() == absl::StatusCode::kUnknown
             ? WriteOutcome::kUnknown
             : WriteOutcome::kNotCommitted;
}

// What Open found on disk and did about it.
struct OpenReport {
  bool created = false;
  SequenceNumber sequence{};  // Of the last commit that survived.
  // Bytes that never became durable, cut from the ends of the store's log and
  // manifest, and kept in the database's lost/ directory.
  uint64_t log_bytes_cut = 0;
  std::string log_cut;  // In words; empty if nothing was cut.
  // The disk was full, and Options::disk_reserve_bytes made the room to open.
  bool reserve_spent = false;
  // What was cut from the write log: it was torn, or never committed.
  std::vector<WriteLogCut> write_log_cuts;
};

// Thread-safe. Open at most once per directory, by one process at a time.
class Engine {
 public:
  // Opens or creates the database at `path`, with at least the tables of
  // `schema`; tables it lacks are created, tables it has beyond are served.
  //   InvalidArgument     the schema is not valid; says where and why
  //   FailedPrecondition  the schema contradicts the stored one (the message
  //                       names the difference), or another process has the
  //                       database open (it names the process)
  //   NotFound            no database there, and create_if_missing is off
  //   DataLoss            what was acknowledged as durable is damaged
  //   FailedPrecondition  the write log lacks commits that the store has; see
  //                       WriteLogOptions::start_over
  static absl::StatusOr<std::unique_ptr<Engine>> Open(std::string path,
                                                      const Schema& schema,
                                                      Options options = {});

  // Releases everything; unsynced commits stay safe from process death only.
  // Prefer Close, which reports. Asynchronous operations that have not begun
  // complete with Cancelled. REQUIRES: no other call is running.
  ~Engine();

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Closes the asynchronous fronts (see AsyncEngine::Close), waits for running
  // writes, syncs, and refuses all later calls with FailedPrecondition. A
  // second Close returns that too.
  absl::Status Close();

  // Commits all of `batch` or nothing; see WriteOutcome. Blocks until then.
  //   InvalidArgument     unknown table, index or field, bytes that are no
  //                       record, a value or key over its limit
  //   AlreadyExists       an insert of a row that exists, a unique violation,
  //                       a put whose identity lives in one row while another
  //                       is under its row key, a patch that would move its
  //                       row onto another one
  //   NotFound            a patch of a row that does not exist
  //   FailedPrecondition  a precondition, an ambiguous target, a closed or
  //                       read-only engine
  //   ResourceExhausted   the request is over a limit; or the disk is nearly
  //                       full
  //   Unavailable         the store is behind on compaction; retry
  //   Internal            Options::cross_check found entries that do not
  //                       follow from the rows
  //   the observer's own code for a veto
  absl::StatusOr<Commit> Write(const WriteOptions& options, WriteBatch batch);

  // The row whose row key has these column values. NotFound if absent.
  absl::StatusOr<Row> Get(const ReadOptions& options, std::string_view table,
                          const std::vector<Value>& key);

  // The rows whose entry in `index` starts with these column values, in
  // index order: entry and row come from one state. Empty if there are none;
  // ResourceExhausted above Limits::match_rows_max (use Scan).
  absl::StatusOr<std::vector<Row>> GetBy(const ReadOptions& options,
                                         std::string_view table,
                                         std::string_view index,
                                         const std::vector<Value>& values);

  // One page of a range; see ScanRequest. A page shorter than the limit has
  // a continuation only if it was cut by Limits::page_bytes_max.
  absl::StatusOr<Page> Scan(const ReadOptions& options,
                            const ScanRequest& request);

  // The same without copies and without Limits::page_bytes_max: `visit` sees
  // each row on the calling thread.
  absl::StatusOr<ScanEnd> ForEach(const ReadOptions& options,
                                  const ScanRequest& request, RowVisitor visit);

  // Counts and sums of rows, without reading any: from a COUNT or SUM index.
  // With a value for each of its columns one point read, else a scan of the
  // groups in the range.
  //   InvalidArgument     the index is of another kind, or the range is none
  //   FailedPrecondition  the index does not serve reads now
  absl::StatusOr<Totals> Aggregate(const ReadOptions& options,
                                   const GroupRange& range);
  // The groups themselves, in index order: `request.index` is such an index,
  // and limit and continuation are of groups.
  absl::StatusOr<ScanEnd> ForEachGroup(const ReadOptions& options,
                                       const ScanRequest& request,
                                       GroupVisitor visit);

  // One page of a query; see query.h. Cut at Limits::page_bytes_max.
  //   InvalidArgument     the query is not valid, or its continuation is
  //                       damaged or of another query
  //   FailedPrecondition  no plan is allowed: it would be a full scan or a
  //                       sort, or reads too much; says which index would do.
  //                       Or what the continuation reads is gone
  //   ResourceExhausted   the budget ends before a sort has read its input
  absl::StatusOr<QueryPage> Query(const ReadOptions& options,
                                  const dovetail::Query& query);
  // The same without copies and without Limits::page_bytes_max.
  absl::StatusOr<QueryEnd> ForEach(const ReadOptions& options,
                                   const dovetail::Query& query,
                                   RowVisitor visit);
  // The plan that the query has now; PlanText shows it. Errors as Query's.
  absl::StatusOr<v1::QueryPlan> Explain(const ReadOptions& options,
                                        const dovetail::Query& query,
                                        const ExplainOptions& explain = {});
  // Indexes that would serve those of the queries that no index serves well:
  // without a full scan, a sort, or a filter on records. NotFound for an
  // unknown table, InvalidArgument for a query that is not valid.
  absl::StatusOr<std::vector<IndexAdvice>> Advise(
      const std::vector<dovetail::Query>& queries);

  absl::StatusOr<Snapshot> GetSnapshot();

  // Reads everything once and compares; memory stays bounded, writers are not
  // held up. Cost: one pass over rows and entries, a second one only if they
  // disagree.
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options);

  // Verifies, then settles each finding in a commit of its own kind, looking
  // at the row again under the commit order: safe beside writers.
  absl::StatusOr<RepairReport> Repair(const RepairOptions& options);

  // The digests as the newest commit left them; of tables' rows, the cost is
  // that of a few point reads. FailedPrecondition if the database keeps none.
  absl::StatusOr<DigestReport> Digest(const DigestOptions& options = {});
  // Makes the database keep digests from now on and for good: reads all of it
  // once, on a snapshot, while writers go on. AlreadyExists if it keeps them,
  // FailedPrecondition while another call is at it, DataLoss if a row does not
  // parse.
  absl::Status EnableDigests();
  // FailedPrecondition if it keeps none.
  absl::Status DisableDigests();

  // Adds an index and returns while it is being built; see index_admin.h.
  //   AlreadyExists      the table has one of that name
  //   InvalidArgument    the declaration is not valid; says why
  absl::Status AddIndex(std::string_view table, const v1::IndexSchema& index);
  // Builds it on this thread, or waits for the engine's own; at once if it is
  // readable. A disabled index is built anew, from nothing.
  absl::StatusOr<BuildReport> BuildIndex(std::string_view table,
                                         std::string_view index,
                                         const BuildOptions& options);
  // FailedPrecondition if it is in a state that this does not lead from.
  absl::Status HideIndex(std::string_view table, std::string_view index);
  absl::Status ShowIndex(std::string_view table, std::string_view index);
  // Snapshots taken before still read it. FailedPrecondition for the identity
  // of a table.
  absl::Status DropIndex(std::string_view table, std::string_view index);
  // Of every table, and those being dropped.
  absl::StatusOr<std::vector<IndexInfo>> ListIndexes();

  // The regions that tables are cut into; see regions.h. As long as the engine.
  Regions& regions();

  // Starts to record every commit, from the next one on, and goes on across
  // restarts until DisableChangeFeed, which forgets all of it. See
  // change_feed.h. AlreadyExists if it is on, FailedPrecondition if it is off.
  absl::Status EnableChangeFeed(const ChangeFeedOptions& options);
  absl::Status DisableChangeFeed();
  // The feed as `consumer` sees it, from its place on; `start` is for a
  // consumer that has none. One at a time per name is for the caller to see
  // to. FailedPrecondition if the feed is off, here and in the next one.
  absl::StatusOr<std::unique_ptr<ChangeFeed>> OpenFeed(
      std::string_view consumer, FeedStart start);
  absl::StatusOr<std::vector<FeedConsumer>> ListFeedConsumers();
  // Forgets its place. NotFound if it has none.
  absl::Status DropFeedConsumer(std::string_view consumer);

  // Records every commit in a write log, from the next one on, and goes on
  // across restarts; see recording.h. If it does so already, takes over file
  // size and retention. FailedPrecondition if the directory holds a log that
  // does not end with this database's newest commit, and start_over is off; or
  // if the database records into another directory; or in a read-only engine.
  absl::Status EnableWriteLog(const WriteLogOptions& options);
  // Ends that; the files stay. NotFound if it is off.
  absl::Status DisableWriteLog();

  // Makes `directory` a database of its own with the commits up to now, synced
  // or not, durable when this returns. Any process may open it then, also on
  // another machine. Writers wait only while file sizes are taken down, not
  // for the copy. Until it is done the database keeps the files that it
  // compacts away. `directory` appears complete or not at all; a process that
  // ends meanwhile leaves `directory`.unfinished, which the next attempt, or
  // anybody, may remove.
  //   AlreadyExists       `directory` exists
  //   NotFound            its parent does not
  //   FailedPrecondition  another checkpoint is being made there, something
  //                       else is in `directory`.unfinished, a store write
  //                       has failed, the engine is closed
  //   DataLoss            a file of the database is damaged
  //   Unimplemented       the engine is in memory
  absl::StatusOr<CheckpointReport> Checkpoint(const std::string& directory,
                                              const CheckpointOptions& options);

  // Brings the backup in `directory` up to now, or makes it; its parent must
  // exist. What is in it is durable, here and there: the call syncs. Copies
  // what the write log has gained since the last time; without a write log,
  // or where it does not reach back to a checkpoint of the backup, makes a
  // checkpoint. Writers wait as for that, at most. See backup.h.
  //   FailedPrecondition  `directory` holds something else, or the backup of
  //                       another database; or as for Checkpoint
  absl::StatusOr<BackupReport> Backup(const std::string& directory,
                                      const BackupOptions& options);

  // Every key of a table's rows (index empty) or of an index, in whatever state
  // it is, with its value, as they lie on disk; from the first key that is at
  // least `from` on. Damage that a read would refuse is passed on as it is.
  absl::Status ForEachStored(const ReadOptions& options, std::string_view table,
                             std::string_view index, std::string_view from,
                             StoredVisitor visit);

  // The stored schema, descriptors included.
  absl::StatusOr<v1::Schema> GetSchema();

  // A row key in words: `seller_id="s1" ts_ms=5 order_id="o-1"`.
  absl::StatusOr<std::string> DecodeKey(std::string_view table,
                                        std::string_view row_key);

  // Compacts the ranges in which keys died, as far as it is known; see
  // dead_entries.h. Writes and reads go on meanwhile. FailedPrecondition if
  // the engine is read-only; Cancelled if it is closed before the end.
  absl::StatusOr<ReclaimReport> ReclaimDead(const ReclaimOptions& options = {});

  absl::StatusOr<Stats> GetStats(const StatsOptions& options = {});
  const OpenReport& open_report() const;
  const Limits& limits() const;

 private:
  friend class AsyncEngine;
  friend class Replayer;
  class Impl;
  std::shared_ptr<internal::AsyncCore> NewAsyncCore(AsyncOptions options);
  // FailedPrecondition as in every call: closed, or inside a hook.
  absl::StatusOr<Committer*> UsableCommitter();
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail
