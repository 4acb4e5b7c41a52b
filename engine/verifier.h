// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Verify: re-derives every entry from the rows on disk and compares with the
// entries on disk.
//
// First pass, sequential: per index an order-free 128-bit sum over the hashes
// of the entries the rows imply, and one over the entries there are. Equal
// sums and counts mean equal sets (up to hash collisions by chance, 2^-128
// each; this is no defence against a forger). Second pass, only over indexes
// whose sums differ: point reads that name each difference. Counters of groups
// are another matter; see group_check.h.
//
// The sums are those of digests, so what the first pass has found is compared
// with what the commits have kept, too, if they keep any.

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
#include "engine/digest_keeper.h"
#include "engine/group_check.h"
#include "engine/published_state.h"
#include "engine/space_sum.h"

namespace dovetail {

// One run on one state. Thread-compatible. State and options must outlive it.
class Verifier {
 public:
  Verifier(const internal::PublishedState& state, const VerifyOptions& options);

  // Cancelled if the progress callback said so; DataLoss only for damage that
  // keeps the store from being read at all.
  absl::StatusOr<VerifyReport> Run();

  // What Run has found of each space whose digest is wrong: how much more the
  // digest says than there is.
  const SpaceSums& digest_differences() const { return digest_differences_; }

  // Counters of groups that are wrong, VerifyOptions::findings_max at most.
  struct WrongGroup {
    std::string table;
    uint32_t space;  // Of the index.
    GroupDifference difference;
  };
  const std::vector<WrongGroup>& wrong_groups() const { return wrong_groups_; }

  // Of one index alone; nullopt if its entries follow from the rows.
  absl::StatusOr<std::optional<Finding>> FirstDifference(
      const TableState& table, int index);

 private:
  struct IndexSums {
    SpaceSum implied;  // By the rows.
    SpaceSum entries;  // What is there.
    // Of an aggregate, instead of `implied`.
    std::unique_ptr<GroupSums> groups;
    bool Same() const {
      return groups != nullptr ? groups->Same() : implied == entries;
    }
  };
  struct Sums {
    SpaceSum rows;
    std::vector<IndexSums> indexes;  // One for each of those asked for.
  };

  absl::StatusOr<Sums> VerifyTable(const TableState& table,
                                   const std::vector<int>& indexes);
  absl::Status SumRows(const TableState& table, const std::vector<int>& indexes,
                       Sums* sums);
  absl::Status SumEntries(const TableState& table, int index, IndexSums* sums);
  absl::Status NameGroups(const TableState& table, int index,
                          const GroupSums& sums);
  void ReportGroup(const TableState& table, int index,
                   GroupDifference difference);
  void CompareDigest(const TableState& table, int index, uint32_t space,
                     const SpaceSum& kept, const SpaceSum& found);
  absl::Status NameMissing(const TableState& table,
                           const std::vector<int>& indexes);
  absl::Status NameDangling(const TableState& table, int index);
  absl::Status CheckExpected(const TableState& table, int index,
                             const EncodedRow& row);
  absl::Status CheckEntry(const TableState& table, int index,
                          const EncodedRow& row,
                          const IndexDefinition::Entry& entry);

  // Reads the row's record and checks its key. False, with a finding unless
  // `silent`, if either is wrong.
  bool Encode(const TableState& table, std::string_view row_key,
              std::string_view value, bool silent, EncodedRow* row);
  // The row's entries. False, with a finding unless `silent`, if it has none
  // that can be made.
  bool EncodeMany(const IndexDefinition& index, const TableState& table,
                  const EncodedRow& row, bool silent,
                  std::vector<IndexDefinition::Entry>* entries);
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
  SpaceSums digest_differences_;
  std::vector<WrongGroup> wrong_groups_;
};

}  // namespace dovetail
