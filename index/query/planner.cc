// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Candidates are few: each index alone, and only if none of these returns all
// that it reads, intersections of the most promising ones, for alternatives the
// union of the best index of each, and sorts.

#include "index/query/planner.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "index/key_body.h"
#include "index/query/plan_cost.h"
#include "index/query/suggest_index.h"

namespace dovetail {
namespace {

using Kind = PlanShape::Kind;

// Of which intersections are considered.
constexpr size_t kIntersectedMax = 5;

// The fields that a query looks at and those that it returns, by position in
// the table.
struct NeededFields {
  std::vector<int> tested;
  std::vector<int> selected;
};

// nullopt if it needs the record: all of it, or what no entry could hold.
std::optional<NeededFields> NeededFieldsOf(const CompiledTable& table,
                                           const CheckedQuery& query) {
  if (query.proto->select().empty()) return std::nullopt;
  NeededFields needed;
  for (const QueryField& field : query.fields) {
    if (field.table_field < 0) return std::nullopt;
    needed.tested.push_back(field.table_field);
  }
  const std::vector<FieldInfo>& fields = table.fields();
  for (const std::string& path : query.proto->select()) {
    // Of a field within a message, no entry tells whether the message is there.
    if (path.find('.') != std::string::npos) return std::nullopt;
    const auto at = std::find_if(
        fields.begin(), fields.end(),
        [&](const FieldInfo& field) { return field.path == path; });
    if (at == fields.end()) return std::nullopt;
    needed.selected.push_back(static_cast<int>(at - fields.begin()));
  }
  return needed;
}

// Whether entries of the index hold the field's very value: a key has one form
// for the two zeros of a float, and for all that is no number.
bool HoldsValue(const CompiledTable& table, const IndexDefinition& index,
                int field) {
  const std::vector<int>& covering = index.covering();
  if (std::find(covering.begin(), covering.end(), field) != covering.end()) {
    return true;
  }
  const FieldType type = table.fields()[static_cast<size_t>(field)].type;
  return index.Holds(field) && type != FieldType::kFloat &&
         type != FieldType::kDouble;
}

class Planner {
 public:
  explicit Planner(const PlannerInput& input)
      : in_(input),
        table_(*input.table),
        query_(*input.query),
        form_(*input.form) {
    for (const int index : query_.usable) {
      if (index < 0 || in_.readable[static_cast<size_t>(index)]) {
        usable_.push_back(index);
      }
    }
    needed_ = NeededFieldsOf(table_, query_);
  }

  absl::StatusOr<Plan> Resume(const PlanShape& shape) {
    std::optional<Plan> plan = Build(shape);
    if (plan.has_value()) {
      plan->estimate = EstimateOf(*plan, false);
      return Finish(*std::move(plan), 1);
    }
    if (query_.ordered) return Choose();
    return absl::FailedPreconditionError(
        "an index that the continuation reads is gone, and the query names no "
        "order in which another one could go on: start again");
  }

  absl::StatusOr<Plan> Choose() {
    if (form_.any.empty()) return Finish(*Build(PlanShape{}), 1);
    std::vector<Plan> plans;
    bool scans = false;  // Whether a plan was refused as a full scan.
    const auto add = [&](const std::vector<PlanShape>& shapes) {
      for (const PlanShape& shape : shapes) {
        std::optional<Plan> plan = Build(shape);
        if (!plan.has_value()) continue;
        if (plan->full_scan && !query_.proto->allow_full_scan()) {
          scans = true;
          continue;
        }
        plans.push_back(*std::move(plan));
      }
    };
    add(ReadShapes(/*sort=*/false));
    if (std::any_of(plans.begin(), plans.end(), IsExact)) {
      std::erase_if(plans, [](const Plan& plan) { return !IsExact(plan); });
    } else {
      add(OtherShapes());
    }
    if (plans.empty()) return Refuse(scans);
    DropOutdone(&plans);
    const size_t candidates = plans.size();
    return Finish(Cheapest(&plans), candidates);
  }

 private:
  std::span<const QueryField> fields() const { return query_.fields; }
  bool one_alternative() const { return form_.exact && form_.any.size() == 1; }

  std::vector<PlanShape> ReadShapes(bool sort) const {
    std::vector<PlanShape> shapes;
    for (const int index : usable_) {
      shapes.push_back({Kind::kRead, {index}, sort});
    }
    return shapes;
  }

  // What might be a plan besides one read in the query's order.
  std::vector<PlanShape> OtherShapes() const {
    std::vector<PlanShape> shapes;
    if (form_.common.size() > 1) AddIntersections(&shapes);
    if (form_.any.size() > 1) {
      for (const bool sort : {false, true}) {
        std::optional<PlanShape> shape = UnionShape(sort);
        if (shape.has_value()) shapes.push_back(*std::move(shape));
      }
    }
    if (query_.ordered && query_.proto->sort_bytes_max() > 0) {
      const std::vector<PlanShape> sorted = ReadShapes(/*sort=*/true);
      shapes.insert(shapes.end(), sorted.begin(), sorted.end());
    }
    return shapes;
  }

  // Of reads in one order that each narrow something the others do not.
  void AddIntersections(std::vector<PlanShape>* shapes) const {
    std::vector<std::pair<double, PlanRead>> reads;
    for (const int index : usable_) {
      std::optional<PlanRead> read =
          MakeRead(index, form_.common, /*ordered=*/true);
      if (!read.has_value() || read->access.full || read->access.point ||
          read->access.decided.empty()) {
        continue;
      }
      const double keys =
          GuessKeys(*in_.statistics, read->access, form_.common, fields());
      reads.emplace_back(keys, *std::move(read));
    }
    std::stable_sort(
        reads.begin(), reads.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    if (reads.size() > kIntersectedMax) reads.resize(kIntersectedMax);
    const auto narrows = [](const Access& a, const Access& b) {
      return std::any_of(a.decided.begin(), a.decided.end(), [&](size_t slot) {
        const bool tested =
            std::any_of(b.tests.begin(), b.tests.end(),
                        [slot](const EntryTest& t) { return t.slot == slot; });
        return !tested && std::find(b.decided.begin(), b.decided.end(), slot) ==
                              b.decided.end();
      });
    };
    const auto useful = [&](size_t i, size_t j) {
      return narrows(reads[i].second.access, reads[j].second.access) &&
             narrows(reads[j].second.access, reads[i].second.access);
    };
    for (size_t i = 0; i < reads.size(); ++i) {
      for (size_t j = i + 1; j < reads.size(); ++j) {
        if (!useful(i, j)) continue;
        const int a = reads[i].second.access.index;
        const int b = reads[j].second.access.index;
        shapes->push_back({Kind::kIntersect, {a, b}});
        for (size_t k = j + 1; k < reads.size(); ++k) {
          if (!useful(i, k) || !useful(j, k)) continue;
          shapes->push_back(
              {Kind::kIntersect, {a, b, reads[k].second.access.index}});
        }
      }
    }
  }

  // The best index of each alternative, by what the alternatives say alone.
  std::optional<PlanShape> UnionShape(bool sort) const {
    if (sort && (!query_.ordered || query_.proto->sort_bytes_max() == 0)) {
      return std::nullopt;
    }
    PlanShape shape{Kind::kUnion, {}, sort};
    for (const Conjunction& conjunction : form_.any) {
      std::optional<std::pair<double, int>> best;
      for (const int index : usable_) {
        const std::optional<PlanRead> read =
            MakeRead(index, conjunction, query_.ordered && !sort);
        if (!read.has_value() || read->access.full) continue;
        const double keys =
            GuessKeys(*in_.statistics, read->access, conjunction, fields());
        if (!best.has_value() || keys < best->first) best = {keys, index};
      }
      if (!best.has_value()) return std::nullopt;
      shape.indexes.push_back(best->second);
    }
    return shape;
  }

  // nullopt if the index does not have the rows, or not in the query's order.
  std::optional<PlanRead> MakeRead(int index, const Conjunction& conjunction,
                                   bool ordered) const {
    std::optional<Access> access =
        MakeAccess(table_, index, conjunction, fields(), kPlannedRangesMax);
    if (!access.has_value()) return std::nullopt;
    const bool covering = Covers(index);
    if (!ordered) return PlanRead{*std::move(access), {}, {}, covering};
    std::optional<AccessOrder> order =
        OrderOf(table_, *access, query_.order, conjunction, fields());
    const bool too_many = access->ranges.size() > in_.merge_streams_max &&
                          (!order.has_value() || !order->concatenated);
    if (too_many) {
      access = MakeAccess(table_, index, conjunction, fields(),
                          in_.merge_streams_max);
      order = OrderOf(table_, *access, query_.order, conjunction, fields());
    }
    if (!order.has_value()) return std::nullopt;
    return PlanRead{*std::move(access), *std::move(order), {}, covering};
  }

  bool Covers(int index) const {
    if (index < 0 || !needed_.has_value()) return false;
    const IndexDefinition& entries =
        table_.indexes()[static_cast<size_t>(index)];
    return std::all_of(needed_->tested.begin(), needed_->tested.end(),
                       [&](int field) { return entries.Holds(field); }) &&
           std::all_of(
               needed_->selected.begin(), needed_->selected.end(),
               [&](int field) { return HoldsValue(table_, entries, field); });
  }

  std::optional<Plan> Build(const PlanShape& shape) const {
    Plan plan;
    plan.shape = shape;
    if (shape.kind == Kind::kEmpty) {
      if (form_.any.empty()) return plan;
      return std::nullopt;
    }
    if (form_.any.empty() ||
        (shape.sort && query_.proto->sort_bytes_max() == 0)) {
      return std::nullopt;
    }
    const bool united = shape.kind == Kind::kUnion;
    if (shape.indexes.empty() ||
        (united && shape.indexes.size() != form_.any.size())) {
      return std::nullopt;
    }
    // Intersections have an order in any case: that of the row key.
    plan.ordered =
        (query_.ordered && !shape.sort) || shape.kind == Kind::kIntersect;
    if (plan.ordered) plan.order = query_.order;
    size_t streams = 0;
    for (size_t i = 0; i < shape.indexes.size(); ++i) {
      const int index = shape.indexes[i];
      if (std::find(usable_.begin(), usable_.end(), index) == usable_.end()) {
        return std::nullopt;
      }
      std::optional<PlanRead> read =
          MakeRead(index, united ? form_.any[i] : form_.common, plan.ordered);
      if (!read.has_value()) return std::nullopt;
      if (united && plan.ordered && !read->access.tests.empty()) {
        // An entry that one branch refuses may be at the place of another's.
        read->access.tests.clear();
        read->access.exact = false;
      }
      streams += read->access.ranges.size();
      plan.reads.push_back(*std::move(read));
    }
    if (plan.reads.size() > 1 && plan.ordered &&
        streams > in_.merge_streams_max) {
      return std::nullopt;
    }
    Complete(&plan);
    return plan;
  }

  // Fills in what follows from the reads.
  void Complete(Plan* plan) const {
    const bool united = plan->shape.kind == Kind::kUnion;
    plan->filter = !united && !one_alternative();
    if (plan->shape.kind == Kind::kIntersect) {
      plan->filter = plan->filter || !TogetherExact(plan->reads);
    } else {
      for (const PlanRead& read : plan->reads) {
        plan->filter = plan->filter || !read.access.exact;
      }
    }
    if (united && !plan->ordered) plan->branches = form_.any;
    for (size_t i = 0; plan->ordered && i < plan->reads.size(); ++i) {
      SetOrderConstants(query_, ConjunctionOf(*plan, i), &plan->reads[i]);
    }
    plan->full_scan = std::any_of(
        plan->reads.begin(), plan->reads.end(), [&](const PlanRead& read) {
          return read.access.full && (plan->filter || plan->shape.sort ||
                                      !read.access.tests.empty());
        });
    plan->bound = BoundOf(*plan);
  }

  // Whether the reads' keys together decide the whole conjunction.
  bool TogetherExact(const std::vector<PlanRead>& reads) const {
    return std::all_of(
        form_.common.begin(), form_.common.end(), [&](const auto& field) {
          return std::any_of(
              reads.begin(), reads.end(), [&](const PlanRead& read) {
                const std::vector<size_t>& decided = read.access.decided;
                return std::find(decided.begin(), decided.end(), field.first) !=
                       decided.end();
              });
        });
  }

  std::optional<WorkBound> BoundOf(const Plan& plan) const {
    WorkBound bound;
    const bool exact = !plan.filter && !plan.shape.sort;
    // A row that two branches have is read twice, and one that an earlier
    // branch has is passed over.
    const bool each_is_returned = exact &&
                                  (plan.ordered || plan.reads.size() == 1) &&
                                  plan.shape.kind != Kind::kIntersect;
    for (const PlanRead& read : plan.reads) {
      const uint64_t ranges = read.access.ranges.size();
      uint64_t entries = ranges;
      if (!read.access.point) {
        if (!each_is_returned || !read.access.tests.empty()) {
          return std::nullopt;
        }
        entries = query_.limit;
      } else if (each_is_returned) {
        entries = std::min(entries, query_.limit);
      }
      bound.entries += entries;
      bound.seeks += ranges;
      if (Plan::TwoHop(read)) {
        bound.gets += entries;
        bound.seeks += entries;
      }
    }
    return bound;
  }

  const Conjunction& ConjunctionOf(const Plan& plan, size_t read) const {
    return plan.shape.kind == Kind::kUnion ? form_.any[read] : form_.common;
  }

  Estimate EstimateOf(const Plan& plan, bool measure) const {
    return EstimatePlan(*in_.statistics, query_, form_, plan, measure);
  }

  // Drops indexes that cannot beat the row key, whatever the data: their ranges
  // and tests narrow by no more fields than its ranges do, and each entry costs
  // a row besides. What is left is then often one plan, for which nothing has
  // to be measured.
  static void DropOutdone(std::vector<Plan>* plans) {
    const auto plain = [](const Plan& plan) {
      return plan.shape.kind == Kind::kRead && !plan.shape.sort;
    };
    const auto row_key =
        std::find_if(plans->begin(), plans->end(), [&](const Plan& plan) {
          return plain(plan) && plan.reads[0].access.index < 0;
        });
    if (row_key == plans->end()) return;
    const Access best = row_key->reads[0].access;
    const auto decides = [&](size_t slot) {
      return std::find(best.decided.begin(), best.decided.end(), slot) !=
             best.decided.end();
    };
    std::erase_if(*plans, [&](const Plan& plan) {
      if (!plain(plan) || !Plan::TwoHop(plan.reads[0])) return false;
      const Access& access = plan.reads[0].access;
      return best.ranges.size() <= access.ranges.size() &&
             std::all_of(access.decided.begin(), access.decided.end(),
                         decides) &&
             std::all_of(access.tests.begin(), access.tests.end(),
                         [&](const EntryTest& t) { return decides(t.slot); });
    });
  }

  // Whether a plan reads nothing that it does not return. It then needs no
  // rivals: how many rows a filter drops is a guess, and may be all of them.
  static bool IsExact(const Plan& plan) {
    return plan.shape.kind == Kind::kRead && !plan.filter && !plan.shape.sort &&
           plan.reads[0].access.tests.empty();
  }

  // Of equal ones the first.
  Plan Cheapest(std::vector<Plan>* plans) const {
    const bool measure = plans->size() > 1 && !IsExact(plans->front());
    for (Plan& plan : *plans) {
      plan.estimate = EstimateOf(plan, measure);
      plan.by_sizes = measure;
    }
    return std::move(*std::min_element(
        plans->begin(), plans->end(), [](const Plan& a, const Plan& b) {
          return a.estimate.Cost() < b.estimate.Cost();
        }));
  }

  absl::StatusOr<Plan> Finish(Plan plan, size_t candidates) const {
    plan.candidates = candidates;
    const uint64_t max = query_.proto->proven_entries_max();
    if (max == 0) return plan;
    if (plan.shape.kind == Kind::kEmpty ||
        (plan.bound.has_value() && plan.bound->entries <= max)) {
      return plan;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "the query is not proven to read so little: proven_entries=",
        plan.bound.has_value() ? absl::StrCat(plan.bound->entries) : "none",
        " max=", max, Advice()));
  }

  absl::Status Refuse(bool scans) const {
    if (usable_.empty()) {
      return absl::FailedPreconditionError(
          "the hints leave no index that serves reads now");
    }
    if (scans) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the query would read all of a table or an index to return a part "
          "of it, which has to be allowed: allow_full_scan",
          RowKeyReason(), Advice()));
    }
    return absl::FailedPreconditionError(
        absl::StrCat("no index has the order, and a sort has to be allowed: "
                     "sort_bytes_max",
                     Advice()));
  }

  // Why the row key does not narrow the query, if it does not: the first of its
  // parts that is not given.
  std::string RowKeyReason() const {
    const std::optional<Access> access =
        MakeAccess(table_, -1, form_.common, fields(), kPlannedRangesMax);
    if (!access.has_value() || !access->full) return "";
    for (const KeyPart& part : table_.row_key().parts()) {
      if (part.transform == KeyPart::Transform::kSalt) continue;
      return absl::StrCat("; the row key begins with ", KeyPartName(part),
                          part.computed()
                              ? ", which takes single values and keeps no order"
                          : part.transform == KeyPart::Transform::kReverse
                              ? ", reversed, which keeps no order"
                              : ", which the filter gives no value or range");
    }
    return "";
  }

  std::string Advice() const {
    std::optional<v1::IndexSchema> index = SuggestIndex(table_, query_, form_);
    if (!index.has_value()) return "";
    return absl::StrCat("; or add an index, which would serve it, on ",
                        IndexText(*index));
  }

  const PlannerInput& in_;
  const CompiledTable& table_;
  const CheckedQuery& query_;
  const NormalForm& form_;
  std::vector<int> usable_;
  std::optional<NeededFields> needed_;  // nullopt: the whole record.
};

}  // namespace

void SetOrderConstants(const CheckedQuery& query,
                       const Conjunction& conjunction, PlanRead* read) {
  read->constants.assign(query.order.size(), std::string());
  for (size_t k = 0; k < query.order.size(); ++k) {
    if (read->order.parts[k] >= 0) continue;
    const OrderField& field = query.order[k];
    const ValueSet& set = *FindSet(conjunction, field.slot);
    FieldValue value;
    if (!set.has_null()) {
      // Bytes that a check has made.
      value = FromSortableBytes(field.sort.type, set.intervals()[0].begin)
                  .value_or(FieldValue());
    }
    AppendSortKey(field.sort, value, &read->constants[k]);
  }
}

absl::StatusOr<Plan> MakePlan(const PlannerInput& input) {
  Planner planner(input);
  return input.resume.has_value() ? planner.Resume(*input.resume)
                                  : planner.Choose();
}

}  // namespace dovetail
