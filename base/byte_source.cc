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
