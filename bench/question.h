// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Questions about orders, and the stores that are asked.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/bench_order.pb.h"

namespace dovetail::bench {

inline constexpr size_t kNewest = 20;

// All are about one seller. Rows are asked for newest first, kNewest at most.
struct Question {
  enum class Kind {
    kTop,     // Any.
    kStatus,  // In one of `statuses`.
    kCounts,  // No rows: how many orders there are in each status.
    kFilter,  // Of a time in [from_us, to_us) and an amount above `amount`.
  };
  Kind kind = Kind::kTop;
  std::string seller;
  std::vector<int32_t> statuses;
  int64_t from_us = 0;
  int64_t to_us = 0;
  int64_t amount = 0;
};

// What a store says; kept from question to question for its memory.
class Answer {
 public:
  void Clear() { rows_ = 0, counts_.assign(kStatuses, 0); }
  // The next row, to be filled in.
  BenchOrder* AddRow() {
    if (rows_ == orders_.size()) orders_.emplace_back();
    return &orders_[rows_++];
  }
  // Takes back the row added last.
  void DropRow() { --rows_; }
  void AddCount(int32_t status, uint64_t count) {
    counts_[static_cast<size_t>(status) % kStatuses] += count;
  }
  size_t rows() const { return rows_; }
  // Of all that was said, so that two stores can be compared.
  uint64_t Digest() const;

 private:
  static constexpr size_t kStatuses = 8;
  std::vector<BenchOrder> orders_;
  size_t rows_ = 0;
  std::vector<uint64_t> counts_ = std::vector<uint64_t>(kStatuses);
};

struct QuestionStoreOptions {
  std::string directory;
  size_t cache_bytes = 64 << 20;
  size_t write_buffer_bytes = 32 << 20;
};

// Used by one thread.
class QuestionStore {
 public:
  virtual ~QuestionStore() = default;

  // Inserts orders that are not there, in one commit.
  virtual absl::Status Insert(const std::vector<BenchOrder>& orders) = 0;
  virtual absl::Status SetStatus(const std::string& id, int32_t status) = 0;
  virtual absl::Status Ask(const Question& question, Answer* answer) = 0;
};

absl::StatusOr<std::unique_ptr<QuestionStore>> OpenDovetailQuestions(
    const QuestionStoreOptions& options);
// By hand, with every checksum verified.
absl::StatusOr<std::unique_ptr<QuestionStore>> OpenLevelDbQuestions(
    const QuestionStoreOptions& options);
// Prepared statements, and an index for each question.
absl::StatusOr<std::unique_ptr<QuestionStore>> OpenSqliteQuestions(
    const QuestionStoreOptions& options);
#ifdef DOVETAIL_BENCH_ROCKSDB
// The same code as with LevelDB, with RocksDB's own settings.
absl::StatusOr<std::unique_ptr<QuestionStore>> OpenRocksDbQuestions(
    const QuestionStoreOptions& options);
#endif

}  // namespace dovetail::bench
