// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The store tells sizes by the blocks of its tables: a range within a few
// blocks has no size that means anything, and what is not yet in a table has
// none at all. Keys are counted as if they had a usual length.

#include "engine/query/statistics.h"

#include <algorithm>

#include "index/key_part.h"

namespace dovetail {
namespace {

constexpr double kRowBytes = 150;
constexpr double kEntryBytes = 40;
constexpr double kRowsMin = 1000;
constexpr double kRangeBytesMin = 32 << 10;
constexpr size_t kRangesMax = 16;

}  // namespace

double StoreStatistics::Bytes(int index, const std::string& begin,
                              const std::string& end) const {
  const std::string& space = table_.prefix(index);
  return static_cast<double>(state_.store->ApproximateSize(
      space + begin, end.empty() ? PrefixEnd(space) : space + end));
}

double StoreStatistics::Rows() const {
  if (!rows_.has_value()) {
    rows_ = std::max(kRowsMin, Bytes(-1, "", "") / kRowBytes);
  }
  return *rows_;
}

std::optional<double> StoreStatistics::Keys(
    int index, const std::vector<AccessRange>& ranges) const {
  if (ranges.size() > kRangesMax) return std::nullopt;
  double bytes = 0;
  for (const AccessRange& range : ranges) {
    bytes += Bytes(index, range.keys.begin, range.keys.end);
  }
  if (bytes < kRangeBytesMin) return std::nullopt;
  return bytes / (index < 0 ? kRowBytes : kEntryBytes);
}

}  // namespace dovetail
