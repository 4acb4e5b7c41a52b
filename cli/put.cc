// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/put.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/text_format.h"
#include "dovetail/errors.h"
#include "dovetail/limits.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {
namespace {

// Only JSON begins with a brace.
bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

absl::StatusOr<std::string> ParseRecord(const DynamicTable& table,
                                        std::string_view text) {
  if (IsJson(text)) return table.FromJson(text);
  const std::unique_ptr<google::protobuf::Message> record = table.NewRecord();
  RETURN_IF_ERROR(ParseTextFormat(text, record.get()));
  return record->SerializePartialAsString();
}

}  // namespace

absl::Status RunPut(const PutOptions& options, const Console& console) {
  if (options.record.empty() == options.file.empty()) {
    return UsageError("give either a record, - for standard input, or --file");
  }
  std::string text = options.record;
  const std::string path = text == "-" ? "-" : options.file;
  if (!path.empty()) {
    // JSON and text are at most some times as large as the record.
    ASSIGN_OR_RETURN(text, ReadAll(path, 8 * Limits().record_bytes_max));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  absl::StatusOr<std::string> record = ParseRecord(table, text);
  if (!record.ok()) {
    return WithHint(
        WithContext(path.empty() ? "record" : path, record.status()),
        absl::StrCat("It is a ", table.record_type()->full_name(),
                     ", as JSON or in Protobuf's text format."));
  }
  WriteBatch batch;
  if (options.insert) {
    batch.Insert(options.table, *std::move(record));
  } else {
    batch.Put(options.table, *std::move(record));
  }
  const absl::StatusOr<Commit> commit =
      engine->Write({.sync = options.sync}, batch);
  if (!commit.ok()) {
    return WithHint(
        absl::Status(commit.status().code(), MutationCause(commit.status())),
        "Nothing was written.");
  }
  RETURN_IF_ERROR(engine->Close());
  const uint64_t sequence = Number(commit->sequence);
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat("{\"sequence\":", sequence,
                       ",\"rows_changed\":", commit->rows_changed[0], "}\n"));
  }
  Note(console, absl::StrCat(commit->rows_changed[0] == 0
                                 ? "unchanged: the row is like that already"
                                 : "put 1 row",
                             ", commit ", CountText(sequence)));
  return {};
}

}  // namespace dovetail::cli
