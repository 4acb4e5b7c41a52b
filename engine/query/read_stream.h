// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One read of a plan as a stream of keys: ranges of one key space, one behind
// the other, or merged by the plan's order.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/query.h"
#include "engine/live_cursor.h"
#include "engine/published_state.h"
#include "index/query/place.h"
#include "index/query/plan.h"

namespace dovetail {

// Where a query stands: the plan's place in its order, or, in a plan without
// one, a read and a key of its space.
struct QueryPlace {
  RowPlace row;  // In a plan without order: `row_key` is the key.
  uint32_t branch = 0;
  bool exclusive = false;  // Behind it; else at it.
};

// Thread-compatible. What it is made from must outlive it. After an error it
// is not valid.
class ReadStream {
 public:
  ReadStream(const internal::PublishedState& state, const TableState& table,
             const Plan& plan, const PlanRead& read, QueryWork* work);
  ReadStream(const ReadStream&) = delete;
  ReadStream& operator=(const ReadStream&) = delete;

  // Positions at the first key, or at the first one at or behind a place.
  void Start(const QueryPlace* from);
  // At the first key at or behind `place`, which is not before the present
  // one. REQUIRES: an ordered plan, Valid().
  void SeekTo(const RowPlace& place);

  bool Valid() const { return status_.ok() && head_ != nullptr; }
  void Next();  // REQUIRES: Valid().
  const absl::Status& status() const { return status_; }

  const PlanRead& read() const { return read_; }
  // Without the space's prefix; views are valid until the next call that moves.
  // REQUIRES: Valid(), here and below.
  std::string_view key() const;
  std::string_view value() const;
  // REQUIRES: an ordered plan. nullptr after an error.
  const RowPlace* place();
  // The place in a plan without order.
  std::string natural_place() const { return std::string(key()); }

 private:
  // One range of a merge, or the one being read of a concatenation.
  struct Cursor {
    std::optional<LiveCursor> it;
    size_t range = 0;
    std::string end;      // Whole store key; empty: the end of the store.
    bool placed = false;  // Whether `place` is that of the present key.
    RowPlace place;
  };

  bool merged() const { return plan_.ordered && !read_.order.concatenated; }
  // Opens the range at its beginning, `from` on; false if nothing is there.
  bool Open(size_t range, const QueryPlace* from, Cursor* cursor);
  bool SeekWithin(std::string begin, const QueryPlace* from, Cursor* cursor);
  bool InRange(Cursor* cursor);
  // Steps over keys that are before the place.
  bool SkipTo(const QueryPlace& from, Cursor* cursor);
  const RowPlace* PlaceOf(Cursor* cursor);
  std::string_view KeyOf(const Cursor& cursor) const;
  void OpenFrom(size_t range, const QueryPlace* from);
  void PushHead(size_t cursor);
  void PopHead();
  bool After(size_t a, size_t b);

  const internal::PublishedState& state_;
  const TableState& table_;
  const Plan& plan_;
  const PlanRead& read_;
  const std::string& space_;
  const std::string space_end_;
  const ReadPlaces places_;
  QueryWork& work_;

  std::vector<Cursor> cursors_;
  std::vector<size_t> heap_;  // merged: cursors by their place.
  Cursor* head_ = nullptr;
  absl::Status status_;
};

}  // namespace dovetail
