// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A write log as the command line names it: a database that records, a log's
// directory, or one of its files.

#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/output.h"
#include "dovetail/write_log.h"

namespace dovetail::cli {

// A reader of the log that `word` names; null, with a note, if nothing has been
// recorded yet.
absl::StatusOr<std::unique_ptr<WriteLogReader>> OpenLogReader(
    const std::string& word, const WriteLogReaderOptions& options,
    const Console& console);

// What WriteLogReader::Next returned, with exit code and advice for damage.
absl::Status ExplainDamage(const absl::Status& status);

}  // namespace dovetail::cli
