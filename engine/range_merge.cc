// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/range_merge.h"

#include <algorithm>
#include <utility>

#include "base/seeded_bug.h"

namespace dovetail {

RangeMerge::RangeMerge(const internal::PublishedState& state,
                       std::string_view space_prefix,
                       const std::vector<KeyRange>& ranges,
                       const std::optional<ScanPosition>& resume)
    : space_bytes_(space_prefix.size()) {
  const std::string space(space_prefix);
  const std::string space_end = PrefixEnd(space);
  streams_.reserve(ranges.size());
  heap_.reserve(ranges.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const KeyRange& range = ranges[i];
    std::string end = range.end.empty() ? space_end : space + range.end;
    LiveCursor it(state, end);
    Stream stream{std::move(it), std::move(end),
                  space.size() + range.prefix.size()};
    std::string begin = space + range.begin;
    if (resume.has_value()) {
      std::string from = space + range.prefix + resume->suffix;
      // Of equal suffixes the streams up to the one that stopped are done.
      if (i <= resume->stream && !SeededBug("continuation_repeats_a_row")) {
        from.push_back('\0');
      }
      begin = std::max(std::move(begin), std::move(from));
    }
    stream.it.Seek(begin);
    ++seeks_;
    streams_.push_back(std::move(stream));
    if (InRange(streams_.back())) heap_.push_back(i);
  }
  const auto after = [this](uint32_t a, uint32_t b) { return After(a, b); };
  std::make_heap(heap_.begin(), heap_.end(), after);
}

bool RangeMerge::InRange(Stream& stream) {
  if (!stream.it.Valid()) {
    status_.Update(stream.it.status());
    return false;
  }
  if (SeededBug("range_end_included") && stream.it.key() == stream.end) {
    return true;
  }
  return stream.end.empty() || stream.it.key() < stream.end;
}

std::string_view RangeMerge::SuffixOf(uint32_t stream) const {
  return streams_[stream].it.key().substr(streams_[stream].prefix_bytes);
}

bool RangeMerge::After(uint32_t a, uint32_t b) const {
  const int order = SuffixOf(a).compare(SuffixOf(b));
  if (SeededBug("merge_takes_streams_in_turn")) return a > b;
  return order != 0 ? order > 0 : a > b;
}

std::string_view RangeMerge::key() const {
  return streams_[heap_.front()].it.key().substr(space_bytes_);
}

std::string_view RangeMerge::value() const {
  return streams_[heap_.front()].it.value();
}

std::string_view RangeMerge::suffix() const { return SuffixOf(heap_.front()); }

void RangeMerge::Next() {
  if (streams_.size() == 1) {
    streams_[0].it.Next();
    if (!InRange(streams_[0])) heap_.clear();
    return;
  }
  const auto after = [this](uint32_t a, uint32_t b) { return After(a, b); };
  // Out of the heap before its key changes under it.
  std::pop_heap(heap_.begin(), heap_.end(), after);
  const uint32_t stream = heap_.back();
  heap_.pop_back();
  streams_[stream].it.Next();
  if (!InRange(streams_[stream])) return;
  heap_.push_back(stream);
  std::push_heap(heap_.begin(), heap_.end(), after);
}

}  // namespace dovetail
