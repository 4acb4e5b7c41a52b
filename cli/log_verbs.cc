// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/log_verbs.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/change_printer.h"
#include "cli/confirm.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/log_reader.h"
#include "cli/progress.h"
#include "dovetail/recording.h"
#include "dovetail/write_log.h"

namespace dovetail::cli {
namespace {

constexpr uint64_t kMib = 1 << 20;
constexpr int64_t kMicrosPerDay = int64_t{24} * 3600 * 1'000'000;

absl::StatusOr<WriteLogOptions> MakeOptions(const LogEnableOptions& options) {
  WriteLogOptions log;
  if (!options.directory.empty()) {
    // Of this command's directory, not of the database's.
    std::error_code error;
    log.directory = std::filesystem::absolute(options.directory, error);
    if (error) {
      return UsageError(absl::StrCat("--dir is no path: given=",
                                     ToAbsl(Quote(options.directory))));
    }
  }
  if (options.file_mib == 0 || options.file_mib > 1 << 20 ||
      options.keep_mib > UINT64_MAX / kMib || options.keep_days > 1'000'000) {
    return UsageError("a size or a time is too large, or a file has no size");
  }
  log.file_bytes_max = options.file_mib * kMib;
  if (options.keep_mib > 0) log.retention.bytes_max = options.keep_mib * kMib;
  if (options.keep_days > 0) {
    log.retention.age_max_us =
        static_cast<int64_t>(options.keep_days) * kMicrosPerDay;
  }
  log.start_over = options.start_over;
  return log;
}

absl::Status ExplainGap(const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status) ||
      !absl::StrContains(status.message(), "log_sequence=")) {
    return status;
  }
  return WithHint(status,
                  "--start-over sets what is there aside, and begins a log "
                  "behind the database's newest commit.");
}

// Reads records with the tables that they were written with.
class LogTables {
 public:
  absl::StatusOr<std::string> Json(const v1::WriteLogFileHeader& header,
                                   const v1::WriteLogRecord& record) {
    if (engine_ == nullptr || header.first_sequence() != file_) {
      printer_.reset();
      Options options;
      options.in_memory = true;
      options.background_work = false;
      ASSIGN_OR_RETURN(engine_, Engine::Open("log", Schema(header.schema()),
                                             std::move(options)));
      file_ = header.first_sequence();
      printer_.emplace(engine_.get());
    }
    return printer_->Json(record);
  }

 private:
  uint64_t file_ = 0;
  std::unique_ptr<Engine> engine_;
  std::optional<ChangePrinter> printer_;
};

void NoteEnd(const Console& console, const WriteLogReadReport& report) {
  for (const WriteLogDamage& damage : report.damage) {
    Note(console,
         absl::StrCat("damaged: file=", damage.file, " offset=", damage.offset,
                      " bytes=", damage.bytes, " reason=", damage.reason,
                      " missing=", static_cast<uint64_t>(damage.first_missing),
                      "-", static_cast<uint64_t>(damage.last_missing)));
  }
  if (report.torn_file.empty()) return;
  Note(console, absl::StrCat("the log ends in a torn record, or one being "
                             "written: file=",
                             report.torn_file, " offset=", report.torn_offset,
                             " bytes=", report.torn_bytes));
}

absl::Status DamagedError(const WriteLogReadReport& report) {
  return WithExitCode(absl::DataLossError(absl::StrCat(
                          "the write log is damaged: places=",
                          report.damage_count, " bytes=", report.damage_bytes,
                          " sequences_missing=", report.sequences_missing)),
                      ExitCode::kFindings);
}

}  // namespace

absl::Status RunLogEnable(const LogEnableOptions& options,
                          const Console& console) {
  ASSIGN_OR_RETURN(const WriteLogOptions log, MakeOptions(options));
  // Given at open, too: a log with a gap keeps the database from opening.
  std::optional<WriteLogOptions> at_open;
  if (options.start_over) at_open = log;
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      OpenDatabase(options.db, console, /*background_work=*/false, at_open);
  if (!engine.ok()) return ExplainGap(engine.status());
  RETURN_IF_ERROR(ExplainGap((*engine)->EnableWriteLog(log)));
  ASSIGN_OR_RETURN(const Stats stats, (*engine)->GetStats());
  RETURN_IF_ERROR((*engine)->Close());
  Note(console, absl::StrCat("the database records into ",
                             stats.write_log->directory, ", from commit ",
                             CountText(Number(stats.sequence) + 1), " on"));
  return {};
}

absl::Status RunLogDisable(const LogDisableOptions& options,
                           const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  RETURN_IF_ERROR(
      Confirm("Stop recording? What follows will be missing from the log.",
              options.yes));
  RETURN_IF_ERROR(engine->DisableWriteLog());
  RETURN_IF_ERROR(engine->Close());
  Note(console, "the database does not record; the log's files stay");
  return {};
}

absl::Status RunLogShow(const LogShowOptions& options, const Console& console) {
  WriteLogReaderOptions how;
  how.from_sequence = SequenceNumber{options.from};
  how.skip_damaged = options.skip_damaged;
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   OpenLogReader(options.log, how, console));
  if (reader == nullptr) return {};
  LogTables tables;
  v1::WriteLogRecord record;
  uint64_t shown = 0;
  while ((options.limit == 0 || shown < options.limit) && !Interrupted()) {
    const absl::StatusOr<bool> more = reader->Next(&record);
    if (!more.ok()) return ExplainDamage(more.status());
    if (!*more || (options.to > 0 && record.sequence() > options.to)) break;
    ASSIGN_OR_RETURN(const std::string json,
                     tables.Json(reader->header(), record));
    Print(json);
    ++shown;
  }
  RETURN_IF_ERROR(FlushOutput());
  NoteEnd(console, reader->report());
  if (Interrupted()) return InterruptedError("interrupted");
  if (reader->report().damage_count > 0) return DamagedError(reader->report());
  return {};
}

absl::Status RunLogVerify(const LogVerifyOptions& options,
                          const Console& console) {
  WriteLogReaderOptions how;
  how.skip_damaged = options.skip_damaged;
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   OpenLogReader(options.log, how, console));
  if (reader == nullptr) return {};
  Progress progress(console);
  v1::WriteLogRecord record;
  uint64_t first = 0;
  while (true) {
    if (Interrupted()) return InterruptedError("interrupted");
    const absl::StatusOr<bool> more = reader->Next(&record);
    if (!more.ok()) return ExplainDamage(more.status());
    if (!*more) break;
    if (first == 0) first = record.sequence();
    progress.Update("verifying", reader->report().records, 0, "commits");
  }
  progress.Wipe();
  const WriteLogReadReport& report = reader->report();
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat("{\"commits\":", report.records, ",\"first\":", first,
                       ",\"last\":", report.records > 0 ? record.sequence() : 0,
                       ",\"bytes\":", report.bytes, ",\"torn_bytes\":",
                       report.torn_bytes, ",\"damaged\":", report.damage_count,
                       ",\"missing\":", report.sequences_missing, "}\n"));
    RETURN_IF_ERROR(FlushOutput());
  }
  NoteEnd(console, report);
  Note(console,
       absl::StrCat(CountText(report.records),
                    report.records == 1 ? " commit, " : " commits, ", first,
                    " to ", report.records > 0 ? record.sequence() : 0, ", ",
                    BytesText(report.bytes),
                    report.damage_count == 0 ? "; nothing is damaged" : ""));
  return report.damage_count > 0 ? DamagedError(report) : absl::OkStatus();
}

}  // namespace dovetail::cli
