// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Each round narrows a part of the log, right at its beginning and wrong at its
// end, to one of `copies` parts of it:
//
//   replay   R ----1----2----3----4---- W     a copy at each place
//   ask           right     ?               of the copies, by halves
//   next          R ----------- W             the part between two copies
//
// The copy at the beginning of the next part is where its replay starts.

#include "dovetail/bisect.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/digest.h"
#include "dovetail/replay.h"
#include "dovetail/schema.h"
#include "dovetail/write_log.h"

namespace dovetail {
namespace {

constexpr char kSource[] = "bisect";

void RemoveTree(const std::string& path) {
  // What cannot be removed stays in the scratch directory, for its owner.
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// The directory of the scratch databases, for as long as this lives.
class Scratch {
 public:
  static absl::StatusOr<std::unique_ptr<Scratch>> Make(
      const std::string& path) {
    FileSystem& files = *FileSystem::Posix();
    ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
    if (exists) {
      return absl::AlreadyExistsError(absl::StrCat(
          "the scratch directory exists: directory=", Quote(path, 1024)));
    }
    RETURN_IF_ERROR(files.CreateDirectory(path));
    return std::unique_ptr<Scratch>(new Scratch(path));
  }
  ~Scratch() { RemoveTree(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string NewName() { return absl::StrCat(path_, "/", ++names_); }

 private:
  explicit Scratch(const std::string& path) : path_(path) {}
  const std::string path_;
  uint64_t names_ = 0;
};

// The records after which the check can be asked, by position.
class Places {
 public:
  void Add(uint64_t sequence, bool sparse) {
    if (count_ == 0) first_ = sequence;
    ++count_;
    if (sparse) sequences_.push_back(sequence);
  }
  size_t count() const { return count_; }
  uint64_t sequence(size_t i) const {
    return sequences_.empty() ? first_ + i : sequences_[i];
  }

 private:
  uint64_t first_ = 0;
  size_t count_ = 0;
  std::vector<uint64_t> sequences_;  // Empty: all from first_ on.
};

class Bisection {
 public:
  Bisection(const std::string& log, const BisectCheck& check,
            const BisectOptions& options)
      : log_(log),
        check_(check),
        options_(options),
        files_(options.file_system != nullptr ? options.file_system
                                              : FileSystem::Posix()) {}

  absl::StatusOr<BisectReport> Run();

 private:
  // A scratch database in the state behind the first `place` places.
  struct Copy {
    size_t place = 0;
    std::string directory;
  };

  absl::Status ReadLog();
  absl::StatusOr<std::unique_ptr<Engine>> Open(const std::string& directory);
  absl::StatusOr<Copy> MakeBase();
  absl::StatusOr<v1::WriteLogRecord> RecordOf(size_t place);
  // The answer in words: empty, or what is wrong.
  absl::StatusOr<std::string> Ask(Engine& engine, size_t place);
  absl::StatusOr<std::string> Ask(const Copy& copy);
  absl::Status ReplayTo(Replayer& replayer, size_t place);
  // Replays from `from` to `end` with copies on the way, `from` the first.
  absl::StatusOr<std::vector<Copy>> MakeCopies(Copy from, size_t end);
  absl::Status Narrow(std::vector<Copy> copies, size_t* end, Copy* from);
  bool Tell(size_t from, size_t end) const;

  const std::string& log_;
  const BisectCheck& check_;
  const BisectOptions& options_;
  FileSystem* const files_;
  std::unique_ptr<Scratch> scratch_;
  v1::Schema schema_;
  uint64_t first_ = 0;  // Of the log.
  uint64_t last_ = 0;
  Places places_;
  // Whether the check is known to be wrong at the end, and what it said.
  bool wrong_ = false;
  std::string why_;
  uint64_t replayed_before_ = 0;  // By replayers that are done.
  uint64_t replayed_ = 0;
  uint64_t checks_ = 0;
};

absl::Status Bisection::ReadLog() {
  SequenceNumber base{};
  if (!options_.base.empty()) {
    Options look = options_.engine;
    look.create_if_missing = false;
    look.background_work = false;
    ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                     Engine::Open(options_.base, Schema(), look));
    base = engine->open_report().sequence;
  }
  WriteLogReaderOptions read;
  read.from_sequence = SequenceNumber{static_cast<uint64_t>(base) + 1};
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   WriteLogReader::Open(files_, log_, read));
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    if (first_ == 0) first_ = record.sequence();
    last_ = record.sequence();
    const bool sparse = check_.applies != nullptr;
    if (!sparse || check_.applies(record)) places_.Add(last_, sparse);
  }
  // The newest: tables and indexes are added in the course of a log.
  schema_ = reader->header().schema();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Engine>> Bisection::Open(
    const std::string& directory) {
  return Engine::Open(directory, Schema(schema_), options_.engine);
}

absl::StatusOr<Bisection::Copy> Bisection::MakeBase() {
  Copy base{0, scratch_->NewName()};
  if (options_.base.empty()) return base;  // Opening it makes it.
  Options options = options_.engine;
  options.background_work = false;
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   Engine::Open(options_.base, Schema(), options));
  RETURN_IF_ERROR(engine->Checkpoint(base.directory, {}).status());
  return base;
}

absl::StatusOr<v1::WriteLogRecord> Bisection::RecordOf(size_t place) {
  v1::WriteLogRecord record;
  if (place == 0) return record;
  WriteLogReaderOptions read;
  read.from_sequence = SequenceNumber{places_.sequence(place - 1)};
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   WriteLogReader::Open(files_, log_, read));
  ASSIGN_OR_RETURN(const bool found, reader->Next(&record));
  if (found) return record;
  return absl::DataLossError(
      absl::StrCat("the log has lost a record meanwhile: sequence=",
                   static_cast<uint64_t>(read.from_sequence)));
}

absl::StatusOr<std::string> Bisection::Ask(Engine& engine, size_t place) {
  ASSIGN_OR_RETURN(const v1::WriteLogRecord record, RecordOf(place));
  ++checks_;
  const absl::Status answer = check_.ask(engine, record);
  if (absl::IsDataLoss(answer)) return std::string(answer.message());
  RETURN_IF_ERROR(answer);
  return std::string();
}

absl::StatusOr<std::string> Bisection::Ask(const Copy& copy) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, Open(copy.directory));
  return Ask(*engine, copy.place);
}

bool Bisection::Tell(size_t from, size_t end) const {
  if (!options_.progress) return true;
  return options_.progress({places_.sequence(from), places_.sequence(end - 1),
                            replayed_before_ + replayed_, checks_});
}

absl::Status Bisection::ReplayTo(Replayer& replayer, size_t place) {
  ReplayStop stop;
  stop.to_position = places_.sequence(place - 1);
  RETURN_IF_ERROR(replayer.Run(stop));
  if (replayer.report().end == ReplayReport::End::kCancelled) {
    return absl::CancelledError("bisection was cancelled");
  }
  if (replayer.report().position != *stop.to_position) {
    return absl::DataLossError(absl::StrCat(
        "the log has lost a record meanwhile: sequence=", *stop.to_position));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Bisection::Copy>> Bisection::MakeCopies(Copy from,
                                                                   size_t end) {
  const size_t records = end - from.place;
  const size_t parts =
      std::min<size_t>(records, std::max<uint32_t>(2, options_.copies));
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Open(from.directory));
  const std::unique_ptr<ReplaySource> source = OpenWriteLogSource(files_, log_);
  ReplayOptions replay;
  replay.source = kSource;
  replay.sequences = ReplaySequences::kKeep;
  replay.check_digests = false;  // What is wrong is for the condition to say.
  replay.progress = [&](const ReplayReport& report) {
    replayed_ = report.applied;
    return Tell(from.place, end);
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<Replayer> replayer,
                   Replayer::Open(engine.get(), source.get(), replay));
  std::vector<Copy> copies;
  for (size_t i = 0; i < parts; ++i) {
    Copy& copy = copies.emplace_back(
        Copy{from.place + records * i / parts, scratch_->NewName()});
    if (i > 0) RETURN_IF_ERROR(ReplayTo(*replayer, copy.place));
    RETURN_IF_ERROR(engine->Checkpoint(copy.directory, {}).status());
  }
  if (!wrong_) {
    RETURN_IF_ERROR(ReplayTo(*replayer, end));
    ASSIGN_OR_RETURN(why_, Ask(*engine, end));
    wrong_ = !why_.empty();
  }
  replayed_before_ += replayer->report().applied;
  replayed_ = 0;
  engine.reset();
  RemoveTree(from.directory);
  return copies;
}

absl::Status Bisection::Narrow(std::vector<Copy> copies, size_t* end,
                               Copy* from) {
  size_t right = 0;
  size_t wrong = copies.size();
  while (wrong - right > 1) {
    const size_t middle = right + (wrong - right) / 2;
    ASSIGN_OR_RETURN(std::string why, Ask(copies[middle]));
    if (!Tell(copies[right].place, *end)) {
      return absl::CancelledError("bisection was cancelled");
    }
    if (why.empty()) {
      right = middle;
    } else {
      wrong = middle;
      why_ = std::move(why);
    }
  }
  if (wrong < copies.size()) *end = copies[wrong].place;
  *from = copies[right];
  for (size_t i = 0; i < copies.size(); ++i) {
    if (i != right) RemoveTree(copies[i].directory);
  }
  return absl::OkStatus();
}

absl::StatusOr<BisectReport> Bisection::Run() {
  RETURN_IF_ERROR(ReadLog());
  BisectReport report;
  report.records = last_ == 0 ? 0 : last_ - first_ + 1;
  if (places_.count() == 0) return report;
  ASSIGN_OR_RETURN(scratch_, Scratch::Make(options_.scratch));
  ASSIGN_OR_RETURN(Copy from, MakeBase());
  ASSIGN_OR_RETURN(const std::string before, Ask(from));
  if (!before.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the check is wrong before the first record: ", before));
  }
  size_t end = places_.count();
  while (!wrong_ || end - from.place > 1) {
    ASSIGN_OR_RETURN(std::vector<Copy> copies, MakeCopies(from, end));
    if (!wrong_) break;
    RETURN_IF_ERROR(Narrow(std::move(copies), &end, &from));
  }
  report.replayed = replayed_before_;
  report.checks = checks_;
  if (!wrong_) {
    report.last_right = SequenceNumber{places_.sequence(end - 1)};
    return report;
  }
  report.first_wrong = SequenceNumber{places_.sequence(end - 1)};
  report.last_right = from.place == 0
                          ? SequenceNumber{first_ - 1}
                          : SequenceNumber{places_.sequence(from.place - 1)};
  report.why = why_;
  ASSIGN_OR_RETURN(report.record, RecordOf(end));
  return report;
}

}  // namespace

BisectCheck VerifyIsClean() {
  return {[](Engine& engine, const v1::WriteLogRecord&) -> absl::Status {
    VerifyOptions options;
    options.findings_max = 1;
    ASSIGN_OR_RETURN(const VerifyReport report, engine.Verify(options));
    if (report.clean()) return absl::OkStatus();
    const Finding& finding = report.findings.front();
    return absl::DataLossError(
        absl::StrCat(report.Summary(), " first: table=", finding.table,
                     " index=", finding.index, " ", finding.detail));
  }};
}

BisectCheck DigestsAreTheRecords() {
  const auto ask = [](Engine& engine,
                      const v1::WriteLogRecord& record) -> absl::Status {
    if (record.digests().empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const DigestReport is, engine.Digest());
    for (const v1::SpaceDigest& proto : record.digests()) {
      ASSIGN_OR_RETURN(const SpaceDigest wanted, FromProto(proto));
      const auto found = std::find_if(
          is.spaces.begin(), is.spaces.end(), [&](const SpaceDigest& space) {
            return space.table == wanted.table && space.index == wanted.index;
          });
      // A table that the log had then, and this database has not.
      if (found == is.spaces.end() || found->sum == wanted.sum) continue;
      return absl::DataLossError(
          absl::StrCat("digest differs from the record's: table=", wanted.table,
                       " has=", DigestText(found->sum), " count=", found->count,
                       " wanted=", DigestText(wanted.sum)));
    }
    return absl::OkStatus();
  };
  const auto applies = [](const v1::WriteLogRecord& record) {
    return !record.digests().empty();
  };
  return {ask, applies};
}

absl::StatusOr<BisectReport> Bisect(const std::string& log,
                                    const BisectCheck& check,
                                    const BisectOptions& options) {
  return Bisection(log, check, options).Run();
}

}  // namespace dovetail
