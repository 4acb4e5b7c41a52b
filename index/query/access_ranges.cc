// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ranges are made by walking the parts of a key from the front. A part whose
// fields have one value each extends the prefix; one with finitely many values
// multiplies the prefixes; one with intervals of values ends the walk with a
// range for each of them; any other part ends it with the prefix as it is.

#include "index/query/access_ranges.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

// Walks one layout for one conjunction.
class RangeBuilder {
 public:
  RangeBuilder(const KeyLayout& layout, const Conjunction& conjunction,
               std::span<const QueryField> fields, size_t field_count)
      : layout_(layout), fields_(fields) {
    sets_.resize(field_count, nullptr);
    slots_.resize(field_count, 0);
    for (const auto& [slot, set] : conjunction) {
      const int field = fields[slot].table_field;
      if (field < 0) continue;
      sets_[static_cast<size_t>(field)] = &set;
      slots_[static_cast<size_t>(field)] = slot;
    }
  }

  std::vector<AccessRange> Build(size_t ranges_max) {
    stop_ = PartsWithin(ranges_max);
    values_.resize(sets_.size());
    known_.assign(sets_.size(), false);
    Walk(0, std::string());
    std::sort(ranges_.begin(), ranges_.end(),
              [](const AccessRange& a, const AccessRange& b) {
                return a.keys.begin < b.keys.begin;
              });
    return std::move(ranges_);
  }

 private:
  const ValueSet* SetOf(int field) const {
    return sets_[static_cast<size_t>(field)];
  }
  // Whether the field is given finitely many values.
  bool HasPoints(int field) const {
    return SetOf(field) != nullptr && SetOf(field)->is_points();
  }

  // How many parts can be walked before there are too many ranges, by the
  // worst case. The walk may end before.
  size_t PartsWithin(size_t ranges_max) const {
    std::vector<bool> seen(sets_.size(), false);
    size_t count = 1;
    const std::vector<KeyPart>& parts = layout_.parts();
    for (size_t i = 0; i < parts.size(); ++i) {
      const KeyPart& part = parts[i];
      const bool numbered = part.transform == Transform::kSalt ||
                            part.transform == Transform::kSubBucket;
      if (numbered) count *= std::max<uint32_t>(part.count, 1);
      for (const int field : part.inputs) {
        if (count > ranges_max) return i;
        if (seen[static_cast<size_t>(field)]) continue;
        if (!HasPoints(field)) {
          if (numbered) continue;
          // The walk ends here.
          const size_t intervals =
              SetOf(field) == nullptr ? 1 : SetOf(field)->intervals().size();
          return count * (intervals + 1) > ranges_max ? i : parts.size();
        }
        seen[static_cast<size_t>(field)] = true;
        count *= SetOf(field)->point_count();
      }
      if (count > ranges_max) return i;
    }
    return parts.size();
  }

  // What is in front of `part` is in `prefix`.
  void Walk(size_t i, const std::string& prefix) {
    if (i >= stop_) return Emit(i, prefix);
    const KeyPart& part = layout_.parts()[i];
    if (part.transform == Transform::kSalt) {
      return WalkNumbers(i, prefix, 0, part.count);
    }
    for (const int field : part.inputs) {
      if (known_[static_cast<size_t>(field)]) continue;
      if (HasPoints(field)) return WalkPoints(i, prefix, field);
      if (part.transform == Transform::kSubBucket &&
          known_[static_cast<size_t>(part.inputs[0])]) {
        return IsListed(part, values_[static_cast<size_t>(part.inputs[0])])
                   ? WalkNumbers(i, prefix, 1, 1 + part.count)
                   : WalkNumbers(i, prefix, 0, 1);
      }
      return part.computed() || SetOf(field) == nullptr
                 ? Emit(i, prefix)
                 : EmitIntervals(i, prefix, field);
    }
    std::string longer = prefix;
    // A value without an encoding is in no row: a write of it is refused.
    if (!AppendKeyPart(part, values_, 0, &longer).ok()) return;
    Walk(i + 1, longer);
  }

  void WalkNumbers(size_t i, const std::string& prefix, uint32_t from,
                   uint32_t to) {
    for (uint32_t n = from; n < to; ++n) {
      std::string longer = prefix;
      AppendKeyPartNumber(layout_.parts()[i], n, &longer);
      Walk(i + 1, longer);
    }
  }

  // Gives the field each of its values in turn, at the same part.
  void WalkPoints(size_t i, const std::string& prefix, int field) {
    const auto f = static_cast<size_t>(field);
    const ValueSet& set = *sets_[f];
    known_[f] = true;
    for (const ValueInterval& point : set.intervals()) {
      const auto value =
          FromSortableBytes(fields_[slots_[f]].info.type, point.begin);
      if (!value.ok()) continue;
      values_[f] = *value;
      Walk(i, prefix);
    }
    if (set.has_null()) {
      values_[f] = FieldValue();
      Walk(i, prefix);
    }
    known_[f] = false;
  }

  void Emit(size_t parts_bound, const std::string& prefix) {
    AccessRange range;
    range.parts_bound = parts_bound;
    range.keys.prefix = prefix;
    range.keys.begin = prefix;
    // Behind the last part of a TEXT key stands nothing, so that keys which
    // start like a whole one are other keys.
    range.keys.end = layout_.is_text() && parts_bound == layout_.parts().size()
                         ? prefix + '\0'
                         : PrefixEnd(prefix);
    ranges_.push_back(std::move(range));
  }

  void EmitIntervals(size_t i, const std::string& prefix, int field) {
    const auto f = static_cast<size_t>(field);
    const KeyPart& part = layout_.parts()[i];
    const QueryField& query_field = fields_[slots_[f]];
    const Column column{query_field.info.path, field, query_field.info.type,
                        static_cast<int>(i)};
    const ValueSet& set = *sets_[f];
    std::vector<AccessRange> narrowed;
    for (const ValueInterval& interval : set.intervals()) {
      AccessRange range;
      range.parts_bound = i;
      range.keys.prefix = prefix;
      range.interval = interval;
      const std::optional<Range> bounds =
          BoundsOf(interval, query_field.info.type);
      if (!bounds.has_value() ||
          !layout_.Narrow(*bounds, column, &range.keys).ok()) {
        return Emit(i, prefix);  // The part cannot tell: read more.
      }
      const std::string& end = range.keys.end;
      if (!end.empty() && range.keys.begin >= end) continue;
      narrowed.push_back(std::move(range));
    }
    ranges_.insert(ranges_.end(), std::make_move_iterator(narrowed.begin()),
                   std::make_move_iterator(narrowed.end()));
    if (!set.has_null()) return;
    std::string null = prefix;
    if (AppendKeyPartValue(part, FieldValue(), &null).ok()) Emit(i + 1, null);
  }

  static std::optional<Range> BoundsOf(const ValueInterval& interval,
                                       FieldType type) {
    Range range;
    if (!interval.begin.empty() || interval.begin_after) {
      const auto min = FromSortableBytes(type, interval.begin);
      if (!min.ok()) return std::nullopt;
      range.min = ToValue(*min, type);
      range.min_inclusive = !interval.begin_after;
    }
    if (interval.end.has_value()) {
      const auto max = FromSortableBytes(type, *interval.end);
      if (!max.ok()) return std::nullopt;
      range.max = ToValue(*max, type);
      range.max_inclusive = interval.end_after;
    }
    return range;
  }

  const KeyLayout& layout_;
  std::span<const QueryField> fields_;
  std::vector<const ValueSet*> sets_;  // By field of the table.
  std::vector<size_t> slots_;
  size_t stop_ = 0;
  // The walk's present values; they view the sets.
  std::vector<FieldValue> values_;
  std::vector<bool> known_;
  std::vector<AccessRange> ranges_;
};

}  // namespace

std::vector<AccessRange> MakeRanges(const KeyLayout& layout,
                                    const Conjunction& conjunction,
                                    std::span<const QueryField> fields,
                                    size_t field_count, size_t ranges_max) {
  return RangeBuilder(layout, conjunction, fields, field_count)
      .Build(ranges_max);
}

}  // namespace dovetail
