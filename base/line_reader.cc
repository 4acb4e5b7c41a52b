// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/line_reader.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dovetail {
namespace {

constexpr size_t kCutMax = 64 << 10;

}  // namespace

LineReader::LineReader(ByteSource* source, size_t line_bytes_max)
    : source_(source), line_bytes_max_(line_bytes_max) {}

absl::Status LineReader::Start() { return source_->CheckText(); }

absl::Status LineReader::SkipLines(uint64_t lines) {
  while (line_ < lines) {
    absl::StatusOr<bool> line = ReadLine();
    if (!line.ok() && !absl::IsInvalidArgument(line.status())) {
      return line.status();
    }
    if (line.ok() && !*line) break;
  }
  return {};
}

absl::StatusOr<bool> LineReader::Next() {
  for (;;) {
    ASSIGN_OR_RETURN(const bool got, ReadLine());
    if (!got) return false;
    if (text_.find_first_not_of(" \t") != std::string_view::npos) return true;
  }
}

absl::StatusOr<bool> LineReader::ReadLine() {
  source_->Consume(line_bytes_);
  line_bytes_ = 0;
  offset_ = source_->consumed();
  size_t searched = 0;
  bool too_long = false;
  for (;;) {
    const std::string_view data = source_->data();
    const size_t end = data.find('\n', searched);
    const bool found = end != std::string_view::npos;
    searched = found ? end : data.size();
    if (!too_long && searched > line_bytes_max_) {
      too_long = true;
      cut_text_.assign(data.substr(0, kCutMax));
    }
    if (found) {
      line_bytes_ = end + 1;
      break;
    }
    if (too_long) {  // Nothing of the rest is kept.
      source_->Consume(data.size());
      searched = 0;
    }
    ASSIGN_OR_RETURN(const bool more, source_->More());
    if (more) continue;
    line_bytes_ = searched;
    if (searched == 0 && !too_long) return false;
    break;
  }
  ++line_;
  if (too_long) {
    text_ = cut_text_;
    return absl::InvalidArgumentError(
        absl::StrCat("a line of more than ", line_bytes_max_, " bytes"));
  }
  text_ = source_->data().substr(0, searched);
  if (text_.ends_with('\r')) text_.remove_suffix(1);
  return true;
}

}  // namespace dovetail
