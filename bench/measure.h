// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Clocks and counters of this process.

#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace dovetail::bench {

using SteadyClock = std::chrono::steady_clock;

inline double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// What the process, all threads, has used since it began.
struct Usage {
  double cpu_s = 0;
  double bytes_written = 0;  // Handed to write(2) and the like.

  friend Usage operator-(const Usage& a, const Usage& b) {
    return {a.cpu_s - b.cpu_s, a.bytes_written - b.bytes_written};
  }
};
Usage ProcessUsage();

double ThreadCpuSeconds();
double PeakRssMegabytes();

// Returns once this process has neither computed nor written for half a
// second, or after two minutes. Returns the seconds until it fell quiet.
double WaitForQuiet();

// The latency below which the fraction `p` of `sorted` lies; 0 for none.
uint32_t Percentile(const std::vector<uint32_t>& sorted, double p);

}  // namespace dovetail::bench
