// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Text form, version 1: one fact a line, a colon behind its name; operators are
// indented below the one that they feed.

#include "index/query/explain.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "dovetail/query.h"

namespace dovetail {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kRangesShownMax = 8;
constexpr size_t kValuesShownMax = 8;

std::string BytesText(const QueryField& field, const std::string& bytes) {
  const auto value = FromSortableBytes(field.info.type, bytes);
  return value.ok() ? ValueText(field, *value) : Quote(bytes);
}

std::string IntervalText(const QueryField& field, const ValueInterval& i) {
  const std::string& path = field.info.path;
  if (i.is_point()) {
    return absl::StrCat(path, " = ", BytesText(field, i.begin));
  }
  const bool from = !i.begin.empty() || i.begin_after;
  std::string text;
  if (from) {
    text = absl::StrCat(
        path, i.begin_after ? " > " : " >= ", BytesText(field, i.begin));
  }
  if (i.end.has_value()) {
    absl::StrAppend(&text, from ? " and " : "", path,
                    i.end_after ? " <= " : " < ", BytesText(field, *i.end));
  }
  return text.empty() ? absl::StrCat(path, " is not null") : text;
}

std::string SetText(const QueryField& field, const ValueSet& set) {
  const std::vector<ValueInterval>& intervals = set.intervals();
  if (set.empty()) return "false";
  if (set.is_all()) return "true";
  if (!set.has_null() && set.is_points() && set.point_count() > 1) {
    std::vector<std::string> values;
    for (const ValueInterval& i : intervals) {
      if (values.size() == kValuesShownMax) {
        values.push_back(
            absl::StrCat("... ", intervals.size() - kValuesShownMax, " more"));
        break;
      }
      values.push_back(BytesText(field, i.begin));
    }
    return absl::StrCat(field.info.path, " in (", absl::StrJoin(values, ", "),
                        ")");
  }
  std::vector<std::string> any;
  if (set.has_null()) any.push_back(absl::StrCat(field.info.path, " is null"));
  for (const ValueInterval& i : intervals) {
    any.push_back(IntervalText(field, i));
  }
  const bool alone = any.size() == 1;
  return alone ? any[0] : absl::StrCat("(", absl::StrJoin(any, " or "), ")");
}

// A range in words: seller_id = "s-1", status = SHIPPED, ts_ms > 100.
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
    if (parts[i].transform == KeyPart::Transform::kHash) continue;
    const absl::StatusOr<Value> value = DecodeKeyPart(parts[i], *bytes);
    if (!value.ok()) break;
    if (parts[i].computed()) {
      if (parts[i].transform == KeyPart::Transform::kSalt) {
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
    const QueryField* field = field_of(parts[range.parts_bound].inputs[0]);
    if (field != nullptr)
      words.push_back(IntervalText(*field, *range.interval));
  }
  return absl::StrJoin(words, ", ");
}

std::string PredicateText(const Predicate& p,
                          const std::vector<QueryField>& fields) {
  switch (p.kind) {
    case Predicate::Kind::kTest:
      return SetText(fields[p.slot], p.set);
    case Predicate::Kind::kNot:
      return absl::StrCat("not (", PredicateText(p.inputs[0], fields), ")");
    case Predicate::Kind::kAll:
    case Predicate::Kind::kAny:
      break;
  }
  const bool all = p.kind == Predicate::Kind::kAll;
  if (p.inputs.empty()) return all ? "true" : "false";
  std::vector<std::string> texts;
  for (const Predicate& input : p.inputs) {
    if (texts.size() == kValuesShownMax) {
      texts.push_back(
          absl::StrCat("... ", p.inputs.size() - kValuesShownMax, " more"));
      break;
    }
    const bool list = input.kind == Predicate::Kind::kAll ||
                      input.kind == Predicate::Kind::kAny;
    const std::string text = PredicateText(input, fields);
    texts.push_back(
        list && input.inputs.size() > 1 ? absl::StrCat("(", text, ")") : text);
  }
  return absl::StrJoin(texts, all ? " and " : " or ");
}

std::string OrderText(const CheckedQuery& query) {
  if (!query.ordered) return "";
  std::vector<std::string> fields;
  for (size_t k = 0; k < query.order_named; ++k) {
    const OrderField& field = query.order[k];
    std::string text = query.fields[field.slot].info.path;
    if (field.sort.descending) text += " desc";
    if (query.fields[field.slot].info.nullable &&
        field.sort.nulls_last != field.sort.descending) {
      text += field.sort.nulls_last ? " nulls last" : " nulls first";
    }
    fields.push_back(std::move(text));
  }
  fields.push_back(query.order_named > 0 ? "row key's fields" : "row key");
  return absl::StrJoin(fields, ", ");
}

v1::PlanNode ReadNode(const CompiledTable& table, const CheckedQuery& query,
                      const Plan& plan, const PlanRead& read) {
  v1::PlanNode node;
  node.set_kind(v1::PlanNode::READ);
  const Access& access = read.access;
  if (access.index >= 0) {
    node.set_index(table.indexes()[static_cast<size_t>(access.index)].name());
  }
  node.set_range_count(access.ranges.size());
  node.set_merged(plan.ordered && !read.order.concatenated);
  node.set_full(access.full);
  node.set_covering(read.covering);
  if (access.full) return node;
  for (const AccessRange& range : access.ranges) {
    if (static_cast<size_t>(node.ranges_size()) == kRangesShownMax) break;
    node.add_ranges(RangeText(table, access, range, query.fields));
  }
  return node;
}

v1::PlanNode RootNode(const CompiledTable& table, const CheckedQuery& query,
                      const Plan& plan) {
  v1::PlanNode node;
  if (plan.shape.kind == Plan::Kind::kEmpty) {
    node.set_kind(v1::PlanNode::EMPTY);
    return node;
  }
  if (plan.shape.kind == Plan::Kind::kRead) {
    node = ReadNode(table, query, plan, plan.reads[0]);
  } else {
    node.set_kind(plan.shape.kind == Plan::Kind::kUnion
                      ? v1::PlanNode::UNION
                      : v1::PlanNode::INTERSECT);
    node.set_merged(plan.ordered);
    for (const PlanRead& read : plan.reads) {
      *node.add_inputs() = ReadNode(table, query, plan, read);
    }
  }
  if (!plan.shape.sort) return node;
  v1::PlanNode sort;
  sort.set_kind(v1::PlanNode::SORT);
  *sort.add_inputs() = std::move(node);
  return sort;
}

// What the entries do not decide.
std::string FilterText(const CheckedQuery& query, const Plan& plan) {
  if (plan.filter) return PredicateText(query.where, query.fields);
  return plan.branches.empty() ? "" : "not in an earlier input";
}

uint64_t Rounded(double v) {
  return static_cast<uint64_t>(std::llround(std::min(v, 1e15)));
}

void AppendNode(const v1::PlanNode& node, const std::string& table, int depth,
                std::string* out) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  switch (node.kind()) {
    case v1::PlanNode::READ:
      absl::StrAppend(out, indent, "read: ",
                      node.index().empty()
                          ? absl::StrCat("rows of ", table)
                          : absl::StrCat("index ", node.index(), " of ", table),
                      node.full() ? ", all of it" : "",
                      node.merged() ? ", ranges merged by the order" : "",
                      node.covering() ? ", covering" : "", "\n");
      for (const std::string& range : node.ranges()) {
        absl::StrAppend(out, indent, "  range: ", range, "\n");
      }
      if (!node.full() &&
          node.range_count() > static_cast<uint64_t>(node.ranges_size())) {
        absl::StrAppend(
            out, indent, "  ranges_more: ",
            node.range_count() - static_cast<uint64_t>(node.ranges_size()),
            "\n");
      }
      return;
    case v1::PlanNode::INTERSECT:
      absl::StrAppend(out, indent, "intersect: rows that all of these have\n");
      break;
    case v1::PlanNode::UNION:
      absl::StrAppend(
          out, indent, "union: rows that any of these has, ",
          node.merged() ? "merged by the order\n" : "one after the other\n");
      break;
    case v1::PlanNode::SORT:
      absl::StrAppend(out, indent, "sort: in memory, by the order\n");
      break;
    default:
      absl::StrAppend(out, indent, "empty: no row can match\n");
      break;
  }
  for (const v1::PlanNode& input : node.inputs()) {
    AppendNode(input, table, depth + 1, out);
  }
}

std::string WorkText(const v1::PlanWork& work, bool rows) {
  std::string text =
      absl::StrCat("seeks=", work.seeks(), " entries=", work.entries(),
                   " gets=", work.gets());
  if (rows) absl::StrAppend(&text, " rows=", work.rows());
  if (work.bytes() > 0) absl::StrAppend(&text, " bytes=", work.bytes());
  return text;
}

// An intersection takes what it returns from one of its reads.
bool FetchesRows(const Plan& plan) {
  return plan.shape.kind == Plan::Kind::kIntersect
             ? std::all_of(plan.reads.begin(), plan.reads.end(), Plan::TwoHop)
             : std::any_of(plan.reads.begin(), plan.reads.end(), Plan::TwoHop);
}

}  // namespace

v1::QueryPlan DescribePlan(const CompiledTable& table,
                           const CheckedQuery& query, const Plan& plan) {
  v1::QueryPlan out;
  out.set_version(kVersion);
  out.set_table(table.name());
  *out.mutable_root() = RootNode(table, query, plan);
  out.set_order(OrderText(query));
  out.set_two_hop(FetchesRows(plan));
  out.set_filter(FilterText(query, plan));
  out.set_limit(query.limit);
  v1::PlanWork* estimate = out.mutable_estimate();
  estimate->set_seeks(Rounded(plan.estimate.seeks));
  estimate->set_entries(Rounded(plan.estimate.entries));
  estimate->set_gets(Rounded(plan.estimate.gets));
  estimate->set_rows(Rounded(plan.estimate.rows));
  if (plan.bound.has_value()) {
    out.mutable_bound()->set_seeks(plan.bound->seeks);
    out.mutable_bound()->set_entries(plan.bound->entries);
    out.mutable_bound()->set_gets(plan.bound->gets);
  }
  out.set_candidates(static_cast<uint32_t>(plan.candidates));
  return out;
}

std::string PlanText(const v1::QueryPlan& plan) {
  std::string out = absl::StrCat("plan: version ", plan.version(), ", best of ",
                                 plan.candidates(), "\n");
  AppendNode(plan.root(), plan.table(), 0, &out);
  absl::StrAppend(
      &out, "order: ", plan.order().empty() ? "as read" : plan.order(), "\n");
  if (plan.two_hop()) {
    absl::StrAppend(&out,
                    "fetch: each entry's row, by steps where it is near\n");
  }
  if (!plan.filter().empty()) {
    absl::StrAppend(&out, "filter: ", plan.filter(), "\n");
  }
  absl::StrAppend(&out, "limit: ", plan.limit(), "\n");
  absl::StrAppend(&out, "estimate: ", WorkText(plan.estimate(), true), "\n");
  absl::StrAppend(
      &out, "bound: ",
      plan.has_bound() ? WorkText(plan.bound(), false) : "none is proven",
      "\n");
  if (plan.has_actual()) {
    absl::StrAppend(&out, "actual: ", WorkText(plan.actual(), true), "\n");
    absl::StrAppend(&out, "stop: ", plan.stop(), "\n");
  }
  return out;
}

}  // namespace dovetail
