// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/digest.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "dovetail/digest.h"

namespace dovetail::cli {
namespace {

absl::Status Explain(const std::string& db, const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status)) return status;
  return WithHint(
      status, absl::StrCat("Turn them on: dovetail digest ", db, " --enable"));
}

std::string Summary(const DigestReport& report) {
  return absl::StrCat("\"sequence\":", Number(report.sequence), ",\"total\":",
                      JsonQuote(DigestText(TotalDigest(report))));
}

}  // namespace

absl::Status RunDigest(const DigestVerbOptions& options,
                       const Console& console) {
  if (options.enable && options.disable) {
    return UsageError("--enable and --disable contradict each other");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  if (options.disable) {
    RETURN_IF_ERROR(engine->DisableDigests());
    Note(console, "digests are off");
    return engine->Close();
  }
  if (options.enable) RETURN_IF_ERROR(engine->EnableDigests());
  const absl::StatusOr<DigestReport> report =
      engine->Digest({.indexes = options.indexes});
  if (!report.ok()) return Explain(options.db, report.status());
  TextTable text({"table", "index", "count", "digest"});
  for (const SpaceDigest& space : report->spaces) {
    const bool rows = space.index.empty();
    text.Add(
        {space.table,
         rows && console.format != OutputFormat::kJson ? "(rows)" : space.index,
         absl::StrCat(space.count), DigestText(space.sum)});
  }
  Print(text.Text(console, {"count"}));
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat("{", Summary(*report), "}\n"));
  } else {
    Note(console, absl::StrCat("sequence=", Number(report->sequence),
                               " total=", DigestText(TotalDigest(*report))));
  }
  RETURN_IF_ERROR(FlushOutput());
  return engine->Close();
}

}  // namespace dovetail::cli
