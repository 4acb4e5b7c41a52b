// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A batch is written as one request. If the engine refuses it for what is in
// it, its records are put one by one, so that the error names the one line at
// fault and every line before it is in.

#include "cli/import.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/field_text.h"
#include "cli/import_options.h"
#include "cli/input_file.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record_source.h"
#include "cli/rejects_file.h"
#include "dovetail/errors.h"

namespace dovetail::cli {
namespace {

// A batch ends here too, well below Limits::request_bytes_max.
constexpr size_t kBatchBytes = 1 << 20;
constexpr uint64_t kCausesShown = 20;
constexpr int kRetriesMax = 600;
constexpr std::chrono::milliseconds kRetryDelay(100);

// A record that is read but not yet written.
struct Pending {
  std::string record;
  std::string raw;  // For the rejects file; empty without one.
  uint64_t line = 0;
  uint64_t last_line = 0;
};

class Importer {
 public:
  Importer(const ImportOptions& options, const Console& console, Engine* engine,
           RecordSource* source)
      : options_(options),
        console_(console),
        engine_(engine),
        source_(source),
        progress_(console),
        done_line_(options.skip_lines) {}

  absl::Status Run() {
    if (!options_.rejects.empty()) {
      RETURN_IF_ERROR(rejects_.Open(options_.rejects));
    }
    absl::Status status = options_.atomic ? ImportAtomically() : Import();
    progress_.Wipe();
    const absl::Status closed = rejects_.Close();
    return status.ok() ? closed : status;
  }

  uint64_t imported() const { return imported_; }
  uint64_t skipped() const { return skipped_; }
  int64_t micros() const { return progress_.micros(); }

 private:
  bool skips() const { return options_.on_error == "skip"; }

  absl::Status Import() {
    for (;;) {
      absl::StatusOr<bool> next = ReadNext();
      if (!next.ok() && !absl::IsInvalidArgument(next.status())) {
        return Abandon(next.status());
      }
      if (!next.ok()) {
        RETURN_IF_ERROR(Flush());
        RETURN_IF_ERROR(BadLine(source_->position(), source_->last_line(),
                                std::string(next.status().message()),
                                source_->raw()));
        continue;
      }
      if (!*next || batch_.size() >= options_.batch ||
          batch_bytes_ >= kBatchBytes) {
        RETURN_IF_ERROR(Flush());
        progress_.Update("importing", imported_, 0, "rows");
      }
      if (!*next) return {};
      if (batch_.empty() && Interrupted()) {
        return Abandon(InterruptedError("interrupted"));
      }
    }
  }

  absl::StatusOr<bool> ReadNext() {
    Pending pending;
    ASSIGN_OR_RETURN(const bool got, source_->Next(&pending.record));
    if (!got) return false;
    pending.line = source_->position().line;
    pending.last_line = source_->last_line();
    if (rejects_.is_open()) pending.raw = std::string(source_->raw());
    batch_bytes_ += pending.record.size() + pending.raw.size();
    batch_.push_back(std::move(pending));
    return true;
  }

  // Writes what was read, then says where to go on.
  absl::Status Abandon(const absl::Status& cause) {
    RETURN_IF_ERROR(Flush());
    return WithHint(
        WithContext(options_.file == "-" ? "(stdin)" : options_.file, cause),
        Imported(done_line_));
  }

  std::string Imported(uint64_t lines) const {
    return absl::StrCat("imported=", imported_, " skipped=", skipped_,
                        "; to continue from here: --skip-lines ", lines);
  }

  absl::Status Flush() {
    if (batch_.empty()) return {};
    WriteBatch request;
    for (const Pending& pending : batch_) {
      request.Put(options_.table, pending.record);
    }
    const absl::Status status = Write(std::move(request));
    if (status.ok()) {
      imported_ += batch_.size();
      done_line_ = batch_.back().last_line;
    } else if (IsRecordFault(status)) {
      RETURN_IF_ERROR(FlushOneByOne());
    } else {
      return WithHint(status, Imported(done_line_));
    }
    batch_.clear();
    batch_bytes_ = 0;
    return {};
  }

  absl::Status FlushOneByOne() {
    for (const Pending& pending : batch_) {
      WriteBatch request;
      request.Put(options_.table, pending.record);
      const absl::Status status = Write(std::move(request));
      if (status.ok()) {
        ++imported_;
        done_line_ = pending.last_line;
      } else if (IsRecordFault(status)) {
        RETURN_IF_ERROR(BadLine({pending.line, 1}, pending.last_line,
                                MutationCause(status), pending.raw));
      } else {
        return WithHint(status, Imported(done_line_));
      }
    }
    return {};
  }

  // Waits while the store catches up.
  absl::Status Write(WriteBatch request) {
    absl::Status status;
    for (int i = 0; i < kRetriesMax && !Interrupted(); ++i) {
      status = engine_->Write({.sync = options_.sync}, request).status();
      if (!absl::IsUnavailable(status)) return status;
      std::this_thread::sleep_for(kRetryDelay);
    }
    return status.ok()
               ? engine_->Write({.sync = options_.sync}, request).status()
               : status;
  }

  // Whether the engine refused what is in the records, not the writing.
  bool IsRecordFault(const absl::Status& status) const {
    if (OutcomeOf(status) != WriteOutcome::kNotCommitted ||
        absl::IsUnavailable(status)) {
      return false;
    }
    const absl::StatusOr<Stats> stats = engine_->GetStats();
    return stats.ok() && !stats->read_only;
  }

  absl::Status BadLine(TextPosition at, uint64_t last_line,
                       const std::string& cause, std::string_view raw) {
    const std::string named =
        absl::StrCat(FormatPosition(options_.file, at), ": ", cause);
    if (!skips()) {
      const uint64_t line = at.line < last_line ? last_line : at.line;
      return WithHint(
          absl::InvalidArgumentError(named),
          absl::StrCat("imported=", imported_, " skipped=", skipped_,
                       ": everything before this line, nothing from it on."
                       "\n  Correct it and continue with --skip-lines ",
                       done_line_, "; or leave it out with --skip-lines ", line,
                       ", or all bad ones with --on-error skip --rejects "
                       "FILE"));
    }
    ++skipped_;
    done_line_ = last_line;
    if (rejects_.is_open()) return rejects_.Add(at, cause, raw);
    progress_.Wipe();
    if (skipped_ <= kCausesShown) Note(console_, named);
    if (skipped_ == kCausesShown + 1) {
      Note(console_, "further causes are not shown; --rejects FILE keeps all");
    }
    return {};
  }

  absl::Status ImportAtomically() {
    const Limits limits;
    for (;;) {
      absl::StatusOr<bool> next = ReadNext();
      if (!next.ok())
        return NothingImported(source_->position(), next.status());
      if (!*next) break;
      if (batch_.size() > limits.request_mutations_max ||
          batch_bytes_ > limits.request_bytes_max) {
        return WithHint(
            absl::ResourceExhaustedError(absl::StrCat(
                "the file is more than one request may hold: records_max=",
                limits.request_mutations_max,
                " bytes_max=", limits.request_bytes_max)),
            "Nothing was imported. Split the file, or leave --atomic out.");
      }
    }
    if (Interrupted()) {
      return InterruptedError("interrupted; nothing was imported");
    }
    if (batch_.empty()) return {};
    WriteBatch request;
    for (const Pending& pending : batch_) {
      request.Put(options_.table, pending.record);
    }
    const absl::Status status = Write(std::move(request));
    if (status.ok()) {
      imported_ = batch_.size();
      return {};
    }
    const std::optional<size_t> failed = FailedMutation(status);
    if (!failed.has_value() || *failed >= batch_.size()) return status;
    return NothingImported({batch_[*failed].line, 1},
                           absl::Status(status.code(), MutationCause(status)));
  }

  absl::Status NothingImported(TextPosition at,
                               const absl::Status& cause) const {
    return WithHint(WithContext(FormatPosition(options_.file, at), cause),
                    "Nothing was imported (--atomic). Correct the line and "
                    "run the same command again.");
  }

  const ImportOptions& options_;
  const Console& console_;
  Engine* const engine_;
  RecordSource* const source_;
  Progress progress_;
  RejectsFile rejects_;

  std::vector<Pending> batch_;
  size_t batch_bytes_ = 0;
  uint64_t imported_ = 0;
  uint64_t skipped_ = 0;
  uint64_t done_line_;  // All lines up to here are settled.
};

void PrintSummary(const Importer& importer, const Console& console) {
  const double seconds = static_cast<double>(importer.micros()) / 1e6;
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrFormat("{\"imported\":%d,\"skipped\":%d,\"seconds\":%.6f}\n",
                          importer.imported(), importer.skipped(), seconds));
  }
  const double rate =
      seconds > 0 ? static_cast<double>(importer.imported()) / seconds : 0;
  Note(console,
       absl::StrCat("imported ", CountText(importer.imported()), " rows, ",
                    "skipped ", CountText(importer.skipped()), ", in ",
                    DurationText(importer.micros()), " (",
                    CountText(static_cast<uint64_t>(rate)), " rows/s)"));
}

}  // namespace

absl::Status RunImport(const ImportOptions& options, const Console& console) {
  RETURN_IF_ERROR(CheckImportOptions(options));
  RecordSourceOptions source_options;
  ASSIGN_OR_RETURN(source_options.format, InputFormatOf(options));
  ASSIGN_OR_RETURN(source_options.delimiter,
                   DelimiterOf(options.delimiter, options.file));
  source_options.skip_lines = options.skip_lines;
  source_options.map.maps = options.maps;
  source_options.map.defaults = options.defaults;
  source_options.map.allow_empty_keys = options.allow_empty_keys;
  ASSIGN_OR_RETURN(ByteSource bytes, OpenInput(options.file));

  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  ASSIGN_OR_RETURN(source_options.map.key_fields, KeyFields(table));
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordSource> source,
                   RecordSource::Open(&table, std::move(bytes), source_options,
                                      options.file));
  if (!source->unused_columns().empty()) {
    std::string names;
    for (const std::string& name : source->unused_columns()) {
      absl::StrAppend(&names, " ", ToAbsl(Quote(name)));
    }
    Note(console, absl::StrCat("columns that fill no field:", names));
  }

  Importer importer(options, console, engine.get(), source.get());
  const absl::Status status = importer.Run();
  // Even after an error: what was imported becomes durable here.
  const absl::Status closed = engine->Close();
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(closed);
  PrintSummary(importer, console);
  return {};
}

}  // namespace dovetail::cli
