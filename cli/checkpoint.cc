// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/checkpoint.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/database.h"
#include "cli/exit_code.h"

namespace dovetail::cli {
namespace {

void PrintJson(const CheckpointReport& report, const std::string& directory) {
  Print(absl::StrCat("{\"directory\":", JsonQuote(directory),
                     ",\"sequence\":", Number(report.sequence),
                     ",\"tables_linked\":", report.tables_linked,
                     ",\"tables_copied\":", report.tables_copied,
                     ",\"bytes_copied\":", report.bytes_copied, "}\n"));
}

}  // namespace

absl::Status RunCheckpoint(const CheckpointVerbOptions& options,
                           const Console& console) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      OpenDatabase(options.db, console);
  if (ExitCodeOf(engine.status()) == ExitCode::kInUse) {
    return WithHint(engine.status(),
                    "While a process has it open, only that process can copy "
                    "it: by Engine::Checkpoint.");
  }
  RETURN_IF_ERROR(engine.status());
  ASSIGN_OR_RETURN(const CheckpointReport report,
                   (*engine)->Checkpoint(options.destination,
                                         {.link_tables = !options.copy}));
  RETURN_IF_ERROR((*engine)->Close());
  if (console.format == OutputFormat::kJson) {
    PrintJson(report, options.destination);
  }
  Note(console,
       absl::StrCat("checkpoint of commit ", CountText(Number(report.sequence)),
                    ": tables linked ", report.tables_linked, ", copied ",
                    report.tables_copied, "; copied in all ",
                    BytesText(report.bytes_copied)));
  return {};
}

}  // namespace dovetail::cli
