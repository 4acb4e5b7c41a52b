// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Copies of files and of flat directories, through the seam.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

// Copies the first `bytes` of a file, or all of it, and syncs the copy, but
// not its name. Returns how many there were. DataLoss if there are fewer.
absl::StatusOr<uint64_t> CopyFile(FileSystem* file_system,
                                  const std::string& from,
                                  const std::string& to,
                                  std::optional<uint64_t> bytes = std::nullopt);

// Removes a directory and the files in it, which must not be directories, but
// for one level of them. OK if there is none.
absl::Status RemoveDirectory(FileSystem* file_system,
                             const std::string& directory);

}  // namespace dovetail
