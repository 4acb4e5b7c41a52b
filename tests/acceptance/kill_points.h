// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Places at which a process can be made to die: named, counted, and the same
// in every run of one script.
//
// Each file call that changes something has up to three, named by the call,
// by what the file is, and by the moment:
//
//   "sync write-log before"      nothing of it is done
//   "append store-log half"      the first half of the bytes is in the file
//   "rename current after"       it is done, and nobody knows
//
// An append that is cut off, half way or behind its end, has given its bytes to
// the operating system, as it does when its buffer is full; so what a kill
// leaves is torn. Calls that only read have no points: a kill leaves there what
// it leaves behind the change before.
//
// While a phase is set, each point is reached under "<phase>: <name>", too.
// Whoever has places of his own, such as an observer, names and reaches them
// himself.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "dovetail/file_system.h"

namespace dovetail::test {

// Thread-safe.
class KillPoints {
 public:
  // Dies when `name` is reached for the `hit`-th time. 0: never.
  KillPoints(std::string name, uint64_t hit)
      : armed_(std::move(name)), hit_(hit) {}

  // "" ends the phase.
  void SetPhase(std::string_view phase);

  // Counts the point; kills the process if it is its turn.
  void Reach(std::string_view name);
  // The same for who has something to do before: returns whether to die.
  [[nodiscard]] bool Count(std::string_view name);
  [[noreturn]] static void Die();

  // How often each was reached, in all.
  std::map<std::string, uint64_t> counts() const;

 private:
  bool CountOne(const std::string& name) REQUIRES(mu_) {
    return ++counts_[name] == hit_ && name == armed_;
  }

  const std::string armed_;
  const uint64_t hit_;

  mutable Mutex mu_;
  std::string phase_ GUARDED_BY(mu_);
  std::map<std::string, uint64_t> counts_ GUARDED_BY(mu_);
};

// What a file or directory is, from its path: "store-log", "table", "manifest",
// "current", "write-log", "settings", ...; "copied-" and its kind in a copy
// that is being made, which is itself "unfinished-" and its kind. What has no
// name of the engine's is taken for a directory with a "database".
std::string FileKindOf(const std::string& path);

// Passes everything on to `base`, and reaches the points of each call. Both
// must outlive it, and every file.
class KillFileSystem final : public FileSystem {
 public:
  KillFileSystem(FileSystem* base, KillPoints* points)
      : base_(*base), points_(*points) {}

  absl::StatusOr<std::unique_ptr<SequentialFile>> NewSequentialFile(
      const std::string& path) override {
    return base_.NewSequentialFile(path);
  }
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override {
    return base_.NewRandomAccessFile(path);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override;
  absl::StatusOr<bool> Exists(const std::string& path) override {
    return base_.Exists(path);
  }
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) override {
    return base_.List(directory);
  }
  absl::StatusOr<uint64_t> Size(const std::string& path) override {
    return base_.Size(path);
  }
  absl::Status Delete(const std::string& path) override;
  absl::Status CreateDirectory(const std::string& path) override;
  absl::Status DeleteDirectory(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status HardLink(const std::string& from,
                        const std::string& to) override;
  absl::Status Truncate(const std::string& path, uint64_t size) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override {
    return base_.FreeBytes(directory);
  }
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(
      const std::string& path) override;

 private:
  class Writer;

  FileSystem& base_;
  KillPoints& points_;
};

}  // namespace dovetail::test
