// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A copy of a LevelDB database at one moment, made while the database is
// written: docs/storage.md, "Checkpoint".

#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/storage/leveldb_env.h"
#include "engine/storage/store.h"

namespace dovetail {

// The name under which a checkpoint is made, behind that of its directory.
inline constexpr char kUnfinishedSuffix[] = ".unfinished";

// Of the database that is open in `directory` with `options` through `env`.
// All must outlive the checkpoint.
absl::StatusOr<std::unique_ptr<StoreCheckpoint>> BeginLevelDbCheckpoint(
    const std::string& directory, const LevelDbStoreOptions& options,
    LevelDbEnv* env);

}  // namespace dovetail
