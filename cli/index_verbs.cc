// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/index_verbs.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/confirm.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/interrupt.h"
#include "cli/key_text.h"
#include "cli/progress.h"
#include "cli/text_format.h"
#include "dovetail/index_admin.h"

namespace dovetail::cli {
namespace {

constexpr size_t kDeclarationBytesMax = 1 << 20;
constexpr std::chrono::milliseconds kPollDelay(20);

std::string TargetText(const IndexTarget& target) {
  return absl::StrCat(target.table, ".", target.index);
}

// Opens the database, and checks the names before anything is done.
absl::StatusOr<std::unique_ptr<Engine>> OpenFor(const IndexTarget& target,
                                                const Console& console,
                                                bool background_work = false) {
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                   OpenDatabase(target.db, console, background_work));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), target.table));
  RETURN_IF_ERROR(IndexColumns(table, target.index).status());
  return engine;
}

// How many rows a table has; 0 if it was interrupted. Only to know how long a
// build will take: reading them all is far faster than building.
uint64_t CountRows(Engine* engine, const std::string& table,
                   Progress* progress) {
  uint64_t rows = 0;
  const auto count = [&](const StoredPair&) {
    progress->Update("counting", ++rows, 0, "rows");
    return !Interrupted();
  };
  const absl::Status counted = engine->ForEachStored({}, table, "", "", count);
  return counted.ok() && !Interrupted() ? rows : 0;
}

void PrintBuilt(const IndexTarget& target, const BuildReport& report,
                const Console& console) {
  if (console.format != OutputFormat::kJson) return;
  Print(absl::StrCat(
      "{\"table\":", JsonQuote(target.table),
      ",\"index\":", JsonQuote(target.index),
      ",\"state\":", JsonQuote(IndexStateName(report.state)),
      ",\"rows\":", report.done.rows, ",\"entries\":", report.done.entries,
      ",\"duplicates\":", report.done.duplicates,
      ",\"resumed\":", report.resumed ? "true" : "false", "}\n"));
}

absl::Status Duplicates(const IndexTarget& target, const BuildReport& report) {
  return WithHint(
      WithExitCode(absl::AlreadyExistsError(absl::StrCat(
                       "rows share values that ", TargetText(target),
                       " wants unique: rows=", report.done.duplicates, "\n  ",
                       absl::StrJoin(report.duplicate_samples, "\n  "))),
                   ExitCode::kFindings),
      absl::StrCat("The index is disabled. Change or delete the rows, then: "
                   "dovetail index build ",
                   target.db, " ", target.table, " ", target.index));
}

absl::Status Build(Engine* engine, const IndexTarget& target, uint64_t rate,
                   const Console& console) {
  Progress progress(console);
  const uint64_t total =
      progress.shown() ? CountRows(engine, target.table, &progress) : 0;
  BuildOptions build;
  build.rows_per_second_max = rate;
  uint64_t rows = 0;
  build.progress = [&](const BuildProgress& now) {
    rows = now.rows;
    progress.Update(absl::StrCat("building ", TargetText(target)), now.rows,
                    total, "rows");
    return !Interrupted();
  };
  const absl::StatusOr<BuildReport> report =
      engine->BuildIndex(target.table, target.index, build);
  progress.Wipe();
  if (absl::IsCancelled(report.status())) {
    RETURN_IF_ERROR(engine->Close());
    return WithHint(
        InterruptedError(absl::StrCat("interrupted: ", TargetText(target),
                                      " is built up to row ", CountText(rows))),
        absl::StrCat("Nothing of that is lost. It goes on from there with: "
                     "dovetail index build ",
                     target.db, " ", target.table, " ", target.index));
  }
  RETURN_IF_ERROR(report.status());
  PrintBuilt(target, *report, console);
  RETURN_IF_ERROR(engine->Close());
  if (report->done.duplicates > 0) return Duplicates(target, *report);
  Note(console,
       report->done.rows == 0
           ? absl::StrCat(TargetText(target), " is ",
                          ToAbsl(IndexStateName(report->state)))
           : absl::StrCat("built ", TargetText(target), ": ",
                          CountText(report->done.rows), " rows, ",
                          CountText(report->done.entries), " entries, in ",
                          DurationText(progress.micros()),
                          report->resumed ? ", resumed" : ""));
  return {};
}

absl::StatusOr<v1::IndexSchema> Declaration(const IndexAddOptions& options) {
  v1::IndexSchema index;
  if (!options.file.empty()) {
    if (!options.words.empty()) {
      return UsageError("--file declares all of the index; parts are too many");
    }
    ASSIGN_OR_RETURN(const std::string text,
                     ReadAll(options.file, kDeclarationBytesMax));
    const absl::Status parsed = ParseTextFormat(text, &index);
    if (!parsed.ok()) return WithContext(options.file, parsed);
  } else {
    constexpr std::string_view kName = "name=";
    if (options.words.empty() || !options.words[0].starts_with(kName)) {
      return UsageError("name=NAME is missing, behind the table");
    }
    index.set_name(options.words[0].substr(kName.size()));
    const std::vector<std::string> parts(options.words.begin() + 1,
                                         options.words.end());
    ASSIGN_OR_RETURN(*index.mutable_parts(),
                     ParseKeyText(absl::StrJoin(parts, " ")));
  }
  if (options.unique) index.set_kind(v1::IndexSchema::UNIQUE);
  return index;
}

absl::Status Move(const IndexTarget& target, const Console& console,
                  absl::Status (Engine::*move)(std::string_view,
                                               std::string_view),
                  std::string_view done) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenFor(target, console));
  RETURN_IF_ERROR((engine.get()->*move)(target.table, target.index));
  RETURN_IF_ERROR(engine->Close());
  Note(console, absl::StrCat(TargetText(target), " is ", ToAbsl(done)));
  return {};
}

}  // namespace

absl::Status RunIndexList(const std::string& db, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(db, console));
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  ASSIGN_OR_RETURN(const std::vector<IndexInfo> indexes, engine->ListIndexes());
  const auto parts = [&schema](const IndexInfo& info) -> std::string {
    for (const v1::TableSchema& table : schema.tables()) {
      if (table.name() != info.table) continue;
      for (const v1::IndexSchema& index : table.indexes()) {
        if (index.name() == info.index) return KeyText(index.parts());
      }
    }
    return "";
  };
  TextTable text({"table", "index", "state", "kind", "parts", "bytes_on_disk",
                  "rows_built", "duplicates", "reason"});
  for (const IndexInfo& info : indexes) {
    const bool building = info.state == IndexState::kBuilding;
    const bool dropping = info.state == IndexState::kDropping;
    text.Add({info.table, info.index, std::string(IndexStateName(info.state)),
              dropping ? "" : std::string(KindName(info.kind)),
              dropping ? "" : parts(info), absl::StrCat(info.bytes_on_disk),
              building ? absl::StrCat(info.rows_built) : "",
              building ? absl::StrCat(info.duplicates) : "", info.reason});
  }
  if (console.format == OutputFormat::kBox) {
    text.Drop(8);  // Too long for a box: a note each, below.
    for (const size_t column : {7, 6}) text.DropIfBlank(column);
  }
  Print(text.Text(console, {"bytes_on_disk", "rows_built", "duplicates"}));
  for (const IndexInfo& info : indexes) {
    if (console.format != OutputFormat::kBox || info.reason.empty()) continue;
    Note(console, absl::StrCat(info.table, ".", info.index,
                               " is disabled: ", info.reason));
  }
  return {};
}

absl::Status RunIndexAdd(const IndexAddOptions& options,
                         const Console& console) {
  ASSIGN_OR_RETURN(const v1::IndexSchema index, Declaration(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  RETURN_IF_ERROR(OpenTable(engine.get(), options.table).status());
  const absl::Status added = engine->AddIndex(options.table, index);
  if (absl::IsInvalidArgument(added)) {
    return WithExitCode(added, ExitCode::kUsage);
  }
  RETURN_IF_ERROR(added);
  const IndexTarget target{options.db, options.table, index.name()};
  if (!options.no_build) {
    return Build(engine.get(), target, options.rate, console);
  }
  RETURN_IF_ERROR(engine->Close());
  Note(console, absl::StrCat("added ", TargetText(target),
                             "; it serves reads once it is built: dovetail "
                             "index build ",
                             target.db, " ", target.table, " ", target.index));
  return {};
}

absl::Status RunIndexBuild(const IndexBuildOptions& options,
                           const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenFor(options.target, console));
  return Build(engine.get(), options.target, options.rate, console);
}

absl::Status RunIndexHide(const IndexTarget& target, const Console& console) {
  return Move(target, console, &Engine::HideIndex,
              "hidden: kept up to date, but refuses reads");
}

absl::Status RunIndexShow(const IndexTarget& target, const Console& console) {
  return Move(target, console, &Engine::ShowIndex, "readable");
}

absl::Status RunIndexDrop(const IndexDropOptions& options,
                          const Console& console) {
  const IndexTarget& target = options.target;
  // The engine empties the space on a thread of its own.
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenFor(target, console, /*background_work=*/true));
  RETURN_IF_ERROR(Confirm(
      absl::StrCat("Drop ", TargetText(target), " and all of its entries?"),
      options.yes));
  RETURN_IF_ERROR(engine->DropIndex(target.table, target.index));
  bool empty = false;
  while (!empty && !Interrupted()) {
    ASSIGN_OR_RETURN(const std::vector<IndexInfo> all, engine->ListIndexes());
    empty = std::none_of(all.begin(), all.end(), [](const IndexInfo& info) {
      return info.state == IndexState::kDropping;
    });
    if (!empty) std::this_thread::sleep_for(kPollDelay);
  }
  RETURN_IF_ERROR(engine->Close());
  if (!empty) {
    return InterruptedError(
        absl::StrCat("interrupted: ", TargetText(target),
                     " is dropped; its space is emptied by the next program "
                     "that has the database open for long enough"));
  }
  Note(console, absl::StrCat("dropped ", TargetText(target)));
  return {};
}

}  // namespace dovetail::cli
