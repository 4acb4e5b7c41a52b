// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/write_log_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/write_log.h"
#include "index/utf8.h"

namespace dovetail {
namespace {

// What a header holds besides the schema, and more.
constexpr size_t kHeaderFieldsBytes = 64;

absl::Status CheckText(std::string_view field, const std::string& text) {
  if (IsValidUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a text in a write log record is not UTF-8: field=", ToAbsl(field),
      " text=", ToAbsl(Quote(text))));
}

}  // namespace

absl::Status CheckWriteLogBytes(uint64_t bytes, std::string_view what) {
  if (bytes <= kWriteLogRecordBytesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("too large for the write log: what=", ToAbsl(what),
                   " bytes=", bytes, " bytes_max=", kWriteLogRecordBytesMax));
}

absl::Status CheckWriteLogRecord(const v1::WriteLogRecord& record) {
  RETURN_IF_ERROR(CheckWriteLogBytes(record.ByteSizeLong(), "record"));
  for (const v1::RowEffect& effect : record.effects()) {
    RETURN_IF_ERROR(CheckText("effects.table", effect.table()));
    RETURN_IF_ERROR(CheckText("effects.added_by", effect.added_by()));
  }
  for (const std::string& annotation : record.annotations()) {
    RETURN_IF_ERROR(CheckText("annotations", annotation));
  }
  for (const v1::SpaceDigest& digest : record.digests()) {
    RETURN_IF_ERROR(CheckText("digests.table", digest.table()));
    RETURN_IF_ERROR(CheckText("digests.index", digest.index()));
  }
  return absl::OkStatus();
}

absl::Status CheckWriteLogSchema(const v1::Schema& schema) {
  return CheckWriteLogBytes(schema.ByteSizeLong() + kHeaderFieldsBytes,
                            "schema");
}

}  // namespace dovetail
