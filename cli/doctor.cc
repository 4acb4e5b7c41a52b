// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/doctor.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "dovetail/doctor.h"

namespace dovetail::cli {
namespace {

std::string_view VerdictName(Diagnosis::Verdict verdict) {
  switch (verdict) {
    case Diagnosis::Verdict::kSound:
      return "sound";
    case Diagnosis::Verdict::kTornTail:
      return "torn_tail";
    case Diagnosis::Verdict::kDamaged:
      return "damaged";
  }
  return "unknown";
}

void PrintDiagnosisJson(const Diagnosis& found) {
  std::string out;
  for (const DamagedPart& part : found.damage) {
    absl::StrAppend(&out, "{\"file\":", JsonQuote(part.file),
                    ",\"offset\":", part.offset, ",\"bytes\":", part.bytes,
                    ",\"reason\":", JsonQuote(part.reason),
                    ",\"keys\":", JsonQuote(part.keys), "}\n");
  }
  for (const Diagnosis::Space& space : found.spaces) {
    absl::StrAppend(&out, "{\"table\":", JsonQuote(space.table),
                    ",\"index\":", JsonQuote(space.index),
                    ",\"left\":", space.keys, ",\"doubtful\":", space.doubtful,
                    "}\n");
  }
  absl::StrAppend(&out, "{\"verdict\":", JsonQuote(VerdictName(found.verdict)),
                  ",\"refusal\":", JsonQuote(found.refusal),
                  ",\"manifest_damage\":", JsonQuote(found.manifest_damage),
                  ",\"tables\":", found.tables,
                  ",\"tables_damaged\":", found.tables_damaged,
                  ",\"logs\":", found.logs,
                  ",\"damaged_parts\":", found.damage_count,
                  ",\"damaged_bytes\":", found.damage_bytes,
                  ",\"catalog_lost\":", found.catalog_lost ? "true" : "false",
                  ",\"last_sequence\":", Number(found.last_sequence),
                  ",\"synced_sequence\":", Number(found.synced_sequence),
                  ",\"behind_break\":", Number(found.behind_break), "}\n");
  Print(out);
}

void PrintDiagnosis(const Diagnosis& found, const Console& console) {
  if (console.format == OutputFormat::kJson) {
    PrintDiagnosisJson(found);
    return;
  }
  TextTable damage({"file", "offset", "bytes", "reason", "keys"});
  for (const DamagedPart& part : found.damage) {
    damage.Add({part.file, absl::StrCat(part.offset), absl::StrCat(part.bytes),
                part.reason, part.keys});
  }
  if (damage.rows() > 0) Print(damage.Text(console));
  TextTable left({"table", "index", "left", "doubtful"});
  for (const Diagnosis::Space& space : found.spaces) {
    left.Add({space.table, space.index, absl::StrCat(space.keys),
              absl::StrCat(space.doubtful)});
  }
  if (left.rows() > 0) Print(left.Text(console));
}

void NoteDiagnosis(const Diagnosis& found, const Console& console) {
  Note(console,
       absl::StrCat(
           ToAbsl(VerdictName(found.verdict)), ": tables=", found.tables,
           " damaged=", found.tables_damaged, " logs=", found.logs,
           " damaged parts=", found.damage_count, " bytes=", found.damage_bytes,
           "; newest commit left ", Number(found.last_sequence)));
  if (!found.refusal.empty()) {
    Note(console, absl::StrCat("it does not open: ", found.refusal));
  }
  if (!found.manifest_damage.empty()) {
    Note(console, absl::StrCat("no manifest, so rows that had been deleted "
                               "may be back: ",
                               found.manifest_damage));
  }
  if (found.behind_break != SequenceNumber{}) {
    Note(console,
         absl::StrCat("a log breaks off behind commit ",
                      Number(found.last_sequence), "; commits up to ",
                      Number(found.behind_break), " were there, up to ",
                      Number(found.synced_sequence), " on stable storage"));
  }
}

void PrintNamed(std::string_view what, const std::vector<NamedRow>& rows,
                const Console& console) {
  if (console.format == OutputFormat::kJson) {
    std::string out;
    for (const NamedRow& row : rows) {
      absl::StrAppend(&out, "{", JsonQuote(what), ":", JsonQuote(row.key),
                      ",\"table\":", JsonQuote(row.table), "}\n");
    }
    Print(out);
    return;
  }
  TextTable text({std::string(what), "row"});
  for (const NamedRow& row : rows) text.Add({row.table, row.key});
  if (text.rows() > 0) Print(text.Text(console));
}

absl::Status Verdict(const Diagnosis& found, const std::string& hint) {
  if (found.verdict != Diagnosis::Verdict::kDamaged) return {};
  return WithHint(WithExitCode(absl::DataLossError("the database is damaged"),
                               ExitCode::kFindings),
                  hint);
}

DoctorOptions Watched(Progress* progress) {
  DoctorOptions options;
  options.progress = [progress](uint64_t keys) {
    progress->Update("reading", keys, 0, "keys");
    return !Interrupted();
  };
  return options;
}

absl::Status ExplainCancelled(const absl::Status& status) {
  return absl::IsCancelled(status)
             ? InterruptedError("interrupted; nothing was changed by it")
             : status;
}

absl::Status Look(const DoctorVerbOptions& options, const Console& console) {
  Progress progress(console);
  const absl::StatusOr<Diagnosis> found =
      Diagnose(options.db, Watched(&progress));
  progress.Wipe();
  if (!found.ok()) return ExplainCancelled(found.status());
  PrintDiagnosis(*found, console);
  NoteDiagnosis(*found, console);
  return Verdict(
      *found,
      absl::StrCat("Copy the directory away as it is. If there is a backup "
                   "and a write log, restore them. Else save what is left: "
                   "dovetail doctor ",
                   options.db, " --rescue-to NEWDB"));
}

absl::Status RescueIt(const DoctorVerbOptions& options,
                      const Console& console) {
  Progress progress(console);
  const absl::StatusOr<RescueReport> report =
      Rescue(options.db, options.rescue_to, Watched(&progress));
  progress.Wipe();
  if (!report.ok()) return ExplainCancelled(report.status());
  PrintDiagnosis(report->found, console);
  PrintNamed("lost", report->lost, console);
  PrintNamed("doubtful", report->doubtful, console);
  NoteDiagnosis(report->found, console);
  Note(console,
       absl::StrCat("rescued rows=", report->rows,
                    " lost, as far as entries "
                    "tell=",
                    report->lost_count, " doubtful=", report->doubtful_count,
                    " entries added=", report->entries_added,
                    " removed=", report->entries_removed,
                    " not repairable=", report->not_repairable));
  return Verdict(report->found,
                 absl::StrCat("What is left is in ", options.rescue_to,
                              "; the damaged database is as it was."));
}

}  // namespace

absl::Status RunDoctor(const DoctorVerbOptions& options,
                       const Console& console) {
  return options.rescue_to.empty() ? Look(options, console)
                                   : RescueIt(options, console);
}

}  // namespace dovetail::cli
