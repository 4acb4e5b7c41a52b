// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/entry_readers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

constexpr std::string_view kNull = "\\N";

absl::Status At(const absl::Status& cause, uint64_t line, size_t byte) {
  return absl::InvalidArgumentError(
      absl::StrCat(cause.message(), ": line=", line, " byte=", byte));
}

}  // namespace

LineChangeReader::LineChangeReader(DecodeFunction decode, ReadFunction read,
                                   const ChangeReaderOptions& options)
    : decode_(decode),
      limits_{options.depth_max, options.entry_values_max},
      source_(std::move(read)),
      lines_(&source_, options.entry_bytes_max) {}

absl::Status LineChangeReader::Start() { return lines_.Start(); }

absl::Status LineChangeReader::SkipLines(uint64_t lines) {
  return lines_.SkipLines(lines);
}

absl::StatusOr<bool> LineChangeReader::Next(ChangeEntry* entry) {
  *entry = ChangeEntry();
  const absl::StatusOr<bool> more = lines_.Next();
  entry->line = entry->last_line = lines_.line();
  entry->offset = lines_.offset();
  if (absl::IsInvalidArgument(more.status())) {
    return At(more.status(), entry->line, 0);
  }
  if (!more.ok() || !*more) return more;
  Line line(lines_.text(), limits_);
  const absl::Status status = decode_(&line, &entry->changes);
  if (status.ok()) return true;
  entry->changes.clear();
  return At(status, entry->line, line.at());
}

CsvChangeReader::CsvChangeReader(ReadFunction read,
                                 const ChangeReaderOptions& options)
    : source_(std::move(read)),
      csv_(&source_,
           CsvOptions{
               .delimiter = options.delimiter,
               .row_bytes_max = options.entry_bytes_max,
               .columns_max = std::min<size_t>(4096, options.entry_values_max),
           }) {}

absl::Status CsvChangeReader::Start() {
  const absl::Status status = csv_.ReadHeader();
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(), ": line=", csv_.error_position().line,
                   " column=", csv_.error_position().column));
}

absl::Status CsvChangeReader::SkipLines(uint64_t lines) {
  return csv_.SkipLines(lines);
}

absl::StatusOr<bool> CsvChangeReader::Next(ChangeEntry* entry) {
  *entry = ChangeEntry();
  const absl::StatusOr<bool> more = csv_.Next();
  entry->line = csv_.line();
  entry->last_line = csv_.last_line();
  entry->offset = csv_.offset();
  if (absl::IsInvalidArgument(more.status())) {
    return absl::InvalidArgumentError(absl::StrCat(
        more.status().message(), ": line=", csv_.error_position().line,
        " column=", csv_.error_position().column));
  }
  if (!more.ok() || !*more) return more;
  ForeignValue& row = entry->changes.emplace_back().after.emplace();
  row.kind = ForeignValue::Kind::kObject;
  row.members.resize(csv_.fields().size());
  for (size_t i = 0; i < row.members.size(); ++i) {
    ForeignValue& member = row.members[i];
    member.name = csv_.header()[i];
    member.name_at = member.at = csv_.FieldAt(i);
    if (csv_.fields()[i] == kNull) continue;
    member.kind = ForeignValue::Kind::kString;
    member.text = std::string(csv_.fields()[i]);
  }
  return true;
}

}  // namespace dovetail::changes
