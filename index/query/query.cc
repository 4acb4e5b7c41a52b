// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/query.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "index/text_format_error.h"
#include "index/utf8.h"

namespace dovetail {
namespace {

// As Protobuf's other parsers have it.
constexpr int kTextDepthMax = 100;

v1::Literal LiteralOf(const Value& value) {
  v1::Literal literal;
  switch (value.kind()) {
    case Value::Kind::kNull:
      literal.set_null(v1::Literal::NULL_VALUE);
      break;
    case Value::Kind::kBool:
      literal.set_bool_(value.as_bool());
      break;
    case Value::Kind::kInt:
      literal.set_int_(value.as_int());
      break;
    case Value::Kind::kUint:
      literal.set_uint(value.as_uint());
      break;
    case Value::Kind::kDouble:
      literal.set_double_(value.as_double());
      break;
    case Value::Kind::kString:
      // A Protobuf string holds nothing but UTF-8.
      if (IsValidUtf8(value.as_string())) {
        literal.set_string(value.as_string());
      } else {
        literal.set_bytes(value.as_string());
      }
      break;
    case Value::Kind::kTimestamp:
      literal.mutable_timestamp()->set_seconds(value.as_timestamp().seconds);
      literal.mutable_timestamp()->set_nanos(value.as_timestamp().nanos);
      break;
  }
  return literal;
}

}  // namespace

Filter Filter::And(std::vector<Filter> all) {
  v1::Expression e;
  v1::Expression::All* list = e.mutable_and_();
  for (Filter& filter : all) *list->add_of() = std::move(filter).proto();
  return Filter(std::move(e));
}

Filter Filter::Or(std::vector<Filter> any) {
  v1::Expression e;
  v1::Expression::Any* list = e.mutable_or_();
  for (Filter& filter : any) *list->add_of() = std::move(filter).proto();
  return Filter(std::move(e));
}

Filter Filter::Not(Filter filter) {
  v1::Expression e;
  *e.mutable_not_() = std::move(filter).proto();
  return Filter(std::move(e));
}

Filter Filter::Equal(std::string_view field, const Value& value) {
  v1::Expression e;
  e.mutable_equal()->set_field(std::string(field));
  *e.mutable_equal()->mutable_value() = LiteralOf(value);
  return Filter(std::move(e));
}

Filter Filter::In(std::string_view field, const std::vector<Value>& values) {
  v1::Expression e;
  e.mutable_in()->set_field(std::string(field));
  for (const Value& v : values) *e.mutable_in()->add_values() = LiteralOf(v);
  return Filter(std::move(e));
}

Filter Filter::InRange(std::string_view field, const Range& range) {
  v1::Expression e;
  v1::Expression::Range* proto = e.mutable_range();
  proto->set_field(std::string(field));
  if (range.min.has_value()) {
    *proto->mutable_min() = LiteralOf(*range.min);
    proto->set_min_exclusive(!range.min_inclusive);
  }
  if (range.max.has_value()) {
    *proto->mutable_max() = LiteralOf(*range.max);
    proto->set_max_exclusive(!range.max_inclusive);
  }
  return Filter(std::move(e));
}

Filter Filter::AtLeast(std::string_view field, const Value& value) {
  return InRange(field, {.min = value});
}
Filter Filter::Above(std::string_view field, const Value& value) {
  return InRange(field, {.min = value, .min_inclusive = false});
}
Filter Filter::AtMost(std::string_view field, const Value& value) {
  return InRange(field, {.max = value});
}
Filter Filter::Below(std::string_view field, const Value& value) {
  return InRange(field, {.max = value, .max_inclusive = false});
}

Filter Filter::Prefix(std::string_view field, std::string_view prefix) {
  v1::Expression e;
  e.mutable_prefix()->set_field(std::string(field));
  *e.mutable_prefix()->mutable_prefix() = LiteralOf(Value(prefix));
  return Filter(std::move(e));
}

Filter Filter::IsNull(std::string_view field) {
  v1::Expression e;
  e.mutable_is_null()->set_field(std::string(field));
  return Filter(std::move(e));
}

absl::StatusOr<Query> Query::FromJson(std::string_view json) {
  v1::Query proto;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &proto);
  if (status.ok()) return Query(std::move(proto));
  return absl::InvalidArgumentError(absl::StrCat(
      "query is not the JSON of dovetail.v1.Query: ", status.ToString()));
}

absl::StatusOr<Query> Query::FromText(std::string_view text) {
  v1::Query proto;
  FirstTextError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kTextDepthMax);
  if (parser.ParseFromString(std::string(text), &proto)) {
    return Query(std::move(proto));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("query does not parse: ", error.text()));
}

std::string Query::ToJson() const {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // Only a message with an Any in it can fail.
  (void)google::protobuf::util::MessageToJsonString(proto_, &json, options);
  return json;
}

Query& Query::Where(Filter filter) {
  if (!proto_.has_where()) {
    *proto_.mutable_where() = std::move(filter).proto();
    return *this;
  }
  if (!proto_.where().has_and_()) {
    v1::Expression first;
    first.Swap(proto_.mutable_where());
    *proto_.mutable_where()->mutable_and_()->add_of() = std::move(first);
  }
  *proto_.mutable_where()->mutable_and_()->add_of() = std::move(filter).proto();
  return *this;
}

Query& Query::OrderBy(std::string_view field, Direction direction,
                      Nulls nulls) {
  v1::OrderBy* by = proto_.add_order_by();
  by->set_field(std::string(field));
  by->set_descending(direction == kDescending);
  by->set_nulls(static_cast<v1::OrderBy::Nulls>(nulls));
  return *this;
}

Query& Query::OrderByRowKey() {
  proto_.set_order_by_row_key(true);
  return *this;
}

Query& Query::Limit(uint64_t rows) {
  proto_.set_limit(rows);
  return *this;
}

Query& Query::Select(std::vector<std::string> fields) {
  for (std::string& field : fields) proto_.add_select(std::move(field));
  return *this;
}

Query& Query::Continuation(std::string_view token) {
  proto_.set_continuation(std::string(token));
  return *this;
}

Query& Query::WithBudget(const Budget& budget) {
  v1::QueryBudget* proto = proto_.mutable_budget();
  proto->Clear();
  if (budget.rows.has_value()) proto->set_rows(*budget.rows);
  if (budget.entries.has_value()) proto->set_entries(*budget.entries);
  if (budget.bytes.has_value()) proto->set_bytes(*budget.bytes);
  if (budget.micros.has_value()) proto->set_micros(*budget.micros);
  return *this;
}

Query& Query::ReadAhead(uint32_t entries) {
  proto_.set_read_ahead(entries);
  return *this;
}

Query& Query::AllowFullScan() {
  proto_.set_allow_full_scan(true);
  return *this;
}

Query& Query::AllowSort(uint64_t bytes_max) {
  proto_.set_sort_bytes_max(bytes_max);
  return *this;
}

Query& Query::UseIndex(std::string_view index) {
  proto_.set_use_index(std::string(index));
  return *this;
}

Query& Query::AvoidIndex(std::string_view index) {
  proto_.add_avoid_indexes(std::string(index));
  return *this;
}

Query& Query::RefuseOver(uint64_t entries) {
  proto_.set_proven_entries_max(entries);
  return *this;
}

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kEnd:
      return "end";
    case StopReason::kLimit:
      return "limit";
    case StopReason::kRows:
      return "rows";
    case StopReason::kEntries:
      return "entries";
    case StopReason::kBytes:
      return "bytes";
    case StopReason::kTime:
      return "time";
    case StopReason::kVisitor:
      return "visitor";
  }
  return "unknown";
}

}  // namespace dovetail
