// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/delete.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/conditions.h"
#include "cli/database.h"

namespace dovetail::cli {
absl::Status RunDelete(const DeleteOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  const std::string index = options.index == "-" ? "" : options.index;
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, index));
  ASSIGN_OR_RETURN(std::vector<Value> values,
                   ParseWords(table, columns, options.values,
                              index.empty() ? columns.size() : 1));
  WriteBatch batch;
  batch.Delete(options.table,
               index.empty() ? RowRef::Key(std::move(values))
                             : RowRef::By(index, std::move(values),
                                          options.all ? RowRef::Match::kAll
                                                      : RowRef::Match::kOne));
  RETURN_IF_ERROR(AddConditions(table, options.conditions, &batch));
  const absl::StatusOr<Commit> commit =
      engine->Write({.sync = options.sync}, batch);
  if (!commit.ok())
    return ExplainChange(commit.status(),
                         options.all || !options.conditions.empty(), "deleted",
                         "delete");
  RETURN_IF_ERROR(engine->Close());
  const uint64_t rows = commit->rows_changed[0];
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat("{\"rows_deleted\":", rows, "}\n"));
  }
  if (rows == 0) return absl::NotFoundError("no row matches; nothing deleted");
  Note(console,
       absl::StrCat("deleted ", CountText(rows), rows == 1 ? " row" : " rows"));
  return {};
}

}  // namespace dovetail::cli
