// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The names in a write log's directory, and how a part of a log is taken away
// without being lost.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

std::string WriteLogPath(const std::string& directory, uint64_t first_sequence);

// The last part of a path.
inline std::string WriteLogNameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The first sequences of the log files in `directory`, ascending.
absl::StatusOr<std::vector<uint64_t>> ListWriteLogFiles(
    FileSystem* file_system, const std::string& directory);

// Takes away everything of a log file from `offset` on, and syncs what is
// left; with offset 0 the file itself. What is taken away is kept below
// lost/, and is durable there before the file changes. Returns its name, with
// lost/ in front.
absl::StatusOr<std::string> CutWriteLogFile(FileSystem* file_system,
                                            const std::string& directory,
                                            uint64_t first_sequence,
                                            uint64_t offset);

}  // namespace dovetail
