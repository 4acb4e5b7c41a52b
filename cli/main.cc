// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <csignal>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/interrupt.h"

int main(int argc, char** argv) {
  // A reader that has seen enough ends the command, without a word.
  std::signal(SIGPIPE, SIG_DFL);
  dovetail::cli::InstallInterruptHandler();
  dovetail::cli::CommandLine command_line(argc > 0 ? argv[0] : "dovetail",
                                          DOVETAIL_VERSION);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0),
                                           argv + argc);
  return static_cast<int>(command_line.Main(arguments));
}
