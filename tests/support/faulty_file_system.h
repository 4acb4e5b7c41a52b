// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A file system in which things go wrong when a test wants them to, over real
// files:
//
//   FaultyFileSystem files(FileSystem::Posix());
//   files.FailCall(17, absl::ResourceExhaustedError("disk full"));
//   ... everything up to the 16th call works, the 17th does not ...
//   files.PowerCut();  // Every file closed: what was not synced is gone.
//
// A call is named by its verb and the last part of its path: "sync
// 000003.log". Verbs: open-read, read, open-random, pread, create,
// open-append, append, flush, sync, close, exists, list, size, delete,
// create-directory, delete-directory, rename, link, truncate, sync-directory,
// lock.
//
// Syncs are counted on and not passed on to the disk, since a test that
// outlives the machine is not needed, and a slow one neither.

#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "dovetail/file_system.h"

namespace dovetail::test {

// Thread-safe. Must outlive its files.
class FaultyFileSystem final : public FileSystem {
 public:
  // Called before each call with its name; an error is the call's result. No
  // lock is held, so it may wait.
  using Hook = std::function<absl::Status(const std::string& call)>;

  explicit FaultyFileSystem(FileSystem* base) : base_(base) {}

  void SetHook(Hook hook) {
    MutexLock lock(mu_);
    hook_ = std::make_shared<Hook>(std::move(hook));
  }
  // The `n`-th call from now on fails, the next one being the first; with
  // `from_then_on` those behind it too. 0: none.
  void FailCall(uint64_t n, absl::Status status, bool from_then_on = false) {
    MutexLock lock(mu_);
    fail_at_ = n == 0 ? 0 : calls_ + n;
    fail_on_ = from_then_on;
    failure_ = std::move(status);
    fault_reached_ = false;
  }
  // Whether a call has failed since FailCall.
  bool FaultReached() const {
    MutexLock lock(mu_);
    return fault_reached_;
  }
  // Front-to-back reads return at most this many bytes. 0: no limit.
  void SetReadBytesMax(size_t bytes) {
    MutexLock lock(mu_);
    read_bytes_max_ = bytes;
  }

  uint64_t calls() const {
    MutexLock lock(mu_);
    return calls_;
  }
  std::vector<std::string> TakeHistory() {
    MutexLock lock(mu_);
    return std::exchange(history_, {});
  }

  // Takes away what no sync has covered: bytes behind the last sync of their
  // file, but for `kept_bytes` of them in each file, names created and renamed
  // since the last sync of their directory. Deletions stay.
  // REQUIRES: no file is open for writing.
  void PowerCut(uint64_t kept_bytes = 0) {
    PowerCut([kept_bytes](const std::string&) { return kept_bytes; });
  }
  // The same, with a number for each file.
  void PowerCut(
      const std::function<uint64_t(const std::string& path)>& kept_bytes);

  absl::StatusOr<std::unique_ptr<SequentialFile>> NewSequentialFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override;

  absl::StatusOr<bool> Exists(const std::string& path) override {
    RETURN_IF_ERROR(Enter("exists", path));
    return base_->Exists(path);
  }
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) override {
    RETURN_IF_ERROR(Enter("list", directory));
    return base_->List(directory);
  }
  absl::StatusOr<uint64_t> Size(const std::string& path) override {
    RETURN_IF_ERROR(Enter("size", path));
    return base_->Size(path);
  }
  absl::Status Delete(const std::string& path) override {
    RETURN_IF_ERROR(Enter("delete", path));
    MutexLock lock(mu_);
    written_.erase(path);
    return base_->Delete(path);
  }
  absl::Status CreateDirectory(const std::string& path) override {
    RETURN_IF_ERROR(Enter("create-directory", path));
    return base_->CreateDirectory(path);
  }
  absl::Status DeleteDirectory(const std::string& path) override {
    RETURN_IF_ERROR(Enter("delete-directory", path));
    return base_->DeleteDirectory(path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status HardLink(const std::string& from,
                        const std::string& to) override;
  absl::Status Truncate(const std::string& path, uint64_t size) override {
    RETURN_IF_ERROR(Enter("truncate", path));
    RETURN_IF_ERROR(base_->Truncate(path, size));
    MutexLock lock(mu_);
    const auto it = written_.find(path);
    if (it != written_.end()) {
      it->second.synced = std::min(it->second.synced, size);
      it->second.flushed = std::min(it->second.flushed, size);
    }
    return absl::OkStatus();
  }
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(
      const std::string& path) override {
    RETURN_IF_ERROR(Enter("lock", path));
    return base_->Lock(path);
  }

 private:
  class Reader;
  class RandomReader;
  class Writer;

  struct Written {
    uint64_t appended = 0;
    uint64_t flushed = 0;
    uint64_t synced = 0;
    bool name_synced = false;
  };
  struct Renamed {
    std::string from;
    std::string to;
    bool replaced = false;
    std::string replaced_bytes;
  };

  absl::Status Enter(std::string_view verb, const std::string& path);
  absl::StatusOr<std::unique_ptr<WritableFile>> Track(
      absl::StatusOr<std::unique_ptr<WritableFile>> file,
      const std::string& path, uint64_t size, bool name_synced);
  // What is known of `from`, and of files below it, becomes that of `to`.
  void MoveWritten(const std::string& from, const std::string& to)
      REQUIRES(mu_);
  static std::string Parent(const std::string& path) {
    return path.substr(0, path.rfind('/'));
  }

  FileSystem* const base_;

  mutable Mutex mu_;
  std::shared_ptr<Hook> hook_ GUARDED_BY(mu_);
  uint64_t calls_ GUARDED_BY(mu_) = 0;
  uint64_t fail_at_ GUARDED_BY(mu_) = 0;
  bool fault_reached_ GUARDED_BY(mu_) = false;
  bool fail_on_ GUARDED_BY(mu_) = false;
  absl::Status failure_ GUARDED_BY(mu_);
  size_t read_bytes_max_ GUARDED_BY(mu_) = 0;
  std::vector<std::string> history_ GUARDED_BY(mu_);
  std::map<std::string, Written> written_ GUARDED_BY(mu_);
  std::vector<Renamed> renamed_ GUARDED_BY(mu_);
};

class FaultyFileSystem::Reader final : public SequentialFile {
 public:
  Reader(FaultyFileSystem* owner, std::string path,
         std::unique_ptr<SequentialFile> file)
      : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}

  absl::StatusOr<size_t> Read(size_t n, char* scratch) override {
    RETURN_IF_ERROR(owner_->Enter("read", path_));
    {
      MutexLock lock(owner_->mu_);
      if (owner_->read_bytes_max_ > 0) n = std::min(n, owner_->read_bytes_max_);
    }
    return file_->Read(n, scratch);
  }
  absl::Status Skip(uint64_t n) override { return file_->Skip(n); }

 private:
  FaultyFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<SequentialFile> file_;
};

class FaultyFileSystem::RandomReader final : public RandomAccessFile {
 public:
  RandomReader(FaultyFileSystem* owner, std::string path,
               std::unique_ptr<RandomAccessFile> file)
      : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}

  absl::StatusOr<std::string_view> Read(uint64_t offset, size_t n,
                                        char* scratch) const override {
    RETURN_IF_ERROR(owner_->Enter("pread", path_));
    return file_->Read(offset, n, scratch);
  }

 private:
  FaultyFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
};

class FaultyFileSystem::Writer final : public WritableFile {
 public:
  Writer(FaultyFileSystem* owner, std::string path,
         std::unique_ptr<WritableFile> file)
      : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}
  // A process that ends leaves to the disk what it had flushed, and a file
  // that is dropped is flushed.
  ~Writer() override { Close().IgnoreError(); }

  absl::Status Append(std::string_view data) override {
    RETURN_IF_ERROR(owner_->Enter("append", path_));
    RETURN_IF_ERROR(file_->Append(data));
    MutexLock lock(owner_->mu_);
    owner_->written_[path_].appended += data.size();
    return absl::OkStatus();
  }
  absl::Status Flush() override {
    RETURN_IF_ERROR(owner_->Enter("flush", path_));
    return FlushBase();
  }
  absl::Status Sync() override {
    RETURN_IF_ERROR(owner_->Enter("sync", path_));
    RETURN_IF_ERROR(FlushBase());
    MutexLock lock(owner_->mu_);
    Written& written = owner_->written_[path_];
    written.synced = std::max(written.synced, written.flushed);
    return absl::OkStatus();
  }
  absl::Status Close() override {
    if (closed_) return absl::OkStatus();
    closed_ = true;
    RETURN_IF_ERROR(owner_->Enter("close", path_));
    return file_->Close();
  }

 private:
  absl::Status FlushBase() {
    uint64_t appended;
    {
      MutexLock lock(owner_->mu_);
      appended = owner_->written_[path_].appended;
    }
    RETURN_IF_ERROR(file_->Flush());
    MutexLock lock(owner_->mu_);
    Written& written = owner_->written_[path_];
    written.flushed = std::max(written.flushed, appended);
    return absl::OkStatus();
  }

  FaultyFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
  bool closed_ = false;
};

inline absl::Status FaultyFileSystem::Enter(std::string_view verb,
                                            const std::string& path) {
  const std::string call =
      std::string(verb) + " " + path.substr(path.rfind('/') + 1);
  std::shared_ptr<Hook> hook;
  {
    MutexLock lock(mu_);
    ++calls_;
    history_.push_back(call);
    if (fail_at_ > 0 &&
        (calls_ == fail_at_ || (fail_on_ && calls_ > fail_at_))) {
      fault_reached_ = true;
      return failure_;
    }
    hook = hook_;
  }
  if (hook != nullptr && *hook != nullptr) return (*hook)(call);
  return absl::OkStatus();
}

inline absl::StatusOr<std::unique_ptr<SequentialFile>>
FaultyFileSystem::NewSequentialFile(const std::string& path) {
  RETURN_IF_ERROR(Enter("open-read", path));
  ASSIGN_OR_RETURN(auto file, base_->NewSequentialFile(path));
  return std::make_unique<Reader>(this, path, std::move(file));
}

inline absl::StatusOr<std::unique_ptr<RandomAccessFile>>
FaultyFileSystem::NewRandomAccessFile(const std::string& path) {
  RETURN_IF_ERROR(Enter("open-random", path));
  ASSIGN_OR_RETURN(auto file, base_->NewRandomAccessFile(path));
  return std::make_unique<RandomReader>(this, path, std::move(file));
}

inline absl::StatusOr<std::unique_ptr<WritableFile>>
FaultyFileSystem::NewWritableFile(const std::string& path) {
  RETURN_IF_ERROR(Enter("create", path));
  ASSIGN_OR_RETURN(const bool existed, base_->Exists(path));
  return Track(base_->NewWritableFile(path), path, 0, existed);
}

inline absl::StatusOr<std::unique_ptr<WritableFile>>
FaultyFileSystem::NewAppendableFile(const std::string& path) {
  RETURN_IF_ERROR(Enter("open-append", path));
  ASSIGN_OR_RETURN(const bool existed, base_->Exists(path));
  uint64_t size = 0;
  if (existed) {
    ASSIGN_OR_RETURN(size, base_->Size(path));
  }
  return Track(base_->NewAppendableFile(path), path, size, existed);
}

inline absl::StatusOr<std::unique_ptr<WritableFile>> FaultyFileSystem::Track(
    absl::StatusOr<std::unique_ptr<WritableFile>> file, const std::string& path,
    uint64_t size, bool name_synced) {
  if (!file.ok()) return file;
  MutexLock lock(mu_);
  const bool known = written_.count(path) > 0;
  Written& written = written_[path];
  // A file that was there before this wrapper counts as synced.
  if (!known) {
    written.name_synced = name_synced;
    written.synced = size;
  }
  written.appended = size;
  written.flushed = size;
  written.synced = std::min(written.synced, size);
  return std::make_unique<Writer>(this, path, *std::move(file));
}

inline absl::Status FaultyFileSystem::Rename(const std::string& from,
                                             const std::string& to) {
  RETURN_IF_ERROR(Enter("rename", to));
  Renamed renamed{from, to, false, ""};
  ASSIGN_OR_RETURN(renamed.replaced, base_->Exists(to));
  if (renamed.replaced) {
    std::ifstream in(to, std::ios::binary);
    renamed.replaced_bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  RETURN_IF_ERROR(base_->Rename(from, to));
  MutexLock lock(mu_);
  renamed_.push_back(std::move(renamed));
  MoveWritten(from, to);
  return absl::OkStatus();
}

inline void FaultyFileSystem::MoveWritten(const std::string& from,
                                          const std::string& to) {
  std::map<std::string, Written> moved;
  for (auto it = written_.lower_bound(from);
       it != written_.end() && it->first.starts_with(from);) {
    const std::string rest = it->first.substr(from.size());
    if (!rest.empty() && rest[0] != '/') {
      ++it;
      continue;
    }
    moved[to + rest] = it->second;
    it = written_.erase(it);
  }
  for (const auto& [path, written] : moved) written_[path] = written;
}

// Both names are of one file, whose bytes are as synced as they were; the new
// name is not yet.
inline absl::Status FaultyFileSystem::HardLink(const std::string& from,
                                               const std::string& to) {
  RETURN_IF_ERROR(Enter("link", to));
  ASSIGN_OR_RETURN(const uint64_t size, base_->Size(from));
  RETURN_IF_ERROR(base_->HardLink(from, to));
  MutexLock lock(mu_);
  const auto it = written_.find(from);
  Written written =
      it != written_.end() ? it->second : Written{size, size, size, false};
  written.name_synced = false;
  written_[to] = written;
  return absl::OkStatus();
}

inline absl::Status FaultyFileSystem::SyncDirectory(
    const std::string& directory) {
  RETURN_IF_ERROR(Enter("sync-directory", directory));
  MutexLock lock(mu_);
  for (auto& [path, written] : written_) {
    if (Parent(path) == directory) written.name_synced = true;
  }
  std::erase_if(renamed_,
                [&](const Renamed& r) { return Parent(r.to) == directory; });
  return absl::OkStatus();
}

inline void FaultyFileSystem::PowerCut(
    const std::function<uint64_t(const std::string& path)>& kept_bytes) {
  MutexLock lock(mu_);
  for (auto& [path, written] : written_) {
    const absl::StatusOr<uint64_t> size = base_->Size(path);
    if (!size.ok() || *size <= written.synced) continue;
    const uint64_t kept = written.synced + kept_bytes(path);
    if (*size > kept) base_->Truncate(path, kept).IgnoreError();
  }
  for (; !renamed_.empty(); renamed_.pop_back()) {
    const Renamed& last = renamed_.back();
    base_->Rename(last.to, last.from).IgnoreError();
    MoveWritten(last.to, last.from);
    if (!last.replaced) continue;
    std::ofstream out(last.to, std::ios::binary);
    out << last.replaced_bytes;
  }
  for (const auto& [path, written] : written_) {
    // A name that is gone already is as wanted.
    if (!written.name_synced) base_->Delete(path).IgnoreError();
  }
  written_.clear();
}

}  // namespace dovetail::test
