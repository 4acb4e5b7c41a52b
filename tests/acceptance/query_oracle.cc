// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/query_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <variant>

#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/timestamp.pb.h"

namespace dovetail::test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Null, or a value of the field's type: bools and enums as integers, floats as
// doubles.
using Moment = std::pair<int64_t, int32_t>;
using Cell = std::variant<std::monostate, int64_t, uint64_t, double,
                          std::string, Moment>;

bool IsNull(const Cell& cell) { return cell.index() == 0; }

std::weak_ordering CompareDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) <=> std::isnan(b);
  }
  if (a == b) return std::weak_ordering::equivalent;
  return a < b ? std::weak_ordering::less : std::weak_ordering::greater;
}

std::weak_ordering Compare(const Cell& a, const Cell& b) {
  if (a.index() != b.index()) return a.index() <=> b.index();
  if (std::holds_alternative<double>(a)) {
    return CompareDoubles(std::get<double>(a), std::get<double>(b));
  }
  if (a == b) return std::weak_ordering::equivalent;
  return a < b ? std::weak_ordering::less : std::weak_ordering::greater;
}

Cell Read(const Message& record, const std::string& path) {
  const Message* message = &record;
  const std::vector<std::string> names = absl::StrSplit(path, '.');
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const FieldDescriptor* field =
        message->GetDescriptor()->FindFieldByName(names[i]);
    if (!message->GetReflection()->HasField(*message, field)) return {};
    message = &message->GetReflection()->GetMessage(*message, field);
  }
  const FieldDescriptor* field =
      message->GetDescriptor()->FindFieldByName(names.back());
  const Reflection* r = message->GetReflection();
  if (field->has_presence() && !r->HasField(*message, field)) return {};
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return int64_t{r->GetBool(*message, field)};
    case FieldDescriptor::CPPTYPE_ENUM:
      return int64_t{r->GetEnumValue(*message, field)};
    case FieldDescriptor::CPPTYPE_INT32:
      return int64_t{r->GetInt32(*message, field)};
    case FieldDescriptor::CPPTYPE_INT64:
      return int64_t{r->GetInt64(*message, field)};
    case FieldDescriptor::CPPTYPE_UINT32:
      return uint64_t{r->GetUInt32(*message, field)};
    case FieldDescriptor::CPPTYPE_UINT64:
      return uint64_t{r->GetUInt64(*message, field)};
    case FieldDescriptor::CPPTYPE_FLOAT:
      return double{r->GetFloat(*message, field)};
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->GetDouble(*message, field);
    case FieldDescriptor::CPPTYPE_STRING:
      return r->GetString(*message, field);
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const auto& t = static_cast<const google::protobuf::Timestamp&>(
          r->GetMessage(*message, field));
      return Moment(t.seconds(), t.nanos());
    }
  }
  return {};
}

// A literal as the kind of cell that `like` is.
Cell Literal(const v1::Literal& literal, const std::string& path) {
  switch (literal.kind_case()) {
    case v1::Literal::kBool:
      return int64_t{literal.bool_()};
    case v1::Literal::kInt:
      return literal.int_();
    case v1::Literal::kUint:
      return literal.uint();
    case v1::Literal::kDouble:
      return literal.double_();
    case v1::Literal::kString:
      if (path == "color" || path == "shade") {
        Anything::Color color = Anything::NONE;
        Anything::Color_Parse(literal.string(), &color);
        return int64_t{color};
      }
      return literal.string();
    case v1::Literal::kBytes:
      return literal.bytes();
    case v1::Literal::kTimestamp:
      return Moment(literal.timestamp().seconds(), literal.timestamp().nanos());
    default:
      return {};
  }
}

bool MatchesRange(const v1::Expression::Range& range, const Anything& record) {
  const Cell cell = Read(record, range.field());
  if (IsNull(cell)) return false;
  if (range.has_min()) {
    const auto order = Compare(cell, Literal(range.min(), range.field()));
    if (order < 0 || (order == 0 && range.min_exclusive())) return false;
  }
  if (range.has_max()) {
    const auto order = Compare(cell, Literal(range.max(), range.field()));
    if (order > 0 || (order == 0 && range.max_exclusive())) return false;
  }
  return true;
}

bool Equals(const Cell& cell, const v1::Literal& literal,
            const std::string& path) {
  return !IsNull(cell) && Compare(cell, Literal(literal, path)) == 0;
}

}  // namespace

absl::StatusOr<Rows> ReadTable(Engine& engine, const std::string& table) {
  Rows rows;
  absl::Status parsed;
  ScanRequest all{.table = table, .limit = ~uint64_t{0}};
  ASSIGN_OR_RETURN(
      const ScanEnd end, engine.ForEach({}, all, [&](const RowView& row) {
        Anything record;
        if (!record.ParseFromArray(row.record.data(),
                                   static_cast<int>(row.record.size()))) {
          parsed = absl::DataLossError("record does not parse");
        }
        rows.emplace(row.key, std::move(record));
        return true;
      }));
  RETURN_IF_ERROR(parsed);
  return rows;
}

bool Matches(const v1::Expression& filter, const Anything& record) {
  switch (filter.kind_case()) {
    case v1::Expression::kAnd:
      return std::all_of(
          filter.and_().of().begin(), filter.and_().of().end(),
          [&](const v1::Expression& e) { return Matches(e, record); });
    case v1::Expression::kOr:
      return std::any_of(
          filter.or_().of().begin(), filter.or_().of().end(),
          [&](const v1::Expression& e) { return Matches(e, record); });
    case v1::Expression::kNot:
      return !Matches(filter.not_(), record);
    case v1::Expression::kEqual:
      return Equals(Read(record, filter.equal().field()),
                    filter.equal().value(), filter.equal().field());
    case v1::Expression::kIn: {
      const std::string& field = filter.in().field();
      const Cell cell = Read(record, field);
      return std::any_of(
          filter.in().values().begin(), filter.in().values().end(),
          [&](const v1::Literal& l) { return Equals(cell, l, field); });
    }
    case v1::Expression::kRange:
      return MatchesRange(filter.range(), record);
    case v1::Expression::kPrefix: {
      const Cell cell = Read(record, filter.prefix().field());
      const Cell prefix =
          Literal(filter.prefix().prefix(), filter.prefix().field());
      return !IsNull(cell) && std::get<std::string>(cell).starts_with(
                                  std::get<std::string>(prefix));
    }
    case v1::Expression::kIsNull:
      return IsNull(Read(record, filter.is_null().field()));
    case v1::Expression::KIND_NOT_SET:
      return true;
  }
  return false;
}

v1::Query WithWholeOrder(v1::Query query, const v1::TableSchema& table) {
  if (query.order_by().empty()) return query;
  for (const v1::KeyPart& part : table.row_key().parts()) {
    if (part.has_hash() || part.has_bucket() || part.has_salt() ||
        part.has_sub_bucket()) {
      continue;
    }
    if (part.has_reverse()) break;
    v1::OrderBy* by = query.add_order_by();
    by->set_field(part.fields(0));
    by->set_descending(part.order() == v1::KeyPart::DESC);
    by->set_nulls(static_cast<v1::OrderBy::Nulls>(part.nulls()));
  }
  return query;
}

std::weak_ordering CompareByOrder(const v1::Query& query, const Anything& a,
                                  const Anything& b) {
  for (const v1::OrderBy& by : query.order_by()) {
    const Cell left = Read(a, by.field());
    const Cell right = Read(b, by.field());
    if (IsNull(left) != IsNull(right)) {
      bool first = !by.descending();
      if (by.nulls() == v1::OrderBy::NULLS_FIRST) first = true;
      if (by.nulls() == v1::OrderBy::NULLS_LAST) first = false;
      return IsNull(left) == first ? std::weak_ordering::less
                                   : std::weak_ordering::greater;
    }
    const auto order =
        by.descending() ? Compare(right, left) : Compare(left, right);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

std::vector<std::string> Answer(const v1::Query& query, const Rows& rows) {
  std::vector<const Rows::value_type*> found;
  for (const auto& row : rows) {
    if (Matches(query.where(), row.second)) found.push_back(&row);
  }
  // Stable: rows come in the order of their keys.
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto* a, const auto* b) {
                     return CompareByOrder(query, a->second, b->second) < 0;
                   });
  std::vector<std::string> keys;
  for (const auto* row : found) keys.push_back(row->first);
  return keys;
}

Anything Selected(const v1::Query& query, const Anything& record) {
  if (query.select().empty()) return record;
  Anything out;
  for (const std::string& path : query.select()) {
    if (path == "inner.city") {
      if (!record.has_inner()) continue;
      out.mutable_inner();
      if (!record.inner().has_city()) continue;
      out.mutable_inner()->set_city(record.inner().city());
      continue;
    }
    const FieldDescriptor* field =
        Anything::descriptor()->FindFieldByName(path);
    Anything one = record;
    std::vector<const FieldDescriptor*> set;
    one.GetReflection()->ListFields(one, &set);
    for (const FieldDescriptor* other : set) {
      if (other != field) one.GetReflection()->ClearField(&one, other);
    }
    // Lists would be appended to.
    out.GetReflection()->ClearField(&out, field);
    out.MergeFrom(one);
  }
  return out;
}

}  // namespace dovetail::test
