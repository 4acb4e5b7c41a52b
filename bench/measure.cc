// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/measure.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace dovetail::bench {
namespace {

constexpr std::chrono::milliseconds kQuietStep(100);
constexpr int kQuietSteps = 5;
constexpr double kQuietLimitSeconds = 120;
// Of one step; below them it counts as quiet.
constexpr double kQuietCpuSeconds = 0.01;
constexpr double kQuietBytes = 16 << 10;

double ToSeconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

// The number behind `name` in a file of /proc; 0 if it is not there.
double ReadProc(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    double value = 0;
    if (word == name && file >> value) return value;
  }
  return 0;
}

}  // namespace

Usage ProcessUsage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {ToSeconds(usage.ru_utime) + ToSeconds(usage.ru_stime),
          ReadProc("/proc/self/io", "wchar:")};
}

double ThreadCpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

double PeakRssMegabytes() {
  return ReadProc("/proc/self/status", "VmHWM:") / 1024;
}

double WaitForQuiet() {
  const SteadyClock::time_point start = SteadyClock::now();
  double quiet_since = 0;
  Usage before = ProcessUsage();
  for (int quiet = 0; quiet < kQuietSteps;) {
    std::this_thread::sleep_for(kQuietStep);
    const Usage now = ProcessUsage();
    const Usage step = now - before;
    before = now;
    if (step.cpu_s < kQuietCpuSeconds && step.bytes_written < kQuietBytes) {
      ++quiet;
      continue;
    }
    quiet = 0;
    quiet_since = SecondsSince(start);
    if (quiet_since > kQuietLimitSeconds) break;
  }
  return quiet_since;
}

uint32_t Percentile(const std::vector<uint32_t>& sorted, double p) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<size_t>(p *
                                    static_cast<double>(sorted.size() - 1))];
}

}  // namespace dovetail::bench
