// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the command prints. Data goes to standard output: a box on a
// terminal, tab-separated text in a pipe, JSON, one object a line, if asked
// for. Everything else, progress included, goes to standard error.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/dynamic_table.h"

namespace dovetail::cli {

enum class OutputFormat { kBox, kTsv, kJson };

struct OutputOptions {
  std::string format;  // "box", "tsv", "json"; empty: by the terminal.
  bool json = false;
  bool quiet = false;     // No notes, no progress; errors still.
  bool progress = false;  // Also where standard error is no terminal.
};

// How this process prints, from its terminals and environment.
struct Console {
  static Console Detect(const OutputOptions& options);

  OutputFormat format = OutputFormat::kTsv;
  bool quiet = false;
  bool color_out = false;
  bool color_err = false;
  bool progress = false;  // Standard error is a terminal, or asked for.
  bool progress_on_terminal = false;
};

// One line on standard error, unless quiet.
void Note(const Console& console, std::string_view text);
// "dovetail: MESSAGE" on standard error.
void PrintError(const Console& console, const absl::Status& status);
// Bytes on standard output. A failure shows in FlushOutput.
void Print(std::string_view text);
// Unknown if standard output could not take it all, for example on a full
// disk.
absl::Status FlushOutput();

// A table of text. Numbers stand to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  // REQUIRES: one cell per column.
  void Add(std::vector<std::string> row);

  size_t rows() const { return rows_.size(); }
  void Drop(size_t column);
  // Drops a column whose cells are all empty or "0".
  void DropIfBlank(size_t column);
  // A box, UTF-8, with a bold header if colored; control bytes as \xNN.
  std::string Box(bool color) const;
  // A header line unless told otherwise, then one line per row; tab, line end
  // and backslash as \t, \n, \\, other control bytes as \xNN.
  std::string Tsv(bool header = true) const;
  // One object a line: each cell a string, or, in a column of `numbers`, a
  // number (null if empty).
  std::string Json(const std::vector<std::string>& numbers = {}) const;
  // By the console's format.
  std::string Text(const Console& console,
                   const std::vector<std::string>& numbers = {}) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// A JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
std::string JsonQuote(std::string_view text);

// Rows as a table: one column per field of the record.
absl::StatusOr<TextTable> RowsTable(const DynamicTable& table,
                                    const std::vector<Row>& rows, bool box);
// Rows as JSON, a record a line.
absl::StatusOr<std::string> RowsJson(const DynamicTable& table,
                                     const std::vector<Row>& rows);

// To print.
inline uint64_t Number(SequenceNumber sequence) {
  return static_cast<uint64_t>(sequence);
}

// "1,234,567", "12.3 MiB", "1.52 s" or "0.31 ms".
std::string CountText(uint64_t count);
std::string BytesText(uint64_t bytes);
std::string DurationText(int64_t micros);

}  // namespace dovetail::cli
