// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/testing/faulty_file_system.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "testing/file_tree.h"
#include "testing/unsynced_files.h"

namespace dovetail::test {

class FaultyFileSystem::State {
 public:
  State(FileSystem* below, uint64_t seed) : base(below), random(seed) {}

  // What becomes of a call: OK, or its error, and what it does all the same.
  struct Verdict {
    absl::Status status;
    bool partial = false;
  };
  Verdict Enter(std::string_view verb, const std::string& path);
  // By chance, of what a failing call could do.
  uint64_t Below(uint64_t n) {
    MutexLock lock(mu);
    return random() % n;
  }

  // Runs `work` for a call that does all or nothing.
  template <typename Work>
  absl::Status Run(std::string_view verb, const std::string& path, Work work) {
    const Verdict verdict = Enter(verb, path);
    if (verdict.status.ok()) return work();
    if (verdict.partial && Below(2) == 0) work().IgnoreError();
    return verdict.status;
  }

  // So many bytes have left the disk.
  void Free(uint64_t bytes) REQUIRES(mu) {
    if (free_bytes.has_value()) *free_bytes += bytes;
  }

  FileSystem* const base;

  Mutex mu;
  std::mt19937_64 random GUARDED_BY(mu);
  std::shared_ptr<const Hook> hook GUARDED_BY(mu);
  uint64_t calls GUARDED_BY(mu) = 0;
  uint64_t fail_at GUARDED_BY(mu) = 0;
  bool fail_on GUARDED_BY(mu) = false;
  bool partial GUARDED_BY(mu) = false;
  absl::Status failure GUARDED_BY(mu);
  std::string failed_call GUARDED_BY(mu);
  std::optional<uint64_t> free_bytes GUARDED_BY(mu);
  size_t read_bytes_max GUARDED_BY(mu) = 0;
  uint64_t flip_one_in GUARDED_BY(mu) = 0;
  bool deletions_can_be_lost GUARDED_BY(mu) = false;
  std::vector<std::string> history GUARDED_BY(mu);
  UnsyncedFiles unsynced GUARDED_BY(mu);
};

namespace {

constexpr size_t kHistoryMax = 1'000'000;

}  // namespace

FaultyFileSystem::State::Verdict FaultyFileSystem::State::Enter(
    std::string_view verb, const std::string& path) {
  const std::string call =
      std::string(verb) + " " + path.substr(path.rfind('/') + 1);
  std::shared_ptr<const Hook> called;
  {
    MutexLock lock(mu);
    ++calls;
    if (history.size() < kHistoryMax) history.push_back(call);
    if (fail_at > 0 && (calls == fail_at || (fail_on && calls > fail_at))) {
      // Of a failure for good, only the first call may do something: what
      // follows finds a machine that is gone.
      const bool is_first = failed_call.empty();
      if (is_first) failed_call = call;
      return {failure, partial && is_first};
    }
    called = hook;
  }
  if (called != nullptr && *called != nullptr) return {(*called)(call)};
  return {};
}

class FaultyFileSystem::Reader final : public SequentialFile {
 public:
  Reader(State* state, std::string path, std::unique_ptr<SequentialFile> file)
      : state_(state), path_(std::move(path)), file_(std::move(file)) {}

  absl::StatusOr<size_t> Read(size_t n, char* scratch) override {
    RETURN_IF_ERROR(state_->Enter("read", path_).status);
    {
      MutexLock lock(state_->mu);
      if (state_->read_bytes_max > 0) n = std::min(n, state_->read_bytes_max);
    }
    ASSIGN_OR_RETURN(const size_t got, file_->Read(n, scratch));
    MutexLock lock(state_->mu);
    if (got > 0 && state_->flip_one_in > 0 &&
        state_->random() % state_->flip_one_in == 0) {
      const uint64_t bit = state_->random() % (got * 8);
      scratch[bit / 8] = static_cast<char>(scratch[bit / 8] ^ (1 << bit % 8));
    }
    return got;
  }
  absl::Status Skip(uint64_t n) override { return file_->Skip(n); }

 private:
  State* const state_;
  const std::string path_;
  const std::unique_ptr<SequentialFile> file_;
};

class FaultyFileSystem::RandomReader final : public RandomAccessFile {
 public:
  RandomReader(State* state, std::string path,
               std::unique_ptr<RandomAccessFile> file)
      : state_(state), path_(std::move(path)), file_(std::move(file)) {}

  absl::StatusOr<std::string_view> Read(uint64_t offset, size_t n,
                                        char* scratch) const override {
    RETURN_IF_ERROR(state_->Enter("pread", path_).status);
    ASSIGN_OR_RETURN(std::string_view got, file_->Read(offset, n, scratch));
    MutexLock lock(state_->mu);
    if (!got.empty() && state_->flip_one_in > 0 &&
        state_->random() % state_->flip_one_in == 0) {
      // The base's memory may be a mapping of the file.
      if (got.data() != scratch) std::memcpy(scratch, got.data(), got.size());
      const uint64_t bit = state_->random() % (got.size() * 8);
      scratch[bit / 8] = static_cast<char>(scratch[bit / 8] ^ (1 << bit % 8));
      got = std::string_view(scratch, got.size());
    }
    return got;
  }

 private:
  State* const state_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
};

class FaultyFileSystem::Writer final : public WritableFile {
 public:
  Writer(State* state, std::string path, std::unique_ptr<WritableFile> file)
      : state_(state), path_(std::move(path)), file_(std::move(file)) {}
  // A process that ends leaves to the disk what it had flushed, and a file
  // that is dropped is flushed.
  ~Writer() override { Close().IgnoreError(); }

  absl::Status Append(std::string_view data) override {
    const State::Verdict verdict = state_->Enter("append", path_);
    absl::Status result = verdict.status;
    if (!result.ok()) {
      if (!verdict.partial) return result;
      data = data.substr(0, state_->Below(data.size() + 1));
    }
    {
      MutexLock lock(state_->mu);
      if (state_->free_bytes.has_value()) {
        uint64_t& free = *state_->free_bytes;
        if (data.size() > free) {
          data = data.substr(0, free);
          if (result.ok()) {
            result = absl::ResourceExhaustedError(
                absl::StrCat("No space left on device: path=", path_));
          }
        }
        free -= data.size();
      }
    }
    RETURN_IF_ERROR(file_->Append(data));
    MutexLock lock(state_->mu);
    state_->unsynced.Appended(path_, data.size());
    return result;
  }
  absl::Status Flush() override {
    return state_->Run("flush", path_, [&] { return FlushBase(); });
  }
  absl::Status Sync() override {
    const State::Verdict verdict = state_->Enter("sync", path_);
    if (!verdict.status.ok()) {
      // The bytes may have got there, but nobody can count on it.
      if (verdict.partial && state_->Below(2) == 0) FlushBase().IgnoreError();
      return verdict.status;
    }
    RETURN_IF_ERROR(FlushBase());
    MutexLock lock(state_->mu);
    state_->unsynced.Synced(path_);
    return absl::OkStatus();
  }
  absl::Status Close() override {
    if (closed_) return absl::OkStatus();
    closed_ = true;
    RETURN_IF_ERROR(state_->Enter("close", path_).status);
    return file_->Close();
  }

 private:
  absl::Status FlushBase() {
    uint64_t appended;
    {
      MutexLock lock(state_->mu);
      appended = state_->unsynced.AppendedBytes(path_);
    }
    RETURN_IF_ERROR(file_->Flush());
    MutexLock lock(state_->mu);
    state_->unsynced.Flushed(path_, appended);
    return absl::OkStatus();
  }

  State* const state_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
  bool closed_ = false;
};

FaultyFileSystem::FaultyFileSystem(FileSystem* base, uint64_t seed)
    : state_(std::make_unique<State>(base, seed)) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::SetHook(Hook hook) {
  MutexLock lock(state_->mu);
  state_->hook = std::make_shared<const Hook>(std::move(hook));
}

void FaultyFileSystem::FailCall(uint64_t n, absl::Status status,
                                bool from_then_on) {
  MutexLock lock(state_->mu);
  state_->fail_at = n == 0 ? 0 : state_->calls + n;
  state_->fail_on = from_then_on;
  state_->failure = std::move(status);
  state_->failed_call.clear();
}

void FaultyFileSystem::SetFailuresArePartial(bool partial) {
  MutexLock lock(state_->mu);
  state_->partial = partial;
}

bool FaultyFileSystem::FaultReached() const { return !FailedCall().empty(); }

std::string FaultyFileSystem::FailedCall() const {
  MutexLock lock(state_->mu);
  return state_->failed_call;
}

void FaultyFileSystem::SetFreeBytes(std::optional<uint64_t> bytes) {
  MutexLock lock(state_->mu);
  state_->free_bytes = bytes;
}

void FaultyFileSystem::SetReadBytesMax(size_t bytes) {
  MutexLock lock(state_->mu);
  state_->read_bytes_max = bytes;
}

void FaultyFileSystem::SetReadFlips(uint64_t one_in) {
  MutexLock lock(state_->mu);
  state_->flip_one_in = one_in;
}

void FaultyFileSystem::SetDeletionsCanBeLost(bool can_be_lost) {
  MutexLock lock(state_->mu);
  state_->deletions_can_be_lost = can_be_lost;
}

uint64_t FaultyFileSystem::calls() const {
  MutexLock lock(state_->mu);
  return state_->calls;
}

std::vector<std::string> FaultyFileSystem::TakeHistory() {
  MutexLock lock(state_->mu);
  return std::exchange(state_->history, {});
}

void FaultyFileSystem::PowerCut(uint64_t kept_bytes) {
  // The next open shows what an error has left.
  PowerCut(PowerCutOptions{.kept_bytes = kept_bytes}).IgnoreError();
}

void FaultyFileSystem::PowerCut(
    const std::function<uint64_t(const std::string& path)>& kept_bytes) {
  PowerCut(PowerCutOptions{.kept_bytes_of = kept_bytes}).IgnoreError();
}

absl::Status FaultyFileSystem::PowerCut(const PowerCutOptions& options) {
  MutexLock lock(state_->mu);
  return state_->unsynced.PowerCut(state_->base, options);
}

absl::Status FaultyFileSystem::PowerCutInto(
    const std::string& from, const std::string& to,
    const PowerCutOptions& options) const {
  UnsyncedFiles unsynced;
  {
    MutexLock lock(state_->mu);
    unsynced = state_->unsynced.Below(from, to);
  }
  RETURN_IF_ERROR(CopyTree(state_->base, from, to));
  return unsynced.PowerCut(state_->base, options);
}

absl::Status FaultyFileSystem::FlipBit(const std::string& path, uint64_t bit) {
  ASSIGN_OR_RETURN(std::string bytes, ReadWhole(state_->base, path));
  if (bit / 8 >= bytes.size()) {
    return absl::OutOfRangeError(
        absl::StrCat("no such bit: path=", path, " bit=", bit));
  }
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return WriteWhole(state_->base, path, bytes);
}

absl::StatusOr<std::unique_ptr<SequentialFile>>
FaultyFileSystem::NewSequentialFile(const std::string& path) {
  RETURN_IF_ERROR(state_->Enter("open-read", path).status);
  ASSIGN_OR_RETURN(auto file, state_->base->NewSequentialFile(path));
  return std::make_unique<Reader>(state_.get(), path, std::move(file));
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>>
FaultyFileSystem::NewRandomAccessFile(const std::string& path) {
  RETURN_IF_ERROR(state_->Enter("open-random", path).status);
  ASSIGN_OR_RETURN(auto file, state_->base->NewRandomAccessFile(path));
  return std::make_unique<RandomReader>(state_.get(), path, std::move(file));
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultyFileSystem::NewWritableFile(
    const std::string& path) {
  std::unique_ptr<WritableFile> file;
  RETURN_IF_ERROR(state_->Run("create", path, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool existed, state_->base->Exists(path));
    const absl::StatusOr<uint64_t> size = state_->base->Size(path);
    ASSIGN_OR_RETURN(file, state_->base->NewWritableFile(path));
    MutexLock lock(state_->mu);
    state_->Free(size.value_or(0));
    state_->unsynced.Created(path, existed, 0);
    return absl::OkStatus();
  }));
  return std::make_unique<Writer>(state_.get(), path, std::move(file));
}

absl::StatusOr<std::unique_ptr<WritableFile>>
FaultyFileSystem::NewAppendableFile(const std::string& path) {
  std::unique_ptr<WritableFile> file;
  RETURN_IF_ERROR(state_->Run("open-append", path, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool existed, state_->base->Exists(path));
    uint64_t size = 0;
    if (existed) {
      ASSIGN_OR_RETURN(size, state_->base->Size(path));
    }
    ASSIGN_OR_RETURN(file, state_->base->NewAppendableFile(path));
    MutexLock lock(state_->mu);
    state_->unsynced.Created(path, existed, size);
    return absl::OkStatus();
  }));
  return std::make_unique<Writer>(state_.get(), path, std::move(file));
}

absl::StatusOr<bool> FaultyFileSystem::Exists(const std::string& path) {
  RETURN_IF_ERROR(state_->Enter("exists", path).status);
  return state_->base->Exists(path);
}

absl::StatusOr<std::vector<std::string>> FaultyFileSystem::List(
    const std::string& directory) {
  RETURN_IF_ERROR(state_->Enter("list", directory).status);
  return state_->base->List(directory);
}

absl::StatusOr<uint64_t> FaultyFileSystem::Size(const std::string& path) {
  RETURN_IF_ERROR(state_->Enter("size", path).status);
  return state_->base->Size(path);
}

absl::Status FaultyFileSystem::Delete(const std::string& path) {
  return state_->Run("delete", path, [&]() -> absl::Status {
    MutexLock lock(state_->mu);
    std::string bytes;
    if (state_->deletions_can_be_lost) {
      ASSIGN_OR_RETURN(bytes, ReadWhole(state_->base, path));
    }
    const absl::StatusOr<uint64_t> size = state_->base->Size(path);
    RETURN_IF_ERROR(state_->base->Delete(path));
    state_->Free(size.value_or(0));
    state_->unsynced.Deleted(path,
                             state_->deletions_can_be_lost ? &bytes : nullptr);
    return absl::OkStatus();
  });
}

absl::Status FaultyFileSystem::CreateDirectory(const std::string& path) {
  return state_->Run("create-directory", path,
                     [&] { return state_->base->CreateDirectory(path); });
}

absl::Status FaultyFileSystem::DeleteDirectory(const std::string& path) {
  return state_->Run("delete-directory", path,
                     [&] { return state_->base->DeleteDirectory(path); });
}

absl::Status FaultyFileSystem::Rename(const std::string& from,
                                      const std::string& to) {
  return state_->Run("rename", to, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool replaces, state_->base->Exists(to));
    std::string replaced;
    if (replaces) {
      ASSIGN_OR_RETURN(replaced, ReadWhole(state_->base, to));
    }
    RETURN_IF_ERROR(state_->base->Rename(from, to));
    MutexLock lock(state_->mu);
    state_->unsynced.Renamed(from, to, replaces ? &replaced : nullptr);
    return absl::OkStatus();
  });
}

absl::Status FaultyFileSystem::HardLink(const std::string& from,
                                        const std::string& to) {
  return state_->Run("link", to, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const uint64_t size, state_->base->Size(from));
    RETURN_IF_ERROR(state_->base->HardLink(from, to));
    MutexLock lock(state_->mu);
    state_->unsynced.Linked(from, to, size);
    return absl::OkStatus();
  });
}

absl::Status FaultyFileSystem::Truncate(const std::string& path,
                                        uint64_t size) {
  return state_->Run("truncate", path, [&]() -> absl::Status {
    const absl::StatusOr<uint64_t> before = state_->base->Size(path);
    RETURN_IF_ERROR(state_->base->Truncate(path, size));
    MutexLock lock(state_->mu);
    state_->Free(before.ok() && *before > size ? *before - size : 0);
    state_->unsynced.Truncated(path, size);
    return absl::OkStatus();
  });
}

absl::Status FaultyFileSystem::SyncDirectory(const std::string& directory) {
  RETURN_IF_ERROR(state_->Enter("sync-directory", directory).status);
  MutexLock lock(state_->mu);
  state_->unsynced.DirectorySynced(directory);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FaultyFileSystem::FreeBytes(
    const std::string& directory) {
  RETURN_IF_ERROR(state_->Enter("free-bytes", directory).status);
  ASSIGN_OR_RETURN(const uint64_t free, state_->base->FreeBytes(directory));
  MutexLock lock(state_->mu);
  return std::min(free, state_->free_bytes.value_or(free));
}

absl::StatusOr<std::unique_ptr<FileLock>> FaultyFileSystem::Lock(
    const std::string& path) {
  RETURN_IF_ERROR(state_->Enter("lock", path).status);
  return state_->base->Lock(path);
}

}  // namespace dovetail::test
