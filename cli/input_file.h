// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The files that the command reads; "-" is standard input.

#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "base/byte_source.h"

namespace dovetail::cli {

// Reads the file a piece at a time; it closes with the last copy of the
// function. The error names the path. Reading is Cancelled after an interrupt.
absl::StatusOr<ByteSource::ReadFunction> OpenInputFunction(
    const std::string& path);
absl::StatusOr<ByteSource> OpenInput(const std::string& path);

// All of a text file. InvalidArgument if it is not plain text, or larger than
// `bytes_max`.
absl::StatusOr<std::string> ReadAll(const std::string& path, size_t bytes_max);

}  // namespace dovetail::cli
