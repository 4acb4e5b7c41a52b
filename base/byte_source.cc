// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"

namespace dovetail::cli {
namespace {

constexpr size_t kChunk = 1 << 16;
constexpr int kPollMillis = 200;

absl::Status ErrnoError(std::string_view doing, const std::string& path) {
  const int error = errno;
  const std::string message =
      absl::StrCat(ToAbsl(doing), ": path=", ToAbsl(Quote(path, 1024)),
                   " error=\"", std::strerror(error), "\"");
  return error == ENOENT ? absl::NotFoundError(message)
                         : absl::UnknownError(message);
}

// Closes the descriptor with the last copy of the read function.
struct Descriptor {
  explicit Descriptor(int number) : fd(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd > STDERR_FILENO) close(fd);
  }
  int fd;
};

struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view remedy;
};
constexpr Magic kMagics[] = {
    {"\xfd"
     "7zXZ",
     "is compressed with xz", "xzcat FILE | dovetail import DB TABLE -"},
    {"\x1f\x8b", "is compressed with gzip",
     "zcat FILE | dovetail import DB TABLE -"},
    {"\x28\xb5\x2f\xfd", "is compressed with zstd",
     "zstdcat FILE | dovetail import DB TABLE -"},
    {"\xff\xfe", "is UTF-16, not UTF-8",
     "iconv -f UTF-16 -t UTF-8 FILE | dovetail import DB TABLE -"},
    {"\xfe\xff", "is UTF-16, not UTF-8",
     "iconv -f UTF-16 -t UTF-8 FILE | dovetail import DB TABLE -"},
};

}  // namespace

absl::StatusOr<ByteSource> ByteSource::Open(const std::string& path) {
  int fd = STDIN_FILENO;
  if (path != "-") {
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ErrnoError("cannot open the file", path);
  }
  auto descriptor = std::make_shared<Descriptor>(fd);
  return ByteSource(
      [descriptor, path](char* out, size_t n) -> absl::StatusOr<size_t> {
        for (;;) {
          // With a timeout: a signal just before the call wakes nothing.
          pollfd ready{descriptor->fd, POLLIN, 0};
          while (!Interrupted() && poll(&ready, 1, kPollMillis) == 0) continue;
          if (Interrupted()) return InterruptedError("interrupted");
          const ssize_t got = read(descriptor->fd, out, n);
          if (got >= 0) return static_cast<size_t>(got);
          if (errno != EINTR) return ErrnoError("cannot read the file", path);
        }
      });
}

ByteSource ByteSource::FromString(std::string text, size_t chunk) {
  auto left = std::make_shared<std::string>(std::move(text));
  auto at = std::make_shared<size_t>(0);
  return ByteSource([left, at, chunk](char* out, size_t n) {
    const size_t size = std::min({n, chunk, left->size() - *at});
    std::memcpy(out, left->data() + *at, size);
    *at += size;
    return absl::StatusOr<size_t>(size);
  });
}

ByteSource::ByteSource(ReadFunction read) : read_(std::move(read)) {}

absl::StatusOr<bool> ByteSource::More() {
  // A terminal would ask for a second end of input.
  if (ended_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  const size_t before = buffer_.size();
  buffer_.resize(before + kChunk);
  absl::StatusOr<size_t> got = read_(buffer_.data() + before, kChunk);
  buffer_.resize(before + (got.ok() ? *got : 0));
  if (!got.ok()) return got.status();
  ended_ = *got == 0;
  return !ended_;
}

void ByteSource::Consume(size_t n) { begin_ += n; }

absl::Status ByteSource::CheckText() {
  while (data().size() < 6) {
    ASSIGN_OR_RETURN(const bool more, More());
    if (!more) break;
  }
  for (const Magic& magic : kMagics) {
    if (data().substr(0, magic.bytes.size()) != magic.bytes) continue;
    return WithHint(
        absl::InvalidArgumentError(
            absl::StrCat("the input ", ToAbsl(magic.what))),
        absl::StrCat("Pipe it through a converter: ", ToAbsl(magic.remedy)));
  }
  if (data().substr(0, 3) == "\xef\xbb\xbf") Consume(3);
  return {};
}

absl::StatusOr<std::string> ReadAll(const std::string& path, size_t bytes_max) {
  ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  RETURN_IF_ERROR(source.CheckText());
  for (;;) {
    if (source.data().size() > bytes_max) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the file is too large: path=", ToAbsl(Quote(path, 1024)),
          " bytes_max=", bytes_max));
    }
    ASSIGN_OR_RETURN(const bool more, source.More());
    if (!more) return std::string(source.data());
  }
}

}  // namespace dovetail::cli
