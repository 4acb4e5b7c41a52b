// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// FileSystem on POSIX calls.
//
// - Appends are gathered in 64 KiB and written by Flush, so that a log record
//   costs one write(2).
// - Files read at random are mapped, which saves a system call and a copy for
//   each block; beyond a number of mappings, and for empty files, pread is
//   used. A mapped file that is cut by somebody else, or whose disk fails,
//   ends the process with SIGBUS, as with any use of mmap.
// - Locks are flock(2), which closing another descriptor of the same file
//   does not drop, plus a table of the files that this process holds, for
//   file systems that emulate flock by locks which exclude processes only.

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error_payload.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/file_system.h"

namespace dovetail {
namespace {

constexpr size_t kAppendBufferBytes = 64 << 10;
// Far below Linux's default of 65,530 mappings for one process.
constexpr int kMappingsMax = 4096;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    case ENOTDIR:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status PosixError(const char* call, const std::string& path, int error) {
  return absl::Status(
      CodeOf(error),
      absl::StrCat(std::generic_category().message(error), ": call=", call,
                   " path=", ToAbsl(Quote(path, 1024))));
}

// An owned file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> Open(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, kFileMode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return PosixError("open", path, errno);
  return Descriptor(fd);
}

absl::Status WriteAll(int fd, const std::string& path, const char* data,
                      size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return PosixError("write", path, errno);
    }
    data += written;
    size -= static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

// Reads until `n` bytes or the end of the file.
absl::StatusOr<size_t> ReadAllAt(int fd, const std::string& path,
                                 uint64_t offset, size_t n, char* out) {
  size_t done = 0;
  while (done < n) {
    const ssize_t got =
        ::pread(fd, out + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return PosixError("pread", path, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

class PosixSequentialFile final : public SequentialFile {
 public:
  PosixSequentialFile(std::string path, Descriptor fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::StatusOr<size_t> Read(size_t n, char* scratch) override {
    ssize_t got;
    do {
      got = ::read(fd_.get(), scratch, n);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return PosixError("read", path_, errno);
    return static_cast<size_t>(got);
  }

  absl::Status Skip(uint64_t n) override {
    if (::lseek(fd_.get(), static_cast<off_t>(n), SEEK_CUR) < 0) {
      return PosixError("lseek", path_, errno);
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const Descriptor fd_;
};

class PreadFile final : public RandomAccessFile {
 public:
  PreadFile(std::string path, Descriptor fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::StatusOr<std::string_view> Read(uint64_t offset, size_t n,
                                        char* scratch) const override {
    ASSIGN_OR_RETURN(const size_t got,
                     ReadAllAt(fd_.get(), path_, offset, n, scratch));
    return std::string_view(scratch, got);
  }

 private:
  const std::string path_;
  const Descriptor fd_;
};

// A mapping of a whole file. `mappings` counts it until it is destroyed.
class MappedFile final : public RandomAccessFile {
 public:
  MappedFile(const char* data, size_t size, std::atomic<int>* mappings)
      : data_(data), size_(size), mappings_(mappings) {}
  ~MappedFile() override {
    ::munmap(const_cast<char*>(data_), size_);
    mappings_->fetch_sub(1, std::memory_order_relaxed);
  }

  absl::StatusOr<std::string_view> Read(uint64_t offset, size_t n,
                                        char*) const override {
    if (offset >= size_) return std::string_view();
    return std::string_view(data_ + offset,
                            std::min<uint64_t>(n, size_ - offset));
  }

 private:
  const char* const data_;
  const size_t size_;
  std::atomic<int>* const mappings_;
};

// The buffer has a lock of its own, because Sync may come from a thread other
// than the one that appends; it is not held while the disk works.
class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, Descriptor fd)
      : path_(std::move(path)),
        fd_(std::move(fd)),
        buffer_(new char[kAppendBufferBytes]) {}
  ~PosixWritableFile() override { Close().IgnoreError(); }  // Nobody to tell.

  absl::Status Append(std::string_view data) override {
    MutexLock lock(mu_);
    const size_t copied = std::min(data.size(), kAppendBufferBytes - used_);
    std::memcpy(buffer_.get() + used_, data.data(), copied);
    used_ += copied;
    data.remove_prefix(copied);
    if (data.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(FlushLocked());
    if (data.size() >= kAppendBufferBytes) {
      return WriteAll(fd_.get(), path_, data.data(), data.size());
    }
    std::memcpy(buffer_.get(), data.data(), data.size());
    used_ = data.size();
    return absl::OkStatus();
  }

  absl::Status Flush() override {
    MutexLock lock(mu_);
    return FlushLocked();
  }

  absl::Status Sync() override {
    RETURN_IF_ERROR(Flush());
    if (::fdatasync(fd_.get()) != 0) {
      return PosixError("fdatasync", path_, errno);
    }
    return absl::OkStatus();
  }

  absl::Status Close() override {
    MutexLock lock(mu_);
    if (fd_.get() < 0) return absl::OkStatus();
    const absl::Status flushed = FlushLocked();
    // Not retried on EINTR: Linux has released the descriptor by then.
    const int result = ::close(fd_.Release());
    RETURN_IF_ERROR(flushed);
    if (result != 0 && errno != EINTR) return PosixError("close", path_, errno);
    return absl::OkStatus();
  }

 private:
  // After an error the buffer is empty: how much of it was written is not
  // known, and writing it again could double it.
  absl::Status FlushLocked() REQUIRES(mu_) {
    const size_t size = std::exchange(used_, 0);
    return WriteAll(fd_.get(), path_, buffer_.get(), size);
  }

  const std::string path_;
  Descriptor fd_;  // Released by Close, which no other call may overlap.

  Mutex mu_;
  const std::unique_ptr<char[]> buffer_;
  size_t used_ GUARDED_BY(mu_) = 0;
};

// What a file is, whatever its path.
struct FileIdentity {
  dev_t device;
  ino_t inode;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// The locks of this process, each with the process id that took it: a forked
// child inherits the table, but the holder is still its parent.
class HeldLocks {
 public:
  std::optional<pid_t> Holder(FileIdentity id) {
    MutexLock lock(mu_);
    const auto it = held_.find(id);
    if (it == held_.end()) return std::nullopt;
    return it->second;
  }
  bool Insert(FileIdentity id) {
    MutexLock lock(mu_);
    return held_.emplace(id, ::getpid()).second;
  }
  void Erase(FileIdentity id) {
    MutexLock lock(mu_);
    held_.erase(id);
  }

 private:
  Mutex mu_;
  std::map<FileIdentity, pid_t> held_ GUARDED_BY(mu_);
};

class PosixFileLock final : public FileLock {
 public:
  PosixFileLock(Descriptor fd, FileIdentity id, HeldLocks* held)
      : fd_(std::move(fd)), id_(id), held_(held) {}
  // The table first: another thread may lock as soon as the kernel lets it.
  ~PosixFileLock() override {
    held_->Erase(id_);
    ::flock(fd_.get(), LOCK_UN);
  }

  absl::Status WritePid(const std::string& path) {
    const std::string text = absl::StrCat(::getpid(), "\n");
    if (::ftruncate(fd_.get(), 0) != 0) {
      return PosixError("ftruncate", path, errno);
    }
    return WriteAll(fd_.get(), path, text.data(), text.size());
  }

 private:
  const Descriptor fd_;
  const FileIdentity id_;
  HeldLocks* const held_;
};

// `holder` 0: not known.
absl::Status HeldError(const std::string& path, int64_t holder) {
  return WithHolder(
      absl::FailedPreconditionError(absl::StrCat(
          "the lock is held: path=", ToAbsl(Quote(path, 1024)),
          " holder_pid=", holder == 0 ? "unknown" : absl::StrCat(holder))),
      holder);
}

// What the holder wrote into the lock file.
int64_t HolderIn(int fd, const std::string& path) {
  char text[32] = {};
  int64_t pid = 0;
  if (!ReadAllAt(fd, path, 0, sizeof(text) - 1, text).ok() ||
      !absl::SimpleAtoi(text, &pid)) {
    return 0;
  }
  return pid;
}

class PosixFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<SequentialFile>> NewSequentialFile(
      const std::string& path) override {
    ASSIGN_OR_RETURN(Descriptor fd, Open(path, O_RDONLY));
    return std::make_unique<PosixSequentialFile>(path, std::move(fd));
  }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override {
    ASSIGN_OR_RETURN(Descriptor fd, Open(path, O_RDONLY));
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return PosixError("fstat", path, errno);
    const auto size = static_cast<size_t>(info.st_size);
    if (size > 0 && mappings_.fetch_add(1) < kMappingsMax) {
      void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
      if (data != MAP_FAILED) {
        return std::make_unique<MappedFile>(static_cast<const char*>(data),
                                            size, &mappings_);
      }
    }
    if (size > 0) mappings_.fetch_sub(1);
    return std::make_unique<PreadFile>(path, std::move(fd));
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override {
    return NewWriter(path, O_WRONLY | O_CREAT | O_TRUNC);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override {
    return NewWriter(path, O_WRONLY | O_CREAT | O_APPEND);
  }

  absl::StatusOr<bool> Exists(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return PosixError("stat", path, errno);
  }

  absl::StatusOr<std::vector<std::string>> List(
      const std::string& directory) override {
    DIR* dir = ::opendir(directory.c_str());
    if (dir == nullptr) return PosixError("opendir", directory, errno);
    std::vector<std::string> names;
    int error = 0;
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(dir);
      if (entry == nullptr) {
        error = errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(dir);
    if (error != 0) return PosixError("readdir", directory, error);
    return names;
  }

  absl::StatusOr<uint64_t> Size(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) {
      return PosixError("stat", path, errno);
    }
    return static_cast<uint64_t>(info.st_size);
  }

  absl::Status Delete(const std::string& path) override {
    return Result("unlink", path, ::unlink(path.c_str()));
  }

  absl::Status CreateDirectory(const std::string& path) override {
    if (::mkdir(path.c_str(), kDirectoryMode) == 0) return absl::OkStatus();
    const int error = errno;
    struct stat info;
    if (error != EEXIST || ::stat(path.c_str(), &info) != 0) {
      return PosixError("mkdir", path, error);
    }
    if (S_ISDIR(info.st_mode)) return absl::OkStatus();
    return PosixError("mkdir", path, ENOTDIR);
  }

  absl::Status DeleteDirectory(const std::string& path) override {
    return Result("rmdir", path, ::rmdir(path.c_str()));
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    return Result("rename", from, ::rename(from.c_str(), to.c_str()));
  }

  absl::StatusOr<uint64_t> FreeBytes(const std::string& directory) override {
    struct statvfs info;
    if (::statvfs(directory.c_str(), &info) != 0) {
      return PosixError("statvfs", directory, errno);
    }
    return uint64_t{info.f_bavail} * info.f_frsize;
  }

  absl::Status HardLink(const std::string& from,
                        const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    const int error = errno;
    const absl::Status status = PosixError("link", from, error);
    // EPERM: no links at all, or none to files of others.
    const bool never = error == EXDEV || error == EPERM || error == EMLINK ||
                       error == EOPNOTSUPP;
    return absl::Status(
        never ? absl::StatusCode::kUnimplemented : status.code(),
        absl::StrCat(status.message(), " to=", ToAbsl(Quote(to, 1024))));
  }

  absl::Status Truncate(const std::string& path, uint64_t size) override {
    return Result("truncate", path,
                  ::truncate(path.c_str(), static_cast<off_t>(size)));
  }

  absl::Status SyncDirectory(const std::string& directory) override {
    ASSIGN_OR_RETURN(const Descriptor fd,
                     Open(directory, O_RDONLY | O_DIRECTORY));
    return Result("fsync", directory, ::fsync(fd.get()));
  }

  absl::StatusOr<std::unique_ptr<FileLock>> Lock(
      const std::string& path) override {
    // Before the open: where flock is emulated, closing the descriptor of the
    // failed attempt would drop the lock that this process holds.
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) {
      const auto holder = held_.Holder({info.st_dev, info.st_ino});
      if (holder.has_value()) return HeldError(path, *holder);
    }
    ASSIGN_OR_RETURN(Descriptor fd, Open(path, O_RDWR | O_CREAT));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return PosixError("flock", path, errno);
      return HeldError(path, HolderIn(fd.get(), path));
    }
    if (::fstat(fd.get(), &info) != 0) return PosixError("fstat", path, errno);
    const FileIdentity id{info.st_dev, info.st_ino};
    if (!held_.Insert(id)) {
      return HeldError(path, HolderIn(fd.get(), path));
    }
    auto lock = std::make_unique<PosixFileLock>(std::move(fd), id, &held_);
    RETURN_IF_ERROR(lock->WritePid(path));
    return lock;
  }

 private:
  static absl::Status Result(const char* call, const std::string& path,
                             int result) {
    if (result == 0) return absl::OkStatus();
    return PosixError(call, path, errno);
  }

  static absl::StatusOr<std::unique_ptr<WritableFile>> NewWriter(
      const std::string& path, int flags) {
    ASSIGN_OR_RETURN(Descriptor fd, Open(path, flags));
    return std::make_unique<PosixWritableFile>(path, std::move(fd));
  }

  std::atomic<int> mappings_{0};
  HeldLocks held_;
};

}  // namespace

absl::Status FileSystem::HardLink(const std::string&, const std::string& to) {
  return absl::UnimplementedError(
      absl::StrCat("no hard links here: path=", ToAbsl(Quote(to, 1024))));
}

absl::StatusOr<uint64_t> FileSystem::FreeBytes(const std::string& directory) {
  return absl::UnimplementedError(absl::StrCat(
      "free space is not known here: path=", ToAbsl(Quote(directory, 1024))));
}

FileSystem* FileSystem::Posix() {
  // Never destroyed: engines in static objects may still use it.
  static auto* const file_system = new PosixFileSystem;
  return file_system;
}

}  // namespace dovetail
