// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the options of `dovetail import` say, checked.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/import.h"
#include "cli/record_source.h"

namespace dovetail::cli {

// All three: UsageError.
absl::Status CheckImportOptions(const ImportOptions& options);
// What the options say, or else the name of the file.
absl::StatusOr<InputFormat> InputFormatOf(const ImportOptions& options);
// `text` is what --delimiter says; empty: by the name of the file.
absl::StatusOr<char> DelimiterOf(const std::string& text,
                                 const std::string& file);

}  // namespace dovetail::cli
