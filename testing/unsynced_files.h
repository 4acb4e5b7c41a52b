// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What of the files has reached the disk for certain, and what a power cut
// makes of the rest. Two things can be lost: bytes behind the last sync of a
// file, and changes of names since the last sync of their directory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/file_system.h"
#include "dovetail/testing/faulty_file_system.h"

namespace dovetail::test {

// Thread-compatible; a copy is another account of the same files.
class UnsyncedFiles {
 public:
  void Created(const std::string& path, bool existed, uint64_t size);
  void Appended(const std::string& path, uint64_t bytes);
  uint64_t AppendedBytes(const std::string& path) const;
  // Handed to the operating system: `bytes` of the file, from its beginning.
  void Flushed(const std::string& path, uint64_t bytes);
  // What was flushed is on the disk.
  void Synced(const std::string& path);
  void Truncated(const std::string& path, uint64_t size);
  // `bytes` is null if the deletion is not to be lost.
  void Deleted(const std::string& path, const std::string* bytes);
  // `replaced` is null if there was nothing at `to`.
  void Renamed(const std::string& from, const std::string& to,
               const std::string* replaced);
  // `size` counts as synced if nothing is known of `from`.
  void Linked(const std::string& from, const std::string& to, uint64_t size);
  void DirectorySynced(const std::string& directory);

  // The same files below another directory; others are forgotten.
  UnsyncedFiles Below(const std::string& from, const std::string& to) const;

  // Loses, and leaves an account of nothing.
  absl::Status PowerCut(FileSystem* files, const PowerCutOptions& options);

 private:
  struct Written {
    uint64_t appended = 0;
    uint64_t flushed = 0;
    uint64_t synced = 0;
  };
  // A change of names that its directory does not yet hold for certain.
  struct Change {
    enum class Kind { kCreated, kRenamed, kDeleted };
    Kind kind;
    std::string path;
    std::string from = {};   // kRenamed.
    bool had_file = false;   // kRenamed: one was replaced. kDeleted.
    std::string bytes = {};  // Of that one.
    Written written = {};    // Of that one.
  };

  // What is known of `from`, and of files below it, becomes that of `to`.
  void MoveWritten(const std::string& from, const std::string& to);
  // The same for the first `count` changes.
  void MoveChanges(const std::string& from, const std::string& to,
                   size_t count);
  absl::Status CutBytes(FileSystem* files, const PowerCutOptions& options,
                        std::mt19937_64* random);
  absl::Status UndoChange(FileSystem* files, const PowerCutOptions& options,
                          const Change& change, std::mt19937_64* random);

  std::map<std::string, Written> written_;
  std::vector<Change> changes_;  // In their order.
};

}  // namespace dovetail::test
