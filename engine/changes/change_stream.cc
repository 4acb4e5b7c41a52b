// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/change_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/changes/entry_readers.h"
#include "engine/changes/hbase_wal.h"

namespace dovetail {
namespace {

struct FormatName {
  std::string_view name;
  ChangeFormat format;
};
constexpr FormatName kFormats[] = {
    {"jsonl", ChangeFormat::kJsonLines},
    {"csv", ChangeFormat::kCsv},
    {"debezium", ChangeFormat::kDebezium},
    {"canal", ChangeFormat::kCanal},
    {"maxwell", ChangeFormat::kMaxwell},
    {"hbase-wal", ChangeFormat::kHBaseWal},
};

template <typename Reader, typename... Args>
absl::StatusOr<std::unique_ptr<ChangeReader>> Started(Args&&... args) {
  auto reader = std::make_unique<Reader>(std::forward<Args>(args)...);
  RETURN_IF_ERROR(reader->Start());
  return std::unique_ptr<ChangeReader>(std::move(reader));
}

}  // namespace

const ForeignValue* ForeignValue::Find(std::string_view member) const {
  if (kind != Kind::kObject) return nullptr;
  for (const ForeignValue& candidate : members) {
    if (candidate.name == member) return &candidate;
  }
  return nullptr;
}

std::string_view ChangeKindName(ChangeKind kind) {
  static constexpr std::string_view kNames[kChangeKinds] = {
      "insert",    "read",        "update",    "delete",    "put",
      "merge",     "truncate",    "tombstone", "key alone", "schema change",
      "statement", "transaction", "heartbeat", "message",   "internal",
  };
  return kNames[static_cast<int>(kind)];
}

std::string_view EffectName(ChangeOutcome::Effect effect) {
  switch (effect) {
    case ChangeOutcome::Effect::kPut:
      return "put";
    case ChangeOutcome::Effect::kUpdate:
      return "update";
    case ChangeOutcome::Effect::kMove:
      return "move";
    case ChangeOutcome::Effect::kDelete:
      return "delete";
    case ChangeOutcome::Effect::kSkipped:
      break;
  }
  return "skipped";
}

absl::StatusOr<ChangeFormat> ParseChangeFormat(std::string_view name) {
  std::string known;
  for (const FormatName& format : kFormats) {
    if (format.name == name) return format.format;
    absl::StrAppend(&known, known.empty() ? "" : ",", ToAbsl(format.name));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no such format: format=", ToAbsl(Quote(name)), " formats=", known));
}

absl::StatusOr<std::unique_ptr<ChangeReader>> ChangeReader::Open(
    ChangeFormat format, ReadFunction read,
    const ChangeReaderOptions& options) {
  using changes::LineChangeReader;
  switch (format) {
    case ChangeFormat::kJsonLines:
      return Started<LineChangeReader>(changes::DecodeJsonLine, std::move(read),
                                       options);
    case ChangeFormat::kCsv:
      return Started<changes::CsvChangeReader>(std::move(read), options);
    case ChangeFormat::kDebezium:
      return Started<LineChangeReader>(changes::DecodeDebezium, std::move(read),
                                       options);
    case ChangeFormat::kCanal:
      return Started<LineChangeReader>(changes::DecodeCanal, std::move(read),
                                       options);
    case ChangeFormat::kMaxwell:
      return Started<LineChangeReader>(changes::DecodeMaxwell, std::move(read),
                                       options);
    case ChangeFormat::kHBaseWal:
      return Started<changes::HBaseWalReader>(std::move(read), options);
  }
  return absl::InvalidArgumentError("no such format");
}

}  // namespace dovetail
