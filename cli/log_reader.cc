// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/log_reader.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "dovetail/recording.h"

namespace dovetail::cli {
namespace {

// The log that the word names.
absl::StatusOr<std::string> PathOfLog(const std::string& word) {
  FileSystem* const files = FileSystem::Posix();
  const absl::StatusOr<WriteLogSetup> setup = FindWriteLog(files, word);
  if (setup.ok()) return setup->directory;
  if (!absl::IsNotFound(setup.status()) &&
      !absl::IsFailedPrecondition(setup.status())) {
    return setup.status();
  }
  const absl::StatusOr<bool> is_database = files->Exists(word + "/CURRENT");
  if (is_database.ok() && *is_database) {
    return WithHint(
        absl::FailedPreconditionError(absl::StrCat(
            "the database ", ToAbsl(Quote(word, 1024)), " does not record")),
        absl::StrCat("Turn it on: dovetail log enable ", word));
  }
  return word;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WriteLogReader>> OpenLogReader(
    const std::string& word, const WriteLogReaderOptions& options,
    const Console& console) {
  ASSIGN_OR_RETURN(const std::string path, PathOfLog(word));
  FileSystem* const files = FileSystem::Posix();
  absl::StatusOr<std::unique_ptr<WriteLogReader>> reader =
      WriteLogReader::Open(files, path, options);
  if (!absl::IsNotFound(reader.status()) || path == word ||
      options.from_sequence > SequenceNumber{0}) {
    return reader;
  }
  Note(console, "nothing has been recorded yet");
  return nullptr;
}

absl::Status ExplainDamage(const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  return WithHint(WithExitCode(status, ExitCode::kFindings),
                  "--skip-damaged reads on behind it, and says what is "
                  "missing.");
}

}  // namespace dovetail::cli
