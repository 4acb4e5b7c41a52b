// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Why a break in a log that is not the newest is always damage: a log is
// synced, and its name too, before the log behind it is created, and the
// newest log is synced here before LevelDB creates another.
//
// Why the first record of a log must follow the last one of the log before:
// the same, and because whole records are never torn off the front of a file.
//
// Which batches does a break in the newest log destroy? Those behind the last
// intact batch before it. Their marks count requests of the engine from one
// commit to the next; so if any batch that can still be read, before or behind
// the break, says that a sequence above that of the last intact batch was
// synced, something synced is gone. If no batch before the break has a mark,
// the last intact mark is in a table.
//
// Why a manifest may be cut behind its last intact edit: LevelDB deletes a log
// or a table only once the edit that does without it is synced. An edit that
// the break destroyed was in force only if the version before it lacks a file;
// where none is missing, that version has the same content.
//
// Which batches must the engine's write log have? Those that were synced, as
// those in tables and in logs that are not the newest, and those that a mark
// says were; those that a mark says the write log had on the disk; and those
// that were written without one. What keep_up_to takes away is therefore in
// the newest log, and behind them.

#include "engine/storage/leveldb_open_check.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/storage/leveldb_batch.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_log_reader.h"
#include "engine/storage/leveldb_manifest.h"
#include "engine/storage/leveldb_table_mark.h"

namespace dovetail {
namespace {

using BatchMark = LevelDbStoreOptions::BatchMark;
using Event = LevelDbLogReader::Event;

constexpr size_t kTailCopyBytes = 1 << 20;

// Where a log or a manifest stops being readable.
struct Break {
  std::string file;  // Its name.
  uint64_t offset = 0;
  std::string reason;
};

absl::Status Damage(std::string_view file, std::string_view reason) {
  return absl::DataLossError(
      absl::StrCat("the database is damaged: file=", ToAbsl(file),
                   " reason=", ToAbsl(reason)));
}

absl::Status Damage(const Break& at, std::string_view detail) {
  return absl::DataLossError(absl::StrCat(
      "the database is damaged: file=", at.file, " offset=", at.offset,
      " reason=", at.reason, ToAbsl(detail)));
}

class OpenCheck {
 public:
  OpenCheck(const std::string& directory, const LevelDbStoreOptions& options)
      : directory_(directory),
        options_(options),
        files_(*options.file_system) {}

  // Cuts nothing, and fails instead, if `report` is null.
  absl::Status Run(StoreOpenReport* report);

 private:
  absl::Status ListFiles();
  absl::Status CheckTables() const;

  // Reads a log up to its end or a break, which is returned.
  absl::StatusOr<std::optional<Break>> ReadLog(uint64_t number);
  // Takes one record of a log. A reason if the record does not belong here.
  absl::StatusOr<std::string> TakeBatch(std::string_view record);
  // OK if no batch from the break on knows of a synced sequence that the break
  // destroyed. `event` is what `reader` last returned.
  absl::Status CheckUnsynced(const Break& at, Event event,
                             LevelDbLogReader* reader);
  // What a batch says was synced, if its sequence lies in [low, high]; else 0.
  uint64_t SyncedIn(std::string_view record, uint64_t low, uint64_t high) const;
  // The mark of an intact batch; zeros if it has none.
  absl::StatusOr<BatchMark> MarkOf(std::string_view record) const;
  // Where the batches of the newest log begin that keep_up_to does not want.
  absl::StatusOr<std::optional<Break>> FindUnwanted() const;
  // The mark in `value`; DataLoss if it cannot be read.
  absl::StatusOr<BatchMark> ParseMark(std::string_view value) const;
  absl::StatusOr<uint64_t> LastIntactSequence() const;
  absl::StatusOr<uint64_t> SequenceInTables() const;

  // Cuts the file there, and says so in the report.
  absl::Status Cut(const Break& at, StoreOpenReport* report);
  absl::Status CopyTail(const std::string& from, uint64_t offset,
                        const std::string& to);
  absl::Status SyncFile(const std::string& name);

  std::string Path(std::string_view name) const {
    return JoinPath(directory_, name);
  }

  const std::string& directory_;
  const LevelDbStoreOptions& options_;
  FileSystem& files_;

  LevelDbManifest manifest_;
  std::set<std::string> names_;  // In the directory.
  std::vector<uint64_t> logs_;   // The live ones, oldest first.

  // Of the batches read so far.
  std::optional<uint64_t> next_sequence_;
  std::optional<BatchMark> last_mark_;
  uint64_t recorded_ = 0;  // See LevelDbStoreOptions::Found.
};

absl::Status OpenCheck::Run(StoreOpenReport* report) {
  if (report == nullptr) {
    ASSIGN_OR_RETURN(manifest_, ReadLevelDbManifest(files_, directory_));
  } else {
    ASSIGN_OR_RETURN(manifest_, ReadLevelDbManifestToBreak(files_, directory_));
  }
  RETURN_IF_ERROR(ListFiles());
  RETURN_IF_ERROR(CheckTables());
  std::optional<Break> at;
  for (const uint64_t number : logs_) {
    ASSIGN_OR_RETURN(at, ReadLog(number));
    if (number == logs_.back()) break;
    if (at.has_value()) {
      return Damage(*at, " newer_log=" + LogName(logs_.back()));
    }
    if (last_mark_.has_value()) {
      recorded_ = std::max(recorded_, last_mark_->sequence);
    }
  }
  if (at.has_value() && report == nullptr) return Damage(*at, "");
  if (report != nullptr && options_.keep_up_to != nullptr) {
    ASSIGN_OR_RETURN(std::optional<Break> unwanted, FindUnwanted());
    if (unwanted.has_value()) at = std::move(unwanted);
  }
  if (!manifest_.break_reason.empty()) {
    const Break edit{manifest_.file, manifest_.whole_bytes,
                     manifest_.break_reason};
    RETURN_IF_ERROR(Cut(edit, report));
  }
  if (at.has_value()) return Cut(*at, report);
  if (logs_.empty()) return absl::OkStatus();
  return SyncFile(LogName(logs_.back()));
}

absl::Status OpenCheck::ListFiles() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   files_.List(directory_));
  names_.insert(names.begin(), names.end());
  for (const std::string& name : names) {
    const LevelDbFileName file = ParseLevelDbFileName(name);
    if (file.kind != LevelDbFileKind::kLog) continue;
    if (file.number >= manifest_.log_number ||
        file.number == manifest_.previous_log_number) {
      logs_.push_back(file.number);
    }
  }
  std::sort(logs_.begin(), logs_.end());
  // A new database has the number 0 until its first log exists.
  if (manifest_.log_number != 0 &&
      names_.count(LogName(manifest_.log_number)) == 0) {
    return Damage(LogName(manifest_.log_number), "the file is missing");
  }
  return absl::OkStatus();
}

absl::Status OpenCheck::CheckTables() const {
  for (const auto& [level_and_number, table] : manifest_.tables) {
    const uint64_t number = level_and_number.second;
    std::string name = TableName(number);
    if (names_.count(name) == 0) name = OldTableName(number);
    if (names_.count(name) == 0) {
      return Damage(TableName(number), "the file is missing");
    }
    ASSIGN_OR_RETURN(const uint64_t size, files_.Size(Path(name)));
    if (size != table.size) {
      return Damage(name, absl::StrCat("wrong size size=", size,
                                       " expected=", table.size));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Break>> OpenCheck::ReadLog(uint64_t number) {
  Break at;
  at.file = LogName(number);
  ASSIGN_OR_RETURN(auto file, files_.NewSequentialFile(Path(at.file)));
  LevelDbLogReader reader(std::move(file));
  bool first = true;
  while (true) {
    ASSIGN_OR_RETURN(const Event event, reader.Next());
    at.offset = reader.offset();
    if (event == Event::kEnd) return std::optional<Break>();
    if (event == Event::kRecord) {
      ASSIGN_OR_RETURN(at.reason, TakeBatch(reader.record()));
      if (at.reason.empty()) {
        first = false;
        continue;
      }
      // The record is intact, so what is missing is missing before the file.
      if (first) return Damage(at, " place=front");
    } else {
      at.reason = std::string(reader.reason());
    }
    if (number == logs_.back())
      RETURN_IF_ERROR(CheckUnsynced(at, event, &reader));
    return std::optional<Break>(std::move(at));
  }
}

absl::StatusOr<std::string> OpenCheck::TakeBatch(std::string_view record) {
  std::optional<std::string_view> mark_value;
  const auto batch = DecodeLevelDbBatch(
      record, [&](std::string_view key, std::string_view value) {
        if (key == options_.mark_key) mark_value = value;
      });
  if (!batch.ok()) return std::string(batch.status().message());
  // The manifest knows all sequences that were assigned when its log began;
  // the log itself must have the next one, if not one of those.
  const bool follows = next_sequence_.has_value()
                           ? batch->sequence == *next_sequence_
                           : batch->sequence <= manifest_.last_sequence + 1;
  if (!follows) {
    return absl::StrCat(
        "batches are missing or repeated sequence=", batch->sequence,
        " expected=", next_sequence_.value_or(manifest_.last_sequence + 1));
  }
  if (mark_value.has_value() && options_.parse_mark != nullptr) {
    ASSIGN_OR_RETURN(last_mark_, ParseMark(*mark_value));
    recorded_ = std::max({recorded_, last_mark_->synced_sequence,
                          last_mark_->recorded.value_or(last_mark_->sequence)});
  }
  next_sequence_ = batch->next_sequence();
  return std::string();
}

absl::Status OpenCheck::CheckUnsynced(const Break& at, Event event,
                                      LevelDbLogReader* reader) {
  if (options_.parse_mark == nullptr) return absl::OkStatus();
  // Bytes behind a break need not be what they look like: a value may hold
  // the image of a log. Only what could have followed here counts.
  ASSIGN_OR_RETURN(const uint64_t size, files_.Size(Path(at.file)));
  const uint64_t low = next_sequence_.value_or(1);
  const uint64_t high = std::max(low, manifest_.last_sequence) + size;
  uint64_t synced = 0;
  // The break may be an intact record that does not belong here.
  if (event != Event::kRecord) {
    ASSIGN_OR_RETURN(event, reader->NextIntact());
  }
  while (event == Event::kRecord) {
    synced = std::max(synced, SyncedIn(reader->record(), low, high));
    ASSIGN_OR_RETURN(event, reader->NextIntact());
  }
  if (synced == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const uint64_t intact, LastIntactSequence());
  if (synced <= intact) return absl::OkStatus();
  return Damage(at, absl::StrCat(" synced_sequence=", synced,
                                 " intact_sequence=", intact));
}

uint64_t OpenCheck::SyncedIn(std::string_view record, uint64_t low,
                             uint64_t high) const {
  std::string_view value;
  const auto batch = DecodeLevelDbBatch(
      record, [&](std::string_view key, std::string_view put_value) {
        if (key == options_.mark_key) value = put_value;
      });
  if (!batch.ok() || value.empty() || batch->sequence < low ||
      batch->sequence > high) {
    return 0;
  }
  const auto mark = options_.parse_mark(value);
  if (!mark.ok() || mark->synced_sequence >= mark->sequence) return 0;
  return mark->synced_sequence;
}

absl::StatusOr<BatchMark> OpenCheck::ParseMark(std::string_view value) const {
  absl::StatusOr<BatchMark> mark = options_.parse_mark(value);
  if (mark.ok()) return mark;
  return absl::DataLossError(absl::StrCat(
      "an intact batch has an unreadable mark: ", mark.status().message()));
}

absl::StatusOr<std::optional<Break>> OpenCheck::FindUnwanted() const {
  ASSIGN_OR_RETURN(const uint64_t in_tables, SequenceInTables());
  LevelDbStoreOptions::Found found;
  found.newest = last_mark_.has_value() ? last_mark_->sequence : in_tables;
  found.recorded = std::max(recorded_, in_tables);
  ASSIGN_OR_RETURN(const std::optional<uint64_t> keep,
                   options_.keep_up_to(found));
  if (!keep.has_value() || *keep >= found.newest || logs_.empty()) {
    return std::optional<Break>();
  }
  Break at;
  at.file = LogName(logs_.back());
  ASSIGN_OR_RETURN(auto file, files_.NewSequentialFile(Path(at.file)));
  LevelDbLogReader reader(std::move(file));
  while (true) {
    ASSIGN_OR_RETURN(const Event event, reader.Next());
    if (event != Event::kRecord) return std::optional<Break>();
    ASSIGN_OR_RETURN(const BatchMark mark, MarkOf(reader.record()));
    if (mark.sequence <= *keep) continue;
    at.offset = reader.offset();
    at.reason = absl::StrCat("commits that the write log lacks sequence=",
                             mark.sequence, " write_log_sequence=", *keep);
    return std::optional<Break>(std::move(at));
  }
}

absl::StatusOr<BatchMark> OpenCheck::MarkOf(std::string_view record) const {
  std::string_view value;
  RETURN_IF_ERROR(DecodeLevelDbBatch(record, [&](std::string_view key,
                                                 std::string_view put_value) {
                    if (key == options_.mark_key) value = put_value;
                  }).status());
  if (value.empty()) return BatchMark();
  return ParseMark(value);
}

absl::StatusOr<uint64_t> OpenCheck::LastIntactSequence() const {
  if (last_mark_.has_value()) return last_mark_->sequence;
  return SequenceInTables();
}

absl::StatusOr<uint64_t> OpenCheck::SequenceInTables() const {
  ASSIGN_OR_RETURN(
      const std::optional<std::string> value,
      NewestValueInTables(files_, directory_, manifest_, options_.mark_key));
  if (!value.has_value()) return 0;
  ASSIGN_OR_RETURN(const BatchMark mark, ParseMark(*value));
  return mark.sequence;
}

absl::Status OpenCheck::Cut(const Break& at, StoreOpenReport* report) {
  const std::string path = Path(at.file);
  const std::string kept =
      absl::StrCat(kLostDirectory, "/", at.file, ".", at.offset);
  ASSIGN_OR_RETURN(const uint64_t size, files_.Size(path));
  RETURN_IF_ERROR(files_.CreateDirectory(Path(kLostDirectory)));
  RETURN_IF_ERROR(CopyTail(path, at.offset, Path(kept)));
  RETURN_IF_ERROR(files_.SyncDirectory(Path(kLostDirectory)));
  RETURN_IF_ERROR(files_.SyncDirectory(directory_));
  RETURN_IF_ERROR(files_.Truncate(path, at.offset));
  RETURN_IF_ERROR(SyncFile(at.file));
  report->log_bytes_cut += size - at.offset;
  absl::StrAppend(&report->log_cut, report->log_cut.empty() ? "" : "; ",
                  "the end of a ",
                  at.file == manifest_.file ? "manifest" : "log",
                  " was cut: file=", at.file, " offset=", at.offset,
                  " reason=", at.reason, " kept=", kept);
  return absl::OkStatus();
}

absl::Status OpenCheck::CopyTail(const std::string& from, uint64_t offset,
                                 const std::string& to) {
  ASSIGN_OR_RETURN(const auto source, files_.NewSequentialFile(from));
  RETURN_IF_ERROR(source->Skip(offset));
  ASSIGN_OR_RETURN(const auto target, files_.NewWritableFile(to));
  std::string buffer(kTailCopyBytes, '\0');
  while (true) {
    ASSIGN_OR_RETURN(const size_t got,
                     source->Read(buffer.size(), buffer.data()));
    if (got == 0) break;
    RETURN_IF_ERROR(target->Append(std::string_view(buffer).substr(0, got)));
  }
  RETURN_IF_ERROR(target->Sync());
  return target->Close();
}

absl::Status OpenCheck::SyncFile(const std::string& name) {
  ASSIGN_OR_RETURN(const auto file, files_.NewAppendableFile(Path(name)));
  RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status CheckLevelDbBeforeOpen(const std::string& directory,
                                    const LevelDbStoreOptions& options,
                                    StoreOpenReport* report) {
  return OpenCheck(directory, options).Run(report);
}

absl::Status CheckLevelDbCopy(const std::string& directory,
                              const LevelDbStoreOptions& options) {
  return OpenCheck(directory, options).Run(nullptr);
}

}  // namespace dovetail
