// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// How the command ends. Verbs return absl::Status; what the process should
// exit with, and what the user can do about it, travel inside the status.

#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace dovetail::cli {

enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kFindings = 3,
  kInUse = 4,
  kInterrupted = 130,
};

struct ExitCodeMeaning {
  ExitCode code;
  std::string_view text;
};
// What --help, the man page and docs/cli.md say of them.
inline constexpr ExitCodeMeaning kExitCodes[] = {
    {ExitCode::kDone, "done"},
    {ExitCode::kFailed, "refused, failed, or nothing was found"},
    {ExitCode::kUsage, "the command line is wrong; nothing was tried"},
    {ExitCode::kFindings,
     "verify, repair, doctor, schema check, an index build or a write log's "
     "reader found something wrong"},
    {ExitCode::kInUse, "another process has the database open"},
    {ExitCode::kInterrupted,
     "interrupted; what had been finished by then stays"},
};

// The same error, to exit with `code`. REQUIRES: !status.ok().
absl::Status WithExitCode(absl::Status status, ExitCode code);

// The same error with a further line that says what to do. Keeps the exit
// code. REQUIRES: !status.ok().
absl::Status WithHint(const absl::Status& status, std::string_view hint);

// The same error with "context: " before the message. Keeps the exit code.
absl::Status WithContext(std::string_view context, const absl::Status& status);

// InvalidArgument that exits with kUsage.
absl::Status UsageError(std::string_view message);

// Cancelled that exits with kInterrupted.
absl::Status InterruptedError(std::string_view message);

// The code that was attached; else kDone if ok, kFailed if not.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace dovetail::cli
