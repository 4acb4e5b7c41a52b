// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A query that has been checked against its table: fields resolved, values of
// the fields' types, everything within its limits.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/v1/query.pb.h"
#include "google/protobuf/descriptor.h"
#include "index/compiled_table.h"
#include "index/query/value_order.h"
#include "index/query/value_set.h"

namespace dovetail {

// A field that a filter or an order reads. Slots are positions in
// CheckedQuery::fields.
struct QueryField {
  FieldInfo info;
  // Position in CompiledTable::fields(), or -1: no key has it.
  int table_field = -1;
  // Of an enum field, for messages; else null. Of the table's pool.
  const google::protobuf::EnumDescriptor* enum_type = nullptr;
};

// A filter. Every test of one field is whether its value is in a set, so that
// there are four kinds of node.
struct Predicate {
  enum class Kind { kAll, kAny, kNot, kTest };
  Kind kind = Kind::kAll;         // Of none: true.
  std::vector<Predicate> inputs;  // kAll, kAny; kNot: one.
  size_t slot = 0;                // kTest
  ValueSet set;                   // kTest
};

// The field that a condition on one field is on; null for other expressions.
const std::string* ConditionField(const v1::Expression& expression);
// The values of the field for which a condition on it holds. InvalidArgument if
// a value does not fit. REQUIRES: it is one.
absl::StatusOr<ValueSet> SetOfCondition(const QueryField& field,
                                        const v1::Expression& condition);

// Whether the predicate holds. `values` are by slot.
bool Holds(const Predicate& predicate, std::span<const QueryField> fields,
           std::span<const FieldValue> values);

struct OrderField {
  size_t slot = 0;
  SortField sort;
};

struct CheckedQuery {
  const v1::Query* proto = nullptr;  // Must outlive this.
  std::vector<QueryField> fields;
  Predicate where;
  // The order: what the query names, then what makes it nearly total: the
  // fields of the row key, in its order. Rows that agree in all of these are in
  // the order of their row keys. Empty for the order of the row key itself.
  std::vector<OrderField> order;
  size_t order_named = 0;  // How many of them the query names.
  // Whether it asks for that order; else rows come as they are read.
  bool ordered = false;
  uint64_t limit = 0;
  // Positions of indexes, -1 for the row key.
  std::vector<int> usable;  // After UseIndex and AvoidIndex.
  // Null: the table's own extractor reads all fields, at their table_field.
  std::unique_ptr<const Extractor> extractor;
};

// The limit of a query that has none.
inline constexpr uint64_t kQueryLimitDefault = 100;

// InvalidArgument says what to change; NotFound for a hint that names no
// index of the table.
absl::StatusOr<CheckedQuery> CheckQuery(const CompiledTable& table,
                                        const v1::Query& query);

// The values of the query's fields, by slot, in `record`, which they view.
// `scratch` is for the call. DataLoss if the record does not parse.
absl::Status ReadFields(const CompiledTable& table, const CheckedQuery& query,
                        std::string_view record, EncodedRow* scratch,
                        std::vector<FieldValue>* values);

// For messages: SHIPPED for an enum's value, else as Value has it.
std::string ValueText(const QueryField& field, const FieldValue& value);

}  // namespace dovetail
