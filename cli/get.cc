// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/get.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "dovetail/environment.h"

namespace dovetail::cli {

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
  RETURN_IF_ERROR(PrintRows(table, {*row}, console));
  NoteWork(1, nullptr, micros, console);
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
  RETURN_IF_ERROR(PrintRows(table, *rows, console));
  NoteWork(rows->size(), nullptr, micros, console);
  return {};
}

}  // namespace dovetail::cli
