// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The two long jobs on an index's space, in short steps between the writers'
// groups: adding the entries of all rows, and deleting all entries.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/limits.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/committer.h"

namespace dovetail {

// Says how large the next step is, and rests between steps, so that writers
// lose a stated share of their time and no single one waits long. Used by one
// thread.
class Pacer {
 public:
  // `rest` waits, at most so long.
  using Rest = std::function<void(std::chrono::microseconds)>;
  Pacer(Committer* committer, Clock* clock, Rest rest,
        uint64_t rows_per_second_max);

  size_t rows() const { return rows_; }
  // Runs one step inside the serial section, then rests.
  absl::Status Step(Committer::MaintenanceBody body);

 private:
  Committer* const committer_;
  Clock* const clock_;
  const Rest rest_;
  const uint64_t rows_per_second_max_;
  size_t rows_ = 64;
  uint64_t requests_seen_ = 0;
};

// The index that a job is about. An index that was dropped meanwhile, or is
// being built anew in another space, is another one.
struct BuildTarget {
  std::string table;
  std::string index;
  v1::Space space;
};

// The stored progress of a build. DataLoss if it does not parse.
absl::StatusOr<v1::IndexBuild> ParseIndexBuild(std::string_view bytes);

// Adds the entries of all rows behind `build->position()`; OK once there are
// none. `go_on` is asked after each step; false ends the job with Cancelled.
// FailedPrecondition if the index is not being built any more; DataLoss or
// InvalidArgument if a row has no entry that can be made.
absl::Status AddEntries(Pacer& pacer, const Limits& limits,
                        const BuildTarget& target, v1::IndexBuild* build,
                        absl::FunctionRef<bool(const v1::IndexBuild&)> go_on);

// Deletes all keys of a space that no index has any more.
absl::Status DeleteEntries(Pacer& pacer, const v1::Space& space,
                           absl::FunctionRef<bool()> go_on);

}  // namespace dovetail
