// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/live_view.h"

#include <algorithm>
#include <utility>

namespace dovetail {
namespace {

// Of an item of a map, and of an entry: what allocation takes beside bytes.
constexpr size_t kItemBytes = 96;

size_t BytesOf(std::string_view begin, const std::string& end,
               const LiveEntries& entries) {
  size_t bytes = 2 * kItemBytes + begin.size() + end.size();
  for (const auto& entry : entries) {
    bytes += kItemBytes + entry->key.size() + entry->value.size();
  }
  return bytes;
}

}  // namespace

LiveRange::LiveRange(std::string_view range_begin, std::string range_end,
                     LiveEntries range_entries)
    : end(std::move(range_end)),
      entries(std::move(range_entries)),
      bytes(BytesOf(range_begin, end, entries)) {}

size_t LiveRange::Lower(std::string_view key) const {
  return static_cast<size_t>(
      std::lower_bound(
          entries.begin(), entries.end(), key,
          [](const std::shared_ptr<const LiveEntry>& entry,
             std::string_view wanted) { return entry->key < wanted; }) -
      entries.begin());
}

uint64_t LiveView::DeadIn(std::string_view begin, std::string_view end) const {
  uint64_t weight = 0;
  for (auto it = dead_.AtLeast(begin); it.Valid() && it->key < end; it.Next()) {
    weight += it->value.weight;
  }
  return weight;
}

void LiveView::Set(const std::string& begin, std::string end,
                   LiveEntries entries) {
  Remove(begin);
  if (begin >= end) return;
  live_entries_ += entries.size();
  auto range =
      std::make_shared<LiveRange>(begin, std::move(end), std::move(entries));
  live_bytes_ += range->bytes;
  ranges_.Put(begin, std::move(range));
}

void LiveView::Remove(const std::string& begin) {
  const Ranges::Item* item = ranges_.AtMost(begin);
  if (item == nullptr || item->key != begin) return;
  live_bytes_ -= item->value->bytes;
  live_entries_ -= item->value->entries.size();
  ranges_.Erase(begin);
}

void LiveView::Put(std::string_view key, std::string_view value,
                   size_t entries_max) {
  const Ranges::Item* item = RangeAt(key);
  if (item == nullptr) return;
  // Copies: Set takes the item away.
  const std::string begin = item->key;
  const std::shared_ptr<const LiveRange> range = item->value;
  LiveEntries entries = range->entries;
  const size_t at = range->Lower(key);
  const auto place = entries.begin() + static_cast<std::ptrdiff_t>(at);
  const bool there = at < entries.size() && entries[at]->key == key;
  if (value.size() > kValueBytesMax) {
    LiveEntries behind(place + (there ? 1 : 0), entries.end());
    entries.erase(place, entries.end());
    Set(begin, std::string(key), std::move(entries));
    Set(KeyAfter(key), range->end, std::move(behind));
    return;
  }
  auto entry = std::make_shared<const LiveEntry>(
      LiveEntry{std::string(key), std::string(value)});
  if (there) {
    *place = std::move(entry);
  } else {
    entries.insert(place, std::move(entry));
  }
  if (entries.size() <= 2 * entries_max) {
    Set(begin, range->end, std::move(entries));
    return;
  }
  const auto middle =
      entries.begin() + static_cast<std::ptrdiff_t>(entries.size() / 2);
  LiveEntries behind(middle, entries.end());
  entries.erase(middle, entries.end());
  const std::string cut = behind.front()->key;
  Set(begin, cut, std::move(entries));
  Set(cut, range->end, std::move(behind));
}

void LiveView::Delete(std::string_view key) {
  const Ranges::Item* item = ranges_.AtMost(key);
  if (item == nullptr || key > item->value->end) return;
  const std::string begin = item->key;
  const std::shared_ptr<const LiveRange> range = item->value;
  if (key == range->end) {
    // Nothing lives up to behind it, or to where the next range ends: a range
    // grows over what dies at its end.
    std::string end = KeyAfter(key);
    const Ranges::Item* next = RangeAt(end);
    if (next != nullptr && next->key == end && next->value->entries.empty()) {
      const std::string joined = next->value->end;
      Remove(end);
      end = joined;
    }
    Set(begin, std::move(end), range->entries);
    return;
  }
  const size_t at = range->Lower(key);
  if (at == range->entries.size() || range->entries[at]->key != key) return;
  LiveEntries entries = range->entries;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
  Set(begin, range->end, std::move(entries));
}

void LiveView::Add(FoundRange found) {
  if (found.begin >= found.end) return;
  // What of other ranges lies outside stays.
  if (const Ranges::Item* left = RangeAt(found.begin);
      left != nullptr && left->key < found.begin) {
    const std::string begin = left->key;
    const std::shared_ptr<const LiveRange> range = left->value;
    const auto cut = range->entries.begin() +
                     static_cast<std::ptrdiff_t>(range->Lower(found.begin));
    Set(begin, found.begin, LiveEntries(range->entries.begin(), cut));
    if (range->end > found.end) {
      Set(found.begin, range->end, LiveEntries(cut, range->entries.end()));
    }
  }
  for (auto it = ranges_.AtLeast(found.begin);
       it.Valid() && it->key < found.end; it = ranges_.AtLeast(found.begin)) {
    const std::string begin = it->key;
    const std::shared_ptr<const LiveRange> range = it->value;
    Remove(begin);
    if (range->end <= found.end) continue;
    Set(found.end, range->end,
        LiveEntries(range->entries.begin() +
                        static_cast<std::ptrdiff_t>(range->Lower(found.end)),
                    range->entries.end()));
  }
  Set(found.begin, std::move(found.end), std::move(found.entries));
}

void LiveView::ShrinkTo(size_t bytes_max) {
  for (int round = 0; round < 2 && live_bytes_ > bytes_max; ++round) {
    // In the second round all count as unused.
    const bool all = round > 0;
    ranges_.Filter([&](Ranges::Item* item) {
      const LiveRange& range = *item->value;
      const bool used = range.used.exchange(false, std::memory_order_relaxed);
      if (live_bytes_ <= bytes_max || (used && !all)) return true;
      live_bytes_ -= range.bytes;
      live_entries_ -= range.entries.size();
      return false;
    });
  }
}

void LiveView::AddDead(std::string key, DeadKey dead) {
  const Dead::Item* item = dead_.AtMost(key);
  if (item != nullptr && item->key == key) {
    dead.weight += item->value.weight;
    dead_weight_ -= item->value.weight;
  } else {
    dead_bytes_ += kItemBytes + key.size();
  }
  dead_weight_ += dead.weight;
  dead_.Put(std::move(key), dead);
}

void LiveView::ThinDead() {
  bool keep = false;
  dead_.Filter([&](Dead::Item* item) {
    keep = !keep;
    if (keep) {
      dead_weight_ += item->value.weight;
      item->value.weight *= 2;
    } else {
      dead_weight_ -= item->value.weight;
      dead_bytes_ -= kItemBytes + item->key.size();
    }
    return keep;
  });
}

void LiveView::DropDead(std::string_view begin, std::string_view end,
                        uint64_t sequence) {
  dead_.Filter([&](Dead::Item* item) {
    if (item->key < begin || item->key > end) return true;
    if (item->value.sequence > sequence) return true;
    dead_weight_ -= item->value.weight;
    dead_bytes_ -= kItemBytes + item->key.size();
    return false;
  });
}

}  // namespace dovetail
