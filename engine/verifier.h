// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Verify: re-derives every entry from the rows on disk and compares with the
// entries on disk.
//
// First pass, sequential: per index an order-free 128-bit sum over the hashes
// of the entries the rows imply, and one over the entries there are. Equal
// sums and counts mean equal sets (up to hash collisions by chance, 2^-128
// each; this is no defence against a forger). Second pass, only over indexes
// whose sums differ: point reads that name each difference.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/verify.h"
#include "engine/published_state.h"

namespace dovetail {

// What an index should and does hold, as sums.
struct EntrySum {
  uint64_t count = 0;
  uint64_t low = 0;
  uint64_t high = 0;

  void Add(std::string_view key, std::string_view value);
  friend bool operator==(const EntrySum&, const EntrySum&) = default;
};

// One run on one state. Thread-compatible. State and options must outlive it.
class Verifier {
 public:
  Verifier(const internal::PublishedState& state, const VerifyOptions& options);

  // Cancelled if the progress callback said so; DataLoss only for damage that
  // keeps the store from being read at all.
  absl::StatusOr<VerifyReport> Run();

  // Of one index alone; nullopt if its entries follow from the rows.
  absl::StatusOr<std::optional<Finding>> FirstDifference(
      const TableState& table, int index);

 private:
  struct Sums {
    EntrySum rows;     // What the rows imply.
    EntrySum entries;  // What is there.
  };

  absl::Status VerifyTable(const TableState& table,
                           const std::vector<int>& indexes);
  // `sums` has one element for each of `indexes`.
  absl::Status SumRows(const TableState& table, const std::vector<int>& indexes,
                       std::vector<Sums>* sums);
  absl::Status SumEntries(const TableState& table, int index, Sums* sums);
  absl::Status NameMissing(const TableState& table,
                           const std::vector<int>& indexes);
  absl::Status NameDangling(const TableState& table, int index);
  absl::Status CheckExpected(const TableState& table, int index,
                             const EncodedRow& row);

  // Reads the row's record and checks its key. False, with a finding unless
  // `silent`, if either is wrong.
  bool Encode(const TableState& table, std::string_view row_key,
              std::string_view value, bool silent, EncodedRow* row);
  void Report(Finding finding);
  absl::Status Step(std::string_view table, std::string_view index);
  std::unique_ptr<StoreIterator> Iterate(const std::string& prefix);

  const internal::PublishedState& state_;
  const VerifyOptions& options_;
  StoreReadOptions read_;
  VerifyReport report_;
  uint64_t steps_ = 0;
  // Hashes of entries already reported from the row's side. Bounded by the
  // damage, 8 bytes each.
  absl::flat_hash_set<uint64_t> reported_;
};

}  // namespace dovetail
