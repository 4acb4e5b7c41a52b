// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/checkpoint.h"

#include <memory>

#include "base/status_macros.h"

namespace dovetail {

absl::StatusOr<CheckpointReport> TakeCheckpoint(
    Committer& committer, Store& store, Clock& clock,
    const std::string& directory, const CheckpointOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<StoreCheckpoint> checkpoint,
                   store.BeginCheckpoint());
  CheckpointReport report;
  const auto freeze = [&](const SchemaState&, SerialView&) -> absl::Status {
    const int64_t start = clock.MonotonicMicros();
    RETURN_IF_ERROR(checkpoint->Freeze());
    report.sequence = committer.published()->sequence;
    report.writers_held_micros = clock.MonotonicMicros() - start;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      committer.RunMaintenance(freeze, Committer::Leaves::kNothing));
  ASSIGN_OR_RETURN(const StoreCheckpointReport copied,
                   checkpoint->CopyTo(directory, options.link_tables));
  report.tables_linked = copied.tables_linked;
  report.tables_copied = copied.tables_copied;
  report.bytes_copied = copied.bytes_copied;
  return report;
}

}  // namespace dovetail
