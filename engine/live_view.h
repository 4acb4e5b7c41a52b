// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is known of one state of the store beside the store itself: ranges of
// keys of which all live entries are in memory, and a sample of the keys that
// died. A range without entries says that nothing lives between its bounds.
//
//   store      a  x x x x x  f  x x x x  k  x x x ...      (x: dead)
//   live range [b .......... f  ......... k]: f, k
//
// A scan that comes into a range takes the entries from there and goes on in
// the store behind it, so it walks over none of the dead keys between.
//
// A range is kept by applying to it what each commit changes, so it is of one
// state as exactly as the store's own snapshot; readers of older states have
// the views of theirs.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shared_map.h"

namespace dovetail {

// Keys are whole store keys throughout.
struct LiveEntry {
  std::string key;
  std::string value;
};
using LiveEntries = std::vector<std::shared_ptr<const LiveEntry>>;

// All live entries in [begin, end), in order. Immutable but for `used`.
struct LiveRange {
  LiveRange(std::string_view range_begin, std::string range_end,
            LiveEntries range_entries);

  // Where the first entry at or behind the key is in `entries`.
  size_t Lower(std::string_view key) const;

  const std::string end;
  const LiveEntries entries;
  const size_t bytes;
  // By a scan, since the last time that room was wanted.
  mutable std::atomic<bool> used{true};
};

// What a scan found, to become a range.
struct FoundRange {
  std::string begin;
  std::string end;
  LiveEntries entries;
};

struct DeadKey {
  uint64_t sequence = 0;  // Of the commit in which it died, or a later one.
  uint32_t weight = 1;    // It stands for so many dead keys.
};

// Changed by one thread before others get to see it; then immutable.
class LiveView {
 public:
  using Ranges = SharedMap<std::shared_ptr<const LiveRange>>;
  using Dead = SharedMap<DeadKey>;

  // Values that are longer are not kept; nor are their keys.
  static constexpr size_t kValueBytesMax = 512;

  const Ranges& ranges() const { return ranges_; }
  const Dead& dead() const { return dead_; }
  bool empty() const { return ranges_.empty() && dead_.empty(); }
  size_t live_bytes() const { return live_bytes_; }
  uint64_t live_entries() const { return live_entries_; }
  size_t dead_bytes() const { return dead_bytes_; }
  uint64_t dead_weight() const { return dead_weight_; }
  // Of the dead keys in [begin, end).
  uint64_t DeadIn(std::string_view begin, std::string_view end) const;

  // The range that the key is in; null if there is none.
  const Ranges::Item* RangeAt(std::string_view key) const {
    const Ranges::Item* item = ranges_.AtMost(key);
    return item != nullptr && key < item->value->end ? item : nullptr;
  }

  // What a commit does to the ranges. Those with more than twice
  // `entries_max` entries are cut in two.
  void Put(std::string_view key, std::string_view value, size_t entries_max);
  void Delete(std::string_view key);
  // Takes over what was found in this state.
  void Add(FoundRange found);
  // Forgets ranges, first those that nobody has used, until the rest fits.
  void ShrinkTo(size_t bytes_max);

  void AddDead(std::string key, DeadKey dead);
  // Drops every second one; the others stand for twice as many.
  void ThinDead();
  // Forgets those in [begin, end] that died up to a sequence.
  void DropDead(std::string_view begin, std::string_view end,
                uint64_t sequence);

 private:
  void Set(const std::string& begin, std::string end, LiveEntries entries);
  void Remove(const std::string& begin);

  Ranges ranges_;
  Dead dead_;
  size_t live_bytes_ = 0;
  uint64_t live_entries_ = 0;
  size_t dead_bytes_ = 0;
  uint64_t dead_weight_ = 0;
};

// The least key behind `key`.
inline std::string KeyAfter(std::string_view key) {
  std::string after;
  after.reserve(key.size() + 1);
  return after.append(key).append(1, '\0');
}

}  // namespace dovetail
