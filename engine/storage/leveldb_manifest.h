// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads CURRENT and the manifest that it names: which tables and logs make up
// a LevelDB database.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

struct LevelDbTableInfo {
  uint64_t size = 0;
  // User keys.
  std::string smallest;
  std::string largest;
};

struct LevelDbManifest {
  std::string file;  // The manifest's name.
  std::string comparator;
  // Logs with this number and higher are live, and the one numbered
  // `previous_log_number`, which newer LevelDBs leave at 0.
  uint64_t log_number = 0;
  uint64_t previous_log_number = 0;
  // Assigned by the time of the last edit.
  uint64_t last_sequence = 0;
  // By level and number.
  std::map<std::pair<uint32_t, uint64_t>, LevelDbTableInfo> tables;
  // Up to the end of the last whole edit.
  uint64_t whole_bytes = 0;
  // What is wrong behind them, if LevelDB would refuse it; else empty. Of
  // ReadLevelDbManifestToBreak only.
  std::string break_reason;
};

// The name of the manifest that counts, from CURRENT. DataLoss if there is no
// such name, or no such file.
absl::StatusOr<std::string> ReadLevelDbCurrent(FileSystem& file_system,
                                               const std::string& directory);

// Accepts what LevelDB accepts of an unfinished write: a last record that the
// end of the file cuts off, or zeros in its place. All other damage is DataLoss
// with the file's name, the offset and the reason.
absl::StatusOr<LevelDbManifest> ReadLevelDbManifest(
    FileSystem& file_system, const std::string& directory);

// The same, but a break with nothing intact behind it ends the manifest, as a
// power cut leaves it where an edit was being appended. Nothing says that the
// edit was not in force: whether all files of the version before are there
// does. LevelDB takes the manifest once it is cut to `whole_bytes`.
absl::StatusOr<LevelDbManifest> ReadLevelDbManifestToBreak(
    FileSystem& file_system, const std::string& directory);

// The first of these, of the manifest called `name`, whatever CURRENT says.
absl::StatusOr<LevelDbManifest> ReadLevelDbManifest(
    FileSystem& file_system, const std::string& directory,
    const std::string& name);

}  // namespace dovetail
