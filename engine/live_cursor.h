// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The keys of one published state in order, as the store's own iterator gives
// them, but past dead keys where the state's view (live_view.h) knows what
// lives between them. On its way it notes what the view does not know yet,
// and reports that in the end.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/live_view.h"
#include "engine/published_state.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-compatible. The state must outlive it. Views of key and value are
// valid until the next call that moves.
class LiveCursor {
 public:
  // The caller stops at `end`, a whole store key, so the cursor may end there;
  // empty: the end of the store.
  LiveCursor(const internal::PublishedState& state, std::string_view end)
      : state_(&state), end_(end) {}
  ~LiveCursor();
  LiveCursor(LiveCursor&& other) noexcept;
  LiveCursor& operator=(LiveCursor&& other) = delete;

  // From the next Seek on the caller stops there instead.
  void StopAt(std::string_view end) { end_.assign(end); }

  // At the first key at or behind `key`.
  void Seek(std::string_view key);
  // REQUIRES: Valid().
  void Next() {
    if (entry_ == nullptr && !tracked_) {
      it_->Next();
    } else {
      NextTracked();
    }
  }

  // False at the end, and after an error; status() tells which.
  bool Valid() const {
    return entry_ != nullptr || (!ended_ && it_ != nullptr && it_->Valid());
  }
  std::string_view key() const {
    return entry_ != nullptr ? std::string_view(entry_->key) : it_->key();
  }
  std::string_view value() const {
    return entry_ != nullptr ? std::string_view(entry_->value) : it_->value();
  }
  absl::Status status() const {
    return it_ == nullptr ? absl::OkStatus() : it_->status();
  }

  // The next step may walk over dead keys.
  bool MayWalk() const { return entry_ == nullptr && next_dead_.Valid(); }
  // A seek there, in this state and to this end, may walk over dead keys.
  static bool SeekMayWalk(const internal::PublishedState& state,
                          std::string_view key, std::string_view end);

 private:
  // What is being found: from the first dead keys on.
  struct Find {
    FoundRange range;
    uint64_t walked = 0;
    // Up to the last dead keys: so many entries, and the bound behind.
    size_t certain = 0;
    std::string certain_end;
    std::vector<FoundRange> done;
  };

  void NextTracked();
  // Goes to the first key at or behind `pos`, which is no further than the
  // end.
  void GoTo(std::string pos);
  // The store's iterator has come to its present key from `from_`; nothing
  // lives between.
  void Arrived();
  void LookAhead(std::string_view pos);
  bool InBounds(std::string_view key) const {
    return end_.empty() || key < end_;
  }
  void Note(bool at_key, uint64_t walked);
  void AddEntry();
  void CloseFind(bool whole);
  void Finish();

  const internal::PublishedState* state_;
  std::string end_;
  std::unique_ptr<StoreIterator> it_;  // Null until the store is needed.

  // In a range of the view: `entry_` is its entry `at_`.
  const LiveRange* range_ = nullptr;
  size_t at_ = 0;
  const LiveEntry* entry_ = nullptr;
  bool ended_ = false;

  // In the store. Tracked: the view knows of something between here and the
  // end, or something is being found.
  bool tracked_ = false;
  std::string from_;
  LiveView::Ranges::Iterator next_range_;
  LiveView::Dead::Iterator next_dead_;
  std::unique_ptr<Find> find_;

  uint64_t ranges_used_ = 0;
  uint64_t served_ = 0;
  uint64_t walked_ = 0;
};

}  // namespace dovetail
