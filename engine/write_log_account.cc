// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/write_log_account.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/write_log_directory.h"

namespace dovetail {

absl::Status WriteLogAccount::Arrive(uint64_t sequence, const std::string& path,
                                     uint64_t offset, std::string_view reason) {
  if (expected_ == 0) expected_ = sequence;
  if (sequence > expected_) {
    if (!damage_open_) RETURN_IF_ERROR(Damage(path, offset, 0, reason));
    report_.sequences_missing += sequence - expected_;
    if (report_.damage_count == report_.damage.size()) {
      report_.damage.back().first_missing = SequenceNumber{expected_};
      report_.damage.back().last_missing = SequenceNumber{sequence - 1};
    }
    expected_ = sequence;
  }
  damage_open_ = false;
  return absl::OkStatus();
}

absl::Status WriteLogAccount::Damage(const std::string& path, uint64_t offset,
                                     uint64_t bytes, std::string_view reason) {
  if (!skip_damaged_) {
    return absl::DataLossError(absl::StrCat(
        "the write log is damaged: reason=", ToAbsl(Quote(reason)), " file=",
        ToAbsl(Quote(path, 1024)), " offset=", offset, " due=", expected_));
  }
  damage_open_ = true;
  ++report_.damage_count;
  report_.damage_bytes += bytes;
  if (report_.damage_count <= WriteLogReadReport::kDamageKeptMax) {
    report_.damage.push_back({.file = WriteLogNameOf(path),
                              .offset = offset,
                              .bytes = bytes,
                              .reason = std::string(reason)});
  }
  return absl::OkStatus();
}

}  // namespace dovetail
