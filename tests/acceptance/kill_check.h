// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What must hold in the directory of the script of kill_script.h, whenever it
// was killed:
//   db           opens, and holds the first S requests, rows and entries byte
//                for byte; every acknowledged one is among them
//   its log      ends with request S, and replayed into an empty database
//                makes the same
//   copy         is db at the place of its replay, which is not behind what
//                was reported, and so is its own log
//   partial      has applied or rejected each request up to its place
//   checkpoint, restored, rescued
//                are there whole, or are not there
//   backup       restores to what it was reported to have
// and verify finds nothing in any of them.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "dovetail/schema.h"
#include "tests/acceptance/kill_script.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

// Thread-compatible.
class KillChecker {
 public:
  // `seed`: of the script's requests. `checks` must outlive it.
  KillChecker(uint64_t seed, Checks* checks)
      : seed_(seed), checks_(*checks), random_(seed) {}

  // What the first S requests make, for every S. Called once, first.
  absl::Status ComputeContents();

  // Looks at `root`, or, by chance, at a copy of it. `is_end`: the script came
  // to its end there. An error is a check that could not be made.
  absl::Status Check(const std::string& root, const ScriptBoard& board,
                     bool is_end);

  // How often `db` had lost a torn end of its logs, and how often it had a
  // commit that was not acknowledged.
  uint64_t tails_cut() const { return tails_cut_; }
  uint64_t untold() const { return untold_; }

 private:
  absl::Status CheckDatabase(const std::string& root, const ScriptBoard& board,
                             bool is_end);
  absl::Status CheckLog(const std::string& root, uint64_t last);
  absl::Status CheckCopy(const std::string& root, const ScriptBoard& board,
                         bool is_end);
  absl::Status CheckPartial(const std::string& root, const ScriptBoard& board,
                            bool is_end);
  absl::Status CheckCopies(const std::string& root, const ScriptBoard& board,
                           bool is_end);
  // Opens and verifies it. `schema`: of a database whose creation may have been
  // cut off, and is done then. `what` is for words.
  absl::StatusOr<std::unique_ptr<Engine>> OpenClean(
      const std::string& path, const std::string& what,
      const std::optional<Schema>& schema = std::nullopt);
  // And that it has what so many requests make as it has committed. Returns
  // how many.
  absl::StatusOr<uint64_t> CheckOne(
      const std::string& path, const std::string& what,
      const std::optional<Schema>& schema = std::nullopt);

  const uint64_t seed_;
  Checks& checks_;
  std::mt19937_64 random_;
  TempDir dir_;

  std::vector<uint64_t> contents_;  // By sequence.
  uint64_t rejected_ = 0;           // By `partial`, in all.
  uint64_t tails_cut_ = 0;
  uint64_t untold_ = 0;
};

}  // namespace dovetail::test
