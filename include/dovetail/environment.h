// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The outside world as the engine sees it: time and randomness. Both come in
// through Options, so that tests and replays decide what they are.

#pragma once

#include <cstdint>

namespace dovetail {

// A source of time. Thread-safe. Must outlive every engine that uses it.
class Clock {
 public:
  virtual ~Clock() = default;

  // Microseconds since 1970-01-01T00:00:00Z. May step back.
  virtual int64_t NowMicros() = 0;
  // Microseconds from an arbitrary origin. Never steps back.
  virtual int64_t MonotonicMicros() = 0;

  // The machine's clock; lives as long as the process.
  static Clock* System();
};

// A source of random numbers, for salts. Thread-safe. Must outlive every
// engine that uses it.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual uint64_t Next64() = 0;

  // Seeded from the operating system; lives as long as the process.
  static RandomSource* System();
};

}  // namespace dovetail
