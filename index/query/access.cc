// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/query/access.h"

#include <algorithm>
#include <string_view>

#include "index/query/access_ranges.h"
#include "index/query/implication.h"

namespace dovetail {
namespace {

bool IsUnique(const CompiledTable& table, int index) {
  return index >= 0 && table.indexes()[static_cast<size_t>(index)].unique();
}

std::vector<const KeyPart*> EntryParts(const CompiledTable& table, int index) {
  std::vector<const KeyPart*> parts;
  for (const KeyPart& part : LayoutOf(table, index).parts()) {
    parts.push_back(&part);
  }
  if (index < 0 || IsUnique(table, index)) return parts;
  const IndexDefinition& definition =
      table.indexes()[static_cast<size_t>(index)];
  for (const size_t i : definition.suffix()) {
    parts.push_back(&definition.carried(i));
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
  // All salts together are all there is.
  const std::vector<KeyPart>& key = LayoutOf(table, access->index).parts();
  const size_t free_parts =
      key[0].transform == KeyPart::Transform::kSalt ? 1 : 0;
  access->full = std::all_of(access->ranges.begin(), access->ranges.end(),
                             [&](const AccessRange& range) {
                               return range.parts_bound <= free_parts &&
                                      !range.interval.has_value();
                             });
  const bool row_key_whole = access->bound_parts == key.size();
  access->point =
      row_key_whole && (access->index < 0 || IsUnique(table, access->index));
}

}  // namespace

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

const KeyLayout& LayoutOf(const CompiledTable& table, int index) {
  return index < 0 ? table.row_key()
                   : table.indexes()[static_cast<size_t>(index)].layout();
}

int PartHolding(std::span<const KeyPart* const> parts, int field) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i]->computed() && parts[i]->inputs[0] == field) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool HasAllRows(const CompiledTable& table, int index,
                const Conjunction& conjunction,
                std::span<const QueryField> fields) {
  if (index < 0) return true;
  const IndexDefinition& definition =
      table.indexes()[static_cast<size_t>(index)];
  // A row has several entries there, or none of its own.
  if (!definition.plain()) return false;
  if (!Implies(conjunction, fields, definition.predicate())) return false;
  if (!definition.unique()) return true;
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
  access.ranges = MakeRanges(layout, conjunction, fields, table.fields().size(),
                             ranges_max);
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

}  // namespace dovetail
