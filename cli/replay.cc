// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/replay.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/time_text.h"
#include "dovetail/replay.h"

namespace dovetail::cli {
namespace {

bool IsStream(const ReplayVerbOptions& options) {
  return !options.changes.from.empty();
}

std::string Counted(uint64_t count, std::string_view unit) {
  return absl::StrCat(CountText(count), " ", ToAbsl(unit),
                      count == 1 ? "" : "s");
}

absl::Status CheckOptions(const ReplayVerbOptions& options) {
  RETURN_IF_ERROR(CheckChangeInput(options.changes));
  if (IsStream(options) &&
      (options.create || options.skip_damaged || options.follow ||
       options.sequences == "keep" || options.old_rows != "trust")) {
    return UsageError(
        "--create, --skip-damaged, --follow, --sequences keep and --old-rows "
        "are for write logs, not for --from");
  }
  if (!options.rejects.empty() && options.on_error != "skip") {
    return UsageError("--rejects goes with --on-error skip");
  }
  if (options.follow && options.dry_run) {
    return UsageError("a dry run comes to an end; leave --follow out");
  }
  if (options.skip_damaged && options.sequences != "own") {
    return UsageError(
        "--skip-damaged leaves gaps, so it goes with --sequences own");
  }
  return {};
}

ReplayOptions LibraryOptions(const ReplayVerbOptions& options) {
  ReplayOptions library;
  library.source = options.source;
  if (options.sequences == "keep") library.sequences = ReplaySequences::kKeep;
  if (options.sequences == "own") library.sequences = ReplaySequences::kOwn;
  if (options.old_rows == "check") library.old_rows = ReplayOldRows::kCheck;
  if (options.old_rows == "replace") library.old_rows = ReplayOldRows::kReplace;
  library.check_digests = !options.ignore_digests;
  if (options.batch > 0) library.batch_items = options.batch;
  library.sync = options.sync;
  library.items_per_second = options.rate;
  library.dry_run = options.dry_run;
  if (options.on_error == "skip") library.on_error = ReplayOnError::kSkip;
  library.rejects_path = options.rejects;
  library.follow = options.follow;
  return library;
}

absl::StatusOr<ReplayStop> StopOf(const ReplayVerbOptions& options) {
  ReplayStop stop;
  if (options.to_sequence > 0) stop.to_position = options.to_sequence;
  if (!options.to_time.empty()) {
    const absl::StatusOr<absl::Time> time = ParseTimeText(options.to_time, {});
    if (!time.ok()) return UsageError(ToStd(time.status().message()));
    stop.to_time_us = absl::ToUnixMicros(*time);
  }
  return stop;
}

// The schema of the log's first record.
absl::StatusOr<Schema> SchemaOfLog(const std::string& log) {
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   WriteLogReader::Open(FileSystem::Posix(), log));
  v1::WriteLogRecord record;
  ASSIGN_OR_RETURN(const bool found, reader->Next(&record));
  if (!found) {
    return absl::NotFoundError(absl::StrCat("the write log is empty: path=",
                                            ToAbsl(Quote(log, 1024))));
  }
  return Schema(reader->header().schema());
}

absl::StatusOr<std::unique_ptr<Engine>> OpenTarget(
    const ReplayVerbOptions& options, const Console& console) {
  if (!options.create) return OpenDatabase(options.db, console);
  ASSIGN_OR_RETURN(const Schema schema, SchemaOfLog(options.log));
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::Open(options.db, schema, {.background_work = false});
  if (!engine.ok()) return ExplainOpen(options.db, engine.status());
  if ((*engine)->open_report().created) {
    Note(console,
         absl::StrCat("created ", options.db, " with the tables of the log"));
  }
  return engine;
}

absl::Status Explain(const ReplayVerbOptions& options,
                     const absl::Status& status) {
  if (status.ok()) return status;
  if (absl::IsFailedPrecondition(status) && options.sequences == "auto" &&
      status.message().find("say whether") != absl::string_view::npos) {
    return WithHint(status,
                    "--sequences keep, if the database is a checkpoint of the "
                    "one that wrote the log; --sequences own, if it has data "
                    "of its own.");
  }
  return status;
}

class Replay {
 public:
  Replay(const ReplayVerbOptions& options, const Console& console)
      : options_(options), console_(console), progress_(console) {}

  absl::Status Run(Engine* engine) {
    ASSIGN_OR_RETURN(const ReplayStop stop, StopOf(options_));
    std::unique_ptr<ReplaySource> log;
    if (IsStream(options_)) {
      ASSIGN_OR_RETURN(
          stream_, ChangeInput::Open(engine, options_.log, options_.changes));
    } else {
      log = OpenWriteLogSource(
          FileSystem::Posix(), options_.log,
          {.follow = options_.follow, .skip_damaged = options_.skip_damaged});
    }
    ReplaySource* const source =
        stream_ != nullptr ? stream_->source() : log.get();
    ReplayOptions library = LibraryOptions(options_);
    library.progress = [this](const ReplayReport& report) {
      Show(report);
      return !Interrupted();
    };
    ASSIGN_OR_RETURN(const std::unique_ptr<Replayer> replayer,
                     Replayer::Open(engine, source, std::move(library)));
    const absl::Status status = replayer->Run(stop);
    progress_.Wipe();
    report_ = replayer->report();
    return status.ok() ? status : Refused(status);
  }

  void PrintSummary() const {
    const double seconds = static_cast<double>(report_.elapsed_us) / 1e6;
    if (console_.format == OutputFormat::kJson) {
      Print(absl::StrFormat(
          "{\"applied\":%d,\"rows\":%d,\"rejected\":%d,\"position\":%d,"
          "\"sequence\":%d,\"seconds\":%.6f%s}\n",
          report_.applied, report_.rows, report_.rejected, report_.position,
          Number(report_.sequence), seconds,
          stream_ == nullptr ? "" : "," + stream_->CountsJson()));
    }
    Note(console_,
         absl::StrCat(
             options_.dry_run ? "would replay " : "replayed ",
             Counted(report_.applied, "request"), " with ",
             Counted(report_.rows, "row"), ", rejected ",
             CountText(report_.rejected), ", up to ", report_.position, ", in ",
             DurationText(report_.elapsed_us), " (",
             CountText(static_cast<uint64_t>(report_.rows_per_second())),
             " rows/s)"));
    if (stream_ != nullptr) stream_->NoteCounts(console_);
    if (report_.rejected > 0 && options_.rejects.empty()) {
      Note(console_,
           absl::StrCat("the first that was rejected: ", report_.first_reject));
    }
  }

  bool cancelled() const {
    return report_.end == ReplayReport::End::kCancelled;
  }
  std::string Applied() const {
    return absl::StrCat("applied=", report_.applied,
                        " position=", report_.position);
  }

 private:
  void Show(const ReplayReport& report) {
    progress_.Update(
        absl::StrCat(options_.dry_run ? "reading" : "replaying", ", ",
                     CountText(report.rows), " rows, ",
                     CountText(static_cast<uint64_t>(report.rows_per_second())),
                     "/s"),
        report.bytes_read, report.bytes_total, "bytes");
  }

  absl::Status Refused(const absl::Status& status) const {
    if (absl::IsInvalidArgument(status) && options_.on_error == "stop") {
      return WithHint(
          status, absl::StrCat(Applied(),
                               ": everything before this record, nothing from "
                               "it on.\n  --on-error skip --rejects FILE "
                               "leaves out what cannot be applied."));
    }
    return WithHint(status, Applied());
  }

  const ReplayVerbOptions& options_;
  const Console& console_;
  Progress progress_;
  std::unique_ptr<ChangeInput> stream_;  // Null: a write log.
  ReplayReport report_;
};

}  // namespace

absl::Status RunReplay(const ReplayVerbOptions& options,
                       const Console& console) {
  RETURN_IF_ERROR(CheckOptions(options));
  RETURN_IF_ERROR(StopOf(options).status());
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenTarget(options, console));
  Replay replay(options, console);
  const absl::Status status = replay.Run(engine.get());
  // Even after an error: what was applied becomes durable here.
  const absl::Status closed = engine->Close();
  RETURN_IF_ERROR(Explain(options, status));
  RETURN_IF_ERROR(closed);
  replay.PrintSummary();
  // Following has no other end.
  if (replay.cancelled() && !options.follow) {
    return WithHint(InterruptedError("interrupted"),
                    "The same command goes on from here.");
  }
  return {};
}

absl::Status RunSources(const SourcesOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  if (!options.forget.empty()) {
    RETURN_IF_ERROR(Replayer::ForgetSource(engine.get(), options.forget));
    RETURN_IF_ERROR(engine->Close());
    Note(console, absl::StrCat("forgotten; a replay of ", options.forget,
                               " begins anew"));
    return {};
  }
  ASSIGN_OR_RETURN(const std::vector<ReplayedSource> sources,
                   Replayer::ListSources(engine.get()));
  TextTable text(
      {"source", "id", "position", "applied", "rejected", "sequences"});
  for (const ReplayedSource& source : sources) {
    text.Add({source.name, source.id, absl::StrCat(source.position),
              absl::StrCat(source.applied), absl::StrCat(source.rejected),
              source.keeps_sequences ? "kept" : "own"});
  }
  Print(text.Text(console, {"position", "applied", "rejected"}));
  return {};
}

}  // namespace dovetail::cli
