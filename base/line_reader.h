// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// JSON Lines: one object per line. The reader hands out lines; ScanJsonObject
// checks one and takes it apart at its top level, keeping numbers as they are
// written, so that no 64-bit number goes through a double.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/byte_source.h"

namespace dovetail::cli {

struct JsonMember {
  enum class Kind { kNull, kBool, kNumber, kString, kNested };
  std::string key;
  Kind kind = Kind::kNull;
  // A string's value, a number's or bool's text, a nested value's JSON.
  std::string text;
  size_t key_at = 0;  // Byte offsets in the line.
  size_t value_at = 0;
};

// The members of the object that `json` is, in order. InvalidArgument if it
// is not one JSON object (RFC 8259), names a key twice, or nests deeper than
// 100; `*error_at` is then the byte offset of the fault.
absl::StatusOr<std::vector<JsonMember>> ScanJsonObject(std::string_view json,
                                                       size_t* error_at);

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

 private:
  absl::StatusOr<bool> ReadLine();

  ByteSource* source_;
  const size_t line_bytes_max_;
  std::string_view text_;
  std::string cut_text_;   // text_ of a line too long.
  size_t line_bytes_ = 0;  // To consume before the next line.
  uint64_t line_ = 0;
};

}  // namespace dovetail::cli
