// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/byte_source.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

constexpr size_t kChunk = 1 << 16;
struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view converter;
};
constexpr Magic kMagics[] = {
    {"\xfd"
     "7zXZ",
     "is compressed with xz", "xzcat"},
    {"\x1f\x8b", "is compressed with gzip", "zcat"},
    {"\x28\xb5\x2f\xfd", "is compressed with zstd", "zstdcat"},
    {"\xff\xfe", "is UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", "is UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8"},
};

}  // namespace

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
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // What was made room for once stays: a source that gives a little at a time
  // would else have a whole chunk cleared for each time.
  if (buffer_.size() - end_ < kChunk / 2) buffer_.resize(end_ + kChunk);
  ASSIGN_OR_RETURN(const size_t got,
                   read_(buffer_.data() + end_, buffer_.size() - end_));
  end_ += got;
  ended_ = got == 0;
  return !ended_;
}

void ByteSource::Consume(size_t n) {
  begin_ += n;
  consumed_ += n;
}

absl::Status ByteSource::CheckText() {
  while (data().size() < 6) {
    ASSIGN_OR_RETURN(const bool more, More());
    if (!more) break;
  }
  for (const Magic& magic : kMagics) {
    if (data().substr(0, magic.bytes.size()) != magic.bytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the input ", ToAbsl(magic.what), "; pipe it through ",
                     ToAbsl(magic.converter)));
  }
  if (data().substr(0, 3) == "\xef\xbb\xbf") Consume(3);
  return {};
}

}  // namespace dovetail
