// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/stats.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/interrupt.h"

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

// What a row costs; empty if none was returned.
std::string ReadPerRow(const IndexStats& index) {
  if (index.rows_returned == 0) return "";
  return absl::StrFormat("%.2f", static_cast<double>(index.entries_read) /
                                     static_cast<double>(index.rows_returned));
}

// Empty if it is not known.
std::string EntriesText(const IndexStats& index) {
  return index.entries.has_value() ? absl::StrCat(*index.entries) : "";
}

absl::StatusOr<TextTable> IndexTable(Engine* engine, const Stats& stats) {
  TextTable text({"table", "index", "state", "entries", "bytes_on_disk",
                  "written", "deleted", "unchanged", "read", "returned",
                  "read_per_row", "columns"});
  for (const IndexStats& index : stats.indexes) {
    ASSIGN_OR_RETURN(std::string columns, ColumnsText(engine, index));
    text.Add(
        {index.table, index.index.empty() ? "(rows)" : index.index,
         std::string(IndexStateName(index.state)), EntriesText(index),
         absl::StrCat(index.bytes_on_disk), absl::StrCat(index.entries_written),
         absl::StrCat(index.entries_deleted),
         absl::StrCat(index.entries_unchanged),
         absl::StrCat(index.entries_read), absl::StrCat(index.rows_returned),
         ReadPerRow(index), std::move(columns)});
  }
  return text;
}

// What is one number, by name.
std::vector<std::pair<std::string, uint64_t>> Figures(const Stats& stats,
                                                      uint64_t bytes) {
  return {{"sequence", Number(stats.sequence)},
          {"bytes", bytes},
          {"requests", stats.requests},
          {"requests_failed", stats.requests_failed},
          {"groups", stats.groups},
          {"syncs", stats.syncs},
          {"long_keys", stats.long_keys},
          {"level0_files", stats.levels.level0_files},
          {"compaction_pending_bytes", stats.levels.compaction_pending_bytes},
          {"memory_bytes", stats.levels.memory_bytes},
          {"write_buffer_bytes", stats.levels.write_buffer_bytes},
          {"row_cache_bytes", stats.row_cache.bytes},
          {"row_cache_hits", stats.row_cache.hits},
          {"row_cache_misses", stats.row_cache.misses},
          {"snapshots", stats.snapshots},
          {"oldest_snapshot_ms",
           static_cast<uint64_t>(stats.oldest_snapshot_micros / 1000)}};
}

// The same of dead keys.
std::vector<std::pair<std::string, uint64_t>> DeadFigures(const Stats& stats) {
  const DeadEntryStats& dead = stats.dead_entries;
  return {{"dead_entries", dead.dead_entries},
          {"dead_walked", dead.dead_walked},
          {"live_ranges", dead.live_ranges},
          {"live_ranges_used", dead.ranges_used},
          {"count_stops", dead.count_stops},
          {"reclaimed_ranges", dead.reclaimed.ranges},
          {"reclaimed_entries", dead.reclaimed.dead_entries},
          {"reclaimed_bytes_before", dead.reclaimed.bytes_before},
          {"reclaimed_bytes_after", dead.reclaimed.bytes_after},
          {"reclaimed_ms", dead.reclaimed.micros / 1000}};
}

// The same of the write log; none if there is none.
std::vector<std::pair<std::string, uint64_t>> LogFigures(const Stats& stats) {
  if (!stats.write_log.has_value()) return {};
  const WriteLogStats& log = *stats.write_log;
  return {{"files", log.files},
          {"bytes", log.bytes},
          {"first_sequence", Number(log.first_sequence)},
          {"last_sequence", Number(log.last_sequence)}};
}

TextTable FigureTable(const Stats& stats, uint64_t bytes) {
  TextTable text({"figure", "value"});
  for (const auto& [name, value] : Figures(stats, bytes)) {
    text.Add({name, absl::StrCat(value)});
  }
  for (const auto& [name, value] : DeadFigures(stats)) {
    if (value > 0) text.Add({name, absl::StrCat(value)});
  }
  for (const StoreStats::Level& level : stats.levels.levels) {
    text.Add({absl::StrCat("level", level.level, "_bytes"),
              absl::StrCat(level.bytes)});
  }
  for (const auto& [name, value] : LogFigures(stats)) {
    text.Add({absl::StrCat("write_log_", name), absl::StrCat(value)});
  }
  if (stats.read_only) text.Add({"read_only", "1"});
  return text;
}

std::string DatabaseJson(const Stats& stats, uint64_t bytes) {
  std::string out = "{\"type\":\"database\"";
  for (const auto& [name, value] : Figures(stats, bytes)) {
    absl::StrAppend(&out, ",", JsonQuote(name), ":", value);
  }
  for (const auto& [name, value] : DeadFigures(stats)) {
    absl::StrAppend(&out, ",", JsonQuote(name), ":", value);
  }
  std::string levels;
  for (const StoreStats::Level& level : stats.levels.levels) {
    absl::StrAppend(&levels, levels.empty() ? "" : ",",
                    "{\"level\":", level.level, ",\"files\":", level.files,
                    ",\"bytes\":", level.bytes, "}");
  }
  std::string log;
  for (const auto& [name, value] : LogFigures(stats)) {
    absl::StrAppend(&log, ",", JsonQuote(name), ":", value);
  }
  if (stats.write_log.has_value()) {
    log = absl::StrCat(",\"write_log\":{\"directory\":",
                       JsonQuote(stats.write_log->directory), log, "}");
  }
  return absl::StrCat(out,
                      ",\"read_only\":", stats.read_only ? "true" : "false",
                      ",\"levels\":[", levels, "]", log, "}\n");
}

absl::StatusOr<std::string> IndexJson(Engine* engine, const Stats& stats) {
  std::string out;
  for (const IndexStats& index : stats.indexes) {
    ASSIGN_OR_RETURN(const std::string columns, ColumnsText(engine, index));
    const std::string per_row = ReadPerRow(index);
    absl::StrAppend(
        &out, "{\"type\":", index.index.empty() ? "\"rows\"" : "\"index\"",
        ",\"table\":", JsonQuote(index.table),
        ",\"index\":", JsonQuote(index.index),
        ",\"columns\":", JsonQuote(columns),
        ",\"state\":", JsonQuote(IndexStateName(index.state)), ",\"entries\":",
        index.entries.has_value() ? EntriesText(index) : "null",
        ",\"bytes_on_disk\":", index.bytes_on_disk,
        ",\"entries_written\":", index.entries_written,
        ",\"entries_deleted\":", index.entries_deleted,
        ",\"entries_unchanged\":", index.entries_unchanged,
        ",\"entries_dead\":", index.entries_dead,
        ",\"entries_read\":", index.entries_read,
        ",\"rows_returned\":", index.rows_returned,
        ",\"entries_read_per_row\":", per_row.empty() ? "null" : per_row);
    out += "}\n";
  }
  return out;
}

absl::Status PrintOnce(const StatsVerbOptions& options, Engine* engine,
                       const Console& console) {
  ASSIGN_OR_RETURN(const Stats stats,
                   engine->GetStats({.count_entries = options.entries}));
  const uint64_t bytes = DirectoryBytes(options.db);
  if (console.format == OutputFormat::kJson) {
    ASSIGN_OR_RETURN(const std::string indexes, IndexJson(engine, stats));
    Print(absl::StrCat(DatabaseJson(stats, bytes), indexes));
    return FlushOutput();
  }
  ASSIGN_OR_RETURN(TextTable indexes, IndexTable(engine, stats));
  if (console.format == OutputFormat::kBox) {
    // What did not happen since the database was opened is left out.
    for (size_t column = 10; column >= 5; --column) indexes.DropIfBlank(column);
    indexes.DropIfBlank(3);  // Nothing is known of entries.
  }
  Print(indexes.Text(console));
  Print(console.format == OutputFormat::kBox ? "" : "\n");
  Print(FigureTable(stats, bytes).Text(console));
  return FlushOutput();
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
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Engine> engine,
      OpenDatabase(options.db, console, options.watch_seconds.has_value()));
  if (!options.watch_seconds.has_value()) {
    RETURN_IF_ERROR(PrintOnce(options, engine.get(), console));
    Note(console,
         "sizes of tables and indexes are approximate, and leave out what is "
         "still in the log");
    return engine->Close();
  }
  Note(console,
       "this process has the database open: no other one can until it ends, "
       "and counts are of its own work, which is compaction, builds and the "
       "emptying of what was dropped");
  const bool redraws = console.format == OutputFormat::kBox;
  for (uint64_t shown = 0; options.count == 0 || shown < options.count;) {
    if (shown > 0) {
      if (!WaitSeconds(*options.watch_seconds)) break;
      // From the top of an empty screen.
      Print(redraws ? "\x1b[H\x1b[2J" : "\n");
    }
    RETURN_IF_ERROR(PrintOnce(options, engine.get(), console));
    ++shown;
  }
  return engine->Close();
}

}  // namespace dovetail::cli
