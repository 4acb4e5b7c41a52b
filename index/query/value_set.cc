// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A bound is a cut between values: (bytes, after). Cuts are ordered by their
// bytes, then before < after; the end of everything is a cut of its own.

#include "index/query/value_set.h"

#include <algorithm>
#include <utility>

namespace dovetail {
namespace {

struct Cut {
  std::string_view bytes;
  bool after = false;
  bool top = false;
};

Cut BeginOf(const ValueInterval& i) { return {i.begin, i.begin_after}; }
Cut EndOf(const ValueInterval& i) {
  return i.end.has_value() ? Cut{*i.end, i.end_after} : Cut{{}, false, true};
}

bool Less(const Cut& a, const Cut& b) {
  if (a.top || b.top) return !a.top && b.top;
  const int order = a.bytes.compare(b.bytes);
  return order != 0 ? order < 0 : !a.after && b.after;
}

bool IsEmpty(const ValueInterval& i) { return !Less(BeginOf(i), EndOf(i)); }

void SetBegin(const Cut& cut, ValueInterval* out) {
  out->begin = std::string(cut.bytes);
  out->begin_after = cut.after;
}

void SetEnd(const Cut& cut, ValueInterval* out) {
  out->end = cut.top ? std::nullopt : std::optional(std::string(cut.bytes));
  out->end_after = cut.after && !cut.top;
}

}  // namespace

ValueSet ValueSet::All() {
  ValueSet set = Values();
  set.has_null_ = true;
  return set;
}

ValueSet ValueSet::Values() {
  ValueSet set;
  set.intervals_.emplace_back();
  return set;
}

ValueSet ValueSet::Null() {
  ValueSet set;
  set.has_null_ = true;
  return set;
}

ValueSet ValueSet::Point(std::string value) {
  ValueSet set;
  set.intervals_.push_back({value, false, value, true});
  return set;
}

ValueSet ValueSet::Points(std::vector<std::string> values) {
  ValueSet set;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  set.intervals_.reserve(values.size());
  for (std::string& value : values) {
    ValueInterval point{value, false, {}, true};
    point.end = std::move(value);
    set.intervals_.push_back(std::move(point));
  }
  set.Normalize();
  return set;
}

ValueSet ValueSet::Of(ValueInterval interval) {
  ValueSet set;
  if (!IsEmpty(interval)) set.intervals_.push_back(std::move(interval));
  return set;
}

bool ValueSet::is_all() const { return has_null_ && *this == All(); }

bool ValueSet::is_points() const {
  return std::all_of(intervals_.begin(), intervals_.end(),
                     [](const ValueInterval& i) { return i.is_point(); });
}

bool ValueSet::Contains(FieldType type, const FieldValue& value) const {
  if (value.is_null) return has_null_;
  std::string buffer;
  const Cut at{SortableBytes(type, value, &buffer)};
  // The last interval that begins at or before the value.
  auto it = std::upper_bound(
      intervals_.begin(), intervals_.end(), at,
      [](const Cut& c, const ValueInterval& i) { return Less(c, BeginOf(i)); });
  if (it == intervals_.begin()) return false;
  return Less(at, EndOf(*--it));
}

ValueSet ValueSet::Complement() const {
  ValueSet set;
  set.has_null_ = !has_null_;
  Cut from{std::string_view()};
  const auto add = [&](const Cut& to) {
    ValueInterval gap;
    SetBegin(from, &gap);
    SetEnd(to, &gap);
    if (!IsEmpty(gap)) set.intervals_.push_back(std::move(gap));
  };
  for (const ValueInterval& i : intervals_) {
    add(BeginOf(i));
    from = EndOf(i);
  }
  if (!from.top) add({{}, false, true});
  return set;
}

ValueSet ValueSet::Intersect(const ValueSet& other) const {
  ValueSet set;
  set.has_null_ = has_null_ && other.has_null_;
  size_t i = 0, j = 0;
  while (i < intervals_.size() && j < other.intervals_.size()) {
    const ValueInterval& a = intervals_[i];
    const ValueInterval& b = other.intervals_[j];
    ValueInterval both;
    SetBegin(Less(BeginOf(a), BeginOf(b)) ? BeginOf(b) : BeginOf(a), &both);
    const bool a_ends_first = Less(EndOf(a), EndOf(b));
    SetEnd(a_ends_first ? EndOf(a) : EndOf(b), &both);
    if (!IsEmpty(both)) set.intervals_.push_back(std::move(both));
    ++(a_ends_first ? i : j);
  }
  return set;
}

ValueSet ValueSet::Unite(const ValueSet& other) const {
  ValueSet set;
  set.has_null_ = has_null_ || other.has_null_;
  set.intervals_ = intervals_;
  set.intervals_.insert(set.intervals_.end(), other.intervals_.begin(),
                        other.intervals_.end());
  std::sort(set.intervals_.begin(), set.intervals_.end(),
            [](const ValueInterval& a, const ValueInterval& b) {
              return Less(BeginOf(a), BeginOf(b));
            });
  set.Normalize();
  return set;
}

bool ValueSet::IsSubsetOf(const ValueSet& other) const {
  return Intersect(other) == *this;
}

// Joins intervals that overlap or touch. REQUIRES: sorted by their begin.
void ValueSet::Normalize() {
  std::vector<ValueInterval> joined;
  for (ValueInterval& i : intervals_) {
    if (IsEmpty(i)) continue;
    if (joined.empty() || Less(EndOf(joined.back()), BeginOf(i))) {
      joined.push_back(std::move(i));
    } else if (Less(EndOf(joined.back()), EndOf(i))) {
      joined.back().end = std::move(i.end);
      joined.back().end_after = i.end_after;
    }
  }
  intervals_ = std::move(joined);
}

}  // namespace dovetail
