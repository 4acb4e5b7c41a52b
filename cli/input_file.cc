// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"

namespace dovetail::cli {
namespace {

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
struct InputFd {
  explicit InputFd(int number) : fd(number) {}
  InputFd(const InputFd&) = delete;
  InputFd& operator=(const InputFd&) = delete;
  ~InputFd() {
    if (fd > STDERR_FILENO) close(fd);
  }
  int fd;
};

}  // namespace

absl::StatusOr<ByteSource::ReadFunction> OpenInputFunction(
    const std::string& path) {
  int fd = STDIN_FILENO;
  if (path != "-") {
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ErrnoError("cannot open the file", path);
  }
  auto descriptor = std::make_shared<InputFd>(fd);
  return ByteSource::ReadFunction(
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

absl::StatusOr<ByteSource> OpenInput(const std::string& path) {
  ASSIGN_OR_RETURN(ByteSource::ReadFunction read, OpenInputFunction(path));
  return ByteSource(std::move(read));
}

absl::StatusOr<std::string> ReadAll(const std::string& path, size_t bytes_max) {
  ASSIGN_OR_RETURN(ByteSource source, OpenInput(path));
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
