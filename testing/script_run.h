// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One run of a crash test's script: its engine, and the account of what was
// acknowledged.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/testing/crash_runner.h"

namespace dovetail::test {

struct ScriptRequest {
  WriteBatch batch;
  // Its own; of a refused one that of the last acknowledged one before.
  uint64_t sequence = 0;
  absl::StatusCode refused = absl::StatusCode::kOk;
};

// Of what the request says, and of its sequence.
uint64_t Fingerprint(const ScriptRequest& request);

absl::StatusOr<std::unique_ptr<Engine>> OpenForTest(
    const CrashTest& test, const std::string& directory, FileSystem* files);

struct ScriptRun::State {
  // `reference_run` has the fingerprints of the run without a fault; null for
  // that run itself.
  State(const CrashTest& crash_test, FaultyFileSystem* file_system,
        std::string run_directory, const std::vector<uint64_t>* reference_run)
      : test(crash_test),
        files(file_system),
        directory(std::move(run_directory)),
        reference(reference_run) {}

  absl::Status Open();
  void Acknowledge(const WriteOptions& options, WriteBatch batch,
                   const Commit& commit);
  void Violated(const absl::Status& status) { violation.Update(status); }
  uint64_t LastAcknowledged() const {
    return acknowledged.empty() ? 0 : acknowledged.back().sequence;
  }

  const CrashTest& test;
  FaultyFileSystem* const files;
  const std::string directory;
  const std::vector<uint64_t>* const reference;
  std::unique_ptr<Engine> engine;
  bool was_opened = false;

  std::vector<ScriptRequest> acknowledged;
  std::vector<ScriptRequest> refused;  // In the run without a fault.
  uint64_t synced = 0;  // The highest sequence acknowledged as such.
  std::optional<WriteBatch> unknown;
  // How many of the acknowledged requests, from the first one on, are those of
  // the run without a fault.
  uint64_t same_as_reference = 0;
  absl::Status violation;  // Of the engine's promises, during the run.
};

}  // namespace dovetail::test
