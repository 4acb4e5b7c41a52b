// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_batch.h"

#include "engine/storage/leveldb_coding.h"

namespace dovetail {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr char kDelete = 0;
constexpr char kPut = 1;

}  // namespace

absl::StatusOr<LevelDbBatchHeader> DecodeLevelDbBatch(
    std::string_view record, const LevelDbPutFn& put,
    const LevelDbDeleteFn& del) {
  if (record.size() < kHeaderBytes) {
    return absl::DataLossError("batch is shorter than its header");
  }
  LevelDbBatchHeader header;
  header.sequence = DecodeFixed64(record.data());
  header.count = DecodeFixed32(record.data() + 8);
  if (header.sequence == 0 || header.sequence > kLevelDbSequenceMax) {
    return absl::DataLossError("batch sequence out of range");
  }
  record.remove_prefix(kHeaderBytes);

  uint64_t count = 0;
  for (; !record.empty(); ++count) {
    const char type = record.front();
    record.remove_prefix(1);
    std::string_view key;
    std::string_view value;
    if ((type != kPut && type != kDelete) ||
        !ConsumeLengthPrefixed(&record, &key) ||
        (type == kPut && !ConsumeLengthPrefixed(&record, &value))) {
      return absl::DataLossError("batch operation is malformed");
    }
    type == kPut ? put(key, value) : del(key);
  }
  if (count != header.count) {
    return absl::DataLossError("batch count is not that of its operations");
  }
  return header;
}

}  // namespace dovetail
