// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/read_verbs.h"

#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "dovetail/environment.h"

namespace dovetail::cli {
namespace {

// A letter in front: a token never looks like an option.
constexpr char kTokenMark = 'T';

absl::Status PrintRows(const DynamicTable& table, const std::vector<Row>& rows,
                       const std::string& next, const Console& console) {
  if (console.format == OutputFormat::kJson) {
    ASSIGN_OR_RETURN(const std::string json, RowsJson(table, rows));
    Print(absl::StrCat("{\"rows\":", json));
    if (!next.empty()) Print(absl::StrCat(",\n \"next\":", JsonQuote(next)));
    Print("}\n");
    return {};
  }
  ASSIGN_OR_RETURN(
      const TextTable text,
      RowsTable(table, rows, console.format == OutputFormat::kBox));
  Print(text.Text(console));
  return {};
}

void NoteWork(const std::vector<Row>& rows, const Work* work, int64_t micros,
              const Console& console) {
  if (console.format != OutputFormat::kBox) return;
  std::string text =
      absl::StrCat(CountText(rows.size()), rows.size() == 1 ? " row" : " rows");
  if (work != nullptr) {
    absl::StrAppend(&text, " · ", CountText(work->entries), " entries · ",
                    CountText(work->gets), " row reads");
  }
  Note(console, absl::StrCat(text, " · ", DurationText(micros)));
}

absl::StatusOr<ScanRequest> MakeScan(const DynamicTable& table,
                                     const TopOptions& options) {
  ScanRequest scan;
  scan.table = options.table;
  scan.index = options.index;
  scan.limit = options.limit;
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, options.index));
  ASSIGN_OR_RETURN(scan.equal, ParseWords(table, columns, options.values, 0));
  size_t next = scan.equal.size();
  const auto column = [&](std::string_view option) {
    return next < columns.size()
               ? absl::StatusOr<std::string>(columns[next])
               : UsageError(absl::StrCat(ToAbsl(option),
                                         " has no column left: columns=\"",
                                         absl::StrJoin(columns, " "), "\""));
  };
  if (!options.any_of.empty()) {
    ASSIGN_OR_RETURN(const std::string name, column("--in"));
    for (const std::string& item : options.any_of) {
      for (absl::string_view word : absl::StrSplit(item, ',')) {
        ASSIGN_OR_RETURN(Value value, ParseWord(table, name, ToStd(word)));
        scan.any_of.push_back(std::move(value));
      }
    }
    ++next;
  }
  if (options.from.empty() && options.to.empty()) return scan;
  ASSIGN_OR_RETURN(const std::string name,
                   column(options.from.empty() ? "--to" : "--from"));
  scan.range.emplace();
  scan.range->max_inclusive = false;
  if (!options.from.empty()) {
    ASSIGN_OR_RETURN(scan.range->min, ParseWord(table, name, options.from));
  }
  if (!options.to.empty()) {
    ASSIGN_OR_RETURN(scan.range->max, ParseWord(table, name, options.to));
  }
  return scan;
}

}  // namespace

std::string TokenText(std::string_view continuation) {
  if (continuation.empty()) return "";
  return absl::StrCat(std::string(1, kTokenMark),
                      absl::WebSafeBase64Escape(ToAbsl(continuation)));
}

absl::StatusOr<std::string> ParseToken(std::string_view text) {
  std::string bytes;
  if (text.size() < 2 || text[0] != kTokenMark ||
      !absl::WebSafeBase64Unescape(ToAbsl(text.substr(1)), &bytes)) {
    return UsageError(
        "--after takes the token that the page before printed, whole");
  }
  return bytes;
}

absl::Status RunGet(const GetOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  ASSIGN_OR_RETURN(const std::vector<std::string> columns, table.Columns(""));
  ASSIGN_OR_RETURN(const std::vector<Value> key,
                   ParseWords(table, columns, options.values, columns.size()));
  const int64_t start = Clock::System()->MonotonicMicros();
  const absl::StatusOr<Row> row = engine->Get({}, options.table, key);
  const int64_t micros = Clock::System()->MonotonicMicros() - start;
  if (absl::IsNotFound(row.status())) {
    return absl::NotFoundError(
        absl::StrCat("not found: table=", options.table, " key=\"",
                     absl::StrJoin(options.values, " "), "\""));
  }
  RETURN_IF_ERROR(row.status());
  if (console.format == OutputFormat::kJson) {
    ASSIGN_OR_RETURN(const std::string json, table.ToJson(*row));
    Print(absl::StrCat(json, "\n"));
    return {};
  }
  RETURN_IF_ERROR(PrintRows(table, {*row}, "", console));
  NoteWork({*row}, nullptr, micros, console);
  return {};
}

absl::Status RunGetBy(const GetByOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, options.index));
  ASSIGN_OR_RETURN(const std::vector<Value> values,
                   ParseWords(table, columns, options.values, 1));
  const int64_t start = Clock::System()->MonotonicMicros();
  const absl::StatusOr<std::vector<Row>> rows =
      engine->GetBy({}, options.table, options.index, values);
  const int64_t micros = Clock::System()->MonotonicMicros() - start;
  if (absl::IsResourceExhausted(rows.status())) {
    return WithHint(
        rows.status(),
        absl::StrCat("Page through them: dovetail top ", options.db, " ",
                     options.table, " --index ", options.index, " VALUE..."));
  }
  RETURN_IF_ERROR(rows.status());
  if (rows->empty()) {
    return absl::NotFoundError(absl::StrCat(
        "not found: table=", options.table, " index=", options.index,
        " values=\"", absl::StrJoin(options.values, " "), "\""));
  }
  RETURN_IF_ERROR(PrintRows(table, *rows, "", console));
  NoteWork(*rows, nullptr, micros, console);
  return {};
}

absl::Status RunTop(const TopOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  ASSIGN_OR_RETURN(ScanRequest scan, MakeScan(table, options));
  if (!options.after.empty()) {
    ASSIGN_OR_RETURN(scan.continuation, ParseToken(options.after));
  }
  const int64_t start = Clock::System()->MonotonicMicros();
  absl::StatusOr<Page> page = engine->Scan({}, scan);
  const int64_t micros = Clock::System()->MonotonicMicros() - start;
  if (!page.ok() && !options.after.empty() &&
      absl::IsInvalidArgument(page.status())) {
    return WithHint(page.status(),
                    "--after goes with the same table, index, values and "
                    "bounds as the page that printed the token.");
  }
  if (absl::IsInvalidArgument(page.status())) {
    ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                     IndexColumns(table, options.index));
    return WithExitCode(
        WithHint(page.status(), absl::StrCat("The columns are, in order: ",
                                             absl::StrJoin(columns, " "))),
        ExitCode::kUsage);
  }
  RETURN_IF_ERROR(page.status());
  const std::string next = TokenText(page->continuation);
  RETURN_IF_ERROR(PrintRows(table, page->rows, next, console));
  NoteWork(page->rows, &page->work, micros, console);
  if (!next.empty() && console.format != OutputFormat::kJson) {
    Note(console, absl::StrCat("next page: --after ", next));
  }
  return {};
}

}  // namespace dovetail::cli
