// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/query_costs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dovetail::internal {
namespace {

void AppendShape(const v1::Expression& filter, std::string* out) {
  switch (filter.kind_case()) {
    case v1::Expression::kAnd:
    case v1::Expression::kOr: {
      const bool all = filter.has_and_();
      absl::StrAppend(out, all ? "and(" : "or(");
      const auto& parts = all ? filter.and_().of() : filter.or_().of();
      for (const v1::Expression& part : parts) AppendShape(part, out);
      absl::StrAppend(out, ")");
      return;
    }
    case v1::Expression::kNot:
      absl::StrAppend(out, "not(");
      AppendShape(filter.not_(), out);
      absl::StrAppend(out, ")");
      return;
    case v1::Expression::kEqual:
      absl::StrAppend(out, filter.equal().field(), "= ");
      return;
    case v1::Expression::kIn:
      absl::StrAppend(out, filter.in().field(), " in ");
      return;
    case v1::Expression::kRange:
      absl::StrAppend(out, filter.range().field(), "<> ");
      return;
    case v1::Expression::kPrefix:
      absl::StrAppend(out, filter.prefix().field(), "^ ");
      return;
    case v1::Expression::kIsNull:
      absl::StrAppend(out, filter.is_null().field(), "0 ");
      return;
    case v1::Expression::KIND_NOT_SET:
      return;
  }
}

std::string ShapeOf(const v1::Query& query) {
  std::string name = query.table();
  absl::StrAppend(&name, ": ");
  AppendShape(query.where(), &name);
  for (const v1::OrderBy& order : query.order_by()) {
    absl::StrAppend(&name, "by ", order.field(),
                    order.descending() ? "- " : "+ ");
  }
  return name;
}

}  // namespace

void QueryCosts::Add(const Query& query, uint64_t entries, uint64_t rows) {
  std::string name = ShapeOf(query.proto());
  MutexLock lock(mu_);
  auto it = std::find_if(shapes_.begin(), shapes_.end(),
                         [&](const Shape& s) { return s.name == name; });
  if (it == shapes_.end()) {
    Shape shape{std::move(name), query};
    if (shapes_.size() < kShapesMax) {
      it = shapes_.insert(it, std::move(shape));
    } else {
      it = std::min_element(
          shapes_.begin(), shapes_.end(),
          [](const Shape& a, const Shape& b) { return a.entries < b.entries; });
      *it = std::move(shape);
    }
  }
  ++it->calls;
  it->entries += entries;
  it->rows += rows;
}

std::vector<QueryCosts::Shape> QueryCosts::Read() const {
  std::vector<Shape> shapes;
  {
    MutexLock lock(mu_);
    shapes = shapes_;
  }
  std::sort(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) {
    return a.entries > b.entries;
  });
  return shapes;
}

}  // namespace dovetail::internal
