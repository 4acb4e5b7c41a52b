// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The dovetail command: from its arguments to the verb that they name.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/verb.h"

namespace dovetail::cli {

// Thread-compatible. For one Main.
class CommandLine {
 public:
  // `program` is how the command was called, for commands it suggests.
  CommandLine(std::string program, std::string version);

  // `arguments` without the program's name.
  ExitCode Main(const std::vector<std::string>& arguments);

 private:
  void AddShellVerbs();
  void AddCommonOptions();
  ExitCode RunVerb(const Verb& verb, const std::vector<std::string>& arguments);
  ExitCode Unknown(std::string_view word);

  const std::string version_;
  VerbList verbs_;
  OutputOptions output_;
};

}  // namespace dovetail::cli
