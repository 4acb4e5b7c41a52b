// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Token: web-safe base64 of [a message][CRC-32C, 4 bytes
// big-endian]. The checksum is against accidents; a forged token can only
// start the same request at another position.

#include "engine/continuation.h"

#include <xxhash.h>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/v1/continuation.pb.h"

namespace dovetail {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kTokenBytesMax = 64 << 10;

absl::Status Damaged() {
  return absl::InvalidArgumentError(
      "continuation is damaged: pass it on exactly as it was returned");
}

}  // namespace

std::string SealToken(std::string bytes) {
  AppendBigEndian(Crc32c(bytes), 4, &bytes);
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<std::string> OpenToken(std::string_view token) {
  std::string bytes;
  // One text per token: base64 leaves bits of its last letter open.
  if (token.size() > kTokenBytesMax ||
      !absl::WebSafeBase64Unescape(ToAbsl(token), &bytes) ||
      absl::WebSafeBase64Escape(bytes) != token || bytes.size() < 4) {
    return Damaged();
  }
  const auto stored = static_cast<uint32_t>(
      DecodeBigEndian(bytes.data() + bytes.size() - 4, 4));
  bytes.resize(bytes.size() - 4);
  if (Crc32c(bytes) != stored) return Damaged();
  return bytes;
}

absl::Status TokenOfAnotherRelease() {
  return absl::InvalidArgumentError(
      "continuation is of another release: start again from the beginning");
}

uint64_t ScanFingerprint(std::string_view space_prefix,
                         const std::vector<KeyRange>& ranges) {
  std::string all;
  const auto add = [&all](std::string_view piece) {
    AppendVarint(piece.size(), &all);
    all.append(piece);
  };
  add(space_prefix);
  for (const KeyRange& range : ranges) {
    add(range.prefix);
    add(range.begin);
    add(range.end);
  }
  return XXH3_64bits(all.data(), all.size());
}

std::string EncodeContinuation(uint64_t fingerprint,
                               const ScanPosition& position) {
  v1::Continuation proto;
  proto.set_version(kVersion);
  proto.set_fingerprint(fingerprint);
  proto.set_position(position.suffix);
  proto.set_stream(position.stream);
  return SealToken(proto.SerializeAsString());
}

absl::StatusOr<ScanPosition> DecodeContinuation(std::string_view token,
                                                uint64_t fingerprint,
                                                size_t streams) {
  ASSIGN_OR_RETURN(const std::string bytes, OpenToken(token));
  v1::Continuation proto;
  if (!proto.ParseFromString(bytes)) return Damaged();
  if (proto.version() != kVersion) return TokenOfAnotherRelease();
  const bool same_request = proto.fingerprint() == fingerprint ||
                            SeededBug("continuation_of_another_request");
  if (!same_request || proto.stream() >= streams) {
    return absl::InvalidArgumentError(
        "continuation is of another request: only the limit may change "
        "between the pages of one request");
  }
  return ScanPosition{proto.position(), proto.stream()};
}

}  // namespace dovetail
