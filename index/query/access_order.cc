// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Whether the keys of an access are in a query's order: the parts behind those
// that all its keys share are compared with the order's fields, one by one,
// then with the parts of the row key.

#include <algorithm>
#include <optional>
#include <vector>

#include "index/key_body.h"
#include "index/query/access.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

bool KeepsOrder(const KeyPart& part, const KeyLayout& layout, size_t i) {
  if (i < layout.parts().size()) {
    return layout.KeepsOrder(i) && !(part.is_text && part.text.has_null);
  }
  // Carried parts are BINARY.
  return !part.computed() && part.transform != Transform::kReverse;
}

// Where a null stands in the scan order of a part.
bool NullsLast(const KeyPart& part) { return part.nulls_last; }

// Whether a part that an entry carries sorts like the part of a TEXT row key
// that it stands for, where neither sorts like the field.
bool SortsAlike(const KeyPart& carried, const KeyPart& text) {
  if (!text.is_text || carried.is_text || carried.transform != text.transform ||
      carried.descending != text.descending) {
    return false;
  }
  // Digits, of one width, and a number; the same bytes, escaped and not.
  if (text.transform == Transform::kSalt) return text.text.width != 0;
  return text.transform == Transform::kReverse &&
         carried.inputs == text.inputs && IsText(text.type()) &&
         !text.nullable() && (text.text.last || text.text.width != 0);
}

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
      if (!parts_[i]->computed()) Know(parts_[i]->inputs[0]);
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
    const KeyPart& part = *parts_[next_];
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
      if (!SameOrder(*parts_[next_], row_parts[r], r)) return false;
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
    while (next_ < parts_.size() && Determined(*parts_[next_])) ++next_;
  }

  // Of a row-key part: whether all entries have the same bytes for it in front.
  bool InPrefix(const KeyPart& row_part) const {
    for (size_t i = 0; i < first_part_; ++i) {
      if (*parts_[i] == row_part) return true;
    }
    return false;
  }

  bool SameOrder(const KeyPart& part, const KeyPart& row_part, size_t r) const {
    if (part == row_part || SortsAlike(part, row_part)) return true;
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
  const std::vector<const KeyPart*>& parts_;
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

}  // namespace

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

}  // namespace dovetail
