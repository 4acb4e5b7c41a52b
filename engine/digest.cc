// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/digest.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/space_sum.h"

namespace dovetail {

absl::uint128 TotalDigest(const DigestReport& report) {
  absl::uint128 total = 0;
  for (const SpaceDigest& space : report.spaces) total += space.sum;
  return total;
}

std::string DigestText(absl::uint128 sum) {
  return absl::StrCat(absl::Hex(absl::Uint128High64(sum), absl::kZeroPad16),
                      absl::Hex(absl::Uint128Low64(sum), absl::kZeroPad16));
}

v1::SpaceDigest ToProto(const SpaceDigest& digest) {
  v1::SpaceDigest proto;
  proto.set_table(digest.table);
  proto.set_index(digest.index);
  proto.set_count(digest.count);
  AppendSum(digest.sum, proto.mutable_sum());
  return proto;
}

absl::StatusOr<SpaceDigest> FromProto(const v1::SpaceDigest& digest) {
  const std::string& sum = digest.sum();
  if (sum.size() != 16) {
    return absl::InvalidArgumentError(
        absl::StrCat("a digest is not of 16 bytes: table=", digest.table(),
                     " index=", digest.index(), " bytes=", sum.size()));
  }
  return SpaceDigest{digest.table(), digest.index(), digest.count(),
                     ParseSum(sum)};
}

}  // namespace dovetail
