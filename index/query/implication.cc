// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/query/implication.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "index/key_part.h"

namespace dovetail {
namespace {

std::string Bytes(const RowPredicate::Test& test, const FieldValue& value) {
  std::string buffer;
  return std::string(SortableBytes(test.type, value, &buffer));
}

// The values that the test allows.
ValueSet AllowedBy(const RowPredicate::Test& test) {
  if (test.null) return ValueSet::Null();
  ValueSet allowed = ValueSet::Values();
  if (test.any_of.has_value()) {
    std::vector<std::string> points;
    for (const FieldValue& value : *test.any_of) {
      points.push_back(Bytes(test, value));
    }
    allowed = ValueSet::Points(std::move(points));
  }
  ValueInterval within;
  if (test.min.has_value()) {
    within.begin = Bytes(test, test.min->value);
    within.begin_after = !test.min->inclusive;
  }
  if (test.max.has_value()) {
    within.end = Bytes(test, test.max->value);
    within.end_after = test.max->inclusive;
  }
  allowed = allowed.Intersect(ValueSet::Of(std::move(within)));
  if (test.prefix.empty()) return allowed;
  ValueInterval prefixed;
  prefixed.begin = std::string(test.prefix);
  // Nothing is above a prefix of 0xff alone.
  if (std::string end = PrefixEnd(test.prefix); !end.empty()) {
    prefixed.end = std::move(end);
  }
  return allowed.Intersect(ValueSet::Of(std::move(prefixed)));
}

}  // namespace

bool Implies(const Conjunction& conjunction, std::span<const QueryField> fields,
             const RowPredicate& predicate) {
  return std::all_of(
      predicate.tests().begin(), predicate.tests().end(),
      [&](const RowPredicate::Test& test) {
        const ValueSet allowed = AllowedBy(test);
        return std::any_of(
            conjunction.begin(), conjunction.end(), [&](const auto& condition) {
              return fields[condition.first].table_field == test.field &&
                     condition.second.IsSubsetOf(allowed);
            });
      });
}

}  // namespace dovetail
