// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads one key from a database's tables while the database is closed.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "engine/storage/leveldb_manifest.h"

namespace dovetail {

// The newest value of `key` in the tables of `manifest`, or nullopt if none
// has it or a newer deletion does. Reads only tables whose range holds `key`.
absl::StatusOr<std::optional<std::string>> NewestValueInTables(
    FileSystem& file_system, const std::string& directory,
    const LevelDbManifest& manifest, std::string_view key);

}  // namespace dovetail
