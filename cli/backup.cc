// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/backup.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/time_text.h"
#include "dovetail/backup.h"

namespace dovetail::cli {
namespace {

void PrintJson(const BackupReport& report) {
  Print(absl::StrCat(
      "{\"sequence\":", Number(report.sequence),
      ",\"checkpoint\":", Number(report.checkpoint),
      ",\"checkpoint_made\":", report.checkpoint_made ? "true" : "false",
      ",\"log_files_copied\":", report.log_files_copied,
      ",\"bytes_copied\":", report.bytes_copied, "}\n"));
}

void PrintJson(const RestoreReport& report) {
  Print(absl::StrCat("{\"sequence\":", Number(report.sequence),
                     ",\"checkpoint\":", Number(report.checkpoint),
                     ",\"replayed\":", report.replayed, "}\n"));
}

absl::StatusOr<RestoreOptions> MakeOptions(const RestoreVerbOptions& options) {
  RestoreOptions restore;
  restore.link_tables = !options.copy;
  if (options.to_sequence > 0) {
    restore.to_sequence = SequenceNumber{options.to_sequence};
  }
  if (!options.to_time.empty()) {
    const absl::StatusOr<absl::Time> time = ParseTimeText(options.to_time, {});
    if (!time.ok()) {
      return UsageError(absl::StrCat("--to-time is no date or time: given=",
                                     ToAbsl(Quote(options.to_time))));
    }
    restore.to_time_us = absl::ToUnixMicros(*time);
  }
  return restore;
}

}  // namespace

absl::Status RunBackup(const BackupVerbOptions& options,
                       const Console& console) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      OpenDatabase(options.db, console);
  if (ExitCodeOf(engine.status()) == ExitCode::kInUse) {
    return WithHint(engine.status(),
                    "While a process has it open, only that process can back "
                    "it up: by Engine::Backup.");
  }
  RETURN_IF_ERROR(engine.status());
  ASSIGN_OR_RETURN(
      const BackupReport report,
      (*engine)->Backup(options.backup, {.new_checkpoint = options.checkpoint,
                                         .link_tables = !options.copy}));
  RETURN_IF_ERROR((*engine)->Close());
  if (console.format == OutputFormat::kJson) PrintJson(report);
  Note(console,
       absl::StrCat(
           "backup up to commit ", CountText(Number(report.sequence)),
           report.checkpoint_made ? ": a new checkpoint, "
                                  : ": from the checkpoint of ",
           report.checkpoint_made
               ? ""
               : absl::StrCat(CountText(Number(report.checkpoint)), ", "),
           "log files copied ", report.log_files_copied, "; copied in all ",
           BytesText(report.bytes_copied)));
  return FlushOutput();
}

absl::Status RunRestore(const RestoreVerbOptions& options,
                        const Console& console) {
  ASSIGN_OR_RETURN(RestoreOptions restore, MakeOptions(options));
  Progress progress(console);
  restore.progress = [&](uint64_t replayed, SequenceNumber) {
    progress.Update("replaying", replayed, 0, "commits");
    return !Interrupted();
  };
  const absl::StatusOr<RestoreReport> report =
      Restore(options.backup, options.db, restore);
  progress.Wipe();
  if (absl::IsCancelled(report.status())) {
    return InterruptedError("interrupted; nothing was restored");
  }
  RETURN_IF_ERROR(report.status());
  if (console.format == OutputFormat::kJson) PrintJson(*report);
  Note(console,
       absl::StrCat(
           "restored up to commit ", CountText(Number(report->sequence)),
           ": the checkpoint of ", CountText(Number(report->checkpoint)),
           ", and ", CountText(report->replayed),
           report->replayed == 1 ? " commit" : " commits", " from the log"));
  return FlushOutput();
}

}  // namespace dovetail::cli
