// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A write log as the source of a replay. The fingerprint of a record is the
// CRC of its bytes, which the log has: if the log was cut after a crash of the
// machine that wrote it, and other records came in place of those that a
// follower had applied already, the sequence fits and the CRC does not.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/replay.h"
#include "engine/write_log_directory.h"
#include "engine/write_log_format.h"

namespace dovetail {
namespace {

class WriteLogSource final : public ReplaySource {
 public:
  WriteLogSource(FileSystem* file_system, std::string path,
                 const WriteLogSourceOptions& options)
      : file_system_(file_system), path_(std::move(path)), options_(options) {}

  absl::Status Start(const ReplayPlace& place) override {
    if (place.position == 0) return OpenAt(0);
    absl::StatusOr<bool> found = false;
    if (absl::Status opened = OpenAt(place.position); opened.ok()) {
      found = Read();
    } else {
      found = std::move(opened);
    }
    if (absl::IsNotFound(found.status())) {
      // The record of the place was dropped, so it cannot be compared; but the
      // log may still begin with the one behind it.
      return OpenAt(place.position + 1);
    }
    RETURN_IF_ERROR(found.status());
    if (!*found) return Changed("it ends before the place", place.position);
    if (record_.sequence() != place.position) {
      return Changed("the record of the place is missing", place.position);
    }
    if (place.fingerprint != 0 && place.fingerprint != Fingerprint()) {
      return Changed("it has another record in the place", place.position);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Next(ReplayItem* item) override {
    ASSIGN_OR_RETURN(const bool found, Read());
    if (!found) return false;
    item->kind = ReplayItem::Kind::kEffects;
    item->position = record_.sequence();
    item->fingerprint = Fingerprint();
    item->time_us = record_.commit_time_us();
    item->record.Swap(&record_);
    item->raw.clear();
    return true;
  }

  std::string id() const override {
    if (reader_ == nullptr || !begun_) return {};
    return absl::StrCat(
        absl::Hex(reader_->header().log_id(), absl::kZeroPad16));
  }
  bool is_numbered() const override { return true; }
  const v1::Schema* schema() const override {
    return begun_ ? &schema_ : nullptr;
  }
  uint64_t schema_version() const override { return file_; }
  uint64_t bytes_read() const override {
    return reader_ == nullptr ? 0 : reader_->report().bytes;
  }
  uint64_t bytes_total() const override { return bytes_total_; }

 private:
  uint64_t Fingerprint() const {
    // Never 0, which says that there is none.
    return uint64_t{1} << 32 | reader_->record_crc();
  }

  absl::Status OpenAt(uint64_t sequence) {
    WriteLogReaderOptions options;
    options.from_sequence = SequenceNumber{sequence};
    options.follow = options_.follow;
    options.skip_damaged = options_.skip_damaged;
    options.record_bytes_max = options_.record_bytes_max;
    ASSIGN_OR_RETURN(reader_,
                     WriteLogReader::Open(file_system_, path_, options));
    return CountBytes(sequence);
  }

  absl::StatusOr<bool> Read() {
    ASSIGN_OR_RETURN(const bool found, reader_->Next(&record_));
    if (!found) return false;
    if (begun_ && reader_->header().first_sequence() == file_) return true;
    begun_ = true;
    file_ = reader_->header().first_sequence();
    schema_ = reader_->header().schema();
    return true;
  }

  absl::Status CountBytes(uint64_t from_sequence) {
    bytes_total_ = 0;
    const auto files = ListWriteLogFiles(file_system_, path_);
    if (!files.ok()) {  // The path is one file.
      ASSIGN_OR_RETURN(bytes_total_, file_system_->Size(path_));
      return absl::OkStatus();
    }
    for (size_t i = 0; i < files->size(); ++i) {
      if (i + 1 < files->size() && (*files)[i + 1] <= from_sequence) continue;
      const auto size = file_system_->Size(WriteLogPath(path_, (*files)[i]));
      if (size.ok()) bytes_total_ += *size;  // Or it is being dropped.
    }
    return absl::OkStatus();
  }

  absl::Status Changed(std::string_view how, uint64_t position) const {
    return absl::FailedPreconditionError(absl::StrCat(
        "the write log is not the one that was replayed: ", ToAbsl(how),
        ": path=", ToAbsl(Quote(path_, 1024)), " position=", position));
  }

  FileSystem* const file_system_;
  const std::string path_;
  const WriteLogSourceOptions options_;

  std::unique_ptr<WriteLogReader> reader_;
  v1::WriteLogRecord record_;
  bool begun_ = false;  // A record has been read.
  uint64_t file_ = 0;   // The first sequence of the last one's file.
  v1::Schema schema_;   // Of that file.
  uint64_t bytes_total_ = 0;
};

}  // namespace

std::unique_ptr<ReplaySource> OpenWriteLogSource(
    FileSystem* file_system, std::string path, WriteLogSourceOptions options) {
  return std::make_unique<WriteLogSource>(file_system, std::move(path),
                                          options);
}

}  // namespace dovetail
