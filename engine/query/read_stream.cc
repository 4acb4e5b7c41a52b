// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/read_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail {
namespace {

// Steps to the next key before a seek, when a place is looked for.
constexpr int kStepsMax = 8;

}  // namespace

ReadStream::ReadStream(const internal::PublishedState& state,
                       const TableState& table, const Plan& plan,
                       const PlanRead& read, QueryWork* work)
    : state_(state),
      table_(table),
      plan_(plan),
      read_(read),
      space_(table.prefix(read.access.index)),
      space_end_(PrefixEnd(space_)),
      places_(*table.compiled, plan.order, read),
      work_(*work) {}

void ReadStream::Start(const QueryPlace* from) {
  if (!merged()) {
    cursors_.resize(1);
    OpenFrom(0, from);
    return;
  }
  cursors_.resize(read_.access.ranges.size());
  for (size_t i = 0; i < cursors_.size() && status_.ok(); ++i) {
    if (Open(i, from, &cursors_[i])) PushHead(i);
  }
}

void ReadStream::OpenFrom(size_t range, const QueryPlace* from) {
  head_ = nullptr;
  for (; range < read_.access.ranges.size() && status_.ok(); ++range) {
    if (!Open(range, from, &cursors_[0])) continue;
    head_ = &cursors_[0];
    return;
  }
}

bool ReadStream::Open(size_t range, const QueryPlace* from, Cursor* cursor) {
  const KeyRange& keys = read_.access.ranges[range].keys;
  cursor->range = range;
  cursor->end = keys.end.empty() ? space_end_ : space_ + keys.end;
  return SeekWithin(keys.begin, from, cursor);
}

// Seeks in the cursor's range to `begin` or, if that is further, to `from`.
bool ReadStream::SeekWithin(std::string begin, const QueryPlace* from,
                            Cursor* cursor) {
  if (from != nullptr && plan_.ordered) {
    absl::StatusOr<std::optional<std::string>> key =
        places_.Find(read_.access.ranges[cursor->range], from->row);
    if (!key.ok()) {
      status_ = key.status();
      return false;
    }
    if (!key->has_value()) return false;
    begin = std::max(std::move(begin), **std::move(key));
  } else if (from != nullptr) {
    std::string key = from->row.row_key;
    if (from->exclusive) key.push_back('\0');
    begin = std::max(std::move(begin), std::move(key));
  }
  begin.insert(0, space_);
  if (!cursor->end.empty() && begin >= cursor->end) return false;
  if (cursor->it.has_value()) {
    cursor->it->StopAt(cursor->end);
  } else {
    cursor->it.emplace(state_, cursor->end);
  }
  cursor->it->Seek(begin);
  ++work_.seeks;
  cursor->placed = false;
  if (!InRange(cursor)) return false;
  return from == nullptr || !plan_.ordered || SkipTo(*from, cursor);
}

bool ReadStream::InRange(Cursor* cursor) {
  if (!cursor->it->Valid()) {
    status_.Update(cursor->it->status());
    return false;
  }
  return cursor->end.empty() || cursor->it->key() < cursor->end;
}

bool ReadStream::SkipTo(const QueryPlace& from, Cursor* cursor) {
  while (true) {
    const RowPlace* place = PlaceOf(cursor);
    if (place == nullptr) return false;
    const auto order = *place <=> from.row;
    if (order > 0 || (order == 0 && !from.exclusive)) return true;
    cursor->it->Next();
    ++work_.entries;
    cursor->placed = false;
    if (!InRange(cursor)) return false;
  }
}

std::string_view ReadStream::KeyOf(const Cursor& cursor) const {
  return cursor.it->key().substr(space_.size());
}

std::string_view ReadStream::key() const { return KeyOf(*head_); }
std::string_view ReadStream::value() const { return head_->it->value(); }

const RowPlace* ReadStream::PlaceOf(Cursor* cursor) {
  if (cursor->placed) return &cursor->place;
  const std::string_view key = KeyOf(*cursor);
  absl::Status decoded = places_.OrderKeyOf(key, &cursor->place.order_key);
  if (decoded.ok()) {
    decoded =
        places_.RowKeyOf(key, cursor->it->value(), &cursor->place.row_key);
  }
  if (!decoded.ok()) {
    status_ = read_.access.index >= 0
                  ? EntryWithoutRow(table_, read_.access.index, key, decoded)
                  : absl::DataLossError(absl::StrCat(
                        "row key is not one of its table; run verify: table=",
                        table_.name(), " row_key=", Quote(key), ": ",
                        decoded.message()));
    return nullptr;
  }
  cursor->placed = true;
  return &cursor->place;
}

const RowPlace* ReadStream::place() { return PlaceOf(head_); }

void ReadStream::Next() {
  ++work_.entries;
  if (merged()) {
    const size_t at = heap_.front();
    PopHead();
    Cursor& cursor = cursors_[at];
    cursor.it->Next();
    cursor.placed = false;
    if (InRange(&cursor)) PushHead(at);
    return;
  }
  Cursor& cursor = cursors_[0];
  cursor.it->Next();
  cursor.placed = false;
  if (!InRange(&cursor)) OpenFrom(cursor.range + 1, nullptr);
}

void ReadStream::SeekTo(const RowPlace& place) {
  for (int i = 0; i < kStepsMax; ++i) {
    const RowPlace* at = this->place();
    if (at == nullptr || *at >= place) return;
    Next();
    if (!Valid()) return;
  }
  const QueryPlace target{place, 0, false};
  if (!merged()) {
    // The present range first, from where it is.
    ++work_.entries;
    const size_t range = cursors_[0].range;
    OpenFrom(range, &target);
    return;
  }
  while (Valid()) {
    const RowPlace* at = this->place();
    if (at == nullptr || *at >= place) return;
    const size_t cursor = heap_.front();
    PopHead();
    ++work_.entries;
    if (Open(cursors_[cursor].range, &target, &cursors_[cursor])) {
      PushHead(cursor);
    }
  }
}

bool ReadStream::After(size_t a, size_t b) {
  const RowPlace* left = PlaceOf(&cursors_[a]);
  const RowPlace* right = PlaceOf(&cursors_[b]);
  if (left == nullptr || right == nullptr) return false;  // An error.
  return *left > *right;
}

void ReadStream::PushHead(size_t cursor) {
  // Placed before it is compared, so that no error can come up inside.
  if (PlaceOf(&cursors_[cursor]) == nullptr) return;
  heap_.push_back(cursor);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](size_t a, size_t b) { return After(a, b); });
  head_ = &cursors_[heap_.front()];
}

void ReadStream::PopHead() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](size_t a, size_t b) { return After(a, b); });
  heap_.pop_back();
  head_ = heap_.empty() ? nullptr : &cursors_[heap_.front()];
}

}  // namespace dovetail
