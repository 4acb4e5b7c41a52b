// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The lines of a text, with a bound on their length.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/byte_source.h"

namespace dovetail {

// Thread-compatible.
class LineReader {
 public:
  // `source` must outlive the reader.
  LineReader(ByteSource* source, size_t line_bytes_max = 8 << 20);

  // InvalidArgument if the input is not plain text.
  absl::Status Start();
  // Moves to the line behind the first `lines` ones.
  absl::Status SkipLines(uint64_t lines);
  // Reads the next line that is not blank; false at the end. InvalidArgument:
  // the line is too long, and the next call goes on behind it. Any other
  // error is one of reading.
  absl::StatusOr<bool> Next();

  // Without the line end; of a line too long its first 64 KiB. Valid until
  // the next call.
  std::string_view text() const { return text_; }
  uint64_t line() const { return line_; }
  // Of the line's first byte in the input.
  uint64_t offset() const { return offset_; }

 private:
  absl::StatusOr<bool> ReadLine();

  ByteSource* source_;
  const size_t line_bytes_max_;
  std::string_view text_;
  std::string cut_text_;   // text_ of a line too long.
  size_t line_bytes_ = 0;  // To consume before the next line.
  uint64_t line_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace dovetail
