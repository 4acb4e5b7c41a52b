// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/group_check.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace dovetail {
namespace {

// Of a group in memory besides its key, roughly.
constexpr size_t kGroupOverhead = 64;

}  // namespace

absl::uint128 GroupSums::Hash(std::string_view group) {
  const XXH128_hash_t hash = XXH3_128bits(group.data(), group.size());
  return absl::MakeUint128(hash.high64, hash.low64 | 1);
}

void GroupSums::Weighted::Add(absl::uint128 hash, const GroupValue& value) {
  count += hash * absl::uint128(value.count);
  sum += hash * absl::uint128(value.sum);
}

void GroupSums::AddRow(std::string_view group, const GroupValue& value) {
  const absl::uint128 hash = Hash(group);
  rows_[BucketOf(hash)].Add(hash, value);
}

void GroupSums::AddCounter(std::string_view group, std::string_view bytes,
                           bool with_sum) {
  const absl::uint128 hash = Hash(group);
  Weighted& bucket = counters_[BucketOf(hash)];
  const absl::StatusOr<GroupValue> value = ParseGroupValue(bytes, with_sum);
  if (value.ok()) {
    bucket.Add(hash, *value);
  } else {
    bucket.damaged = true;
  }
}

bool GroupSums::Same() const { return rows_ == counters_; }

bool GroupSums::MayDiffer(absl::uint128 hash) const {
  const size_t bucket = BucketOf(hash);
  return rows_[bucket] != counters_[bucket];
}

void GroupPasses::AddRow(std::string_view group, const GroupValue& value) {
  if (!InPass(GroupSums::Hash(group))) return;
  if (const auto it = groups_.find(ToAbsl(group)); it != groups_.end()) {
    it->second += value;
    return;
  }
  groups_.emplace(std::string(group), value);
  bytes_ += group.size() + kGroupOverhead;
  if (bytes_ > bytes_max_) LeaveHalf();
}

// To the next pass: the groups with the larger hashes.
void GroupPasses::LeaveHalf() {
  std::vector<absl::uint128> hashes;
  hashes.reserve(groups_.size());
  for (const auto& [group, value] : groups_) {
    hashes.push_back(GroupSums::Hash(group));
  }
  const auto middle =
      hashes.begin() + static_cast<std::ptrdiff_t>(hashes.size() / 2);
  std::nth_element(hashes.begin(), middle, hashes.end());
  if (*middle == begin_) return;
  end_ = *middle;
  bytes_ = 0;
  absl::erase_if(groups_, [&](const auto& group) {
    if (GroupSums::Hash(group.first) >= *end_) return true;
    bytes_ += group.first.size() + kGroupOverhead;
    return false;
  });
}

void GroupPasses::AddCounter(std::string_view group, std::string_view bytes,
                             Differs differs) {
  if (!InPass(GroupSums::Hash(group))) return;
  GroupDifference difference;
  if (const auto it = groups_.find(ToAbsl(group)); it != groups_.end()) {
    difference.wanted = it->second;
    groups_.erase(it);
  }
  const absl::StatusOr<GroupValue> counted = ParseGroupValue(bytes, with_sum_);
  if (counted.ok()) {
    if (*counted == difference.wanted) return;
    difference.counted = *counted;
  }
  difference.group = group;
  difference.has = std::string(bytes);
  differs(std::move(difference));
}

void GroupPasses::End(Differs differs) {
  // What is left has rows and no counter.
  std::vector<std::string> groups;
  for (const auto& [group, value] : groups_) groups.push_back(group);
  std::sort(groups.begin(), groups.end());
  for (const std::string& group : groups) {
    differs({group, groups_.at(group), std::nullopt, GroupValue()});
  }
  groups_.clear();
  bytes_ = 0;
  done_ = !end_.has_value();
  if (done_) return;
  begin_ = *end_;
  end_.reset();
}

}  // namespace dovetail
