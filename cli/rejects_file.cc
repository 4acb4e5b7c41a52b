// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/rejects_file.h"

#include <sys/stat.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/field_path.h"
#include "cli/output.h"

namespace dovetail::cli {

RejectsFile::~RejectsFile() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status RejectsFile::Open(const std::string& path) {
  path_ = path;
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size > 0) {
    return UsageError(absl::StrCat(
        "the rejects file exists and is not empty; name another: path=",
        ToAbsl(Quote(path, 1024))));
  }
  file_ = std::fopen(path.c_str(), "we");
  return file_ == nullptr ? Failure("cannot create the rejects file")
                          : absl::OkStatus();
}

absl::Status RejectsFile::Add(TextPosition at, std::string_view cause,
                              std::string_view raw) {
  std::string line = absl::StrCat(
      "{\"line\":", at.line, ",\"column\":", at.column,
      ",\"cause\":", JsonQuote(cause), ",\"text\":", JsonQuote(raw));
  if (!IsUtf8(raw)) {
    absl::StrAppend(&line, ",\"base64\":\"", absl::Base64Escape(ToAbsl(raw)),
                    "\"");
  }
  line += "}\n";
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) {
    return Failure("cannot write the rejects file");
  }
  return {};
}

absl::Status RejectsFile::Close() {
  if (file_ == nullptr) return {};
  FILE* file = std::exchange(file_, nullptr);
  return std::fclose(file) == 0 ? absl::OkStatus()
                                : Failure("cannot write the rejects file");
}

absl::Status RejectsFile::Failure(std::string_view doing) const {
  return absl::UnknownError(
      absl::StrCat(ToAbsl(doing), ": path=", ToAbsl(Quote(path_, 1024))));
}

}  // namespace dovetail::cli
