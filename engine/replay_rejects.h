// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The reject file of a replay: one v1::ReplayReject as JSON a line.
//
// A line is written before the place behind its item is committed, and the
// place says how long the file is then. So a file that is longer was written
// by a run that died in between: the rest is cut off when the file is opened,
// and the item is met again.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"
#include "dovetail/replay.h"
#include "dovetail/v1/catalog.pb.h"

namespace dovetail {

// Thread-compatible.
class ReplayRejects {
 public:
  // Goes on with the file as `position` has it. AlreadyExists if there is
  // something in the file that is not this replay's, FailedPrecondition if it
  // is shorter than it was.
  static absl::StatusOr<std::unique_ptr<ReplayRejects>> Open(
      FileSystem* file_system, const std::string& path,
      const v1::ReplayPosition& position);

  // Adds the item, and hands it to the operating system.
  absl::Status Add(const ReplayItem& item, std::string_view cause);
  absl::Status Sync() { return file_->Sync(); }

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }

 private:
  ReplayRejects(std::string path, uint64_t bytes,
                std::unique_ptr<WritableFile> file)
      : path_(std::move(path)), bytes_(bytes), file_(std::move(file)) {}

  const std::string path_;
  uint64_t bytes_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace dovetail
