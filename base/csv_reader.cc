// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The row being parsed stays in the source's buffer, at its front, until the
// next call: places are counted from it only when an error needs one, and a
// malformed row can be left at the end of its first line.

#include "base/csv_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

constexpr size_t kBadRawMax = 64 << 10;

}  // namespace

CsvReader::CsvReader(ByteSource* source, CsvOptions options)
    : source_(source), options_(options) {}

absl::Status CsvReader::ReadHeader() {
  RETURN_IF_ERROR(source_->CheckText());
  absl::StatusOr<bool> row = Next();
  RETURN_IF_ERROR(row.status());
  if (!*row) {
    error_position_ = {1, 1};
    return absl::InvalidArgumentError(
        "the file is empty; its first row must name the columns");
  }
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].empty()) {
      error_position_ = PositionOf(i);
      return absl::InvalidArgumentError(absl::StrCat(
          "column ", i + 1, " has no name; the first row must name them all"));
    }
  }
  header_.assign(fields_.begin(), fields_.end());
  return {};
}

absl::Status CsvReader::SkipLines(uint64_t lines) {
  ConsumeRow();
  while (next_line_ <= lines) {
    line_ = next_line_;
    if (Peek(0) < 0) return io_status_;
    RETURN_IF_ERROR(ConsumeLine());
  }
  return {};
}

absl::StatusOr<bool> CsvReader::Next() {
  ConsumeRow();
  if (header_.size() != 1) SkipEmptyLines();
  line_ = next_line_;
  if (Peek(0) < 0) {
    RETURN_IF_ERROR(io_status_);
    return false;
  }
  RETURN_IF_ERROR(ParseRow());
  fields_.clear();
  for (const Span& span : spans_) {
    fields_.push_back(
        std::string_view(text_).substr(span.begin, span.end - span.begin));
  }
  if (!header_.empty() && fields_.size() != header_.size()) {
    const bool more = fields_.size() > header_.size();
    return Malformed(
        more ? spans_[header_.size()].raw_begin : raw_bytes_,
        absl::StrCat("the row has ", fields_.size(), " fields, the header ",
                     header_.size(), " columns"));
  }
  const std::string_view row = source_->data().substr(0, raw_bytes_);
  next_line_ = line_ + 1 + std::count(row.begin(), row.end(), '\n');
  return true;
}

TextPosition CsvReader::PositionOf(size_t field) const {
  return PositionIn(source_->data(), spans_[field].raw_begin, line_);
}

std::string_view CsvReader::raw() const {
  return bad_ ? std::string_view(bad_raw_)
              : source_->data().substr(0, raw_bytes_);
}

int CsvReader::Peek(size_t pos) {
  while (pos >= source_->data().size()) {
    absl::StatusOr<bool> more = source_->More();
    if (!more.ok()) io_status_ = more.status();
    if (!more.ok() || !*more) return -1;
  }
  return static_cast<unsigned char>(source_->data()[pos]);
}

absl::Status CsvReader::ParseRow() {
  text_.clear();
  spans_.clear();
  size_t pos = 0;
  for (;;) {
    if (spans_.size() == options_.columns_max) {
      return Malformed(pos, absl::StrCat("the row has more than ",
                                         options_.columns_max, " fields"));
    }
    spans_.push_back({text_.size(), 0, pos});
    RETURN_IF_ERROR(Peek(pos) == '"' ? ParseQuoted(&pos) : ParseUnquoted(&pos));
    RETURN_IF_ERROR(io_status_);
    spans_.back().end = text_.size();
    const int c = Peek(pos);
    raw_bytes_ = pos;
    if (c == static_cast<unsigned char>(options_.delimiter)) {
      ++pos;
      continue;
    }
    RETURN_IF_ERROR(io_status_);
    row_bytes_ = pos + (c < 0 ? 0 : c == '\r' ? 2 : 1);
    return {};
  }
}

// From the opening quote to behind the closing one.
absl::Status CsvReader::ParseQuoted(size_t* pos) {
  const size_t open = (*pos)++;
  for (;;) {
    int c = Peek(*pos);
    if (c < 0) {
      RETURN_IF_ERROR(io_status_);
      return Malformed(open, "the quote opened here is never closed");
    }
    if (c == '"') {
      c = Peek(++*pos);
      if (c != '"') {
        const bool ends = c < 0 || c == '\n' ||
                          c == static_cast<unsigned char>(options_.delimiter) ||
                          (c == '\r' && Peek(*pos + 1) == '\n');
        if (ends) return io_status_;
        return Malformed(*pos,
                         "text behind a closing quote; a quote inside a "
                         "quoted field must be doubled");
      }
    }
    text_ += static_cast<char>(c);
    ++*pos;
    const size_t size = text_.size() - spans_.back().begin;
    if (size > options_.field_bytes_max || *pos > options_.row_bytes_max) {
      return Malformed(
          open,
          absl::StrCat("a quoted field of more than ", options_.field_bytes_max,
                       " bytes, or a quote that is never closed"));
    }
  }
}

// Up to the delimiter, the line end or the end of the input.
absl::Status CsvReader::ParseUnquoted(size_t* pos) {
  const size_t begin = *pos;
  for (;; ++*pos) {
    const int c = Peek(*pos);
    if (c < 0 || c == '\n' ||
        c == static_cast<unsigned char>(options_.delimiter)) {
      break;
    }
    if (c == '\r') {
      if (Peek(*pos + 1) == '\n') break;
      return Malformed(*pos,
                       "a carriage return alone; if all lines end in one, "
                       "convert the file with tr '\\r' '\\n'");
    }
    if (c == '"') {
      return Malformed(*pos,
                       "a quote inside an unquoted field; put the whole field "
                       "in quotes and double this one");
    }
    if (*pos - begin >= options_.field_bytes_max) {
      return Malformed(begin, absl::StrCat("a field of more than ",
                                           options_.field_bytes_max, " bytes"));
    }
    if (*pos >= options_.row_bytes_max) {
      return Malformed(0, absl::StrCat("a row of more than ",
                                       options_.row_bytes_max, " bytes"));
    }
  }
  RETURN_IF_ERROR(io_status_);
  text_.append(source_->data().substr(begin, *pos - begin));
  return {};
}

void CsvReader::SkipEmptyLines() {
  for (;;) {
    const int c = Peek(0);
    const size_t size = c == '\n' ? 1 : c == '\r' && Peek(1) == '\n' ? 2 : 0;
    if (size == 0) return;
    source_->Consume(size);
    ++next_line_;
  }
}

absl::Status CsvReader::Malformed(size_t pos, std::string_view cause) {
  error_position_ = PositionIn(source_->data(), pos, line_);
  bad_ = true;
  bad_raw_.clear();
  next_line_ = line_;
  RETURN_IF_ERROR(ConsumeLine());
  row_bytes_ = raw_bytes_ = 0;
  return absl::InvalidArgumentError(ToAbsl(cause));
}

absl::Status CsvReader::ConsumeLine() {
  for (;;) {
    const std::string_view data = source_->data();
    const size_t end = data.find('\n');
    const std::string_view line = data.substr(0, end);
    if (bad_ && bad_raw_.size() < kBadRawMax) {
      bad_raw_.append(line.substr(0, kBadRawMax - bad_raw_.size()));
    }
    if (end != std::string_view::npos) {
      source_->Consume(end + 1);
      break;
    }
    source_->Consume(data.size());
    if (Peek(0) < 0) break;
  }
  if (bad_ && bad_raw_.ends_with('\r')) bad_raw_.pop_back();
  ++next_line_;
  return io_status_;
}

void CsvReader::ConsumeRow() {
  source_->Consume(row_bytes_);
  row_bytes_ = raw_bytes_ = 0;
  bad_ = false;
}

}  // namespace dovetail
