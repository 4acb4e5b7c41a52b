// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/kill_points.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/disk_guard.h"
#include "engine/storage/leveldb_files.h"
#include "engine/write_log_settings.h"

namespace dovetail::test {
namespace {

std::string KindOfName(std::string_view name) {
  if (absl::EndsWith(ToAbsl(name), ".dvlog")) return "write-log";
  if (name == kWriteLogSettingsName) return "settings";
  if (name == kReserveName) return "reserve";
  if (name == kStoreLockName) return "lock";
  switch (ParseLevelDbFileName(name).kind) {
    case LevelDbFileKind::kCurrent:
      return "current";
    case LevelDbFileKind::kLock:
      return "leveldb-lock";
    case LevelDbFileKind::kInfoLog:
      return "info-log";
    case LevelDbFileKind::kManifest:
      return "manifest";
    case LevelDbFileKind::kLog:
      return "store-log";
    case LevelDbFileKind::kTable:
      return "table";
    case LevelDbFileKind::kTemporary:
      return "new-current";
    case LevelDbFileKind::kOther:
      break;
  }
  if (name == "LOCK") return "lock";
  if (name == "rejects") return "rejects";
  if (name == "write-log") return "write-log-directory";
  if (name == "lost") return "lost-directory";
  if (absl::StartsWith(ToAbsl(name), "before-")) return "old-log-directory";
  if (absl::StartsWith(ToAbsl(name), "checkpoint")) return "checkpoint";
  return "database";
}

// Calls `work` between the two points of a call.
template <typename Work>
auto Around(KillPoints& points, std::string_view verb, const std::string& kind,
            Work work) {
  const std::string name = absl::StrCat(ToAbsl(verb), " ", kind);
  points.Reach(name + " before");
  auto result = work();
  points.Reach(name + " after");
  return result;
}

}  // namespace

void KillPoints::SetPhase(std::string_view phase) {
  MutexLock lock(mu_);
  phase_ = phase;
}

bool KillPoints::Count(std::string_view name) {
  MutexLock lock(mu_);
  const bool plain = CountOne(std::string(name));
  const bool in_phase =
      !phase_.empty() && CountOne(absl::StrCat(phase_, ": ", ToAbsl(name)));
  return plain || in_phase;
}

void KillPoints::Reach(std::string_view name) {
  if (Count(name)) Die();
}

void KillPoints::Die() {
  kill(getpid(), SIGKILL);
  while (true) pause();
}

std::map<std::string, uint64_t> KillPoints::counts() const {
  MutexLock lock(mu_);
  return counts_;
}

std::string FileKindOf(const std::string& path) {
  constexpr char kUnfinished[] = ".unfinished";
  std::string_view name = BaseName(path);
  const std::string directory = DirectoryOf(path);
  const std::string_view parent = BaseName(directory);
  if (parent == "lost") return "lost-part";
  const bool is_unfinished = absl::EndsWith(ToAbsl(name), kUnfinished);
  if (is_unfinished) name.remove_suffix(sizeof(kUnfinished) - 1);
  const std::string kind = KindOfName(name);
  // Files of a copy that is being made, and their directory.
  if (is_unfinished) return absl::StrCat("unfinished-", kind);
  if (absl::EndsWith(ToAbsl(parent), kUnfinished)) {
    return absl::StrCat("copied-", kind);
  }
  const bool in_backup = absl::StrContains(path, "/backup/");
  return in_backup ? absl::StrCat("backup-", kind) : kind;
}

class KillFileSystem::Writer final : public WritableFile {
 public:
  Writer(KillPoints* points, std::string kind,
         std::unique_ptr<WritableFile> file)
      : points_(*points), kind_(std::move(kind)), file_(std::move(file)) {}

  absl::Status Append(std::string_view data) override {
    const std::string name = absl::StrCat("append ", kind_);
    points_.Reach(name + " before");
    if (data.size() > 1 && points_.Count(name + " half")) {
      DieBehind(data.substr(0, data.size() / 2));
    }
    if (points_.Count(name + " after")) DieBehind(data);
    return file_->Append(data);
  }
  absl::Status Flush() override {
    return Around(points_, "flush", kind_, [&] { return file_->Flush(); });
  }
  absl::Status Sync() override {
    return Around(points_, "sync", kind_, [&] { return file_->Sync(); });
  }
  absl::Status Close() override {
    return Around(points_, "close", kind_, [&] { return file_->Close(); });
  }

 private:
  [[noreturn]] void DieBehind(std::string_view data) {
    // Errors do not matter any more.
    file_->Append(data).IgnoreError();
    file_->Flush().IgnoreError();
    KillPoints::Die();
  }

  KillPoints& points_;
  const std::string kind_;
  const std::unique_ptr<WritableFile> file_;
};

absl::StatusOr<std::unique_ptr<WritableFile>> KillFileSystem::NewWritableFile(
    const std::string& path) {
  const std::string kind = FileKindOf(path);
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                   Around(points_, "create", kind,
                          [&] { return base_.NewWritableFile(path); }));
  return std::make_unique<Writer>(&points_, kind, std::move(file));
}

absl::StatusOr<std::unique_ptr<WritableFile>> KillFileSystem::NewAppendableFile(
    const std::string& path) {
  const std::string kind = FileKindOf(path);
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                   Around(points_, "open-append", kind,
                          [&] { return base_.NewAppendableFile(path); }));
  return std::make_unique<Writer>(&points_, kind, std::move(file));
}

absl::Status KillFileSystem::Delete(const std::string& path) {
  return Around(points_, "delete", FileKindOf(path),
                [&] { return base_.Delete(path); });
}

absl::Status KillFileSystem::CreateDirectory(const std::string& path) {
  return Around(points_, "create-directory", FileKindOf(path),
                [&] { return base_.CreateDirectory(path); });
}

absl::Status KillFileSystem::DeleteDirectory(const std::string& path) {
  return Around(points_, "delete-directory", FileKindOf(path),
                [&] { return base_.DeleteDirectory(path); });
}

absl::Status KillFileSystem::Rename(const std::string& from,
                                    const std::string& to) {
  return Around(points_, "rename", FileKindOf(to),
                [&] { return base_.Rename(from, to); });
}

absl::Status KillFileSystem::HardLink(const std::string& from,
                                      const std::string& to) {
  return Around(points_, "link", FileKindOf(to),
                [&] { return base_.HardLink(from, to); });
}

absl::Status KillFileSystem::Truncate(const std::string& path, uint64_t size) {
  return Around(points_, "truncate", FileKindOf(path),
                [&] { return base_.Truncate(path, size); });
}

absl::Status KillFileSystem::SyncDirectory(const std::string& directory) {
  return Around(points_, "sync-directory", FileKindOf(directory),
                [&] { return base_.SyncDirectory(directory); });
}

absl::StatusOr<std::unique_ptr<FileLock>> KillFileSystem::Lock(
    const std::string& path) {
  return Around(points_, "lock", FileKindOf(path),
                [&] { return base_.Lock(path); });
}

}  // namespace dovetail::test
