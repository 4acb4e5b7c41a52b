// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A question before something that cannot be undone.

#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace dovetail::cli {

// OK with `yes`, or if the user says so on a terminal; otherwise UsageError,
// which says that `--yes` goes ahead without asking.
absl::Status Confirm(std::string_view question, bool yes);

}  // namespace dovetail::cli
