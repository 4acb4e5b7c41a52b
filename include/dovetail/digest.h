// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Digests: one number for the rows of a table, kept by every commit; and, by
// reading it, one for each index. Databases of equal content have equal
// digests, however they came to it: by the same writes in another order, by a
// replay, a repair or a copy. docs/format.md says what is summed.
//
//   auto digest = engine->Digest();
//   for (const SpaceDigest& space : digest->spaces) {
//     std::cout << space.table << " " << space.count << " "
//               << DigestText(space.sum) << "\n";
//   }
//
// They find differences that come by accident: two contents have one digest
// by a chance of 2^-128. They are no defence against a forger.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/write_log.pb.h"
#include "dovetail/write_batch.h"

namespace dovetail {

// Of a table's rows or of an index.
struct SpaceDigest {
  std::string table;
  std::string index;   // Empty: the rows.
  uint64_t count = 0;  // Rows or entries.
  // Modulo 2^128, over a hash of each row or entry.
  absl::uint128 sum = 0;

  friend bool operator==(const SpaceDigest&, const SpaceDigest&) = default;
};

struct DigestOptions {
  // Sum up the indexes as well, which reads all of their entries. They are not
  // kept, since an index follows from its table's rows.
  bool indexes = false;
};

struct DigestReport {
  SequenceNumber sequence{};  // Of the commit that it is the state after.
  // Table by table, its rows before its indexes, if those were asked for:
  // without those that are being built or disabled, which do not follow from
  // the rows.
  std::vector<SpaceDigest> spaces;
};

// Over all spaces: one number for the whole database. Tables and indexes of
// other names make it another one.
absl::uint128 TotalDigest(const DigestReport& report);

// 32 hexadecimal digits.
std::string DigestText(absl::uint128 sum);

// As the write log has them. InvalidArgument if the sum is not of 16 bytes.
v1::SpaceDigest ToProto(const SpaceDigest& digest);
absl::StatusOr<SpaceDigest> FromProto(const v1::SpaceDigest& digest);

}  // namespace dovetail
