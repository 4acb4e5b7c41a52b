// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where to cut a table's row keys, as one word of the command line, and keys
// as they are printed.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/output.h"

namespace dovetail::cli {

inline constexpr char kRegionSpecHelp[] =
    "uniform:N over all bytes, hex:N over 8 hexadecimal digits, "
    "decimal:N:DIGITS, sample:N with equally many rows each, or file:FILE with "
    "a key a line";

struct RegionSpec {
  enum Kind { kUniform, kHex, kDecimal, kSample, kFile };
  Kind kind = kSample;
  size_t regions = 0;
  size_t digits = 0;  // kDecimal
  std::string path;   // kFile
};

// UsageError says what is wrong.
absl::StatusOr<RegionSpec> ParseRegionSpec(std::string_view text);

// The keys, unless they are to be sampled. REQUIRES: kind != kSample.
absl::StatusOr<std::vector<std::string>> SplitKeys(const RegionSpec& spec);

// Printable ASCII as it is, blanks and other bytes as \xNN, a backslash twice:
// Unescape of database.h reads it.
std::string KeyBytesText(std::string_view key);

// The text of a table that has such keys in its cells. They are escaped as TSV
// wants it already: a key stands in the line as KEY takes it.
std::string TextWithKeys(const TextTable& table, const Console& console,
                         const std::vector<std::string>& numbers);

}  // namespace dovetail::cli
