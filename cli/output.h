// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the command prints. Data goes to standard output: a box on a
// terminal, tab-separated text in a pipe, JSON if asked for. Everything else,
// progress included, goes to standard error.

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
  bool json = false;
  bool quiet = false;  // No notes, no progress; errors still.
};

// How this process prints, from its terminals and environment.
struct Console {
  static Console Detect(const OutputOptions& options);

  OutputFormat format = OutputFormat::kTsv;
  bool quiet = false;
  bool color_out = false;
  bool color_err = false;
  bool progress = false;  // Standard error is a terminal.
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
  // Drops a column whose cells are all empty or "0".
  void DropIfBlank(size_t column);
  // A box, UTF-8, with a bold header if colored; control bytes as \xNN.
  std::string Box(bool color) const;
  // A header line, then one line per row; tab, line end and backslash as \t,
  // \n, \\, other control bytes as \xNN.
  std::string Tsv() const;
  // Box or Tsv by the console's format.
  std::string Text(const Console& console) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// A JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
std::string JsonQuote(std::string_view text);

// Rows as a table: one column per field of the record.
absl::StatusOr<TextTable> RowsTable(const DynamicTable& table,
                                    const std::vector<Row>& rows, bool box);
// Rows as a JSON array of records.
absl::StatusOr<std::string> RowsJson(const DynamicTable& table,
                                     const std::vector<Row>& rows);

// "1,234,567", "12.3 MiB", "1.52 s" or "0.31 ms".
std::string CountText(uint64_t count);
std::string BytesText(uint64_t bytes);
std::string DurationText(int64_t micros);

// A line on a terminal's standard error that is rewritten once a second.
// Draws nothing if the console shows no progress. Thread-compatible.
class Progress {
 public:
  explicit Progress(const Console& console);
  ~Progress();  // Wipes the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows "LABEL: DONE UNIT, N/s" if a second has passed; `total` 0: unknown.
  void Update(std::string_view label, uint64_t done, uint64_t total,
              std::string_view unit);
  void Wipe();
  int64_t micros() const;  // Since construction.

 private:
  const bool shown_;
  const int64_t start_;
  int64_t last_draw_;
  uint64_t last_done_ = 0;
  bool drawn_ = false;
};

}  // namespace dovetail::cli
