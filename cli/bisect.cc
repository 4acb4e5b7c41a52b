// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/bisect.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "cli/bisect_condition.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/time_text.h"

namespace dovetail::cli {
namespace {

// Which tables the record changed, and how many rows of each.
std::string EffectsText(const v1::WriteLogRecord& record) {
  std::vector<std::string> tables;
  for (const v1::RowEffect& effect : record.effects()) {
    if (std::find(tables.begin(), tables.end(), effect.table()) ==
        tables.end()) {
      tables.push_back(effect.table());
    }
  }
  return absl::StrCat(record.effects_size(), " in ",
                      absl::StrJoin(tables, ", "));
}

void ShowJson(const BisectReport& report, const std::string& time) {
  std::string found = "\"first_wrong\":null";
  if (report.first_wrong != SequenceNumber{}) {
    found = absl::StrCat("\"first_wrong\":", Number(report.first_wrong),
                         ",\"time\":", JsonQuote(time),
                         ",\"why\":", JsonQuote(report.why));
  }
  Print(absl::StrCat("{", found, ",\"last_right\":", Number(report.last_right),
                     ",\"records\":", report.records, ",\"replayed\":",
                     report.replayed, ",\"checks\":", report.checks, "}\n"));
}

void Show(const BisectReport& report, const Console& console) {
  const std::string time =
      Rfc3339(absl::FromUnixMicros(report.record.commit_time_us()));
  if (console.format == OutputFormat::kJson) {
    ShowJson(report, time);
    return;
  }
  TextTable text({"what", "value"});
  text.Add({"first_wrong", absl::StrCat(Number(report.first_wrong))});
  text.Add({"last_right", absl::StrCat(Number(report.last_right))});
  text.Add({"time", time});
  text.Add({"rows", EffectsText(report.record)});
  text.Add({"why", report.why});
  Print(text.Text(console));
}

}  // namespace

absl::Status RunBisect(const BisectVerbOptions& options,
                       const Console& console) {
  ASSIGN_OR_RETURN(const BisectCheck check,
                   ParseBisectCondition(options.check));
  Progress progress(console);
  BisectOptions bisect;
  bisect.base = options.base;
  bisect.scratch =
      options.scratch.empty() ? options.log + ".bisect" : options.scratch;
  bisect.progress = [&progress](const BisectProgress& p) {
    progress.Update(absl::StrCat("records ", p.first, " to ", p.last),
                    p.replayed, 0, "records replayed");
    return !Interrupted();
  };
  const absl::StatusOr<BisectReport> report =
      Bisect(options.log, check, bisect);
  progress.Wipe();
  if (absl::IsCancelled(report.status())) {
    return InterruptedError("interrupted");
  }
  if (absl::IsAlreadyExists(report.status())) {
    return WithHint(report.status(),
                    "Remove it, or give another one: --scratch DIR");
  }
  RETURN_IF_ERROR(report.status());
  Note(console,
       absl::StrCat(CountText(report->records), " records, ",
                    CountText(report->checks), " checks, ",
                    CountText(report->replayed), " records replayed, in ",
                    DurationText(progress.micros())));
  const bool found = report->first_wrong != SequenceNumber{};
  if (!found) {
    if (console.format == OutputFormat::kJson) Show(*report, console);
    Note(console, "right to the end");
    return FlushOutput();
  }
  Show(*report, console);
  RETURN_IF_ERROR(FlushOutput());
  return WithExitCode(
      absl::DataLossError(absl::StrCat(
          "wrong from sequence=", Number(report->first_wrong), " on")),
      ExitCode::kFindings);
}

}  // namespace dovetail::cli
