// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/interrupt.h"

#include <chrono>
#include <csignal>
#include <thread>

namespace dovetail::cli {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupted = 0;

// How long a signal may wait to be noticed.
constexpr std::chrono::milliseconds kWaitStep(50);

void OnSignal(int) { interrupted = 1; }

}  // namespace

void InstallInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // No SA_RESTART: a read from a terminal or pipe must return. SA_RESETHAND:
  // the second signal has its usual effect.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

bool WaitSeconds(uint64_t seconds) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end && !Interrupted()) {
    std::this_thread::sleep_for(kWaitStep);
  }
  return !Interrupted();
}

}  // namespace dovetail::cli
