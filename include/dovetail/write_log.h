// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The write log as files: every committed request, in commit order, for
// replay, for followers, and for people who ask what happened.
//
//   auto writer = WriteLogWriter::Open(FileSystem::Posix(), "log", options);
//   (*writer)->Append(record);   // Sequences grow by one.
//   (*writer)->Sync();           // Now it survives the machine.
//
//   auto reader = WriteLogReader::Open(FileSystem::Posix(), "log");
//   dovetail::v1::WriteLogRecord record;
//   while (true) {
//     absl::StatusOr<bool> more = (*reader)->Next(&record);
//     if (!more.ok()) return more.status();  // Damage: file and offset.
//     if (!*more) break;
//     ...
//   }
//
// A log is a directory of files, each named after its first sequence and
// bounded in size; docs/format.md has the bytes, write_log.proto the records.
// One writer and any number of readers, in any processes, may be at work.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/file_system.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/v1/write_log.pb.h"
#include "dovetail/write_batch.h"

namespace dovetail {

// Of one serialized record. A schema has to be 64 bytes smaller.
inline constexpr size_t kWriteLogRecordBytesMax = 64 << 20;

struct WriteLogWriterOptions {
  // A record that would make its file longer than this begins the next one;
  // a file has at least one record, whatever its size.
  uint64_t file_bytes_max = 64 << 20;

  // What the records are to be read with; stands at the head of every file.
  // If it is not the one in the newest file, the next record begins another.
  v1::Schema schema = {};

  // The highest sequence that belongs in the log: the store's. What is above
  // was never committed, and is cut when the log is opened, damage included.
  // Absent: only a torn tail is cut.
  std::optional<SequenceNumber> cut_above = std::nullopt;

  // The highest sequence that is known to have been synced. Damage above it
  // ends the log, as a torn tail does, whatever stands behind it. Absent:
  // damage with something whole behind it is DataLoss.
  std::optional<SequenceNumber> synced = std::nullopt;

  // Must outlive the writer. Null: the machine's own.
  Clock* clock = nullptr;
  RandomSource* random = nullptr;
};

// A part of the log that was cut when it was opened.
struct WriteLogCut {
  std::string file;     // Its name, without the directory.
  uint64_t offset = 0;  // 0: the whole file.
  uint64_t bytes = 0;
  std::string reason;
  std::string kept_as;  // The copy: lost/ and its name in there.
};

struct WriteLogOpenReport {
  bool created = false;           // There was no file; or none is left.
  std::vector<WriteLogCut> cuts;  // The newest part of the log first.
};

struct WriteLogRetention {
  // Drop the oldest files until no more than this is left. Absent: no bound.
  std::optional<uint64_t> bytes_max = std::nullopt;
  // Drop files all of whose records were written longer ago than this.
  std::optional<int64_t> age_max_us = std::nullopt;
  // Whatever those say, keep this record and all behind it.
  std::optional<SequenceNumber> keep_from = std::nullopt;
};

struct WriteLogDropped {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Appends to a log. Thread-safe, so that one thread may sync while another
// appends: an Append waits for a Sync only where it begins a file, and a Sync
// for nothing but another one.
//
// The first error of a write, a sync or the creation of a file is kept: the
// call returns it, and every later Append, Flush and Sync returns
// FailedPrecondition with it in words. Whether the records since the last Sync
// are in the log is then unknown; open it again and look at last_sequence().
class WriteLogWriter {
 public:
  // Opens or creates the log in `directory`, whose parent must exist. Reads
  // the newest file, to find where the log ends, and every file above
  // `cut_above` that it does not drop whole; older ones only when a reader
  // does. What is cut is first copied below lost/, then gone for good.
  //   FailedPrecondition  another writer has the log open; or a file is of an
  //                       unknown format version
  //   DataLoss            the newest file is damaged at or below `cut_above`
  //                       and `synced`, with something whole behind it;
  //                       nothing is changed
  //   ResourceExhausted   the schema is too large
  static absl::StatusOr<std::unique_ptr<WriteLogWriter>> Open(
      FileSystem* file_system, std::string directory,
      WriteLogWriterOptions options = {});

  // Closes without a sync, and releases the log.
  ~WriteLogWriter();

  WriteLogWriter(const WriteLogWriter&) = delete;
  WriteLogWriter& operator=(const WriteLogWriter&) = delete;

  // Adds a record. It is in memory until Flush or Sync; where it begins a
  // file, the file before is synced, and the new file's name and head.
  //   InvalidArgument     the sequence is 0, or not the last one plus one (in
  //                       an empty log any will do); or a text is not UTF-8
  //   ResourceExhausted   larger than kWriteLogRecordBytesMax
  // These leave the log as it was.
  absl::Status Append(const v1::WriteLogRecord& record);
  // The same for a record that is serialized already, without a copy. Not
  // parsed: `sequence` must be the one inside, or readers refuse it.
  absl::Status AppendSerialized(SequenceNumber sequence,
                                std::string_view record);

  // Hands what was appended to the operating system: it survives the death of
  // the process, and readers see it.
  absl::Status Flush();
  // Flushes, and returns once all that was appended before the call is on
  // stable storage. Costs nothing if it is already.
  absl::Status Sync();
  // Syncs and releases the log; every later call is FailedPrecondition.
  absl::Status Close();

  // Records from the next one on are read with `schema`: it begins a file,
  // unless it is the schema of the newest one. ResourceExhausted if too large.
  absl::Status SetSchema(v1::Schema schema);

  // Drops the oldest files as `retention` says, and those with no record at or
  // above `sequence`. The newest file always stays. An error ends the work,
  // but leaves the log whole and the writer usable.
  absl::StatusOr<WriteLogDropped> ApplyRetention(
      const WriteLogRetention& retention);
  absl::StatusOr<WriteLogDropped> DropBefore(SequenceNumber sequence);

  // Of the last record, appended or found; 0 in an empty log. Kept while files
  // are dropped.
  SequenceNumber last_sequence() const;
  // The first sequence of the oldest file; 0 in an empty log.
  SequenceNumber first_sequence() const;
  // Of the newest file; 0 in an empty log.
  SequenceNumber newest_file() const;
  uint64_t file_count() const;
  // Of all files, with what was appended and not yet flushed.
  uint64_t bytes() const;
  const WriteLogOpenReport& open_report() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  explicit WriteLogWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct WriteLogReaderOptions {
  // Begin with this record. 0: with the oldest there is.
  SequenceNumber from_sequence{};

  // The log is being written: its end is the end for now, and files that are
  // begun later are found. Off: what was there at Open is read.
  bool follow = false;

  // Pass over damage instead of ending with DataLoss, and report it. What is
  // returned is still whole, and in ascending order.
  bool skip_damaged = false;

  // The largest record to take into memory. ResourceExhausted above it.
  size_t record_bytes_max = kWriteLogRecordBytesMax;
};

// A part of the log that skip_damaged passed over.
struct WriteLogDamage {
  std::string file;  // Its name, without the directory.
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: nothing is there, something is missing.
  std::string reason;
  // Sequences that are missing because of it; both 0 if none are, or if it is
  // not known because nothing whole was found behind it.
  SequenceNumber first_missing{};
  SequenceNumber last_missing{};
};

struct WriteLogReadReport {
  uint64_t records = 0;  // Returned.
  uint64_t bytes = 0;    // Of whole frames and preambles read, returned or not.

  // What stands behind the last whole frame of the last file, cut off or never
  // finished; when following, as the last call to Next saw it.
  std::string torn_file;  // Its name. Empty: nothing.
  uint64_t torn_offset = 0;
  uint64_t torn_bytes = 0;

  // The first kDamageKeptMax places that were passed over; all are counted.
  static constexpr size_t kDamageKeptMax = 1000;
  std::vector<WriteLogDamage> damage;
  uint64_t damage_count = 0;
  uint64_t damage_bytes = 0;
  uint64_t sequences_missing = 0;
};

// Reads a log, or one file of it. Thread-compatible. Holds one record and the
// names of the files in memory, whatever the size of the log.
class WriteLogReader {
 public:
  // `path` is the directory of a log, or one file.
  //   NotFound            nothing there; or no file in the directory, unless
  //                       following; or the log begins above from_sequence
  //   FailedPrecondition  the first file is of an unknown format version; the
  //                       message names it and the known one
  //   DataLoss            the first file has another file's name
  static absl::StatusOr<std::unique_ptr<WriteLogReader>> Open(
      FileSystem* file_system, std::string path,
      WriteLogReaderOptions options = {});

  ~WriteLogReader();

  WriteLogReader(const WriteLogReader&) = delete;
  WriteLogReader& operator=(const WriteLogReader&) = delete;

  // True, with the next record in `record`; or false at the end of the log.
  // When following, the end is only for now: call again. An error is final:
  // later calls return it too. `record` is only changed on true.
  //   DataLoss            damage, or a file or sequence missing; names file
  //                       and offset. Without skip_damaged only; but also if
  //                       a followed log was cut below what was read
  //   FailedPrecondition  a file of an unknown format version
  //   ResourceExhausted   a record is larger than record_bytes_max
  //   NotFound            a file was dropped while the log was being read; or
  //                       the log that has appeared begins above from_sequence
  absl::StatusOr<bool> Next(v1::WriteLogRecord* record);

  // The head of the file of the last record. Without a schema where
  // skip_damaged passed over it. Valid until the next call of Next.
  const v1::WriteLogFileHeader& header() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // CRC-32C of the bytes of the last record; 0 before the first.
  uint32_t record_crc() const;

  const WriteLogReadReport& report() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  explicit WriteLogReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail
