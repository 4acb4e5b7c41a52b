// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <chrono>

#include "dovetail/environment.h"

namespace dovetail {
namespace {

class SystemClock final : public Clock {
 public:
  int64_t NowMicros() override {
    return Micros(std::chrono::system_clock::now().time_since_epoch());
  }
  int64_t MonotonicMicros() override {
    return Micros(std::chrono::steady_clock::now().time_since_epoch());
  }

 private:
  template <typename Duration>
  static int64_t Micros(Duration d) {
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  }
};

}  // namespace

Clock* Clock::System() {
  static SystemClock clock;
  return &clock;
}

}  // namespace dovetail
