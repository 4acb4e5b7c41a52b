// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The file in a database's directory that says that the database records, and
// where. Not in the catalog: it has to be known before the store is opened,
// and a copy of the store must not write into the log of the original.

#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "dovetail/recording.h"
#include "dovetail/v1/write_log.pb.h"

namespace dovetail {

inline constexpr char kWriteLogSettingsName[] = "DOVETAIL.write-log";

// Nullopt if there are none. DataLoss if they are damaged, FailedPrecondition
// if their format is not known.
absl::StatusOr<std::optional<v1::WriteLogSettings>> ReadWriteLogSettings(
    FileSystem* file_system, const std::string& database);

// Replaces them, durably, or leaves them as they were.
absl::Status StoreWriteLogSettings(FileSystem* file_system,
                                   const std::string& database,
                                   const v1::WriteLogSettings& settings);
absl::Status RemoveWriteLogSettings(FileSystem* file_system,
                                    const std::string& database);

v1::WriteLogSettings MakeWriteLogSettings(const WriteLogOptions& options,
                                          SequenceNumber recorded_above);
WriteLogSetup SetupOf(const std::string& database,
                      const v1::WriteLogSettings& settings);

}  // namespace dovetail
