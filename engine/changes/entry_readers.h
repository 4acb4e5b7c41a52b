// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The readers of formats whose entries are lines, and of CSV.

#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/byte_source.h"
#include "base/csv_reader.h"
#include "base/json.h"
#include "base/line_reader.h"
#include "dovetail/change_stream.h"
#include "engine/changes/decoder.h"

namespace dovetail::changes {

class LineChangeReader final : public ChangeReader {
 public:
  LineChangeReader(DecodeFunction decode, ReadFunction read,
                   const ChangeReaderOptions& options);

  // Reads the beginning; see ChangeReader::Open.
  absl::Status Start();
  absl::Status SkipLines(uint64_t lines) override;
  absl::StatusOr<bool> Next(ChangeEntry* entry) override;
  std::string_view raw() const override { return lines_.text(); }

 private:
  const DecodeFunction decode_;
  const JsonLimits limits_;
  ByteSource source_;
  LineReader lines_;
};

// Rows of CSV, each a kPut; the text \N is null.
class CsvChangeReader final : public ChangeReader {
 public:
  CsvChangeReader(ReadFunction read, const ChangeReaderOptions& options);

  // Reads the header; see ChangeReader::Open.
  absl::Status Start();
  absl::Status SkipLines(uint64_t lines) override;
  absl::StatusOr<bool> Next(ChangeEntry* entry) override;
  std::string_view raw() const override { return csv_.raw(); }

 private:
  ByteSource source_;
  CsvReader csv_;
};

}  // namespace dovetail::changes
