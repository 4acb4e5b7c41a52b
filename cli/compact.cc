// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/compact.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/database.h"

namespace dovetail::cli {

absl::Status RunCompact(const CompactVerbOptions& options,
                        const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const ReclaimReport report,
                   engine->ReclaimDead({.dead_min = options.dead_min}));
  ASSIGN_OR_RETURN(const Stats stats, engine->GetStats());
  TextTable text({"ranges", "dead_entries", "bytes_before", "bytes_after",
                  "micros", "dead_left"});
  text.Add({absl::StrCat(report.ranges), absl::StrCat(report.dead_entries),
            absl::StrCat(report.bytes_before), absl::StrCat(report.bytes_after),
            absl::StrCat(report.micros),
            absl::StrCat(stats.dead_entries.dead_entries)});
  Print(text.Text(console, {"ranges", "dead_entries", "bytes_before",
                            "bytes_after", "micros", "dead_left"}));
  Note(console,
       "dead entries are counted by sample, and sizes are approximate");
  RETURN_IF_ERROR(FlushOutput());
  return engine->Close();
}

}  // namespace dovetail::cli
