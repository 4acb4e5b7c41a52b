// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/query/plan_cost.h"

#include <algorithm>

namespace dovetail {
namespace {

// How large a part of the rows a condition is guessed to keep.
double PointSelectivity(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return 0.5;
    case FieldType::kEnum:
      return 0.15;
    default:
      return 0.01;
  }
}

double Selectivity(FieldType type, const ValueSet& set) {
  double part = set.has_null() ? 0.1 : 0;
  for (const ValueInterval& i : set.intervals()) {
    if (i.is_point()) {
      part += PointSelectivity(type);
    } else {
      const bool from = !i.begin.empty() || i.begin_after;
      part += from && i.end.has_value() ? 0.1 : 0.3;
    }
    if (part >= 1) break;
  }
  return std::min(part, 1.0);
}

// What a read finds if it is read to its end, what is fetched of it, and what
// then matches.
struct Reading {
  double keys = 0;
  double fetched = 0;
  double rows = 0;
};

Reading ReadingOf(const PlanStatistics& statistics, const Access& access,
                  const Conjunction& conjunction,
                  std::span<const QueryField> fields, bool measure) {
  Reading reading;
  reading.keys = GuessKeys(statistics, access, conjunction, fields);
  if (measure && !access.point) {
    reading.keys =
        statistics.Keys(access.index, access.ranges).value_or(reading.keys);
  }
  reading.fetched = reading.keys;
  for (const EntryTest& test : access.tests) {
    reading.fetched *= Selectivity(fields[test.slot].info.type, test.set);
  }
  reading.rows = reading.fetched;
  for (const auto& [slot, set] : conjunction) {
    const bool known =
        std::find(access.decided.begin(), access.decided.end(), slot) !=
            access.decided.end() ||
        std::any_of(access.tests.begin(), access.tests.end(),
                    [s = slot](const EntryTest& t) { return t.slot == s; });
    if (!known) reading.rows *= Selectivity(fields[slot].info.type, set);
  }
  return reading;
}

// For each key of the rarest read the others step on, or seek if it is far.
void AddIntersection(const std::vector<Reading>& readings, bool two_hop,
                     Estimate* e) {
  constexpr double kFar = 8;
  double least = readings[0].keys;
  e->rows = readings[0].rows;
  for (const Reading& reading : readings) {
    least = std::min(least, reading.keys);
    e->rows = std::min(e->rows, reading.rows);
  }
  for (const Reading& reading : readings) {
    const bool far = reading.keys > least * kFar;
    e->entries += far ? least * kFar : reading.keys;
    if (far) e->seeks += least;
  }
  if (two_hop) e->gets = e->rows;
}

}  // namespace

double Estimate::Cost() const {
  // A seek and the read of a row cost some steps each.
  return seeks * 8 + entries + gets * 6;
}

double GuessKeys(const PlanStatistics& statistics, const Access& access,
                 const Conjunction& conjunction,
                 std::span<const QueryField> fields) {
  if (access.point) return static_cast<double>(access.ranges.size());
  double keys = statistics.Rows();
  for (const size_t slot : access.decided) {
    keys *= Selectivity(fields[slot].info.type, *FindSet(conjunction, slot));
  }
  return keys;
}

Estimate EstimatePlan(const PlanStatistics& statistics,
                      const CheckedQuery& query, const NormalForm& form,
                      const Plan& plan, bool measure) {
  Estimate e;
  std::vector<Reading> readings;
  for (size_t i = 0; i < plan.reads.size(); ++i) {
    const Conjunction& conjunction =
        plan.shape.kind == Plan::Kind::kUnion ? form.any[i] : form.common;
    readings.push_back(ReadingOf(statistics, plan.reads[i].access, conjunction,
                                 query.fields, measure));
    e.seeks += static_cast<double>(plan.reads[i].access.ranges.size());
  }
  if (plan.shape.kind == Plan::Kind::kIntersect) {
    AddIntersection(
        readings,
        std::all_of(plan.reads.begin(), plan.reads.end(), Plan::TwoHop), &e);
  } else {
    for (size_t i = 0; i < readings.size(); ++i) {
      e.entries += readings[i].keys;
      if (Plan::TwoHop(plan.reads[i])) e.gets += readings[i].fetched;
      e.rows += readings[i].rows;
    }
  }
  const auto limit = static_cast<double>(query.limit);
  if (!plan.shape.sort && e.rows > limit) {
    const double part = limit / e.rows;
    e.entries *= part;
    e.gets *= part;
    e.rows = limit;
  }
  return e;
}

}  // namespace dovetail
