// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/live_cursor.h"

#include <utility>

#include "engine/live_keeper.h"

namespace dovetail {
namespace {

// Ranges that one scan leaves at most.
constexpr size_t kFoundMax = 16;

}  // namespace

LiveCursor::LiveCursor(LiveCursor&& other) noexcept
    : state_(other.state_),
      end_(std::move(other.end_)),
      it_(std::move(other.it_)),
      range_(other.range_),
      at_(other.at_),
      entry_(other.entry_),
      ended_(other.ended_),
      tracked_(other.tracked_),
      from_(std::move(other.from_)),
      next_range_(other.next_range_),
      next_dead_(other.next_dead_),
      find_(std::move(other.find_)),
      ranges_used_(std::exchange(other.ranges_used_, 0)),
      served_(std::exchange(other.served_, 0)),
      walked_(std::exchange(other.walked_, 0)) {}

LiveCursor::~LiveCursor() {
  Finish();
  if (it_ != nullptr) state_->ReturnIterator(std::move(it_));
}

bool LiveCursor::SeekMayWalk(const internal::PublishedState& state,
                             std::string_view key, std::string_view end) {
  if (state.view == nullptr || state.view->dead().empty()) return false;
  if (state.view->RangeAt(key) != nullptr) return false;
  const auto dead = state.view->dead().AtLeast(key);
  return dead.Valid() && (end.empty() || dead->key < end);
}

void LiveCursor::Seek(std::string_view key) {
  Finish();
  ended_ = false;
  entry_ = nullptr;
  if (state_->view != nullptr && !state_->view->empty() && InBounds(key)) {
    GoTo(std::string(key));
    return;
  }
  tracked_ = false;
  next_dead_ = {};
  if (it_ == nullptr) it_ = state_->BorrowIterator();
  it_->Seek(key);
}

void LiveCursor::GoTo(std::string pos) {
  entry_ = nullptr;
  while (const LiveView::Ranges::Item* item = state_->view->RangeAt(pos)) {
    range_ = item->value.get();
    ++ranges_used_;
    if (!range_->used.load(std::memory_order_relaxed)) {
      range_->used.store(true, std::memory_order_relaxed);
    }
    at_ = range_->Lower(pos);
    if (at_ < range_->entries.size()) {
      entry_ = range_->entries[at_].get();
      ++served_;
      return;
    }
    pos = range_->end;
    if (!InBounds(pos)) {
      ended_ = true;
      return;
    }
  }
  if (it_ == nullptr) it_ = state_->BorrowIterator();
  it_->Seek(pos);
  LookAhead(pos);
  if (!tracked_) return;
  from_ = std::move(pos);
  Arrived();
}

void LiveCursor::LookAhead(std::string_view pos) {
  next_range_ = state_->view->ranges().AtLeast(pos);
  next_dead_ = state_->view->dead().AtLeast(pos);
  if (next_range_.Valid() && !InBounds(next_range_->key)) next_range_ = {};
  if (next_dead_.Valid() && !InBounds(next_dead_->key)) next_dead_ = {};
  tracked_ = next_range_.Valid() || next_dead_.Valid() || find_ != nullptr;
}

void LiveCursor::NextTracked() {
  if (entry_ != nullptr) {
    if (++at_ < range_->entries.size()) {
      entry_ = range_->entries[at_].get();
      ++served_;
      return;
    }
    entry_ = nullptr;
    if (InBounds(range_->end)) {
      GoTo(range_->end);
    } else {
      ended_ = true;
    }
    return;
  }
  from_.assign(it_->key()).push_back('\0');
  if (next_range_.Valid() && next_range_->key == from_) {
    CloseFind(/*whole=*/true);
    GoTo(from_);
    return;
  }
  it_->Next();
  Arrived();
}

void LiveCursor::Arrived() {
  const bool at_key = it_->Valid() && InBounds(it_->key());
  uint64_t walked = 0;
  for (; next_dead_.Valid(); next_dead_.Next()) {
    if (at_key ? next_dead_->key >= it_->key() : !InBounds(next_dead_->key)) {
      break;
    }
    walked += next_dead_->value.weight;
  }
  if (next_dead_.Valid() && !InBounds(next_dead_->key)) next_dead_ = {};
  walked_ += walked;
  if (it_->Valid() || it_->status().ok()) {
    Note(at_key, walked);
  }
  if (!at_key) {
    tracked_ = false;
    return;
  }
  // It may have come into a range, over dead keys in front.
  if (next_range_.Valid() && next_range_->key <= it_->key()) {
    if (const auto* item = state_->view->RangeAt(it_->key())) {
      const size_t at = item->value->Lower(it_->key());
      if (at < item->value->entries.size() &&
          item->value->entries[at]->key == it_->key()) {
        CloseFind(/*whole=*/true);
        range_ = item->value.get();
        at_ = at;
        entry_ = range_->entries[at].get();
        ++ranges_used_;
        ++served_;
        return;
      }
    }
    next_range_ = state_->view->ranges().AtLeast(it_->key());
    if (next_range_.Valid() && !InBounds(next_range_->key)) next_range_ = {};
  }
  tracked_ = next_range_.Valid() || next_dead_.Valid() || find_ != nullptr;
}

void LiveCursor::Note(bool at_key, uint64_t walked) {
  const bool finding = find_ != nullptr && !find_->range.begin.empty();
  if (!finding && (walked == 0 || state_->live == nullptr ||
                   !state_->live->keeps_ranges())) {
    return;
  }
  if (!at_key && end_.empty()) return;  // Without a bound there is no range.
  if (!finding) {
    if (find_ == nullptr) find_ = std::make_unique<Find>();
    if (find_->done.size() >= kFoundMax) return;
    find_->range.begin = from_;
  }
  find_->walked += walked;
  find_->range.end = at_key ? std::string(it_->key()) : end_;
  if (walked > 0) {
    find_->certain = find_->range.entries.size();
    find_->certain_end = find_->range.end;
  }
  if (!at_key) {
    CloseFind(/*whole=*/true);
  } else {
    AddEntry();
  }
}

void LiveCursor::AddEntry() {
  FoundRange& range = find_->range;
  if (it_->value().size() > LiveView::kValueBytesMax) {
    CloseFind(/*whole=*/true);
    return;
  }
  range.entries.push_back(std::make_shared<const LiveEntry>(
      LiveEntry{std::string(it_->key()), std::string(it_->value())}));
  range.end = KeyAfter(it_->key());
  const size_t entries_max = state_->live->entries_max();
  if (range.entries.size() < entries_max) return;
  // Dead keys up to here: there may be more. Else what came behind the last
  // ones is not worth its memory.
  const bool whole = find_->certain >= entries_max / 2;
  std::string end = range.end;
  CloseFind(whole);
  if (whole && find_->done.size() < kFoundMax) {
    find_->range.begin = std::move(end);
  }
}

// The range is done, as a whole or up to the last dead keys.
void LiveCursor::CloseFind(bool whole) {
  if (find_ == nullptr || find_->range.begin.empty()) return;
  FoundRange range = std::exchange(find_->range, {});
  if (!whole) {
    range.entries.resize(find_->certain);
    range.end = find_->certain_end;
  }
  find_->certain = 0;
  find_->certain_end = range.end;
  if (range.begin < range.end) find_->done.push_back(std::move(range));
}

void LiveCursor::Finish() {
  if (find_ != nullptr) {
    CloseFind(/*whole=*/true);
    const std::unique_ptr<Find> find = std::move(find_);
    if (find->walked >= state_->live->dead_worth()) {
      state_->live->Report(state_->version, std::move(find->done));
    }
  }
  if (state_->live != nullptr) {
    state_->live->CountScan(ranges_used_, served_, walked_);
  }
  ranges_used_ = served_ = walked_ = 0;
}

}  // namespace dovetail
