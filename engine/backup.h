// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Inside of Engine::Backup.

#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "dovetail/backup.h"
#include "dovetail/environment.h"
#include "dovetail/file_system.h"
#include "engine/committer.h"
#include "engine/recorder.h"
#include "engine/storage/store.h"

namespace dovetail {

struct BackupParts {
  Committer* committer;
  Store* store;
  Recorder* recorder;
  FileSystem* file_system;
  Clock* clock;
};

absl::StatusOr<BackupReport> TakeBackup(const BackupParts& parts,
                                        const std::string& directory,
                                        const BackupOptions& options);

}  // namespace dovetail
