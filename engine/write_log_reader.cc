// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The reader is always at one place of one file:
//
//   no scanner, file_done_     behind that file; the next one may be there
//   no scanner, !file_done_    at position_ of file_, which is opened anew
//   scanner_                   reading it
//
// While following, nothing stays in memory or open at the end: the writer may
// cut a torn tail, and what was read of it must not be taken for what comes in
// its place. The directory is listed before a file is read, never after: a
// writer completes a file before it begins the next, so a file that has a
// successor in the list, and then no trailer, is incomplete for good.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/write_log.h"
#include "engine/write_log_account.h"
#include "engine/write_log_directory.h"
#include "engine/write_log_format.h"
#include "engine/write_log_scanner.h"

namespace dovetail {
class WriteLogReader::Impl {
 public:
  Impl(FileSystem* file_system, std::string path, WriteLogReaderOptions options)
      : file_system_(file_system),
        path_(std::move(path)),
        options_(options),
        from_(static_cast<uint64_t>(options.from_sequence)),
        account_(options.skip_damaged) {}

  absl::Status Open();
  absl::StatusOr<bool> Next(v1::WriteLogRecord* record);

  const v1::WriteLogFileHeader& header() const { return header_; }
  uint32_t record_crc() const { return record_crc_; }
  const WriteLogReadReport& report() const { return account_.report(); }

 private:
  using Event = WriteLogScanner::Event;

  // Each of these returns false if there is nothing more to read for now.
  absl::StatusOr<bool> OpenFile();
  absl::StatusOr<bool> OnBreak(Event event);
  bool AtLastEnd();  // Of the last file.

  bool BeginNextFile();
  absl::Status ResumeFile(std::unique_ptr<SequentialFile> file);
  absl::Status BeginFile(std::unique_ptr<SequentialFile> file);
  // What is wrong with a whole file, or empty.
  std::string_view ForeignFile() const;

  // True if `record_` is the next one to return.
  absl::StatusOr<bool> OnFrame();
  absl::StatusOr<bool> OnRecord(const WriteLogFrameHeader& frame);
  absl::Status OnHeader();
  absl::Status OnTrailer(const WriteLogFrameHeader& frame);

  // A part of the current file is damaged; see WriteLogAccount::Damage.
  absl::Status Damage(uint64_t offset, uint64_t bytes, std::string_view reason);
  absl::Status PassOverFrame(std::string_view reason);
  absl::Status PassOverRest(uint64_t offset, std::string_view reason);
  absl::Status Arrive(uint64_t sequence, std::string_view reason) {
    return account_.Arrive(sequence, FilePath(), position_, reason);
  }

  bool IsLastFile() const {
    return single_ || files_.empty() || file_ >= files_.back();
  }
  std::string FilePath() const {
    return single_ ? path_ : WriteLogPath(path_, file_);
  }
  void SetTorn(std::string file, uint64_t offset, uint64_t bytes) {
    account_.report().torn_file = std::move(file);
    account_.report().torn_offset = offset;
    account_.report().torn_bytes = bytes;
  }
  void CountBytes(uint64_t bytes) {
    file_bytes_ += bytes;
    account_.report().bytes += bytes;
  }

  FileSystem* const file_system_;
  const std::string path_;
  const WriteLogReaderOptions options_;
  const uint64_t from_;
  bool single_ = false;  // path_ is a file.

  std::vector<uint64_t> files_;  // As last listed.
  bool begun_ = false;           // There is a current file.
  uint64_t file_ = 0;            // The number in its name; 0 if single_.
  bool file_done_ = true;
  uint64_t position_ = 0;  // Of the next frame.
  std::unique_ptr<WriteLogScanner> scanner_;
  std::optional<Event> break_;  // In place of the preamble; not yet handled.

  // Of the current file.
  std::optional<WriteLogFileId> id_;
  uint64_t file_bytes_ = 0;  // Counted in the report.
  bool at_head_ = false;     // Nothing but its header has been read.
  bool trailer_seen_ = false;
  bool opened_anew_ = false;  // Because of the break at position_.

  std::optional<uint64_t> log_id_;
  WriteLogAccount account_;

  v1::WriteLogFileHeader header_;
  v1::WriteLogRecord record_;
  uint32_t record_crc_ = 0;
  bool ended_ = false;
  absl::Status failed_;
};

absl::Status WriteLogReader::Impl::Open() {
  auto files = ListWriteLogFiles(file_system_, path_);
  single_ = files.status().code() == absl::StatusCode::kFailedPrecondition;
  if (!single_) {
    RETURN_IF_ERROR(files.status());
    files_ = *std::move(files);
    if (files_.empty() && !options_.follow) {
      return absl::NotFoundError(absl::StrCat("no write log files: directory=",
                                              ToAbsl(Quote(path_, 1024))));
    }
  }
  return OpenFile().status();
}

absl::StatusOr<bool> WriteLogReader::Impl::Next(v1::WriteLogRecord* record) {
  RETURN_IF_ERROR(failed_);
  if (ended_) return false;
  const auto run = [this]() -> absl::StatusOr<bool> {
    while (true) {
      if (scanner_ == nullptr) {
        ASSIGN_OR_RETURN(const bool open, OpenFile());
        if (!open) return false;
        if (scanner_ == nullptr) continue;  // The whole file was passed over.
      }
      Event event;
      if (break_.has_value()) {
        event = *std::exchange(break_, std::nullopt);
      } else {
        ASSIGN_OR_RETURN(event, scanner_->Next());
      }
      if (event == Event::kFrame) {
        ASSIGN_OR_RETURN(const bool found, OnFrame());
        position_ = scanner_->end();
        if (found) return true;
      } else {
        ASSIGN_OR_RETURN(const bool more, OnBreak(event));
        if (!more) return false;
      }
    }
  };
  const absl::StatusOr<bool> found = run();
  failed_ = found.status();
  if (found.ok() && *found) {
    ++account_.report().records;
    record->Swap(&record_);
  }
  return found;
}

absl::StatusOr<bool> WriteLogReader::Impl::OpenFile() {
  if (options_.follow && !single_) {
    ASSIGN_OR_RETURN(files_, ListWriteLogFiles(file_system_, path_));
  }
  if (file_done_ && !BeginNextFile()) {
    ended_ = !options_.follow;
    return false;
  }
  auto file = file_system_->NewSequentialFile(FilePath());
  if (file.status().code() == absl::StatusCode::kNotFound) {
    return absl::NotFoundError(absl::StrCat("the write log file is gone: file=",
                                            ToAbsl(Quote(FilePath(), 1024))));
  }
  RETURN_IF_ERROR(file.status());
  SetTorn("", 0, 0);
  if (at_head_) {
    RETURN_IF_ERROR(BeginFile(*std::move(file)));
  } else {
    RETURN_IF_ERROR(ResumeFile(*std::move(file)));
  }
  return true;
}

bool WriteLogReader::Impl::BeginNextFile() {
  if (single_) {
    if (begun_) return false;
  } else {
    auto next = std::upper_bound(files_.begin(), files_.end(), file_);
    if (next == files_.end()) return false;
    if (!begun_) {
      // The last one that begins at or below from_, or else the first.
      next = std::upper_bound(files_.begin() + 1, files_.end(), from_) - 1;
    }
    file_ = *next;
  }
  begun_ = at_head_ = true;
  file_done_ = trailer_seen_ = opened_anew_ = false;
  file_bytes_ = 0;
  return true;
}

absl::Status WriteLogReader::Impl::BeginFile(
    std::unique_ptr<SequentialFile> file) {
  // What was counted, if it is opened again.
  account_.report().bytes -= std::exchange(file_bytes_, 0);
  position_ = 0;
  scanner_ = std::make_unique<WriteLogScanner>(std::move(file), FilePath(),
                                               options_.record_bytes_max);
  ASSIGN_OR_RETURN(const Event event, scanner_->ReadPreamble());
  id_ = scanner_->id();
  const std::string_view foreign = ForeignFile();
  if (!foreign.empty()) return PassOverRest(0, foreign);

  const uint64_t first = id_.has_value() ? id_->first_sequence : file_;
  if (account_.expected() == 0 && from_ > 0 && first > from_) {
    return absl::NotFoundError(absl::StrCat(
        "the write log begins later: from_sequence=", from_, " first=", first));
  }
  if (id_.has_value()) log_id_ = id_->log_id;
  RETURN_IF_ERROR(Arrive(first, "a file is missing before this one"));
  if (event == Event::kFrame) {
    position_ = kWriteLogPreambleBytes;
    CountBytes(kWriteLogPreambleBytes);
  } else {
    break_ = event;
  }
  return absl::OkStatus();
}

absl::Status WriteLogReader::Impl::ResumeFile(
    std::unique_ptr<SequentialFile> file) {
  ASSIGN_OR_RETURN(const uint64_t size, file_system_->Size(FilePath()));
  if (size < position_) {
    return absl::DataLossError(
        absl::StrCat("the write log was cut below what was read: file=",
                     ToAbsl(Quote(FilePath(), 1024)), " offset=", position_,
                     " file_bytes=", size));
  }
  RETURN_IF_ERROR(file->Skip(position_));
  scanner_ = std::make_unique<WriteLogScanner>(
      std::move(file), FilePath(), options_.record_bytes_max, *id_, position_);
  return absl::OkStatus();
}

std::string_view WriteLogReader::Impl::ForeignFile() const {
  if (!id_.has_value()) return {};
  if (log_id_.has_value() && *log_id_ != id_->log_id) {
    return "the file is of another log";
  }
  if (!single_ && file_ != id_->first_sequence) {
    return "the file has another file's name";
  }
  return {};
}

absl::StatusOr<bool> WriteLogReader::Impl::OnBreak(Event event) {
  const uint64_t offset = position_;
  const std::string_view reason = scanner_->reason();
  if (event == Event::kEnd) {
    if (!trailer_seen_ && IsLastFile()) return AtLastEnd();
    if (!trailer_seen_) {
      RETURN_IF_ERROR(Damage(offset, 0, "the file has no trailer"));
    }
    file_done_ = true;
    scanner_.reset();
    return true;
  }
  if (event == Event::kDamaged) {
    if (options_.follow && !opened_anew_) {
      // The writer may have cut the tail since the first part of it was read.
      opened_anew_ = true;
      scanner_.reset();
      return true;
    }
    ASSIGN_OR_RETURN(const bool more, scanner_->FindIntact());
    const uint64_t next = scanner_->offset();
    if (more) {
      RETURN_IF_ERROR(Damage(offset, next - offset, reason));
      position_ = next;
      return true;
    }
  }
  const bool foreign = event == Event::kDamaged && !scanner_->id().has_value();
  if (foreign || !IsLastFile()) {
    RETURN_IF_ERROR(PassOverRest(offset, reason));
    return true;
  }
  ASSIGN_OR_RETURN(const uint64_t end, scanner_->SkipToEnd());
  if (end > offset) {
    SetTorn(WriteLogNameOf(FilePath()), offset, end - offset);
  }
  return AtLastEnd();
}

bool WriteLogReader::Impl::AtLastEnd() {
  ended_ = !options_.follow;
  scanner_.reset();
  return false;
}

absl::StatusOr<bool> WriteLogReader::Impl::OnFrame() {
  const WriteLogFrameHeader frame = scanner_->frame();
  const bool at_head = std::exchange(at_head_, false);
  opened_anew_ = false;
  if (trailer_seen_) {
    RETURN_IF_ERROR(PassOverFrame("a frame behind the trailer"));
    return false;
  }
  if (frame.sequence == 0 || frame.sequence > kWriteLogSequenceMax) {
    RETURN_IF_ERROR(PassOverFrame("no sequence"));
    return false;
  }
  switch (frame.kind) {
    case WriteLogFrameKind::kHeader:
      // A file of which nothing else has been read may be begun again.
      at_head_ = at_head;
      RETURN_IF_ERROR(OnHeader());
      return false;
    case WriteLogFrameKind::kTrailer:
      RETURN_IF_ERROR(OnTrailer(frame));
      return false;
    case WriteLogFrameKind::kRecord:
      return OnRecord(frame);
  }
  return false;
}

absl::Status WriteLogReader::Impl::OnHeader() {
  v1::WriteLogFileHeader header;
  const std::string_view payload = scanner_->payload();
  if (position_ != kWriteLogPreambleBytes ||
      !header.ParseFromArray(payload.data(),
                             static_cast<int>(payload.size())) ||
      header.format_version() != static_cast<uint32_t>(kWriteLogVersion) ||
      header.log_id() != id_->log_id ||
      header.first_sequence() != id_->first_sequence) {
    return PassOverFrame("no header that belongs here");
  }
  header_ = std::move(header);
  CountBytes(scanner_->end() - position_);
  return absl::OkStatus();
}

absl::StatusOr<bool> WriteLogReader::Impl::OnRecord(
    const WriteLogFrameHeader& frame) {
  if (frame.sequence < account_.expected()) {
    RETURN_IF_ERROR(PassOverFrame("the sequence steps back"));
    return false;
  }
  RETURN_IF_ERROR(Arrive(frame.sequence, "records are missing"));
  if (frame.sequence < from_) {
    CountBytes(scanner_->end() - position_);
    account_.Pass();
    return false;
  }
  const std::string_view payload = scanner_->payload();
  if (!record_.ParseFromArray(payload.data(),
                              static_cast<int>(payload.size())) ||
      record_.sequence() != frame.sequence) {
    RETURN_IF_ERROR(PassOverFrame("no record of this sequence"));
    RETURN_IF_ERROR(Arrive(frame.sequence + 1, ""));
    return false;
  }
  record_crc_ = frame.payload_crc;
  CountBytes(scanner_->end() - position_);
  account_.Pass();
  return true;
}

absl::Status WriteLogReader::Impl::OnTrailer(const WriteLogFrameHeader& frame) {
  v1::WriteLogFileTrailer trailer;
  const std::string_view payload = scanner_->payload();
  if (frame.sequence + 1 < account_.expected() ||
      frame.sequence < id_->first_sequence ||
      !trailer.ParseFromArray(payload.data(),
                              static_cast<int>(payload.size())) ||
      trailer.last_sequence() != frame.sequence ||
      trailer.record_count() != frame.sequence - id_->first_sequence + 1) {
    return PassOverFrame("no trailer that belongs here");
  }
  RETURN_IF_ERROR(
      Arrive(frame.sequence + 1, "records are missing before the trailer"));
  CountBytes(scanner_->end() - position_);
  trailer_seen_ = true;
  return absl::OkStatus();
}

absl::Status WriteLogReader::Impl::Damage(uint64_t offset, uint64_t bytes,
                                          std::string_view reason) {
  at_head_ = false;
  return account_.Damage(FilePath(), offset, bytes, reason);
}

absl::Status WriteLogReader::Impl::PassOverFrame(std::string_view reason) {
  return Damage(position_, scanner_->end() - position_, reason);
}

absl::Status WriteLogReader::Impl::PassOverRest(uint64_t offset,
                                                std::string_view reason) {
  ASSIGN_OR_RETURN(const uint64_t end, scanner_->SkipToEnd());
  scanner_.reset();
  file_done_ = true;
  return Damage(offset, end - offset, reason);
}

WriteLogReader::WriteLogReader(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
WriteLogReader::~WriteLogReader() = default;

absl::StatusOr<std::unique_ptr<WriteLogReader>> WriteLogReader::Open(
    FileSystem* file_system, std::string path, WriteLogReaderOptions options) {
  auto impl = std::make_unique<Impl>(file_system, std::move(path), options);
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<WriteLogReader>(new WriteLogReader(std::move(impl)));
}

absl::StatusOr<bool> WriteLogReader::Next(v1::WriteLogRecord* record) {
  return impl_->Next(record);
}

const v1::WriteLogFileHeader& WriteLogReader::header() const {
  return impl_->header();
}

uint32_t WriteLogReader::record_crc() const { return impl_->record_crc(); }

const WriteLogReadReport& WriteLogReader::report() const {
  return impl_->report();
}

}  // namespace dovetail
