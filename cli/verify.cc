// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/verify.h"

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/confirm.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

namespace dovetail::cli {
namespace {

constexpr uint64_t kProgressEvery = 5'000;

std::string_view KindName(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kMissingEntry:
      return "missing_entry";
    case Finding::Kind::kDanglingEntry:
      return "dangling_entry";
    case Finding::Kind::kWrongEntry:
      return "wrong_entry";
    case Finding::Kind::kDuplicateUnique:
      return "duplicate_unique";
    case Finding::Kind::kWrongRow:
      return "wrong_row";
    case Finding::Kind::kWrongDigest:
      return "wrong_digest";
  }
  return "unknown";
}

// The row key in words if it decodes, else its bytes; empty if the finding is
// not about one row.
std::string KeyText(Engine* engine, const Finding& finding) {
  if (finding.kind == Finding::Kind::kWrongDigest) return "";
  const absl::StatusOr<std::string> words =
      engine->DecodeKey(finding.table, finding.row_key);
  return words.ok() ? *words : Quote(finding.row_key, 256);
}

std::string CountsJson(const VerifyReport& report) {
  return absl::StrCat(
      "\"clean\":", report.clean() ? "true" : "false",
      ",\"rows\":", report.rows, ",\"entries\":", report.entries,
      ",\"missing\":", report.missing, ",\"dangling\":", report.dangling,
      ",\"wrong_entries\":", report.wrong_entries,
      ",\"duplicate_unique\":", report.duplicate_unique,
      ",\"wrong_rows\":", report.wrong_rows,
      ",\"wrong_digests\":", report.wrong_digests);
}

std::string FindingsJson(Engine* engine, const VerifyReport& report) {
  std::string out;
  for (const Finding& finding : report.findings) {
    absl::StrAppend(&out, "{\"kind\":", JsonQuote(KindName(finding.kind)),
                    ",\"table\":", JsonQuote(finding.table),
                    ",\"index\":", JsonQuote(finding.index),
                    ",\"row\":", JsonQuote(KeyText(engine, finding)),
                    ",\"detail\":", JsonQuote(finding.detail), "}\n");
  }
  return out;
}

void PrintFindings(Engine* engine, const VerifyReport& report,
                   const Console& console) {
  TextTable text({"kind", "table", "index", "row", "detail"});
  for (const Finding& finding : report.findings) {
    text.Add({std::string(KindName(finding.kind)), finding.table, finding.index,
              KeyText(engine, finding), finding.detail});
  }
  if (text.rows() > 0) Print(text.Text(console));
}

// Progress that also ends the run on Ctrl-C.
std::function<bool(const VerifyProgress&)> Watch(Progress* progress) {
  return [progress](const VerifyProgress& p) {
    const std::string at =
        p.index.empty() ? p.table : absl::StrCat(p.table, ".", p.index);
    progress->Update(absl::StrCat("verifying ", at), p.rows + p.entries, 0,
                     "rows and entries");
    return !Interrupted();
  };
}

absl::Status ExplainRun(const std::string& db, const absl::Status& status) {
  if (absl::IsCancelled(status)) {
    return InterruptedError("interrupted; nothing was changed by it");
  }
  if (absl::IsDataLoss(status)) {
    return WithExitCode(
        WithHint(WithContext(db, status),
                 absl::StrCat("Bytes on disk are wrong. See what is damaged, "
                              "and what can be saved: dovetail doctor ",
                              db)),
        ExitCode::kFindings);
  }
  return status;
}

// Damage that keeps the database from opening is what verify looks for.
absl::Status ExplainDamagedOpen(const absl::Status& status) {
  return absl::IsDataLoss(status) ? WithExitCode(status, ExitCode::kFindings)
                                  : status;
}

void PrintRepairJson(const RepairReport& report, bool dry_run) {
  Print(absl::StrCat("{\"dry_run\":", dry_run ? "true" : "false",
                     ",\"before\":{", CountsJson(report.before),
                     "},\"entries_added\":", report.entries_added,
                     ",\"entries_removed\":", report.entries_removed,
                     ",\"already_right\":", report.already_right,
                     ",\"digests_set\":", report.digests_set,
                     ",\"not_repairable\":", report.not_repairable, "}\n"));
}

// What verify has found, as one error.
absl::Status Disagree(const VerifyReport& report) {
  const bool entries = report.missing + report.dangling + report.wrong_entries +
                           report.duplicate_unique + report.wrong_rows >
                       0;
  return WithExitCode(
      absl::DataLossError(
          entries ? "rows and entries disagree"
                  : "rows or entries are not what commits left there"),
      ExitCode::kFindings);
}

absl::Status Leftover(const RepairReport& report) {
  if (report.not_repairable == 0) return {};
  return WithHint(
      WithExitCode(absl::DataLossError(
                       absl::StrCat("findings that repair cannot settle: "
                                    "count=",
                                    report.not_repairable)),
                   ExitCode::kFindings),
      "Rows contradict each other or do not parse. Look at them with "
      "dovetail verify, then change or delete one of each.");
}

}  // namespace

absl::Status RunVerify(const VerifyVerbOptions& options,
                       const Console& console) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      OpenDatabase(options.db, console);
  if (!engine.ok()) return ExplainDamagedOpen(engine.status());
  Progress progress(console);
  VerifyOptions verify;
  verify.progress_every = kProgressEvery;
  verify.progress = Watch(&progress);
  const absl::StatusOr<VerifyReport> report = (*engine)->Verify(verify);
  progress.Wipe();
  if (!report.ok()) return ExplainRun(options.db, report.status());
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat(FindingsJson(engine->get(), *report), "{",
                       CountsJson(*report), "}\n"));
  } else {
    PrintFindings(engine->get(), *report, console);
  }
  Note(console, absl::StrCat(report->clean() ? "clean: " : "damaged: ",
                             report->Summary(), " in ",
                             DurationText(progress.micros())));
  if (report->clean()) return {};
  return WithHint(Disagree(*report),
                  absl::StrCat("See what a repair would do: dovetail repair ",
                               options.db, " --dry-run"));
}

absl::Status RunRepair(const RepairVerbOptions& options,
                       const Console& console) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      OpenDatabase(options.db, console);
  if (!engine.ok()) return ExplainDamagedOpen(engine.status());
  Progress progress(console);
  RepairOptions repair;
  repair.dry_run = true;
  repair.progress = Watch(&progress);
  absl::StatusOr<RepairReport> report = (*engine)->Repair(repair);
  progress.Wipe();
  if (!report.ok()) return ExplainRun(options.db, report.status());
  if (report->before.clean()) {
    if (console.format == OutputFormat::kJson) {
      PrintRepairJson(*report, options.dry_run);
    }
    Note(console,
         absl::StrCat("clean, nothing to repair: ", report->before.Summary()));
    return (*engine)->Close();
  }

  const bool json = console.format == OutputFormat::kJson;
  if (!json) PrintFindings(engine->get(), report->before, console);
  Note(console, absl::StrCat("repair would add entries=", report->entries_added,
                             " remove entries=", report->entries_removed,
                             " leave findings=", report->not_repairable,
                             " set digests=", report->before.wrong_digests));
  if (options.dry_run) {
    if (json) PrintRepairJson(*report, /*dry_run=*/true);
    return WithHint(Disagree(report->before),
                    "Nothing was changed (--dry-run).");
  }
  RETURN_IF_ERROR(Confirm("Repair now?", options.yes));
  repair.dry_run = false;
  report = (*engine)->Repair(repair);
  progress.Wipe();
  if (!report.ok()) return ExplainRun(options.db, report.status());
  RETURN_IF_ERROR((*engine)->Close());
  if (json) PrintRepairJson(*report, /*dry_run=*/false);
  Note(console, absl::StrCat("repaired: added entries=", report->entries_added,
                             " removed entries=", report->entries_removed,
                             " already right=", report->already_right,
                             " set digests=", report->digests_set));
  return Leftover(*report);
}

}  // namespace dovetail::cli
