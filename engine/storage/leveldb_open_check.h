// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is checked before LevelDB opens a database. LevelDB 1.23 either trusts
// its logs too much (it drops what it cannot read, and goes on behind it) or,
// with paranoid checks, refuses every tail that a power cut tore. This check
// tells the two apart.
//
// It reads CURRENT, the manifest and every live log, and then
//
// - changes nothing, if all is well;
// - cuts the newest log where it is broken, if nothing that was synced lies
//   behind that place. The bytes are first copied to lost/<log>.<offset>, and
//   the report says so;
// - cuts the manifest likewise behind its last intact edit, if all files of the
//   version so far are there;
// - cuts the log where batches begin that nobody may keep, because the engine's
//   write log lacks them (LevelDbStoreOptions::keep_up_to), in the same way;
// - returns DataLoss and changes nothing in every other case.
//
// What was synced is known from the marks in the batches before and behind
// the break (LevelDbStoreOptions::parse_mark). Without marks every tail counts
// as never synced.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "engine/storage/store.h"

namespace dovetail {

// The directory that keeps what was cut off.
inline constexpr char kLostDirectory[] = "lost";

// REQUIRES: `directory` holds a CURRENT file and is locked; `report` not null.
// On success the newest log is on stable storage as it was read, so that it
// may get a successor.
absl::Status CheckLevelDbBeforeOpen(const std::string& directory,
                                    const LevelDbStoreOptions& options,
                                    StoreOpenReport* report);

// The same of a copy that must be whole: a log that ends in a break is
// DataLoss too, and nothing is changed.
absl::Status CheckLevelDbCopy(const std::string& directory,
                              const LevelDbStoreOptions& options);

}  // namespace dovetail
