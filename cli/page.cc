// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/page.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {
namespace {

// A letter in front: a token never looks like an option.
constexpr char kTokenMark = 'T';

}  // namespace

absl::Status PrintRows(const DynamicTable& table, const std::vector<Row>& rows,
                       const Console& console, bool header) {
  if (console.format == OutputFormat::kJson) {
    ASSIGN_OR_RETURN(const std::string json, RowsJson(table, rows));
    Print(json);
    return {};
  }
  const bool box = console.format == OutputFormat::kBox;
  ASSIGN_OR_RETURN(const TextTable text, RowsTable(table, rows, box));
  Print(box ? text.Box(console.color_out) : text.Tsv(header));
  return {};
}

void PrintNext(std::string_view option, const std::string& token,
               const Console& console) {
  if (token.empty()) return;
  if (console.format == OutputFormat::kJson) {
    // No field of a record has a name like this.
    Print(absl::StrCat("{\"@next\":", JsonQuote(token), "}\n"));
    return;
  }
  Note(console, absl::StrCat("next page: ", ToAbsl(option), " ", token));
}

void NoteWork(uint64_t rows, const Work* work, int64_t micros,
              const Console& console) {
  if (console.format != OutputFormat::kBox) return;
  std::string text =
      absl::StrCat(CountText(rows), rows == 1 ? " row" : " rows");
  if (work != nullptr) {
    absl::StrAppend(&text, " · ", CountText(work->entries), " entries · ",
                    CountText(work->gets), " row reads");
  }
  Note(console, absl::StrCat(text, " · ", DurationText(micros)));
}

std::string TokenText(std::string_view continuation) {
  if (continuation.empty()) return "";
  return absl::StrCat(std::string(1, kTokenMark),
                      absl::WebSafeBase64Escape(ToAbsl(continuation)));
}

absl::StatusOr<std::string> ParseToken(std::string_view option,
                                       std::string_view text) {
  std::string bytes;
  if (text.size() < 2 || text[0] != kTokenMark ||
      !absl::WebSafeBase64Unescape(ToAbsl(text.substr(1)), &bytes)) {
    return UsageError(
        absl::StrCat(ToAbsl(option),
                     " takes the token that the page before printed, whole"));
  }
  return bytes;
}

}  // namespace dovetail::cli
