// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/scan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "dovetail/environment.h"

namespace dovetail::cli {
namespace {

constexpr uint64_t kPageRows = 1000;

absl::StatusOr<ScanRequest> MakeRequest(const DynamicTable& table,
                                        const RangeWords& words) {
  ScanRequest scan;
  scan.table = words.table;
  scan.index = words.index;
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, words.index));
  ASSIGN_OR_RETURN(scan.equal, ParseWords(table, columns, words.equal, 0));
  size_t next = scan.equal.size();
  const auto column = [&](std::string_view option) {
    return next < columns.size()
               ? absl::StatusOr<std::string>(columns[next])
               : UsageError(absl::StrCat(ToAbsl(option),
                                         " has no column left: columns=\"",
                                         absl::StrJoin(columns, " "), "\""));
  };
  if (!words.any_of.empty()) {
    ASSIGN_OR_RETURN(const std::string name, column("--in"));
    for (const std::string& item : words.any_of) {
      for (absl::string_view word : absl::StrSplit(item, ',')) {
        ASSIGN_OR_RETURN(Value value, ParseWord(table, name, ToStd(word)));
        scan.any_of.push_back(std::move(value));
      }
    }
    ++next;
  }
  if (words.from.empty() && words.to.empty()) return scan;
  ASSIGN_OR_RETURN(const std::string name, column("a bound"));
  scan.range.emplace();
  scan.range->max_inclusive = false;
  if (!words.from.empty()) {
    ASSIGN_OR_RETURN(scan.range->min, ParseWord(table, name, words.from));
  }
  if (!words.to.empty()) {
    ASSIGN_OR_RETURN(scan.range->max, ParseWord(table, name, words.to));
  }
  return scan;
}

absl::Status ExplainScan(const DynamicTable& table, const RangeWords& words,
                         std::string_view token_option, bool with_token,
                         const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  if (with_token) {
    return WithHint(status,
                    absl::StrCat(ToAbsl(token_option),
                                 " goes with the same table, index, values and "
                                 "bounds as the page that printed the token."));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, words.index));
  return WithExitCode(
      WithHint(status, absl::StrCat("The columns are, in order: ",
                                    absl::StrJoin(columns, " "))),
      ExitCode::kUsage);
}

absl::Status SplitBounds(const std::string& bounds, RangeWords* words) {
  if (bounds.empty()) return {};
  const size_t dots = bounds.find("..");
  if (dots == std::string::npos || bounds.size() == 2) {
    return UsageError(absl::StrCat(
        "--range is FROM..TO, of which either may be left out: given=",
        ToAbsl(Quote(bounds))));
  }
  words->from = bounds.substr(0, dots);
  words->to = bounds.substr(dots + 2);
  return {};
}

}  // namespace

absl::Status RunTop(const TopOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.range.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.range.table));
  ASSIGN_OR_RETURN(ScanRequest scan, MakeRequest(table, options.range));
  scan.limit = options.limit;
  if (!options.after.empty()) {
    ASSIGN_OR_RETURN(scan.continuation, ParseToken("--after", options.after));
  }
  const int64_t start = Clock::System()->MonotonicMicros();
  const absl::StatusOr<Page> page = engine->Scan({}, scan);
  const int64_t micros = Clock::System()->MonotonicMicros() - start;
  if (!page.ok()) {
    return ExplainScan(table, options.range, "--after", !options.after.empty(),
                       page.status());
  }
  RETURN_IF_ERROR(PrintRows(table, page->rows, console));
  NoteWork(page->rows.size(), &page->work, micros, console);
  PrintNext("--after", TokenText(page->continuation), console);
  return {};
}

absl::Status RunScan(const ScanOptions& options, const Console& console) {
  RangeWords words = options.range;
  RETURN_IF_ERROR(SplitBounds(options.bounds, &words));
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(words.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), words.table));
  ASSIGN_OR_RETURN(ScanRequest scan, MakeRequest(table, words));
  if (!options.go_on.empty()) {
    ASSIGN_OR_RETURN(scan.continuation,
                     ParseToken("--continue", options.go_on));
  }
  // One state for all pages.
  ASSIGN_OR_RETURN(const Snapshot snapshot, engine->GetSnapshot());
  const int64_t start = Clock::System()->MonotonicMicros();
  const uint64_t wanted = options.limit == 0 ? ~uint64_t{0} : options.limit;
  uint64_t rows = 0;
  Work work;
  do {
    scan.limit = std::min(kPageRows, wanted - rows);
    const absl::StatusOr<Page> page =
        engine->Scan({.snapshot = &snapshot}, scan);
    if (!page.ok()) {
      return ExplainScan(table, words, "--continue", !options.go_on.empty(),
                         page.status());
    }
    RETURN_IF_ERROR(PrintRows(table, page->rows, console, rows == 0));
    RETURN_IF_ERROR(FlushOutput());
    rows += page->rows.size();
    work.entries += page->work.entries;
    work.gets += page->work.gets;
    scan.continuation = page->continuation;
  } while (!scan.continuation.empty() && rows < wanted && !Interrupted());
  NoteWork(rows, &work, Clock::System()->MonotonicMicros() - start, console);
  PrintNext("--continue", TokenText(scan.continuation), console);
  return Interrupted() && rows < wanted && !scan.continuation.empty()
             ? InterruptedError("interrupted")
             : absl::OkStatus();
}

}  // namespace dovetail::cli
