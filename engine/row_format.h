// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The values of rows and of the commit mark. docs/format.md specifies both.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/write_batch.h"

namespace dovetail {

// The version of everything on disk; a database of another one is refused.
// 2 is 1 with digests, which a program that knows only 1 would not keep up.
inline constexpr uint32_t kFormatVersion = 1;
inline constexpr uint32_t kFormatVersionWithDigests = 2;
// With or without digests: some index is of a kind that version 1 has not.
inline constexpr uint32_t kFormatVersionWithIndexKinds = 3;

// A row's value: one byte of format and flags, the sequence of the request
// that wrote it as a varint, then the record as it was written.
struct StoredRow {
  SequenceNumber version;
  std::string_view record;  // Views the value.
};
std::string EncodeRow(SequenceNumber version, std::string_view record);
// DataLoss if the value is no row of this format.
absl::StatusOr<StoredRow> DecodeRow(std::string_view value);

// Written with every commit: its sequence, and up to which sequence commits
// were known to be on stable storage when it was made. A break in the log at
// or below that is damage, not a tail that was never synced.
//
// In a database that records also up to which sequence the write log was on
// stable storage by then; absent if the commit was made without recording.
struct CommitMark {
  SequenceNumber sequence{};
  SequenceNumber synced{};
  std::optional<SequenceNumber> recorded = std::nullopt;
  std::string digests = {};  // As DigestKeeper has them; empty: none.
};
std::string EncodeMark(const CommitMark& mark);
// DataLoss if the value is no mark of this format.
absl::StatusOr<CommitMark> DecodeMark(std::string_view value);

}  // namespace dovetail
