// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Change streams that other systems write, as files: read into changes of one
// neutral form, and mapped to requests for tables here.
//
//   auto reader = ChangeReader::Open(ChangeFormat::kDebezium, read_file);
//   auto mapper = ChangeMapper::Compile(engine.get(), mapping);
//   ChangeEntry entry;
//   for (;;) {
//     absl::StatusOr<bool> got = (*reader)->Next(&entry);
//     if (absl::IsInvalidArgument(got.status())) { Reject(...); continue; }
//     if (!got.ok() || !*got) break;
//     absl::StatusOr<MappedEntry> mapped = mapper->Map(entry);
//     if (mapped.ok()) engine->Write({}, std::move(mapped->batch));
//   }
//
// docs/change-streams.md has the formats, the mapping and what is refused.

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
#include "dovetail/engine.h"
#include "dovetail/write_batch.h"

namespace dovetail {

namespace v1 {
class ChangeMapping;
}  // namespace v1

// A value as the stream has it, and the member of an object that it is.
struct ForeignValue {
  enum class Kind { kNull, kBool, kNumber, kString, kBytes, kArray, kObject };
  // What a number counts from 1970 on, where the stream itself says so.
  enum class Unit { kUnknown, kDays, kMillis, kMicros, kNanos };

  Kind kind = Kind::kNull;
  Unit unit = Unit::kUnknown;
  // "true" or "false", a number just as it is written, a text, or bytes.
  std::string text;
  std::vector<ForeignValue> members;  // Of an array or an object, in order.
  std::string name;                   // As a member of an object.
  size_t name_at = 0;                 // Bytes from where the entry begins.
  size_t at = 0;

  bool is_null() const { return kind == Kind::kNull; }
  // The member of that name; null if there is none, or this is no object.
  const ForeignValue* Find(std::string_view member) const;
};

enum class ChangeKind {
  // Of rows.
  kInsert,
  kRead,    // A row as a snapshot of the source found it.
  kUpdate,  // `after` may lack columns that did not change.
  kDelete,
  kPut,    // A row of a stream that only has rows.
  kMerge,  // Some columns of a row, which may be there or not.
  // Of no row.
  kTruncate,
  kTombstone,     // What follows a delete in a compacted topic.
  kKey,           // A message's key alone.
  kSchemaChange,  // DDL.
  kStatement,     // The text of a query whose rows follow.
  kTransaction,   // Begin or end.
  kHeartbeat,
  kMessage,   // What the application wrote into the log itself.
  kInternal,  // The source's own bookkeeping.
};
inline constexpr int kChangeKinds = 15;

// "insert", "schema change"; for counts and messages.
std::string_view ChangeKindName(ChangeKind kind);

struct ForeignChange {
  ChangeKind kind = ChangeKind::kPut;
  // Empty where the stream does not say.
  std::string database;
  std::string schema;
  std::string table;
  // When the source made it, in microseconds since 1970.
  std::optional<int64_t> time_us;
  // Objects whose members are the columns; absent where the stream has none.
  std::optional<ForeignValue> key;
  std::optional<ForeignValue> before;
  std::optional<ForeignValue> after;
  // kMerge: columns whose names begin so are null before `after` applies.
  std::vector<std::string> cleared;
  // The stream says that the table has no primary key.
  bool no_primary_key = false;
  size_t at = 0;  // Bytes from where the entry begins.
};

// What the source sends as one: a message, a row, an edit of a log. Its
// changes take effect together or not at all.
struct ChangeEntry {
  uint64_t line = 0;  // From 1.
  uint64_t last_line = 0;
  uint64_t offset = 0;  // Of its first byte in the input.
  std::vector<ForeignChange> changes;
};

enum class ChangeFormat {
  kJsonLines,
  kCsv,
  kDebezium,
  kCanal,
  kMaxwell,
  kHBaseWal,  // What `hbase wal` prints, with -j or without.
};

// From "jsonl", "csv", "debezium", "canal", "maxwell", "hbase-wal".
// InvalidArgument lists them.
absl::StatusOr<ChangeFormat> ParseChangeFormat(std::string_view name);

struct ChangeReaderOptions {
  // An entry over one of these is refused, and reading goes on behind it.
  size_t entry_bytes_max = 8 << 20;
  size_t entry_values_max = 1 << 18;
  int depth_max = 100;
  char delimiter = ',';  // CSV.
};

// Thread-compatible. Memory is bounded by the options, not by the input.
class ChangeReader {
 public:
  // Fills up to `n` bytes and returns how many; 0 is the end.
  using ReadFunction = std::function<absl::StatusOr<size_t>(char*, size_t n)>;

  // Reads the beginning. InvalidArgument if it is no text of the format: a
  // CSV header that is none, compressed bytes. `read` is called until the
  // reader's end.
  static absl::StatusOr<std::unique_ptr<ChangeReader>> Open(
      ChangeFormat format, ReadFunction read,
      const ChangeReaderOptions& options = {});

  virtual ~ChangeReader() = default;
  ChangeReader(const ChangeReader&) = delete;
  ChangeReader& operator=(const ChangeReader&) = delete;

  // Moves behind the first `lines` lines of the input, which must be the
  // `last_line` of an entry: how a replay goes on. REQUIRES: before Next.
  virtual absl::Status SkipLines(uint64_t lines) = 0;

  // Reads the next entry; false at the end. InvalidArgument: it is not what
  // the format says; the message names line, byte and, where there is one,
  // column; `entry` has its place and no changes; the next call goes on
  // behind it. Any other error is one of reading.
  virtual absl::StatusOr<bool> Next(ChangeEntry* entry) = 0;

  // The entry just read, good or bad, as it is in the input; at most 64 KiB
  // of it if it is over a limit. Valid until the next call.
  virtual std::string_view raw() const = 0;

 protected:
  ChangeReader() = default;
};

// What became of one change.
struct ChangeOutcome {
  enum class Effect { kPut, kUpdate, kMove, kDelete, kSkipped };
  Effect effect = Effect::kSkipped;
  std::string_view why;  // kSkipped; "tombstone", "another table". Static.
};
// "put", "update", "move", "delete", "skipped".
std::string_view EffectName(ChangeOutcome::Effect effect);

struct MappedEntry {
  WriteBatch batch;                     // May be empty.
  std::vector<ChangeOutcome> outcomes;  // One a change.
  std::optional<int64_t> time_us;       // Of the last change that has one.
};

// Thread-compatible; the engine must outlive it.
class ChangeMapper {
 public:
  // Checks the mapping against the database's tables. InvalidArgument or
  // NotFound says what of it does not fit.
  static absl::StatusOr<ChangeMapper> Compile(Engine* engine,
                                              const v1::ChangeMapping& mapping);
  ChangeMapper(ChangeMapper&&) noexcept;
  ChangeMapper& operator=(ChangeMapper&&) noexcept;
  ~ChangeMapper();

  // The request that the entry asks for; reads nothing. InvalidArgument: it
  // cannot be one; the message names line, byte and column.
  absl::StatusOr<MappedEntry> Map(const ChangeEntry& entry) const;

 private:
  struct State;
  explicit ChangeMapper(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dovetail
