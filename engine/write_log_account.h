// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the reader of a write log has seen: which sequence is due, what was
// damaged, what is missing because of it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "dovetail/write_log.h"

namespace dovetail {

// Thread-compatible.
class WriteLogAccount {
 public:
  explicit WriteLogAccount(bool skip_damaged) : skip_damaged_(skip_damaged) {}

  // The sequence that is due; 0 before the first Arrive.
  uint64_t expected() const { return expected_; }

  // The next sequence in the log is `sequence`: those that were due before it
  // are missing, because of the damage before, or else for `reason`. Nothing
  // if it is due, or lower.
  absl::Status Arrive(uint64_t sequence, const std::string& path,
                      uint64_t offset, std::string_view reason);
  // The record that was due is passed or returned.
  void Pass() { ++expected_; }

  // DataLoss; or, if damage is to be skipped, an entry of the report.
  absl::Status Damage(const std::string& path, uint64_t offset, uint64_t bytes,
                      std::string_view reason);

  WriteLogReadReport& report() { return report_; }
  const WriteLogReadReport& report() const { return report_; }

 private:
  const bool skip_damaged_;
  uint64_t expected_ = 0;
  // It is not known yet what is missing because of the last damage.
  bool damage_open_ = false;
  WriteLogReadReport report_;
};

}  // namespace dovetail
