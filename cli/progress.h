// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#pragma once

#include <cstdint>
#include <string_view>

#include "cli/output.h"

namespace dovetail::cli {

// A line on standard error that is rewritten once a second; where that is no
// terminal, one line after the other. Draws nothing if the console shows no
// progress. Thread-compatible.
class Progress {
 public:
  explicit Progress(const Console& console);
  ~Progress();  // Wipes the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool shown() const { return shown_; }
  // Shows "LABEL: DONE UNIT, N/s" if a second has passed. With a `total` that
  // is not 0 there is a bar, and how long it will take at this rate.
  void Update(std::string_view label, uint64_t done, uint64_t total,
              std::string_view unit);
  void Wipe();
  int64_t micros() const;  // Since construction.

 private:
  const bool shown_;
  const bool terminal_;
  const int64_t start_;
  int64_t last_draw_;
  uint64_t last_done_ = 0;
  bool drawn_ = false;
};

}  // namespace dovetail::cli
