// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail doctor`: what is damaged in a database, and what can be saved.

#pragma once

#include <string>

#include "absl/status/status.h"
#include "cli/output.h"

namespace dovetail::cli {

struct DoctorVerbOptions {
  std::string db;
  std::string rescue_to;  // Empty: look only.
};

// Exits with kFindings if something is damaged, rescued or not.
absl::Status RunDoctor(const DoctorVerbOptions& options,
                       const Console& console);

}  // namespace dovetail::cli
