// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Whether the counters of a COUNT or SUM index are what the rows make them, in
// bounded memory.
//
// A group may have any number of rows, anywhere in the table, and there may be
// more groups than memory holds. So the first pass compares sums: of each row,
// what it adds to its group times a hash of the group, against each counter
// times that hash, modulo 2^128. The hashes are odd, so one wrong counter is
// always seen, and several that make up for each other with a chance of about
// 2^-128. The sums are kept apart for kBuckets ranges of hashes.
//
//   rows of group g: 1*H(g) + 1*H(g) + 1*H(g)   counter: 3*H(g)
//
// If they differ, passes over the groups of the ranges that differ count the
// rows anew, as many groups at a time as memory holds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "index/group_value.h"

namespace dovetail {

// Thread-compatible.
class GroupSums {
 public:
  GroupSums() : rows_(kBuckets), counters_(kBuckets) {}

  // Keys are groups', without the prefix of their space.
  void AddRow(std::string_view group, const GroupValue& value);
  // `bytes` is what is stored.
  void AddCounter(std::string_view group, std::string_view bytes,
                  bool with_sum);

  bool Same() const;
  // Whether groups of this hash may be wrong.
  bool MayDiffer(absl::uint128 hash) const;

  static absl::uint128 Hash(std::string_view group);

 private:
  static constexpr size_t kBuckets = 1024;
  struct Weighted {
    absl::uint128 count = 0;
    absl::uint128 sum = 0;
    bool damaged = false;  // A counter does not parse.
    void Add(absl::uint128 hash, const GroupValue& value);
    friend bool operator==(const Weighted&, const Weighted&) = default;
  };
  static size_t BucketOf(absl::uint128 hash) {
    return static_cast<size_t>(hash >> 118);
  }

  std::vector<Weighted> rows_;
  std::vector<Weighted> counters_;
};

struct GroupDifference {
  std::string group;
  GroupValue wanted;               // By the rows; zero: no entry.
  std::optional<std::string> has;  // What is stored; nullopt: nothing.
  // Of it, what it says; nullopt: it does not parse.
  std::optional<GroupValue> counted;
};

// The passes that name what differs. Each is: AddRow for every row, AddCounter
// for every counter, End; until done(). Thread-compatible.
class GroupPasses {
 public:
  using Differs = absl::FunctionRef<void(GroupDifference)>;

  // `sums` must outlive it.
  GroupPasses(const GroupSums& sums, bool with_sum, size_t bytes_max = 32 << 20)
      : sums_(sums), with_sum_(with_sum), bytes_max_(bytes_max) {}

  bool done() const { return done_; }
  void AddRow(std::string_view group, const GroupValue& value);
  void AddCounter(std::string_view group, std::string_view bytes,
                  Differs differs);
  void End(Differs differs);

 private:
  bool InPass(absl::uint128 hash) const {
    return hash >= begin_ && (!end_.has_value() || hash < *end_) &&
           sums_.MayDiffer(hash);
  }
  void LeaveHalf();

  const GroupSums& sums_;
  const bool with_sum_;
  const size_t bytes_max_;
  bool done_ = false;
  // Hashes of the pass.
  absl::uint128 begin_ = 0;
  std::optional<absl::uint128> end_;
  absl::flat_hash_map<std::string, GroupValue> groups_;
  size_t bytes_ = 0;
};

}  // namespace dovetail
