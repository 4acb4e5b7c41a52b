// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/import_options.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "dovetail/limits.h"

namespace dovetail::cli {

absl::Status CheckImportOptions(const ImportOptions& options) {
  if (options.on_error != "stop" && options.on_error != "skip") {
    return UsageError(absl::StrCat("--on-error is stop or skip: given=",
                                   ToAbsl(Quote(options.on_error))));
  }
  if (options.on_error != "skip" && !options.rejects.empty()) {
    return UsageError("--rejects needs --on-error skip");
  }
  if (options.atomic && options.on_error == "skip") {
    return UsageError("--atomic is all or nothing; --on-error skip is not");
  }
  const uint64_t batch_max = Limits().request_mutations_max;
  if (options.batch == 0 || options.batch > batch_max) {
    return UsageError(
        absl::StrCat("--batch is 1 to ", batch_max, ": given=", options.batch));
  }
  return {};
}

absl::StatusOr<InputFormat> InputFormatOf(const ImportOptions& options) {
  if (options.from == "csv") return InputFormat::kCsv;
  if (options.from == "jsonl") return InputFormat::kJsonLines;
  if (!options.from.empty()) {
    return UsageError(absl::StrCat("--from is csv or jsonl: given=",
                                   ToAbsl(Quote(options.from))));
  }
  for (const char* end : {".csv", ".tsv"}) {
    if (absl::EndsWithIgnoreCase(options.file, end)) return InputFormat::kCsv;
  }
  for (const char* end : {".jsonl", ".ndjson", ".json"}) {
    if (absl::EndsWithIgnoreCase(options.file, end)) {
      return InputFormat::kJsonLines;
    }
  }
  for (const char* end : {".xz", ".gz", ".zst"}) {
    if (!absl::EndsWithIgnoreCase(options.file, end)) continue;
    const std::string cat =
        absl::StrCat(absl::EqualsIgnoreCase(end, ".gz") ? "z" : end + 1, "cat");
    return UsageError(
        absl::StrCat("compressed files are not read; pipe it: ", cat, " ",
                     options.file, " | dovetail import ", options.db, " ",
                     options.table, " - --from csv"));
  }
  return UsageError(
      "the name of the input does not tell its format; add --from csv or "
      "--from jsonl");
}

absl::StatusOr<char> DelimiterOf(const std::string& text,
                                 const std::string& file) {
  if (text.empty()) return absl::EndsWithIgnoreCase(file, ".tsv") ? '\t' : ',';
  if (text == "\\t" || text == "tab") return '\t';
  const char c = text[0];
  if (text.size() != 1 || c == '"' || c == '\n' || c == '\r' ||
      static_cast<unsigned char>(c) >= 0x80) {
    return UsageError(
        absl::StrCat("--delimiter is one ASCII character, or \\t: given=",
                     ToAbsl(Quote(text))));
  }
  return c;
}

}  // namespace dovetail::cli
