// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A file system in which things go wrong when a test wants them to, over real
// files. Store and write log both go through FileSystem, so it serves both.
//
//   FaultyFileSystem files(FileSystem::Posix());
//   options.file_system = &files;
//   files.FailCall(17, absl::ResourceExhaustedError("disk full"));
//   ... everything up to the 16th call works, the 17th does not ...
//   files.PowerCut();  // Every file closed: what was not synced is gone.
//
// A call is named by its verb and the last part of its path: "sync
// 000003.log". Verbs: open-read, read, open-random, pread, create,
// open-append, append, flush, sync, close, exists, list, size, delete,
// create-directory, delete-directory, rename, link, truncate, sync-directory,
// free-bytes, lock.
//
// Syncs are counted on and not passed on to the disk, since a test that
// outlives the machine is not needed, and a slow one neither. Directories are
// made and removed for good at once; only the names of files can be lost.
//
// What happens by chance follows from the seeds, and from the order of the
// calls: a test on one thread repeats exactly.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail::test {

// What a power cut leaves of that which no sync has covered.
struct PowerCutOptions {
  enum class Fate {
    kLost,
    kKept,
    kByChance,
  };
  // Bytes behind the last sync of their file. By chance: of each file all,
  // none, a part up to any byte, or each page of 4 KiB for itself. A page that
  // is lost before one that is kept reads as zeros or as random bytes.
  Fate bytes = Fate::kLost;
  // Names created, renamed and linked, and deleted if SetDeletionsCanBeLost,
  // since the last sync of their directory. By chance: each for itself, but no
  // later change is kept without the ones it builds on.
  Fate names = Fate::kLost;
  // Where bytes are lost: so many of each file are not.
  uint64_t kept_bytes = 0;
  // Instead: how many of which file.
  std::function<uint64_t(const std::string& path)> kept_bytes_of = {};
  uint64_t seed = 0;
};

// Thread-safe. Must outlive its files; `base` must outlive it.
class FaultyFileSystem final : public FileSystem {
 public:
  // Called before each call with its name; an error is the call's result. No
  // lock is held, so it may wait.
  using Hook = std::function<absl::Status(const std::string& call)>;

  explicit FaultyFileSystem(FileSystem* base, uint64_t seed = 0);
  ~FaultyFileSystem() override;

  void SetHook(Hook hook);

  // The `n`-th call from now on fails, the next one being the first; with
  // `from_then_on` those behind it too. 0: none.
  void FailCall(uint64_t n, absl::Status status, bool from_then_on = false);
  // On: what FailCall lets fail does by chance some of its work all the same.
  // An append writes any part of its bytes; another call does all or nothing.
  // Off, as at first: nothing.
  void SetFailuresArePartial(bool partial);
  // Whether a call has failed since FailCall.
  bool FaultReached() const;
  // The name of the first one that has; empty if none has.
  std::string FailedCall() const;

  // Appends may take so many bytes more; one that does not fit writes what
  // does, and returns ResourceExhausted. Deleted and truncated bytes are free
  // again, and FreeBytes tells of it. Absent: no limit.
  void SetFreeBytes(std::optional<uint64_t> bytes);
  // Front-to-back reads return at most this many bytes. 0: no limit.
  void SetReadBytesMax(size_t bytes);
  // One read in so many has one wrong bit in what it returns. 0: none.
  void SetReadFlips(uint64_t one_in);
  // On: PowerCut may bring deleted files back. Costs memory for their bytes
  // until their directory is synced.
  void SetDeletionsCanBeLost(bool can_be_lost);

  uint64_t calls() const;
  // The names of the calls since the last one of this, a million at most.
  std::vector<std::string> TakeHistory();

  // Takes away what no sync has covered: all of it but for `kept_bytes` of
  // each file, or what the options say. Everything on disk counts as synced
  // afterwards. Errors are those of the base; the files are then neither as
  // before nor as after.
  // REQUIRES: no file is open for writing.
  void PowerCut(uint64_t kept_bytes = 0);
  void PowerCut(
      const std::function<uint64_t(const std::string& path)>& kept_bytes);
  absl::Status PowerCut(const PowerCutOptions& options);
  // What the power cut would make of the directory `from`, made in `to`, which
  // must not exist. The files themselves stay as they are, so that one moment
  // can have many outcomes.
  absl::Status PowerCutInto(const std::string& from, const std::string& to,
                            const PowerCutOptions& options) const;

  // Turns over one bit of a file at rest: number `bit` % 8 of the byte at
  // `bit` / 8. OutOfRange if the file is not so long.
  absl::Status FlipBit(const std::string& path, uint64_t bit);

  absl::StatusOr<std::unique_ptr<SequentialFile>> NewSequentialFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override;
  absl::StatusOr<bool> Exists(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) override;
  absl::StatusOr<uint64_t> Size(const std::string& path) override;
  absl::Status Delete(const std::string& path) override;
  absl::Status CreateDirectory(const std::string& path) override;
  absl::Status DeleteDirectory(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status HardLink(const std::string& from,
                        const std::string& to) override;
  absl::Status Truncate(const std::string& path, uint64_t size) override;
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(
      const std::string& path) override;

 private:
  class State;
  class Reader;
  class RandomReader;
  class Writer;

  const std::unique_ptr<State> state_;
};

}  // namespace dovetail::test
