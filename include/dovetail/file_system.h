// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The one way to files. The store below the engine goes through it, so that
// one fault injector serves every file the engine owns.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dovetail {

// A file read from front to back. Thread-compatible.
class SequentialFile {
 public:
  virtual ~SequentialFile() = default;
  // Reads up to `n` bytes into `scratch` and returns how many; fewer than `n`
  // does not mean end of file, 0 does.
  virtual absl::StatusOr<size_t> Read(size_t n, char* scratch) = 0;
  // Skips `n` bytes, or to the end of the file.
  virtual absl::Status Skip(uint64_t n) = 0;
};

// A file read at any offset. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Returns the `n` bytes at `offset`, fewer only at the end of the file. The
  // result points into `scratch` (of at least `n` bytes) or into memory that
  // lives as long as this file.
  virtual absl::StatusOr<std::string_view> Read(uint64_t offset, size_t n,
                                                char* scratch) const = 0;
};

// A file written by appending. Thread-compatible, except that Sync may be
// called while another thread appends: it then covers at least what was
// flushed before the call.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // Closes; errors are lost, so Close().
  virtual absl::Status Append(std::string_view data) = 0;
  // Hands what was appended to the operating system.
  virtual absl::Status Flush() = 0;
  // Flushes, and returns once the bytes are on stable storage.
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
};

// An exclusive lock on a file, released by destruction.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Thread-safe. Must outlive every engine that uses it. Must not throw: the
// store below the engine is built without exceptions. Errors: NotFound for a
// missing file or directory, PermissionDenied, ResourceExhausted for a full
// disk or too many open files, FailedPrecondition for a lock that is held and
// for a path through something that is not a directory, Internal for the
// rest; every message holds the path.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::unique_ptr<SequentialFile>> NewSequentialFile(
      const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) = 0;
  // Creates the file, or empties an existing one.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) = 0;
  // Creates the file, or appends to an existing one.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) = 0;

  virtual absl::StatusOr<bool> Exists(const std::string& path) = 0;
  // Names in the directory, without "." and "..", in no order.
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) = 0;
  virtual absl::StatusOr<uint64_t> Size(const std::string& path) = 0;
  virtual absl::Status Delete(const std::string& path) = 0;
  // OK if the directory is there already. Parents must exist.
  virtual absl::Status CreateDirectory(const std::string& path) = 0;
  virtual absl::Status DeleteDirectory(const std::string& path) = 0;
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) = 0;
  // Gives the file `from` the second name `to`, which must not exist.
  // Unimplemented, as by default, where the two cannot have a file in common:
  // on another device, on a file system without links, beyond its number of
  // them. The caller then copies.
  virtual absl::Status HardLink(const std::string& from, const std::string& to);
  virtual absl::Status Truncate(const std::string& path, uint64_t size) = 0;
  // Room on the disk of `directory` for this process. Unimplemented, as by
  // default, where nobody can tell.
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& directory);
  // Makes created, renamed and deleted names of the directory durable.
  virtual absl::Status SyncDirectory(const std::string& directory) = 0;
  // Locks against this and every other process. Creates the file if needed
  // and writes this process's id into it; the error of a held lock names the
  // holder's id.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> Lock(
      const std::string& path) = 0;

  // POSIX files; lives as long as the process.
  static FileSystem* Posix();
};

}  // namespace dovetail
