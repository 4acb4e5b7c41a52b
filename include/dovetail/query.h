// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Queries: which rows, in which order, and what they may cost. The engine
// plans how to read them, says so on request, and stops where it is told to.
//
//   auto page = engine->Query({}, dovetail::Query("orders")
//       .Where(Filter::Equal("seller_id", "s-1"))
//       .Where(Filter::In("status", {v1::CREATED, v1::APPROVED}))
//       .Where(Filter::Above("amount_cents", 100))
//       .OrderBy("ts_ms", Query::kDescending)
//       .Limit(20));
//
// What a query means does not depend on the plan:
//
// Fields. Any singular field of the record, by its path, indexed or not. An
// enum value may be given by its number or its name, a Timestamp as
// TimestampValue. Strings and bytes compare as bytes; -0.0 equals 0.0, and
// every NaN is one value above infinity.
//
// Nulls. A field that can be absent (proto3 `optional`, a Timestamp, a field
// of a sub-message) is null where it is. A comparison with null is false:
// Equal, In, Range and Prefix never hold for a null field, and only IsNull
// does. Logic has two values, so Not holds wherever its filter does not:
// Not(Equal("note", "x")) holds for rows without a note. (In SQL it would
// not.) Equal(f, nullptr) is refused; say IsNull.
//
// Order. By the fields named, then by the row key's fields, then its bytes: a
// total order, the same whatever the plan. Null is below every value unless
// told otherwise. OrderByRowKey is by the key's bytes. With no order named rows
// come as the plan reads them, which a continuation keeps.
//
// State. One call reads one published state, the newest or that of
// ReadOptions::snapshot: entries, rows and filters. Pages read with one
// snapshot are of one state; without, each is of its own.
//
// Continuations. A page that does not end the query has one. It holds the
// plan and the place in the order, is valid across restarts, changes of the
// data and of statistics, and is bound to table, filter and order: limit,
// budget and selection may change. Rows that keep their place throughout are
// neither repeated nor skipped.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "dovetail/v1/query.pb.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/value.h"

namespace dovetail {

// Bounds of what a query may say. InvalidArgument.
inline constexpr size_t kFilterDepthMax = 32;
inline constexpr size_t kFilterNodesMax = 10'000;
inline constexpr size_t kFilterValuesMax = 10'000;  // In all of a filter's In.
inline constexpr size_t kFilterBytesMax = 1 << 20;  // As Protobuf.
inline constexpr size_t kOrderFieldsMax = 16;
inline constexpr size_t kReadAheadMax = 1024;

// A condition on a row. Value type. Nothing is checked here: the engine checks
// the whole query, and names what is wrong with it.
class Filter {
 public:
  explicit Filter(v1::Expression proto) : proto_(std::move(proto)) {}

  static Filter And(std::vector<Filter> all);  // Of none: every row.
  static Filter Or(std::vector<Filter> any);   // Of none: no row.
  static Filter Not(Filter filter);

  static Filter Equal(std::string_view field, const Value& value);
  static Filter In(std::string_view field, const std::vector<Value>& values);
  static Filter InRange(std::string_view field, const Range& range);
  static Filter AtLeast(std::string_view field, const Value& value);
  static Filter Above(std::string_view field, const Value& value);
  static Filter AtMost(std::string_view field, const Value& value);
  static Filter Below(std::string_view field, const Value& value);
  // Of a string or bytes field. Every value starts with "".
  static Filter Prefix(std::string_view field, std::string_view prefix);
  static Filter IsNull(std::string_view field);

  const v1::Expression& proto() const& { return proto_; }
  v1::Expression proto() && { return std::move(proto_); }

 private:
  v1::Expression proto_;
};

// A v1::Query in C++. Thread-compatible value type.
class Query {
 public:
  enum Direction { kAscending, kDescending };
  enum Nulls { kNullsDefault, kNullsFirst, kNullsLast };

  // How the row key is named where an index could be.
  static constexpr std::string_view kRowKey = "@row_key";

  explicit Query(std::string_view table) {
    proto_.set_table(std::string(table));
  }
  explicit Query(v1::Query proto) : proto_(std::move(proto)) {}
  // Protobuf's JSON of v1::Query. InvalidArgument says what does not fit.
  static absl::StatusOr<Query> FromJson(std::string_view json);
  // Protobuf's text format. InvalidArgument names line and column.
  static absl::StatusOr<Query> FromText(std::string_view text);
  std::string ToJson() const;

  // Of several calls all filters must hold.
  Query& Where(Filter filter);
  // The next field to order by. Without the sort below, some index must have
  // the order.
  Query& OrderBy(std::string_view field, Direction direction = kAscending,
                 Nulls nulls = kNullsDefault);
  Query& OrderByRowKey();
  // Rows of one call; 0 returns none, and the continuation as it was given.
  Query& Limit(uint64_t rows);
  // Fields of the records returned, by path, repeated ones and messages too;
  // all others are left out, so that the bytes are a smaller record of the
  // same type. By default the record as it was written. A selection has no
  // version (0): it need not read the row where the entries of an index hold
  // all fields that it names and those of the filter and the order.
  Query& Select(std::vector<std::string> fields);
  Query& Continuation(std::string_view token);

  // What one call may read. It stops with a continuation as soon as one of
  // these is reached, and always a step further than where it began. Unset:
  // no limit; 0 is refused.
  struct Budget {
    // Records looked at, matching or not.
    std::optional<uint64_t> rows = {};
    // Index entries and rows stepped over.
    std::optional<uint64_t> entries = {};
    // Of keys and records of rows returned.
    std::optional<uint64_t> bytes = {};
    std::optional<uint64_t> micros = {};
  };
  Query& WithBudget(const Budget& budget);
  // Fetch the rows of up to so many entries together, in the order of the row
  // key, and return them in the query's order. For cold data on slow disks.
  Query& ReadAhead(uint32_t entries);
  // Allows plans that read all of a table or an index to return a part of it.
  Query& AllowFullScan();
  // Allows a sort in memory of at most so many bytes of rows where no index
  // has the order. Every page then reads all that matches, and has as many
  // rows as fit. A budget that ends before that reading does is an error.
  Query& AllowSort(uint64_t bytes_max = 64 << 20);
  // Read this index only (kRowKey: the row key), or do without it.
  Query& UseIndex(std::string_view index);
  Query& AvoidIndex(std::string_view index);
  // Refuse, before anything is read, a plan that is not proven to read at
  // most so many entries in one call.
  Query& RefuseOver(uint64_t entries);

  const v1::Query& proto() const { return proto_; }
  v1::Query& proto() { return proto_; }

 private:
  v1::Query proto_;
};

// Why a call returned.
enum class StopReason {
  kEnd,    // There are no more rows; no continuation.
  kLimit,  // Query::Limit; there may be more rows.
  kRows,   // A part of Query::Budget.
  kEntries,
  kBytes,  // Or Limits::page_bytes_max, or the memory of a sort.
  kTime,
  kVisitor,  // The visitor returned false.
};
std::string_view StopReasonName(StopReason reason);

struct QueryWork : Work {
  uint64_t rows = 0;   // Records looked at.
  uint64_t bytes = 0;  // Of keys and records of rows returned.
};

struct QueryEnd {
  std::string continuation;  // Printable; empty only at the end.
  StopReason stop = StopReason::kEnd;
  QueryWork work;
};

struct QueryPage : QueryEnd {
  std::vector<Row> rows;
};

struct ExplainOptions {
  // Run the query, dropping its rows, and tell what it did.
  bool run = false;
};

// A plan as text of a stable form; see v1::QueryPlan.
std::string PlanText(const v1::QueryPlan& plan);

// An index that would serve queries.
struct IndexAdvice {
  std::string table;
  v1::IndexSchema index;
  std::vector<size_t> queries;  // Positions of the queries it would serve.
  std::string plan;             // PlanText of the first of them with it.
};

}  // namespace dovetail
