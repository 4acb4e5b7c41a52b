// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// CSV as RFC 4180 has it: fields in quotes may hold delimiters, line ends and
// doubled quotes; lines end in LF or CRLF; the first row names the columns.
// Strict: what is not clearly one thing is an error with its place, never a
// guess. Streaming, with a bound on fields, rows and columns.
//
//   ByteSource source = ...;
//   CsvReader csv(&source, {});
//   RETURN_IF_ERROR(csv.ReadHeader());
//   for (;;) {
//     absl::StatusOr<bool> row = csv.Next();
//     if (!row.ok()) ...            // csv.error_position() says where
//     if (!*row) break;             // the end
//     Use(csv.fields(), csv.line());
//   }
//
// After a malformed row, reading goes on at the line behind the one on which
// that row began: a quote that is never closed costs one line, not the rest
// of the file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/byte_source.h"
#include "base/text_position.h"

namespace dovetail {

struct CsvOptions {
  char delimiter = ',';
  size_t field_bytes_max = 1 << 20;
  size_t row_bytes_max = 8 << 20;
  size_t columns_max = 4096;
};

// Thread-compatible.
class CsvReader {
 public:
  // `source` must outlive the reader.
  CsvReader(ByteSource* source, CsvOptions options);

  // Reads the row of column names. InvalidArgument if there is none, a name
  // is missing, or the input is not plain text.
  absl::Status ReadHeader();
  const std::vector<std::string>& header() const { return header_; }

  // Moves to the row behind the first `lines` lines of the input; those that
  // were read already count. Call after ReadHeader.
  absl::Status SkipLines(uint64_t lines);

  // Reads the next row; false at the end. Empty lines are skipped, unless
  // the file has one column. InvalidArgument: the row is malformed, and the
  // next call goes on behind it. Any other error is one of reading.
  absl::StatusOr<bool> Next();

  // The row just read, one field per column. Valid until the next call.
  const std::vector<std::string_view>& fields() const { return fields_; }
  // The lines the row, or the malformed row, is on; the first is 1.
  uint64_t line() const { return line_; }
  uint64_t last_line() const { return next_line_ - 1; }
  // Where the row begins, in bytes of the input.
  uint64_t offset() const { return source_->consumed(); }
  // Where a field of the row begins, in bytes of the row.
  size_t FieldAt(size_t field) const { return spans_[field].raw_begin; }
  // The same as an editor counts.
  TextPosition PositionOf(size_t field) const;
  // Where the malformed row is malformed.
  TextPosition error_position() const { return error_position_; }
  // The row as it is in the input, without its line end; of a malformed row
  // its first line, and of that at most 64 KiB.
  std::string_view raw() const;

 private:
  struct Span {
    size_t begin;  // In text_.
    size_t end;
    size_t raw_begin;  // In the source's data.
  };

  // The byte at `pos` of the source's data, or -1 at the end of the input
  // or on a read error, which io_status_ then holds.
  int Peek(size_t pos);
  absl::Status ParseRow();
  absl::Status ParseQuoted(size_t* pos);
  absl::Status ParseUnquoted(size_t* pos);
  // Consumes empty lines; a row of several columns is never empty.
  void SkipEmptyLines();
  // Records the place, moves behind the row's first line, returns the error.
  absl::Status Malformed(size_t pos, std::string_view cause);
  absl::Status ConsumeLine();
  void ConsumeRow();

  ByteSource* source_;
  const CsvOptions options_;

  std::vector<std::string> header_;
  std::string text_;  // Unquoted fields of the row, back to back.
  std::vector<Span> spans_;
  std::vector<std::string_view> fields_;
  size_t row_bytes_ = 0;  // The row in the source's data, line end included.
  size_t raw_bytes_ = 0;  // The same without it.
  std::string bad_raw_;   // raw() of a malformed row.
  bool bad_ = false;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
  TextPosition error_position_;
  absl::Status io_status_;
};

}  // namespace dovetail
