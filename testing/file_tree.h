// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Whole files and directories, by way of a FileSystem.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail::test {

absl::StatusOr<std::string> ReadWhole(FileSystem* files,
                                      const std::string& path);
absl::Status WriteWhole(FileSystem* files, const std::string& path,
                        std::string_view bytes);

// A directory with everything in it.
absl::Status CopyTree(FileSystem* files, const std::string& from,
                      const std::string& to);
absl::Status RemoveTree(FileSystem* files, const std::string& directory);

}  // namespace dovetail::test
