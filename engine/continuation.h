// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where a scan stopped, as a token: printable, checksummed, bound to the
// request it belongs to.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "index/key_layout.h"

namespace dovetail {

// A message as a token, and back. InvalidArgument if the token is damaged.
std::string SealToken(std::string bytes);
absl::StatusOr<std::string> OpenToken(std::string_view token);
// InvalidArgument: a token of a version that this release does not know.
absl::Status TokenOfAnotherRelease();

struct ScanPosition {
  // The last key returned, from behind its stream's prefix on, and the stream
  // it came from; ties between streams go to the lower number.
  std::string suffix;
  uint32_t stream = 0;
};

// Of everything that decides which rows a scan returns in which order.
uint64_t ScanFingerprint(std::string_view space_prefix,
                         const std::vector<KeyRange>& ranges);

std::string EncodeContinuation(uint64_t fingerprint,
                               const ScanPosition& position);
// InvalidArgument if the token is damaged, of an unknown version, or of
// another request.
absl::StatusOr<ScanPosition> DecodeContinuation(std::string_view token,
                                                uint64_t fingerprint,
                                                size_t streams);

}  // namespace dovetail
