// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ranges are made by walking the parts of a key from the front. A part whose
// fields have one value each extends the prefix; one with finitely many values
// multiplies the prefixes; one with intervals of values ends the walk with a
// range for each of them; any other part ends it with the prefix as it is.

#include "index/query/access.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

const KeyLayout& LayoutOf(const CompiledTable& table, int index) {
  return index < 0 ? table.row_key()
                   : table.indexes()[static_cast<size_t>(index)].layout();
}

bool IsUnique(const CompiledTable& table, int index) {
  return index >= 0 && table.indexes()[static_cast<size_t>(index)].unique();
}

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

// The part of `parts` that holds the field itself, or -1.
int PartHolding(std::span<const KeyPart> parts, int field) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].computed() && parts[i].inputs[0] == field) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::vector<KeyPart> EntryParts(const CompiledTable& table, int index) {
  std::vector<KeyPart> parts = LayoutOf(table, index).parts();
  if (index < 0 || IsUnique(table, index)) return parts;
  const IndexDefinition& definition =
      table.indexes()[static_cast<size_t>(index)];
  for (const size_t i : definition.suffix()) {
    parts.push_back(definition.carried(i));
  }
  return parts;
}

// Sets `decided`, `tests` and `exact`.
void Settle(const CompiledTable& table, const Conjunction& conjunction,
            std::span<const QueryField> fields, Access* access) {
  size_t decided = 0;
  for (const auto& [slot, set] : conjunction) {
    const int field = fields[slot].table_field;
    const int part = field < 0 ? -1 : PartHolding(access->entry_parts, field);
    const auto decides = [&](const AccessRange& range) {
      const auto p = static_cast<size_t>(part);
      return p < range.parts_bound ||
             (p == range.parts_bound && range.interval.has_value());
    };
    if (part >= 0 &&
        std::all_of(access->ranges.begin(), access->ranges.end(), decides)) {
      access->decided.push_back(slot);
      ++decided;
    } else if (part >= 0 && access->index >= 0) {
      access->tests.push_back({static_cast<size_t>(part), slot, set});
      ++decided;
    }
  }
  access->exact = decided == conjunction.size();
  access->full = access->ranges.size() == 1 &&
                 access->ranges[0].parts_bound == 0 &&
                 !access->ranges[0].interval.has_value();
  const size_t parts = LayoutOf(table, access->index).parts().size();
  const bool row_key_whole = access->bound_parts == parts;
  access->point =
      row_key_whole && (access->index < 0 || IsUnique(table, access->index));
}

// How many leading parts have the same bytes in all ranges.
size_t CommonParts(std::span<const KeyPart> parts,
                   const std::vector<AccessRange>& ranges, size_t bound) {
  if (ranges.size() == 1) return bound;
  std::string_view first = ranges.front().keys.prefix;
  size_t bytes = 0;
  for (size_t i = 0; i < bound; ++i) {
    std::string_view rest = first.substr(bytes);
    const auto part = ConsumeKeyPart(parts[i], &rest);
    if (!part.ok()) return i;
    bytes += part->size();
    const bool same = std::all_of(
        ranges.begin(), ranges.end(), [&](const AccessRange& range) {
          return std::string_view(range.keys.prefix).substr(0, bytes) ==
                 first.substr(0, bytes);
        });
    if (!same) return i;
  }
  return bound;
}

bool KeepsOrder(const KeyPart& part, const KeyLayout& layout, size_t i) {
  if (i < layout.parts().size()) {
    return layout.KeepsOrder(i) && !(part.is_text && part.text.has_null);
  }
  // Carried parts are BINARY.
  return !part.computed() && part.transform != Transform::kReverse;
}

// Where a null stands in the scan order of a part.
bool NullsLast(const KeyPart& part) { return part.nulls_last; }

// Walks the parts of an entry, and decides whether they are in an order.
class OrderMatcher {
 public:
  OrderMatcher(const CompiledTable& table, const Access& access,
               std::span<const QueryField> fields, size_t first_part)
      : table_(table),
        layout_(LayoutOf(table, access.index)),
        parts_(access.entry_parts),
        fields_(fields),
        first_part_(first_part),
        next_(first_part) {
    known_.assign(table.fields().size(), false);
    for (size_t i = 0; i < first_part; ++i) {
      if (!parts_[i].computed()) Know(parts_[i].inputs[0]);
    }
  }

  bool Knows(int field) const {
    return field >= 0 && known_[static_cast<size_t>(field)];
  }

  // The next field of the order.
  bool Take(const OrderField& order) {
    const QueryField& field = fields_[order.slot];
    SkipDetermined();
    if (next_ == parts_.size()) return false;
    const KeyPart& part = parts_[next_];
    if (part.computed() || part.inputs[0] != field.table_field ||
        !KeepsOrder(part, layout_, next_) ||
        part.descending != order.sort.descending) {
      return false;
    }
    if (part.nullable() && NullsLast(part) != order.sort.nulls_last) {
      return false;
    }
    Know(part.inputs[0]);
    ++next_;
    return true;
  }

  // Whether entries that agree up to here are in the order of their row keys.
  bool TakeRowKey() {
    const std::vector<KeyPart>& row_parts = table_.row_key().parts();
    for (size_t r = 0; r < row_parts.size(); ++r) {
      if (Determined(row_parts[r]) || InPrefix(row_parts[r])) continue;
      SkipDetermined();
      // The end of a UNIQUE key, which has one row.
      if (next_ == parts_.size()) return true;
      if (!SameOrder(parts_[next_], row_parts[r], r)) return false;
      if (!row_parts[r].computed()) Know(row_parts[r].inputs[0]);
      ++next_;
    }
    return true;
  }

 private:
  void Know(int field) { known_[static_cast<size_t>(field)] = true; }

  bool Determined(const KeyPart& part) const {
    return part.transform != Transform::kSalt && !part.inputs.empty() &&
           std::all_of(part.inputs.begin(), part.inputs.end(),
                       [this](int f) { return Knows(f); });
  }
  void SkipDetermined() {
    while (next_ < parts_.size() && Determined(parts_[next_])) ++next_;
  }

  // Of a row-key part: whether all entries have the same bytes for it in front.
  bool InPrefix(const KeyPart& row_part) const {
    return std::find(parts_.begin(),
                     parts_.begin() + static_cast<std::ptrdiff_t>(first_part_),
                     row_part) !=
           parts_.begin() + static_cast<std::ptrdiff_t>(first_part_);
  }

  bool SameOrder(const KeyPart& part, const KeyPart& row_part, size_t r) const {
    if (part == row_part) return true;
    if (part.computed() || row_part.computed() ||
        part.inputs[0] != row_part.inputs[0]) {
      return false;
    }
    return KeepsOrder(part, layout_, next_) &&
           KeepsOrder(row_part, table_.row_key(), r) &&
           part.descending == row_part.descending &&
           (!part.nullable() || NullsLast(part) == NullsLast(row_part));
  }

  const CompiledTable& table_;
  const KeyLayout& layout_;
  const std::vector<KeyPart>& parts_;
  std::span<const QueryField> fields_;
  std::vector<bool> known_;
  size_t first_part_;
  size_t next_;
};

bool Matches(const CompiledTable& table, const Access& access,
             std::span<const OrderField> order, const Conjunction& conjunction,
             std::span<const QueryField> fields, size_t first_part) {
  OrderMatcher matcher(table, access, fields, first_part);
  for (const OrderField& field : order) {
    const ValueSet* set = FindSet(conjunction, field.slot);
    if (set != nullptr && set->is_single()) continue;
    if (matcher.Knows(fields[field.slot].table_field)) continue;
    if (!matcher.Take(field)) return false;
  }
  return matcher.TakeRowKey();
}

std::string BytesText(const QueryField& field, const std::string& bytes) {
  const auto value = FromSortableBytes(field.info.type, bytes);
  return value.ok() ? ValueText(field, *value) : Quote(bytes);
}

}  // namespace

bool HasAllRows(const CompiledTable& table, int index,
                const Conjunction& conjunction,
                std::span<const QueryField> fields) {
  if (!IsUnique(table, index)) return true;
  for (const KeyPart& part : LayoutOf(table, index).parts()) {
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      if (!part.input_nullable[i]) continue;
      const bool never_null = std::any_of(
          conjunction.begin(), conjunction.end(), [&](const auto& field) {
            return fields[field.first].table_field == part.inputs[i] &&
                   !field.second.has_null();
          });
      if (!never_null) return false;
    }
  }
  return true;
}

std::optional<Access> MakeAccess(const CompiledTable& table, int index,
                                 const Conjunction& conjunction,
                                 std::span<const QueryField> fields,
                                 size_t ranges_max) {
  if (!HasAllRows(table, index, conjunction, fields)) return std::nullopt;
  const KeyLayout& layout = LayoutOf(table, index);
  Access access;
  access.index = index;
  access.entry_parts = EntryParts(table, index);
  access.ranges =
      RangeBuilder(layout, conjunction, fields, table.fields().size())
          .Build(ranges_max);
  if (access.ranges.empty()) {
    // No row can match: not even one range to look into.
    access.exact = true;
    return access;
  }
  access.bound_parts = layout.parts().size();
  for (const AccessRange& range : access.ranges) {
    access.bound_parts = std::min(access.bound_parts, range.parts_bound);
  }
  access.common_parts =
      CommonParts(layout.parts(), access.ranges, access.bound_parts);
  Settle(table, conjunction, fields, &access);
  return access;
}

std::optional<AccessOrder> OrderOf(const CompiledTable& table,
                                   const Access& access,
                                   std::span<const OrderField> order,
                                   const Conjunction& conjunction,
                                   std::span<const QueryField> fields) {
  AccessOrder out;
  for (const OrderField& field : order) {
    const ValueSet* set = FindSet(conjunction, field.slot);
    if (set != nullptr && set->is_single()) {
      out.parts.push_back(-1);
      continue;
    }
    const int table_field = fields[field.slot].table_field;
    const int part =
        table_field < 0 ? -1 : PartHolding(access.entry_parts, table_field);
    if (part < 0) return std::nullopt;
    out.parts.push_back(part);
  }
  out.concatenated =
      Matches(table, access, order, conjunction, fields, access.common_parts);
  if (out.concatenated) return out;
  if (!Matches(table, access, order, conjunction, fields, access.bound_parts)) {
    return std::nullopt;
  }
  return out;
}

std::string RangeText(const CompiledTable& table, const Access& access,
                      const AccessRange& range,
                      std::span<const QueryField> fields) {
  const auto field_of = [&](int table_field) -> const QueryField* {
    for (const QueryField& field : fields) {
      if (field.table_field == table_field) return &field;
    }
    return nullptr;
  };
  std::vector<std::string> words;
  std::string_view rest = range.keys.prefix;
  const std::vector<KeyPart>& parts = LayoutOf(table, access.index).parts();
  for (size_t i = 0; i < range.parts_bound; ++i) {
    const auto bytes = ConsumeKeyPart(parts[i], &rest);
    if (!bytes.ok()) break;
    if (parts[i].transform == Transform::kHash) continue;
    const absl::StatusOr<Value> value = DecodeKeyPart(parts[i], *bytes);
    if (!value.ok()) break;
    if (parts[i].computed()) {
      if (parts[i].transform == Transform::kSalt) {
        words.push_back(absl::StrCat("salt = ", value->DebugString()));
      }
      continue;
    }
    const QueryField* field = field_of(parts[i].inputs[0]);
    const auto typed = ToFieldValue(*value, parts[i].type());
    words.push_back(absl::StrCat(parts[i].input_paths[0], " = ",
                                 field != nullptr && typed.ok()
                                     ? ValueText(*field, *typed)
                                     : value->DebugString()));
  }
  if (range.interval.has_value()) {
    const KeyPart& part = parts[range.parts_bound];
    const QueryField* field = field_of(part.inputs[0]);
    const ValueInterval& i = *range.interval;
    const bool from = !i.begin.empty() || i.begin_after;
    if (field != nullptr && from) {
      words.push_back(absl::StrCat(
          part.input_paths[0],
          i.begin_after ? " > " : " >= ", BytesText(*field, i.begin)));
    }
    if (field != nullptr && i.end.has_value()) {
      words.push_back(absl::StrCat(part.input_paths[0],
                                   i.end_after ? " <= " : " < ",
                                   BytesText(*field, *i.end)));
    }
    if (!from && !i.end.has_value()) {
      words.push_back(absl::StrCat(part.input_paths[0], " is not null"));
    }
  }
  return absl::StrJoin(words, ", ");
}

}  // namespace dovetail
