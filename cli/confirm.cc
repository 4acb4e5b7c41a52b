// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/confirm.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {

absl::Status Confirm(std::string_view question, bool yes) {
  if (yes) return {};
  if (isatty(STDIN_FILENO) != 0) {
    std::fflush(stdout);
    const std::string text = absl::StrCat(ToAbsl(question), " [y/N] ");
    std::fwrite(text.data(), 1, text.size(), stderr);
    const int answer = std::getchar();
    if (answer == 'y' || answer == 'Y') return {};
  }
  return UsageError("nothing was changed; --yes goes ahead without asking");
}

}  // namespace dovetail::cli
