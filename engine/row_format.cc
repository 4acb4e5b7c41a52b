// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/row_format.h"

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/seeded_bug.h"

namespace dovetail {
namespace {

// Low half: the format of the row. High half: flags, of which 0x10 is reserved
// for rows whose record is in a cold store.
constexpr char kRowFormat = 0x01;
constexpr char kMarkFormat = 0x01;
constexpr char kMarkWithDigestsFormat = 0x02;

}  // namespace

std::string EncodeRow(SequenceNumber version, std::string_view record) {
  std::string value;
  value.reserve(record.size() + 11);
  value.push_back(kRowFormat);
  AppendVarint(static_cast<uint64_t>(version), &value);
  value.append(record);
  return value;
}

absl::StatusOr<StoredRow> DecodeRow(std::string_view value) {
  if (value.empty() ||
      (value[0] != kRowFormat && !SeededBug("row_format_not_checked"))) {
    return absl::DataLossError(absl::StrCat(
        "row has an unknown format: first_byte=",
        value.empty() ? -1 : static_cast<int>(static_cast<uint8_t>(value[0]))));
  }
  value.remove_prefix(1);
  uint64_t version = 0;
  if (!ConsumeVarint(&value, &version)) {
    return absl::DataLossError("row header is cut off");
  }
  return StoredRow{SequenceNumber{version}, value};
}

std::string EncodeMark(const CommitMark& mark) {
  std::string value;
  value.reserve(1 + 3 * 10 + mark.digests.size());
  value.push_back(mark.digests.empty() ? kMarkFormat : kMarkWithDigestsFormat);
  AppendVarint(static_cast<uint64_t>(mark.sequence), &value);
  AppendVarint(static_cast<uint64_t>(mark.synced), &value);
  if (mark.digests.empty()) {
    if (mark.recorded.has_value()) {
      AppendVarint(static_cast<uint64_t>(*mark.recorded), &value);
    }
    return value;
  }
  AppendVarint(
      mark.recorded.has_value() ? static_cast<uint64_t>(*mark.recorded) + 1 : 0,
      &value);
  value.append(mark.digests);
  return value;
}

absl::StatusOr<CommitMark> DecodeMark(std::string_view value) {
  uint64_t sequence = 0;
  uint64_t synced = 0;
  uint64_t recorded = 0;
  const char format = value.empty() ? '\0' : value[0];
  const bool known = format == kMarkFormat || format == kMarkWithDigestsFormat;
  if (known) value.remove_prefix(1);
  if (!known || !ConsumeVarint(&value, &sequence) ||
      !ConsumeVarint(&value, &synced)) {
    return absl::DataLossError("commit mark is not of a known format");
  }
  CommitMark mark{SequenceNumber{sequence}, SequenceNumber{synced}};
  if (format == kMarkFormat && value.empty()) return mark;
  if (!ConsumeVarint(&value, &recorded)) {
    return absl::DataLossError("commit mark is cut off");
  }
  if (format == kMarkFormat) {
    mark.recorded = SequenceNumber{recorded};
    return mark;
  }
  if (recorded > 0) mark.recorded = SequenceNumber{recorded - 1};
  mark.digests = std::string(value);
  return mark;
}

}  // namespace dovetail
