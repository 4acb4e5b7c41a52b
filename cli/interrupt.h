// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ctrl-C and termination as a question that long loops ask between two
// batches.

#pragma once

#include <cstdint>

namespace dovetail::cli {

// From here on the first SIGINT or SIGTERM only sets a flag; the second one
// ends the process. A blocking read is woken with EINTR.
void InstallInterruptHandler();

// Whether the first signal has come. Thread-safe.
bool Interrupted();

// Returns after so long, or, with false, once interrupted.
bool WaitSeconds(uint64_t seconds);

}  // namespace dovetail::cli
