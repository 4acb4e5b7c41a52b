// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A file of another system's changes as what `dovetail replay` replays.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/output.h"
#include "dovetail/change_source.h"
#include "dovetail/change_stream.h"
#include "dovetail/engine.h"

namespace dovetail::cli {

struct ChangeInputOptions {
  std::string from;     // A change format; empty: the input is a write log.
  std::string mapping;  // A file of a v1::ChangeMapping in text format.
  std::string delimiter;
};

// Usage errors in the options together.
absl::Status CheckChangeInput(const ChangeInputOptions& options);

class ChangeInput {
 public:
  // `file` may be "-". The engine must outlive the result. Errors of the
  // mapping name its file and place.
  static absl::StatusOr<std::unique_ptr<ChangeInput>> Open(
      Engine* engine, const std::string& file,
      const ChangeInputOptions& options);

  ReplaySource* source() { return source_.get(); }
  // `"changes":{"put":2},"skipped":{"tombstone":1}`
  std::string CountsJson() const;
  // A note of what the entries were, unless quiet.
  void NoteCounts(const Console& console) const;

 private:
  explicit ChangeInput(ChangeMapper mapper) : mapper_(std::move(mapper)) {}

  ChangeMapper mapper_;
  std::unique_ptr<ChangeSource> source_;
};

}  // namespace dovetail::cli
