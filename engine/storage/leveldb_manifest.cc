// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A record of a manifest is an edit of the version before: tagged fields, in
// which numbers are varints and keys stand behind their length.

#include "engine/storage/leveldb_manifest.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/storage/leveldb_coding.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_log_reader.h"

namespace dovetail {
namespace {

enum Tag : uint32_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kCompactPointer = 5,
  kDeletedTable = 6,
  kNewTable = 7,
  kPreviousLogNumber = 9,
};

constexpr uint32_t kLevels = 7;
// Room for "MANIFEST-", twenty digits and a newline.
constexpr size_t kCurrentBytesMax = 64;

absl::Status Damage(std::string_view file, uint64_t offset,
                    std::string_view reason) {
  return absl::DataLossError(
      absl::StrCat("the database is damaged: file=", ToAbsl(file),
                   " offset=", offset, " reason=", ToAbsl(reason)));
}

// Applies edits to a manifest.
class EditReader {
 public:
  explicit EditReader(LevelDbManifest* manifest) : manifest_(*manifest) {}

  // False if `edit` is malformed.
  bool Apply(std::string_view edit) {
    while (!edit.empty()) {
      uint32_t tag;
      if (!ConsumeVarint32(&edit, &tag) || !ApplyField(tag, &edit)) {
        return false;
      }
    }
    return true;
  }

  // The name of a field that every manifest has and this one does not, or
  // null.
  const char* MissingField() const {
    if (!has_log_number_) return "no log number";
    if (!has_next_file_) return "no next file number";
    if (!has_last_sequence_) return "no last sequence";
    return nullptr;
  }

 private:
  bool ApplyField(uint32_t tag, std::string_view* in) {
    std::string_view bytes;
    uint64_t number;
    switch (tag) {
      case kComparator:
        if (!ConsumeLengthPrefixed(in, &bytes)) return false;
        manifest_.comparator = std::string(bytes);
        return true;
      case kLogNumber:
        has_log_number_ = true;
        return ConsumeVarint(in, &manifest_.log_number);
      case kPreviousLogNumber:
        return ConsumeVarint(in, &manifest_.previous_log_number);
      case kNextFileNumber:
        has_next_file_ = true;
        return ConsumeVarint(in, &number);
      case kLastSequence:
        has_last_sequence_ = true;
        return ConsumeVarint(in, &manifest_.last_sequence) &&
               manifest_.last_sequence <= kLevelDbSequenceMax;
      case kCompactPointer:
        return ConsumeLevel(in, &number) && ConsumeUserKey(in, &bytes);
      case kDeletedTable:
        return DeleteTable(in);
      case kNewTable:
        return AddTable(in);
      default:
        return false;
    }
  }

  bool DeleteTable(std::string_view* in) {
    uint64_t level;
    uint64_t number;
    if (!ConsumeLevel(in, &level) || !ConsumeVarint(in, &number)) return false;
    manifest_.tables.erase({static_cast<uint32_t>(level), number});
    return true;
  }

  bool AddTable(std::string_view* in) {
    uint64_t level;
    uint64_t number;
    LevelDbTableInfo info;
    std::string_view smallest;
    std::string_view largest;
    if (!ConsumeLevel(in, &level) || !ConsumeVarint(in, &number) ||
        !ConsumeVarint(in, &info.size) || !ConsumeUserKey(in, &smallest) ||
        !ConsumeUserKey(in, &largest)) {
      return false;
    }
    info.smallest = std::string(smallest);
    info.largest = std::string(largest);
    manifest_.tables[{static_cast<uint32_t>(level), number}] = std::move(info);
    return true;
  }

  static bool ConsumeLevel(std::string_view* in, uint64_t* level) {
    return ConsumeVarint(in, level) && *level < kLevels;
  }

  static bool ConsumeUserKey(std::string_view* in, std::string_view* key) {
    if (!ConsumeLengthPrefixed(in, key) ||
        key->size() < kInternalKeyTrailerBytes) {
      return false;
    }
    key->remove_suffix(kInternalKeyTrailerBytes);
    return true;
  }

  LevelDbManifest& manifest_;
  bool has_log_number_ = false;
  bool has_next_file_ = false;
  bool has_last_sequence_ = false;
};

// Reads up to the end, or to a break with nothing intact behind it.
absl::StatusOr<LevelDbManifest> ReadEdits(FileSystem& file_system,
                                          const std::string& directory,
                                          const std::string& name) {
  using Event = LevelDbLogReader::Event;
  LevelDbManifest manifest;
  manifest.file = name;
  ASSIGN_OR_RETURN(auto file, file_system.NewSequentialFile(
                                  JoinPath(directory, manifest.file)));
  LevelDbLogReader reader(std::move(file));
  EditReader edits(&manifest);
  while (true) {
    ASSIGN_OR_RETURN(const Event event, reader.Next());
    manifest.whole_bytes = reader.offset();
    if (event == Event::kEnd) break;
    if (event != Event::kRecord) {
      const std::string_view reason = reader.reason();
      ASSIGN_OR_RETURN(const Event behind, reader.NextIntact());
      if (behind == Event::kRecord) {
        return Damage(manifest.file, manifest.whole_bytes, reason);
      }
      if (event == Event::kBreak) manifest.break_reason = std::string(reason);
      break;
    }
    if (!edits.Apply(reader.record())) {
      return Damage(manifest.file, manifest.whole_bytes, "malformed edit");
    }
  }
  if (edits.MissingField() != nullptr) {
    return Damage(manifest.file, 0, edits.MissingField());
  }
  return manifest;
}

}  // namespace

absl::StatusOr<std::string> ReadLevelDbCurrent(FileSystem& file_system,
                                               const std::string& directory) {
  ASSIGN_OR_RETURN(const auto file, file_system.NewSequentialFile(
                                        JoinPath(directory, "CURRENT")));
  std::string name(kCurrentBytesMax, '\0');
  size_t size = 0;
  while (size < name.size()) {
    ASSIGN_OR_RETURN(const size_t got,
                     file->Read(name.size() - size, name.data() + size));
    if (got == 0) break;
    size += got;
  }
  name.resize(size);
  if (name.empty() || name.back() != '\n') {
    return Damage("CURRENT", size, "does not end with a newline");
  }
  name.pop_back();
  if (ParseLevelDbFileName(name).kind != LevelDbFileKind::kManifest) {
    return Damage("CURRENT", 0, "does not name a manifest");
  }
  ASSIGN_OR_RETURN(const bool exists,
                   file_system.Exists(JoinPath(directory, name)));
  if (!exists) {
    return Damage("CURRENT", 0, absl::StrCat("names a missing file ", name));
  }
  return name;
}

absl::StatusOr<LevelDbManifest> ReadLevelDbManifest(
    FileSystem& file_system, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::string name,
                   ReadLevelDbCurrent(file_system, directory));
  return ReadLevelDbManifest(file_system, directory, name);
}

absl::StatusOr<LevelDbManifest> ReadLevelDbManifest(
    FileSystem& file_system, const std::string& directory,
    const std::string& name) {
  ASSIGN_OR_RETURN(LevelDbManifest manifest,
                   ReadEdits(file_system, directory, name));
  if (manifest.break_reason.empty()) return manifest;
  return Damage(name, manifest.whole_bytes, manifest.break_reason);
}

absl::StatusOr<LevelDbManifest> ReadLevelDbManifestToBreak(
    FileSystem& file_system, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::string name,
                   ReadLevelDbCurrent(file_system, directory));
  return ReadEdits(file_system, directory, name);
}

}  // namespace dovetail
