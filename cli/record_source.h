// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Records out of a file of rows, one at a time, each with its place: what
// import reads, whatever the file's format.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/byte_source.h"
#include "base/text_position.h"
#include "cli/column_map.h"
#include "dovetail/dynamic_table.h"

namespace dovetail::cli {

enum class InputFormat { kCsv, kJsonLines };

struct RecordSourceOptions {
  InputFormat format = InputFormat::kCsv;
  char delimiter = ',';
  uint64_t skip_lines = 0;  // Lines of the input, a CSV header included.
  ColumnMapOptions map;
};

// Thread-compatible.
class RecordSource {
 public:
  // Reads up to the first record. `table` must outlive the source. The error
  // of a CSV header is preceded by `file` and its place.
  static absl::StatusOr<std::unique_ptr<RecordSource>> Open(
      const DynamicTable* table, ByteSource source,
      const RecordSourceOptions& options, std::string_view file);

  virtual ~RecordSource() = default;
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;

  // Reads the next record, serialized; false at the end. InvalidArgument: the
  // row is no record, the message names column and cause, and the next call
  // goes on behind it. Any other error is one of reading.
  virtual absl::StatusOr<bool> Next(std::string* record) = 0;

  // Of the row just read, good or bad.
  virtual uint64_t last_line() const = 0;
  virtual std::string_view raw() const = 0;
  TextPosition position() const { return position_; }

  // Columns of the file that fill no field.
  const std::vector<std::string>& unused_columns() const { return unused_; }

 protected:
  RecordSource() = default;

  TextPosition position_;  // Where the row begins or is wrong.
  std::vector<std::string> unused_;
};

}  // namespace dovetail::cli
