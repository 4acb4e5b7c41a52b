// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "testing/unsynced_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "testing/file_tree.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kPageBytes = 4096;

std::string Parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool IsBelow(const std::string& path, const std::string& directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// The pages behind `synced` live or die one by one. The page that the last
// sync ended in has kept what was synced of it.
void LosePages(uint64_t synced, std::mt19937_64* random, std::string* bytes) {
  for (uint64_t begin = synced; begin < bytes->size();) {
    const uint64_t end = std::min<uint64_t>(
        bytes->size(), (begin / kPageBytes + 1) * kPageBytes);
    const uint64_t fate = (*random)() % 4;
    for (uint64_t i = begin; fate < 2 && i < end; ++i) {
      (*bytes)[i] = fate == 0 ? '\0' : static_cast<char>((*random)());
    }
    begin = end;
  }
}

uint64_t KeptBytes(const PowerCutOptions& options, const std::string& path) {
  return options.kept_bytes_of ? options.kept_bytes_of(path)
                               : options.kept_bytes;
}

// What is left of a file of which `synced` bytes are on the disk.
std::string Surviving(const std::string& path, std::string bytes,
                      uint64_t synced, const PowerCutOptions& options,
                      std::mt19937_64* random) {
  const uint64_t size = bytes.size();
  synced = std::min(synced, size);
  switch (options.bytes) {
    case PowerCutOptions::Fate::kKept:
      return bytes;
    case PowerCutOptions::Fate::kLost:
      bytes.resize(std::min(size, synced + KeptBytes(options, path)));
      return bytes;
    case PowerCutOptions::Fate::kByChance:
      break;
  }
  const auto any_length = [&] {
    return synced + (*random)() % (size - synced + 1);
  };
  switch ((*random)() % 5) {
    case 0:
      bytes.resize(synced);
      return bytes;
    case 1:
      return bytes;
    case 2:
      bytes.resize(any_length());
      return bytes;
    default:
      if ((*random)() % 2 == 0) bytes.resize(any_length());
      LosePages(synced, random, &bytes);
      return bytes;
  }
}

}  // namespace

void UnsyncedFiles::Created(const std::string& path, bool existed,
                            uint64_t size) {
  const auto [it, is_new] = written_.try_emplace(path);
  Written& written = it->second;
  // A file that was there before this account counts as synced.
  if (is_new) written.synced = size;
  written.appended = size;
  written.flushed = size;
  written.synced = std::min(written.synced, size);
  if (!existed) changes_.push_back({Change::Kind::kCreated, path});
}

void UnsyncedFiles::Appended(const std::string& path, uint64_t bytes) {
  written_[path].appended += bytes;
}

uint64_t UnsyncedFiles::AppendedBytes(const std::string& path) const {
  const auto it = written_.find(path);
  return it == written_.end() ? 0 : it->second.appended;
}

void UnsyncedFiles::Flushed(const std::string& path, uint64_t bytes) {
  Written& written = written_[path];
  written.flushed = std::max(written.flushed, bytes);
}

void UnsyncedFiles::Synced(const std::string& path) {
  Written& written = written_[path];
  written.synced = std::max(written.synced, written.flushed);
}

void UnsyncedFiles::Truncated(const std::string& path, uint64_t size) {
  const auto it = written_.find(path);
  if (it == written_.end()) return;
  it->second.synced = std::min(it->second.synced, size);
  it->second.flushed = std::min(it->second.flushed, size);
}

void UnsyncedFiles::Deleted(const std::string& path, const std::string* bytes) {
  if (bytes != nullptr) {
    Change change{Change::Kind::kDeleted, path};
    change.had_file = true;
    change.bytes = *bytes;
    const auto it = written_.find(path);
    change.written = it != written_.end()
                         ? it->second
                         : Written{bytes->size(), bytes->size(), bytes->size()};
    changes_.push_back(std::move(change));
  } else {
    // Gone for good, and with it what there was to lose.
    std::erase_if(changes_, [&](const Change& change) {
      return change.kind == Change::Kind::kCreated && change.path == path;
    });
  }
  written_.erase(path);
}

void UnsyncedFiles::Renamed(const std::string& from, const std::string& to,
                            const std::string* replaced) {
  Change change{Change::Kind::kRenamed, to, from};
  if (replaced != nullptr) {
    change.had_file = true;
    change.bytes = *replaced;
    const auto it = written_.find(to);
    change.written =
        it != written_.end()
            ? it->second
            : Written{replaced->size(), replaced->size(), replaced->size()};
  }
  MoveChanges(from, to, changes_.size());
  MoveWritten(from, to);
  changes_.push_back(std::move(change));
}

// Both names are of one file, whose bytes are as synced as they were; the new
// name is not yet.
void UnsyncedFiles::Linked(const std::string& from, const std::string& to,
                           uint64_t size) {
  const auto it = written_.find(from);
  written_[to] = it != written_.end() ? it->second : Written{size, size, size};
  changes_.push_back({Change::Kind::kCreated, to});
}

void UnsyncedFiles::DirectorySynced(const std::string& directory) {
  std::erase_if(changes_, [&](const Change& change) {
    return Parent(change.path) == directory;
  });
}

UnsyncedFiles UnsyncedFiles::Below(const std::string& from,
                                   const std::string& to) const {
  UnsyncedFiles moved;
  for (const auto& [path, written] : written_) {
    if (!IsBelow(path, from)) continue;
    moved.written_[to + path.substr(from.size())] = written;
  }
  for (const Change& change : changes_) {
    if (!IsBelow(change.path, from)) continue;
    Change copy = change;
    copy.path = to + change.path.substr(from.size());
    if (IsBelow(change.from, from)) {
      copy.from = to + change.from.substr(from.size());
    }
    moved.changes_.push_back(std::move(copy));
  }
  return moved;
}

void UnsyncedFiles::MoveWritten(const std::string& from,
                                const std::string& to) {
  std::map<std::string, Written> moved;
  for (auto it = written_.lower_bound(from);
       it != written_.end() && it->first.starts_with(from);) {
    if (!IsBelow(it->first, from)) {
      ++it;
      continue;
    }
    moved[to + it->first.substr(from.size())] = it->second;
    it = written_.erase(it);
  }
  for (const auto& [path, written] : moved) written_[path] = written;
}

// Those of files in a directory that is renamed go with it.
void UnsyncedFiles::MoveChanges(const std::string& from, const std::string& to,
                                size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (std::string* path : {&changes_[i].path, &changes_[i].from}) {
      if (*path == from || !IsBelow(*path, from)) continue;
      *path = to + path->substr(from.size());
    }
  }
}

absl::Status UnsyncedFiles::PowerCut(FileSystem* files,
                                     const PowerCutOptions& options) {
  std::mt19937_64 random(options.seed);
  RETURN_IF_ERROR(CutBytes(files, options, &random));
  // What a change that is kept builds on.
  std::set<std::string> kept;
  for (size_t i = changes_.size(); i-- > 0;) {
    const Change* const change = &changes_[i];
    const bool needed = kept.contains(change->path) ||
                        (!change->from.empty() && kept.contains(change->from));
    const bool is_lost = options.names == PowerCutOptions::Fate::kLost ||
                         (options.names == PowerCutOptions::Fate::kByChance &&
                          random() % 2 == 0);
    if (!needed && is_lost) {
      RETURN_IF_ERROR(UndoChange(files, options, *change, &random));
      if (!change->from.empty()) MoveChanges(change->path, change->from, i);
    } else {
      kept.insert(change->path);
      if (!change->from.empty()) kept.insert(change->from);
    }
  }
  *this = UnsyncedFiles();
  return absl::OkStatus();
}

absl::Status UnsyncedFiles::CutBytes(FileSystem* files,
                                     const PowerCutOptions& options,
                                     std::mt19937_64* random) {
  if (options.bytes == PowerCutOptions::Fate::kKept) return absl::OkStatus();
  for (const auto& [path, written] : written_) {
    const absl::StatusOr<uint64_t> size = files->Size(path);
    // Removed with its directory, or by others.
    if (!size.ok() || *size <= written.synced) continue;
    if (options.bytes == PowerCutOptions::Fate::kLost) {
      const uint64_t kept = written.synced + KeptBytes(options, path);
      if (*size > kept) RETURN_IF_ERROR(files->Truncate(path, kept));
      continue;
    }
    ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(files, path));
    const std::string left =
        Surviving(path, bytes, written.synced, options, random);
    if (left != bytes) RETURN_IF_ERROR(WriteWhole(files, path, left));
  }
  return absl::OkStatus();
}

absl::Status UnsyncedFiles::UndoChange(FileSystem* files,
                                       const PowerCutOptions& options,
                                       const Change& change,
                                       std::mt19937_64* random) {
  switch (change.kind) {
    case Change::Kind::kCreated:
      // A name that is gone already is as wanted.
      files->Delete(change.path).IgnoreError();
      return absl::OkStatus();
    case Change::Kind::kRenamed:
      // What was renamed may have been deleted since.
      files->Rename(change.path, change.from).IgnoreError();
      break;
    case Change::Kind::kDeleted:
      break;
  }
  if (!change.had_file) return absl::OkStatus();
  return WriteWhole(files, change.path,
                    Surviving(change.path, change.bytes, change.written.synced,
                              options, random));
}

}  // namespace dovetail::test
