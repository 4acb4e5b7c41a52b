// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A frame header that fits its place is believed about its length. So a frame
// whose payload is damaged is passed over as a whole, and looking for a whole
// frame takes time linear in the file, whatever somebody put there.

#include "engine/write_log_scanner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

constexpr size_t kReadBytes = 64 << 10;

bool OnlyZeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == bytes.npos;
}

}  // namespace

WriteLogScanner::WriteLogScanner(std::unique_ptr<SequentialFile> file,
                                 std::string path, size_t record_bytes_max)
    : file_(std::move(file)),
      path_(std::move(path)),
      record_bytes_max_(record_bytes_max) {}

WriteLogScanner::WriteLogScanner(std::unique_ptr<SequentialFile> file,
                                 std::string path, size_t record_bytes_max,
                                 const WriteLogFileId& id, uint64_t offset)
    : file_(std::move(file)),
      path_(std::move(path)),
      record_bytes_max_(record_bytes_max),
      id_(id),
      buffer_offset_(offset) {}

absl::StatusOr<WriteLogScanner::Event> WriteLogScanner::ReadPreamble() {
  ASSIGN_OR_RETURN(const size_t got, Fill(kWriteLogPreambleBytes));
  if (got < kWriteLogPreambleBytes) {
    const bool cut_off = IsCutOffWriteLogPreamble(rest()) || OnlyZeros(rest());
    return cut_off ? Broken(Event::kCutOff, "the preamble is cut off", 0)
                   : Broken(Event::kDamaged, "no write log file", 0);
  }
  const std::optional<WriteLogPreamble> preamble =
      DecodeWriteLogPreamble(rest().substr(0, kWriteLogPreambleBytes));
  if (preamble.has_value()) {
    if (preamble->version != static_cast<uint32_t>(kWriteLogVersion)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "unknown format version of a write log file: file=",
          ToAbsl(Quote(path_, 1024)), " version=", preamble->version,
          " known_version=", static_cast<uint32_t>(kWriteLogVersion)));
    }
    id_ = preamble->id;
    position_ += kWriteLogPreambleBytes;
    return Event::kFrame;
  }
  ASSIGN_OR_RETURN(id_, IdBehindPreamble());
  if (id_.has_value()) {
    return Broken(Event::kDamaged, "the preamble is damaged",
                  kWriteLogPreambleBytes);
  }
  ASSIGN_OR_RETURN(const bool zeros, OnlyZerosLeft());
  // A file that grew on disk before its data got there.
  if (zeros) return Broken(Event::kCutOff, "nothing but zeros", 0);
  return Broken(Event::kDamaged, "no write log file", 0);
}

absl::StatusOr<std::optional<WriteLogFileId>>
WriteLogScanner::IdBehindPreamble() {
  constexpr size_t kHeadBytes =
      kWriteLogPreambleBytes + kWriteLogFrameHeaderBytes;
  ASSIGN_OR_RETURN(size_t got, Fill(kHeadBytes));
  if (got < kHeadBytes) return std::nullopt;
  const std::optional<uint32_t> length =
      ClaimedWriteLogPayloadBytes(rest().substr(kWriteLogPreambleBytes));
  if (!length.has_value()) return std::nullopt;
  ASSIGN_OR_RETURN(got, Fill(kHeadBytes + *length));
  if (got < kHeadBytes + *length) return std::nullopt;

  v1::WriteLogFileHeader header;
  if (!header.ParseFromArray(rest().data() + kHeadBytes,
                             static_cast<int>(*length)) ||
      header.format_version() != static_cast<uint32_t>(kWriteLogVersion)) {
    return std::nullopt;
  }
  const WriteLogFileId id{.log_id = header.log_id(),
                          .first_sequence = header.first_sequence()};
  // The salt is the proof that these are the file's own.
  if (!DecodeWriteLogFrameHeader(rest().substr(kWriteLogPreambleBytes), id,
                                 kWriteLogPreambleBytes)
           .has_value()) {
    return std::nullopt;
  }
  return id;
}

absl::StatusOr<bool> WriteLogScanner::OnlyZerosLeft() {
  while (OnlyZeros(rest())) {
    position_ = filled_;
    ASSIGN_OR_RETURN(const size_t got, Fill(1));
    if (got == 0) return true;
  }
  return false;
}

absl::StatusOr<WriteLogScanner::Event> WriteLogScanner::Next() {
  position_ += std::exchange(frame_bytes_, 0);
  ASSIGN_OR_RETURN(const size_t got, Fill(kWriteLogFrameHeaderBytes));
  if (got == 0) return Event::kEnd;
  if (got < kWriteLogFrameHeaderBytes) {
    return Broken(Event::kCutOff, "a frame is cut off", 0);
  }
  ASSIGN_OR_RETURN(const Event event, ParseFrame());
  if (event == Event::kFrame) {
    frame_bytes_ = kWriteLogFrameHeaderBytes + frame_.payload_bytes;
  }
  return event;
}

absl::StatusOr<WriteLogScanner::Event> WriteLogScanner::ParseFrame() {
  const std::optional<WriteLogFrameHeader> header =
      DecodeWriteLogFrameHeader(rest(), *id_, offset());
  if (!header.has_value()) {
    return Broken(Event::kDamaged, "the bytes are no frame", 1);
  }
  if (header->kind == WriteLogFrameKind::kRecord &&
      header->payload_bytes > record_bytes_max_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a write log record is over the limit: file=",
        ToAbsl(Quote(path_, 1024)), " offset=", offset(),
        " bytes=", header->payload_bytes, " bytes_max=", record_bytes_max_));
  }
  const size_t bytes = kWriteLogFrameHeaderBytes + header->payload_bytes;
  ASSIGN_OR_RETURN(const size_t got, Fill(bytes));
  if (got < bytes) return Broken(Event::kCutOff, "a frame is cut off", 0);
  frame_ = *header;
  if (Crc32c(payload()) != header->payload_crc &&
      !SeededBug("write_log_checksum_ignored")) {
    return Broken(Event::kDamaged, "checksum mismatch", bytes);
  }
  return Event::kFrame;
}

absl::StatusOr<bool> WriteLogScanner::FindIntact() {
  position_ += std::exchange(broken_bytes_, 0);
  while (id_.has_value()) {
    ASSIGN_OR_RETURN(const size_t got, Fill(kWriteLogFrameHeaderBytes));
    if (got < kWriteLogFrameHeaderBytes) break;
    const size_t at = rest().find(kWriteLogFrameByte);
    position_ = at == std::string_view::npos ? filled_ : position_ + at;
    if (at != 0) continue;
    ASSIGN_OR_RETURN(const Event event, ParseFrame());
    if (event == Event::kFrame) return true;
    if (event == Event::kCutOff) break;
    position_ += std::exchange(broken_bytes_, 0);
  }
  RETURN_IF_ERROR(SkipToEnd().status());
  return false;
}

absl::StatusOr<uint64_t> WriteLogScanner::SkipToEnd() {
  while (true) {
    position_ = filled_;
    ASSIGN_OR_RETURN(const size_t got, Fill(1));
    if (got == 0) return offset();
  }
}

WriteLogScanner::Event WriteLogScanner::Broken(Event event,
                                               std::string_view reason,
                                               size_t bytes) {
  reason_ = reason;
  broken_bytes_ = bytes;
  return event;
}

absl::StatusOr<size_t> WriteLogScanner::Fill(size_t n) {
  if (filled_ - position_ >= n) return n;
  std::memmove(buffer_.data(), buffer_.data() + position_, filled_ - position_);
  buffer_offset_ += position_;
  filled_ -= position_;
  position_ = 0;
  while (filled_ < n && !at_end_) {
    if (filled_ == buffer_.size()) {
      buffer_.resize(
          std::min(std::max(n, kReadBytes), std::max(2 * filled_, kReadBytes)));
    }
    ASSIGN_OR_RETURN(const size_t got, file_->Read(buffer_.size() - filled_,
                                                   buffer_.data() + filled_));
    at_end_ = got == 0;
    filled_ += got;
  }
  return std::min(n, filled_);
}

}  // namespace dovetail
