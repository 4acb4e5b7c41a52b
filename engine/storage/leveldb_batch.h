// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Decodes a record of a LevelDB log: one write batch.
//
//   sequence: fixed64   of the first operation; the others follow
//   count:    fixed32   of operations
//   operation*: type byte, key, and for a put the value; both behind their
//               length as a varint

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"

namespace dovetail {

struct LevelDbBatchHeader {
  uint64_t sequence = 0;
  uint64_t count = 0;
  uint64_t next_sequence() const { return sequence + count; }
};

// Decodes all of `record`, calling `put` and `del` for its operations, in
// order. DataLoss with the reason if the record is not one whole batch.
using LevelDbPutFn =
    std::function<void(std::string_view key, std::string_view value)>;
using LevelDbDeleteFn = std::function<void(std::string_view key)>;
absl::StatusOr<LevelDbBatchHeader> DecodeLevelDbBatch(
    std::string_view record, const LevelDbPutFn& put,
    const LevelDbDeleteFn& del = [](std::string_view) {});

}  // namespace dovetail
