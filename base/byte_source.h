// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Bytes of an input, a piece at a time. Memory is what the
// caller leaves unconsumed plus one chunk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dovetail {

// Thread-compatible; movable, not copyable.
class ByteSource {
 public:
  // Fills the buffer with up to `n` bytes and returns how many; 0 is the end.
  using ReadFunction = std::function<absl::StatusOr<size_t>(char*, size_t n)>;

  // Hands out `text` at most `chunk` bytes at a time.
  static ByteSource FromString(std::string text, size_t chunk = 1 << 16);

  explicit ByteSource(ReadFunction read);
  ByteSource(ByteSource&&) noexcept = default;
  ByteSource& operator=(ByteSource&&) noexcept = default;

  // What was read and not consumed. Valid until the next More or Consume.
  std::string_view data() const {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  // Appends to data(); false at the end of the input.
  absl::StatusOr<bool> More();
  // Drops the first `n` bytes. REQUIRES: n <= data().size().
  void Consume(size_t n);
  // Bytes dropped so far.
  uint64_t consumed() const { return consumed_; }

  // Skips a UTF-8 byte order mark. InvalidArgument, with what to do, if the
  // input is compressed or UTF-16. REQUIRES: nothing was consumed.
  absl::Status CheckText();

 private:
  ReadFunction read_;
  std::string buffer_;
  size_t begin_ = 0;  // Consumed bytes at the front of buffer_.
  size_t end_ = 0;    // Behind the bytes read; what follows is room for more.
  uint64_t consumed_ = 0;
  bool ended_ = false;
};

}  // namespace dovetail
