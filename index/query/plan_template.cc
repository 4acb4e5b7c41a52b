// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which plan is chosen depends on the values of a conjunction by three things
// only: by the kind of each set (how many values, intervals open or closed),
// which makes the guess of how many rows there are; by whether they imply the
// predicate of a partial index, so tables with one have no templates; and by
// the ranges that come of them, as some values have no encoding. What the
// first query had of these, the next must have too.

#include "index/query/plan_template.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/coding.h"
#include "index/query/access_ranges.h"
#include "index/query/planner.h"

namespace dovetail {
namespace {

// Conditions of a query that has a template.
constexpr size_t kConditionsMax = 16;

constexpr char kTableTag = 1 << 3 | 2;
constexpr char kWhereTag = 2 << 3 | 2;

// Takes a field with a length off the front, if its tag is `tag`. Of bytes
// that Protobuf has written.
std::string_view TakeField(char tag, std::string_view* bytes) {
  if (bytes->empty() || bytes->front() != tag) return {};
  size_t length = 0;
  size_t at = 1;
  for (int shift = 0; at < bytes->size() && shift < 35; shift += 7) {
    const auto byte = static_cast<uint8_t>((*bytes)[at++]);
    length |= size_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  const std::string_view field = bytes->substr(0, at + length);
  bytes->remove_prefix(field.size());
  return field;
}

std::vector<const v1::Expression*> PartsOf(const v1::Expression& where) {
  std::vector<const v1::Expression*> parts;
  if (!where.has_and_()) {
    parts.push_back(&where);
    return parts;
  }
  parts.reserve(static_cast<size_t>(where.and_().of_size()));
  for (const v1::Expression& e : where.and_().of()) parts.push_back(&e);
  return parts;
}

void AppendLiteral(bool has, const v1::Literal& literal, std::string* shape) {
  shape->push_back(has ? static_cast<char>(1 + literal.kind_case()) : 0);
}

// False if it is no condition on one field.
bool AppendCondition(const v1::Expression& e, std::string* shape) {
  const std::string* field = ConditionField(e);
  if (field == nullptr) return false;
  shape->push_back(static_cast<char>(e.kind_case()));
  AppendBigEndian(field->size(), 4, shape);
  shape->append(*field);
  switch (e.kind_case()) {
    case v1::Expression::kEqual:
      AppendLiteral(true, e.equal().value(), shape);
      return true;
    case v1::Expression::kIn:
      AppendBigEndian(static_cast<uint64_t>(e.in().values_size()), 4, shape);
      for (const v1::Literal& value : e.in().values()) {
        AppendLiteral(true, value, shape);
      }
      return true;
    case v1::Expression::kRange: {
      const v1::Expression::Range& range = e.range();
      AppendLiteral(range.has_min(), range.min(), shape);
      AppendLiteral(range.has_max(), range.max(), shape);
      shape->push_back(static_cast<char>(range.min_exclusive()));
      shape->push_back(static_cast<char>(range.max_exclusive()));
      return true;
    }
    case v1::Expression::kPrefix:
      AppendLiteral(true, e.prefix().prefix(), shape);
      return true;
    default:
      return true;
  }
}

// What of a set decides which plan is chosen.
std::string KindOf(const ValueSet& set) {
  std::string kind(1, set.has_null() ? '0' : '-');
  for (const ValueInterval& i : set.intervals()) {
    if (i.is_point()) {
      kind += '.';
      continue;
    }
    kind += i.begin.empty() && !i.begin_after ? '(' : '[';
    kind += i.end.has_value() ? ']' : ')';
  }
  return kind;
}

bool SameRange(const AccessRange& a, const AccessRange& b) {
  return a.parts_bound == b.parts_bound &&
         a.interval.has_value() == b.interval.has_value();
}

}  // namespace

std::optional<std::string> ShapeOf(const v1::Query& query,
                                   std::string_view bytes) {
  if (!query.has_where()) return std::nullopt;
  const std::vector<const v1::Expression*> conditions = PartsOf(query.where());
  if (conditions.size() > kConditionsMax) return std::nullopt;
  std::string shape;
  shape.reserve(bytes.size());
  for (const v1::Expression* e : conditions) {
    if (!AppendCondition(*e, &shape)) return std::nullopt;
  }
  shape.push_back('\0');  // No kind of condition.
  const std::string_view table = TakeField(kTableTag, &bytes);
  TakeField(kWhereTag, &bytes);
  return shape.append(table).append(bytes);
}

std::optional<PlanTemplate> PlanTemplate::Make(const CompiledTable& table,
                                               const CheckedQuery& query,
                                               const NormalForm& form,
                                               const Plan& plan) {
  const bool one = query.where.kind == Predicate::Kind::kTest;
  if (!one && query.where.kind != Predicate::Kind::kAll) return std::nullopt;
  if (plan.shape.kind != Plan::Kind::kRead || plan.by_sizes || !form.exact ||
      form.any.size() != 1 || plan.reads[0].access.ranges.empty()) {
    return std::nullopt;
  }
  const bool partial = std::any_of(
      table.indexes().begin(), table.indexes().end(),
      [](const IndexDefinition& i) { return !i.predicate().empty(); });
  const std::vector<AccessRange>& ranges = plan.reads[0].access.ranges;
  const bool alike = std::all_of(
      ranges.begin(), ranges.end(),
      [&](const AccessRange& range) { return SameRange(range, ranges[0]); });
  if (partial || !alike) return std::nullopt;

  PlanTemplate out(table, query, plan);
  const std::span<const Predicate> tests =
      one ? std::span<const Predicate>(&query.where, 1)
          : std::span<const Predicate>(query.where.inputs);
  for (const Predicate& test : tests) {
    if (test.kind != Predicate::Kind::kTest) return std::nullopt;
    out.slots_.push_back(test.slot);
    // One that says nothing of its field is not in the form.
    if (FindSet(form.any[0], test.slot) == nullptr) return std::nullopt;
  }
  for (const auto& field : form.any[0]) {
    out.kinds_.push_back(KindOf(field.second));
  }
  return out;
}

std::optional<PlanTemplate::Bound> PlanTemplate::Bind(
    const v1::Query& query) const {
  const std::vector<const v1::Expression*> conditions = PartsOf(query.where());
  if (conditions.size() != slots_.size()) return std::nullopt;
  const std::span<const QueryField> fields = query_->fields;
  Conjunction conjunction;
  conjunction.reserve(slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    absl::StatusOr<ValueSet> set =
        SetOfCondition(fields[slots_[i]], *conditions[i]);
    if (!set.ok()) return std::nullopt;
    const auto same = std::find_if(
        conjunction.begin(), conjunction.end(),
        [&](const auto& field) { return field.first == slots_[i]; });
    if (same == conjunction.end()) {
      conjunction.emplace_back(slots_[i], *std::move(set));
    } else {
      same->second = same->second.Intersect(*set);
    }
  }
  std::sort(conjunction.begin(), conjunction.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const bool same_kinds =
      std::equal(conjunction.begin(), conjunction.end(), kinds_.begin(),
                 kinds_.end(), [](const auto& field, const std::string& kind) {
                   return KindOf(field.second) == kind;
                 });
  if (!same_kinds) return std::nullopt;

  const Access& first = plan_.reads[0].access;
  const KeyLayout& layout = LayoutOf(*table_, first.index);
  std::vector<AccessRange> ranges = MakeRanges(
      layout, conjunction, fields, table_->fields().size(), kPlannedRangesMax);
  const bool alike =
      ranges.size() == first.ranges.size() &&
      std::all_of(ranges.begin(), ranges.end(), [&](const AccessRange& range) {
        return SameRange(range, first.ranges[0]);
      });
  if (!alike || CommonParts(layout.parts(), ranges, first.bound_parts) !=
                    first.common_parts) {
    return std::nullopt;
  }
  Bound bound;
  bound.plan = plan_;
  PlanRead& read = bound.plan.reads[0];
  read.access.ranges = std::move(ranges);
  for (EntryTest& test : read.access.tests) {
    test.set = *FindSet(conjunction, test.slot);
  }
  if (bound.plan.ordered) SetOrderConstants(*query_, conjunction, &read);
  if (!bound.plan.filter) return bound;
  for (auto& [slot, set] : conjunction) {
    bound.where.inputs.push_back(
        {Predicate::Kind::kTest, {}, slot, std::move(set)});
  }
  return bound;
}

}  // namespace dovetail
