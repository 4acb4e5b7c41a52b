// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// This program once more, as a process that can be killed. Not by fork, which
// a process with threads cannot do under the thread sanitizer.

#pragma once

#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

extern char** environ;

namespace dovetail::test {

// Starts it; args[0] is the name that it sees.
inline absl::StatusOr<pid_t> SpawnSelf(std::vector<std::string> args) {
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  pid_t process = -1;
  if (::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, argv.data(),
                    environ) != 0) {
    return absl::InternalError("cannot start the process");
  }
  return process;
}

// The wait status of its end.
inline int WaitForEnd(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace dovetail::test
