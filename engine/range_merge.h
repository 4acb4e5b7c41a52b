// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Several key ranges of one space as one ordered stream: ordered by what
// follows each range's prefix, so that the newest rows of three statuses, or
// of sixteen salts, come out newest first.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/continuation.h"
#include "engine/live_cursor.h"
#include "engine/published_state.h"
#include "index/key_layout.h"

namespace dovetail {

// Thread-compatible. The state must outlive it.
class RangeMerge {
 public:
  // Positions at the first key, or, after `resume`, at the one behind it.
  RangeMerge(const internal::PublishedState& state,
             std::string_view space_prefix, const std::vector<KeyRange>& ranges,
             const std::optional<ScanPosition>& resume);
  RangeMerge(const RangeMerge&) = delete;
  RangeMerge& operator=(const RangeMerge&) = delete;

  // False at the end and after an error; status() tells which.
  bool Valid() const { return !heap_.empty() && status_.ok(); }
  // REQUIRES: Valid(). Views are valid until Next. `key` is without the space
  // prefix, `suffix` without the range's prefix too.
  std::string_view key() const;
  std::string_view value() const;
  std::string_view suffix() const;
  uint32_t stream() const { return heap_.front(); }
  void Next();
  const absl::Status& status() const { return status_; }

  // Going on may walk over dead keys. REQUIRES: Valid().
  bool MayWalk() const { return streams_[heap_.front()].it.MayWalk(); }

  uint64_t seeks() const { return seeks_; }

 private:
  struct Stream {
    LiveCursor it;
    std::string end;      // Whole store key; empty: the end of the store.
    size_t prefix_bytes;  // Of space and range.
  };

  bool InRange(Stream& stream);
  std::string_view SuffixOf(uint32_t stream) const;
  // For a min-heap by suffix, then stream.
  bool After(uint32_t a, uint32_t b) const;

  const size_t space_bytes_;
  std::vector<Stream> streams_;
  std::vector<uint32_t> heap_;  // Of streams that are in their range.
  absl::Status status_;
  uint64_t seeks_ = 0;
};

}  // namespace dovetail
