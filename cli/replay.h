// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// `dovetail replay`: a write log into a database, each request once; and the
// sources that have been replayed.

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/change_input.h"
#include "cli/output.h"

namespace dovetail::cli {

struct ReplayVerbOptions {
  std::string db;
  std::string log;  // A directory, or one of its files; or a stream's file.
  ChangeInputOptions changes;
  bool create = false;
  std::string source = "default";
  std::string sequences = "auto";
  std::string old_rows = "trust";
  uint64_t rate = 0;
  uint64_t batch = 0;  // 0: the library's default.
  bool sync = false;
  bool ignore_digests = false;
  bool dry_run = false;
  uint64_t to_sequence = 0;  // 0: no stop.
  std::string to_time;
  std::string on_error = "stop";
  std::string rejects;
  bool follow = false;
  bool skip_damaged = false;
};

// OK also if records were rejected because the options say so.
absl::Status RunReplay(const ReplayVerbOptions& options,
                       const Console& console);

struct SourcesOptions {
  std::string db;
  std::string forget;  // Empty: list them.
};

absl::Status RunSources(const SourcesOptions& options, const Console& console);

}  // namespace dovetail::cli
