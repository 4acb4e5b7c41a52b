// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Takes one file of a write log apart into frames. It says what stands at a
// place, not what that means: whether a break is the end of the log or damage
// depends on the files around it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "engine/write_log_format.h"

namespace dovetail {

// Thread-compatible. Holds one frame in memory; memory grows with the bytes
// that are there, never with a length that the file claims.
class WriteLogScanner {
 public:
  enum class Event {
    kFrame,
    kEnd,      // Of the file, behind the last frame.
    kCutOff,   // The file ends within a frame, or the preamble.
    kDamaged,  // The bytes here are no frame, or no preamble.
  };

  // From the beginning of `file`; ReadPreamble is the first call. `path` is
  // for messages. A record larger than `record_bytes_max` is an error.
  WriteLogScanner(std::unique_ptr<SequentialFile> file, std::string path,
                  size_t record_bytes_max);
  // From a frame's beginning: `file` stands at `offset`, its id is known.
  WriteLogScanner(std::unique_ptr<SequentialFile> file, std::string path,
                  size_t record_bytes_max, const WriteLogFileId& id,
                  uint64_t offset);

  // kFrame if the file begins with a preamble of the known version. After
  // kDamaged the id may be known nevertheless, from the frame behind it.
  // FailedPrecondition if the version is not known.
  absl::StatusOr<Event> ReadPreamble();

  // The next frame. After any other event FindIntact or SkipToEnd is to be
  // called. ResourceExhausted if the record is too large.
  // REQUIRES: the id is known.
  absl::StatusOr<Event> Next();

  // After kDamaged: goes to the next whole frame behind that place, which Next
  // then returns. False, at the end of the file, if there is none.
  absl::StatusOr<bool> FindIntact();

  // Goes to the end of the file, and returns its offset.
  absl::StatusOr<uint64_t> SkipToEnd();

  // After kFrame, until the next call.
  const WriteLogFrameHeader& frame() const { return frame_; }
  std::string_view payload() const {
    return rest().substr(kWriteLogFrameHeaderBytes, frame_.payload_bytes);
  }
  // Behind it.
  uint64_t end() const { return offset() + frame_bytes_; }

  // Where the thing of the last Next begins; after FindIntact, the frame.
  uint64_t offset() const { return buffer_offset_ + position_; }
  // After kCutOff and kDamaged: what is wrong there.
  std::string_view reason() const { return reason_; }
  const std::optional<WriteLogFileId>& id() const { return id_; }

 private:
  // Makes `n` bytes available at position_, fewer only at the end of the file;
  // returns how many.
  absl::StatusOr<size_t> Fill(size_t n);
  // What stands at position_, where at least a frame header is available.
  absl::StatusOr<Event> ParseFrame();
  // The id from the header frame behind a damaged preamble, if that is whole.
  absl::StatusOr<std::optional<WriteLogFileId>> IdBehindPreamble();
  // Whether nothing but zeros is left; what was looked at is consumed.
  absl::StatusOr<bool> OnlyZerosLeft();
  Event Broken(Event event, std::string_view reason, size_t bytes);

  std::string_view rest() const {
    return std::string_view(buffer_).substr(position_, filled_ - position_);
  }

  const std::unique_ptr<SequentialFile> file_;
  const std::string path_;
  const size_t record_bytes_max_;

  std::optional<WriteLogFileId> id_;
  std::string buffer_;          // The first filled_ bytes are the file's.
  uint64_t buffer_offset_ = 0;  // Of buffer_ in the file.
  size_t position_ = 0;         // In buffer_.
  size_t filled_ = 0;
  bool at_end_ = false;

  WriteLogFrameHeader frame_ = {};
  size_t frame_bytes_ = 0;   // Of the frame that Next returned.
  size_t broken_bytes_ = 0;  // What FindIntact need not look at again.
  std::string_view reason_;
};

}  // namespace dovetail
