// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/stats.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"

namespace dovetail::cli {
namespace {

// Columns of an index of any table; the row key's for an empty name.
absl::StatusOr<std::string> ColumnsText(Engine* engine,
                                        const IndexStats& stats) {
  ASSIGN_OR_RETURN(const DynamicTable table,
                   DynamicTable::Bind(engine, stats.table));
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   table.Columns(stats.index));
  return absl::StrJoin(columns, " ");
}

absl::Status PrintJson(Engine* engine, const Stats& stats, uint64_t bytes) {
  std::string spaces;
  for (const IndexStats& index : stats.indexes) {
    ASSIGN_OR_RETURN(const std::string columns, ColumnsText(engine, index));
    absl::StrAppend(&spaces, spaces.empty() ? "\n  " : ",\n  ",
                    "{\"table\":", JsonQuote(index.table),
                    ",\"index\":", JsonQuote(index.index),
                    ",\"columns\":", JsonQuote(columns),
                    ",\"bytes_on_disk\":", index.bytes_on_disk, "}");
  }
  Print(absl::StrCat("{\"sequence\":", static_cast<uint64_t>(stats.sequence),
                     ",\"bytes\":", bytes, ",\n \"spaces\":[", spaces,
                     "],\n \"store\":", JsonQuote(stats.store), "}\n"));
  return {};
}

}  // namespace

uint64_t DirectoryBytes(const std::string& path) {
  uint64_t bytes = 0;
  std::error_code error;
  using std::filesystem::recursive_directory_iterator;
  for (auto it = recursive_directory_iterator(path, error);
       !error && it != recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;  // A file that is gone meanwhile, a directory.
    const uintmax_t size =
        it->is_regular_file(ignored) ? it->file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

absl::Status RunStats(const StatsVerbOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const Stats stats, engine->GetStats());
  const uint64_t bytes = DirectoryBytes(options.db);
  if (console.format == OutputFormat::kJson) {
    return PrintJson(engine.get(), stats, bytes);
  }
  TextTable text({"table", "index", "bytes_on_disk", "columns"});
  for (const IndexStats& index : stats.indexes) {
    ASSIGN_OR_RETURN(std::string columns, ColumnsText(engine.get(), index));
    text.Add({index.table, index.index.empty() ? "(rows)" : index.index,
              absl::StrCat(index.bytes_on_disk), std::move(columns)});
  }
  Print(text.Text(console));
  Note(console, absl::StrCat("commits ",
                             CountText(static_cast<uint64_t>(stats.sequence)),
                             ", files ", BytesText(bytes),
                             "; sizes per space are approximate and leave out "
                             "what is still in the log"));
  return {};
}

}  // namespace dovetail::cli
