// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/scan_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace dovetail::sql {
namespace {

// In units of a step to the next entry.
constexpr double kSeek = 5;
constexpr double kFetch = 4;  // A row through its entry.
// Values of an IN, which nobody knows yet; and of an enum.
constexpr double kInValues = 8;
constexpr double kFewValues = 4;
// Rows of a statement with LIMIT.
constexpr double kLimitRows = 100;

using Use = PlanArgument::Use;

bool IsText(const Column& column) {
  return column.kind == Column::Kind::kString ||
         column.kind == Column::Kind::kEnum ||
         column.kind == Column::Kind::kTimestamp;
}

class PathPlanner {
 public:
  PathPlanner(const PlanInput& in, size_t path)
      : in_(in), path_((*in.paths)[path]) {
    plan_.path = path;
  }

  // nullopt if the path has not all rows that the statement wants.
  std::optional<ScanPlan> Make() {
    if (!HasAllRows()) return std::nullopt;
    if (!path_.query_only) BindColumns();
    plan_.covered = Covered();
    plan_.ordered = !in_.order.empty() && !path_.query_only && IsOrdered();
    if (plan_.ordered) plan_.order = in_.order;
    BindLimit();
    Estimate();
    plan_.text = Text();
    return std::move(plan_);
  }

  // To compare ways in by: with the sort that SQLite has to make, and only as
  // far as a LIMIT goes where every row that is read counts.
  static double CostInAll(const PlanInput& in, const ScanPlan& plan) {
    const bool streams = in.order.empty() || plan.ordered;
    if (!streams) {
      return plan.cost + 0.3 * plan.rows * std::log2(plan.rows + 2);
    }
    const bool limited =
        std::any_of(plan.arguments.begin(), plan.arguments.end(),
                    [](const PlanArgument& a) { return a.use == Use::kLimit; });
    // All constraints are arguments.
    if (limited && plan.arguments.size() == in.constraints.size() &&
        plan.rows > kLimitRows) {
      return plan.cost * kLimitRows / plan.rows;
    }
    return plan.cost;
  }

 private:
  const Column& column(int number) const {
    return (*in_.columns)[static_cast<size_t>(number)];
  }

  // Whether the constraint holds for no null.
  static bool ExcludesNull(const Constraint& constraint) {
    return constraint.kind == Constraint::Kind::kCompare;
  }

  bool HasAllRows() const {
    return std::all_of(
        path_.never_null.begin(), path_.never_null.end(), [&](int never_null) {
          return std::any_of(in_.constraints.begin(), in_.constraints.end(),
                             [&](const Constraint& c) {
                               return c.column == never_null && ExcludesNull(c);
                             });
        });
  }

  // The constraint that binds the column to one value, or to those of an IN.
  const Constraint* FindEqual(int number) const {
    const Constraint* found = nullptr;
    for (const Constraint& c : in_.constraints) {
      if (c.column != number) continue;
      const bool binds = c.kind == Constraint::Kind::kIsNull ||
                         c.kind == Constraint::Kind::kIs ||
                         (c.kind == Constraint::Kind::kCompare &&
                          c.comparison == Comparison::kEqual);
      if (!binds) continue;
      // SQL takes NaN for null, keys do not.
      if (column(number).is_real() && !ExcludesNull(c)) continue;
      if (IsText(column(number)) && c.collation != Collation::kBinary) continue;
      if (found == nullptr || (found->in && !c.in)) found = &c;
    }
    return found;
  }

  void Add(Use use, const Constraint& constraint) {
    plan_.arguments.push_back(
        {use, static_cast<size_t>(&constraint - in_.constraints.data()),
         constraint});
  }

  void BindColumns() {
    std::vector<const Constraint*> equal;
    while (equal.size() < path_.columns.size()) {
      const Constraint* next = FindEqual(path_.columns[equal.size()]);
      if (next == nullptr) break;
      equal.push_back(next);
    }
    while (!path_.CanBind(equal.size())) equal.pop_back();
    for (const Constraint* each : equal) Add(Use::kEqual, *each);
    bound_ = equal.size();
    // The last column bound may have many values at once; an IN before it is
    // one value after the other, for which SQLite calls again.
    if (bound_ > 0 && equal.back()->in)
      plan_.arguments.back().use = Use::kAnyOf;
    if (bound_ < path_.columns.size() && path_.RangePart(bound_) >= 0) {
      BindRange(path_.columns[bound_]);
    }
  }

  void BindRange(int number) {
    const Constraint* min = nullptr;
    const Constraint* max = nullptr;
    // Of several, one that compares as keys do is the closer one.
    const auto better = [](const Constraint& c, const Constraint* than) {
      return than == nullptr || (c.collation == Collation::kBinary &&
                                 than->collation != Collation::kBinary);
    };
    for (const Constraint& c : in_.constraints) {
      if (c.column != number || c.kind != Constraint::Kind::kCompare) continue;
      if (c.comparison == Comparison::kAbove ||
          c.comparison == Comparison::kAtLeast) {
        if (better(c, min)) min = &c;
      } else if (c.comparison != Comparison::kEqual && better(c, max)) {
        max = &c;
      }
    }
    if (min != nullptr) Add(Use::kMin, *min);
    if (max != nullptr) Add(Use::kMax, *max);
  }

  void BindLimit() {
    for (const Constraint& c : in_.constraints) {
      if (c.kind == Constraint::Kind::kLimit) Add(Use::kLimit, c);
      if (c.kind == Constraint::Kind::kOffset) Add(Use::kOffset, c);
    }
  }

  bool Covered() const {
    if (path_.is_row_key() || in_.groups) return false;
    // The last bit stands for all columns from there on.
    constexpr size_t kLastBit = 63;
    for (size_t i = 0; i < path_.holds.size(); ++i) {
      const uint64_t bit = uint64_t{1} << std::min(i, kLastBit);
      if ((in_.columns_used & bit) != 0 && !path_.holds[i]) return false;
    }
    // A column of which entries have a hash only is compared in the row.
    for (size_t i = 0; i < bound_; ++i) {
      if (!path_.holds[static_cast<size_t>(path_.columns[i])]) return false;
    }
    return true;
  }

  // Whether the column has one value in all rows that are read.
  bool IsConstant(int number) const {
    for (size_t i = 0; i < bound_; ++i) {
      if (path_.columns[i] == number) return !plan_.arguments[i].of.in;
    }
    return false;
  }

  // Groups cannot be sorted where a value turns out to be no bound.
  bool OrderIsSafe() const {
    if (!in_.groups) return true;
    for (size_t i = 0; i < bound_; ++i) {
      if (MayBeUnbounded(column(path_.columns[i])) ||
          plan_.arguments[i].use == Use::kAnyOf) {
        return false;
      }
    }
    return true;
  }

  bool IsOrdered() const {
    if (!OrderIsSafe()) return false;
    return in_.group_only ? IsGrouped() || IsSorted() : IsSorted();
  }

  // Rows come in the order of the parts that are not bound.
  bool IsSorted() const {
    size_t part = path_.PartsBound(bound_);
    for (const OrderTerm& term : in_.order) {
      if (IsConstant(term.column)) continue;
      if (part == path_.parts.size()) return path_.unique && AllOfKey();
      const PathPart& at = path_.parts[part++];
      if (at.kind != PathPart::Kind::kField || !at.sql_order ||
          at.inputs[0] != term.column || at.descending != term.descending) {
        return false;
      }
    }
    return true;
  }
  // No two rows are equal in the whole key, so that any further order of them
  // is given; but only if the key is all that tells rows apart.
  bool AllOfKey() const { return bound_ == 0 && path_.is_row_key(); }

  // Whether the parts behind the bound ones begin with just the columns of
  // the order, and hashes of these.
  bool IsGrouped() const {
    std::vector<int> wanted;
    for (const OrderTerm& term : in_.order) {
      if (!IsConstant(term.column)) wanted.push_back(term.column);
    }
    const std::vector<int> all = wanted;
    for (size_t part = path_.PartsBound(bound_);
         part < path_.parts.size() && !wanted.empty(); ++part) {
      const PathPart& at = path_.parts[part];
      for (const int input : at.inputs) {
        const bool fixed =
            IsConstant(input) ||
            std::find(all.begin(), all.end(), input) != all.end();
        if (!fixed) return false;
      }
      if (at.kind != PathPart::Kind::kField) continue;
      // Equal in SQL must be equal in keys.
      const Column& held = column(at.inputs[0]);
      if (held.is_real() || held.kind == Column::Kind::kUint64) return false;
      std::erase(wanted, at.inputs[0]);
    }
    return wanted.empty();
  }

  void Estimate() {
    const double all = std::max(in_.rows, 1.0);
    double rows = all;
    double seeks = 1;
    bool in = false;
    for (size_t i = 0; i < bound_; ++i) {
      const bool few = column(path_.columns[i]).kind == Column::Kind::kEnum ||
                       column(path_.columns[i]).kind == Column::Kind::kBool;
      const double values = few ? kFewValues : std::max(10.0, std::cbrt(all));
      in |= plan_.arguments[i].of.in;
      if (plan_.arguments[i].use == Use::kAnyOf) {
        seeks = few ? kFewValues / 2 : kInValues;
      }
      rows *= plan_.arguments[i].of.in
                  ? std::min(1.0, (few ? 2 : kInValues) / values)
                  : 1 / values;
    }
    if (path_.unique && bound_ == path_.columns.size()) {
      rows = in ? seeks : 1;
      plan_.one_row = !in;
    }
    for (const PlanArgument& argument : plan_.arguments) {
      if (argument.use == Use::kMin || argument.use == Use::kMax) rows /= 4;
    }
    plan_.rows = std::clamp(rows, 1.0, all);
    const bool fetches = !path_.is_row_key() && !plan_.covered && !in_.groups;
    // A row is larger than an entry.
    const double step = path_.is_row_key() ? 1.5 : 1;
    plan_.cost = kSeek * seeks * static_cast<double>(path_.spread) +
                 plan_.rows * (step + (fetches ? kFetch : 0));
  }

  std::string Text() const {
    std::vector<std::string> conditions;
    std::string limit;
    for (const PlanArgument& argument : plan_.arguments) {
      const Constraint& c = argument.of;
      const std::string value = c.literal && IsText2(c) ? "literal" : "?";
      switch (argument.use) {
        case Use::kLimit:
          limit += " limit";
          continue;
        case Use::kOffset:
          limit += " offset";
          continue;
        default:
          break;
      }
      conditions.push_back(
          absl::StrCat(column(c.column).name, ToAbsl(Operator(argument)),
                       c.kind == Constraint::Kind::kIsNull ? "" : value,
                       c.collation == Collation::kNoCase ? " nocase" : ""));
    }
    const std::string name = path_.is_row_key() ? "row key" : path_.index;
    return absl::StrCat(
        conditions.empty()
            ? name
            : absl::StrCat(name, "(", absl::StrJoin(conditions, " AND "), ")"),
        plan_.covered ? " covering" : "", OrderText(), limit);
  }
  // Of texts alone it makes a difference.
  bool IsText2(const Constraint& c) const { return IsText(column(c.column)); }

  std::string OrderText() const {
    if (!plan_.ordered) return "";
    std::vector<std::string> terms;
    for (const OrderTerm& term : plan_.order) {
      terms.push_back(absl::StrCat(column(term.column).name,
                                   term.descending ? " desc" : ""));
    }
    return absl::StrCat(" order by ", absl::StrJoin(terms, ", "));
  }

  static std::string_view Operator(const PlanArgument& argument) {
    const Constraint& c = argument.of;
    if (c.kind == Constraint::Kind::kIsNull) return " IS NULL";
    if (c.kind == Constraint::Kind::kIs) return " IS ";
    if (argument.use == Use::kAnyOf) return " IN ";
    switch (c.comparison) {
      case Comparison::kEqual:
        return "=";
      case Comparison::kAbove:
        return ">";
      case Comparison::kAtLeast:
        return ">=";
      case Comparison::kBelow:
        return "<";
      case Comparison::kAtMost:
        return "<=";
    }
    return "";
  }

  const PlanInput& in_;
  const AccessPath& path_;
  ScanPlan plan_;
  size_t bound_ = 0;  // Columns of the path; arguments of the plan.
};

}  // namespace

ScanPlan ChoosePlan(const PlanInput& input) {
  std::optional<ScanPlan> best;
  double best_cost = 0;
  for (size_t i = 0; i < input.paths->size(); ++i) {
    std::optional<ScanPlan> plan = PathPlanner(input, i).Make();
    if (!plan.has_value()) continue;
    const double cost = PathPlanner::CostInAll(input, *plan);
    if (best.has_value() && cost >= best_cost) continue;
    best = std::move(plan);
    best_cost = cost;
  }
  // The row key has all rows.
  return *std::move(best);
}

}  // namespace dovetail::sql
