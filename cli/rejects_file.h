// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where `dovetail import` puts the lines that it leaves out.

#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/text_position.h"

namespace dovetail::cli {

// One JSON object per bad line. Raw bytes that are no UTF-8 come a second
// time in base64, so that nothing of them is lost. Thread-compatible.
class RejectsFile {
 public:
  RejectsFile() = default;
  ~RejectsFile();
  RejectsFile(const RejectsFile&) = delete;
  RejectsFile& operator=(const RejectsFile&) = delete;

  // UsageError if there is a file of that name that holds something.
  absl::Status Open(const std::string& path);
  bool is_open() const { return file_ != nullptr; }

  // REQUIRES: is_open().
  absl::Status Add(TextPosition at, std::string_view cause,
                   std::string_view raw);
  absl::Status Close();

 private:
  absl::Status Failure(std::string_view doing) const;

  std::string path_;
  FILE* file_ = nullptr;
};

}  // namespace dovetail::cli
