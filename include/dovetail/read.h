// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What reads take and return.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "dovetail/value.h"
#include "dovetail/write_batch.h"

namespace dovetail {

namespace internal {
struct PublishedState;
class HeldSnapshot;
}  // namespace internal

// One state of the whole database, rows and entries of one commit. Keeps that
// state readable while it lives, at the cost of disk space for what later
// commits replace; drop it soon. Cheap to copy. Thread-safe. May outlive
// Engine::Close, but not the engine.
class Snapshot {
 public:
  SequenceNumber sequence() const;

 private:
  friend class Engine;
  Snapshot(std::shared_ptr<const internal::PublishedState> state,
           std::shared_ptr<const internal::HeldSnapshot> held)
      : state_(std::move(state)), held_(std::move(held)) {}
  std::shared_ptr<const internal::PublishedState> state_;
  std::shared_ptr<const internal::HeldSnapshot> held_;  // For the statistics.
};

struct ReadOptions {
  // Null: the newest published state. Must outlive the call.
  const Snapshot* snapshot = nullptr;
};

struct Row {
  std::string key;         // The encoded row key; Engine::DecodeKey shows it.
  std::string record;      // Serialized, as written, unknown fields included.
  SequenceNumber version;  // Of the request that last wrote it.
};

// A row where it lies. The views hold until the call they are passed to
// returns.
struct RowView {
  std::string_view key;
  std::string_view record;
  SequenceNumber version;
};
// Sees one row after the other; false ends the scan behind this row. Must not
// throw. May read from the engine.
using RowVisitor = absl::FunctionRef<bool(const RowView&)>;

// Bounds of one column, in the order of its values (not of its bytes: for a
// descending time, `min` is still the earliest). Unset: no bound. Nulls are
// outside of every range, and cannot be a bound.
struct Range {
  std::optional<Value> min = {};
  std::optional<Value> max = {};
  bool min_inclusive = true;
  bool max_inclusive = true;
};

// A range of rows in the order of the row key or of one index.
//
//   {.table = "orders", .equal = {"seller-1"}, .limit = 20}
//       the newest 20 orders of the seller (ts_ms is descending)
//   {.table = "orders", .index = "by_status", .equal = {"seller-1"},
//    .any_of = {v1::CREATED, v1::APPROVED}, .limit = 20}
//       the newest 20 that are in one of two statuses
//
// Columns are the distinct fields of the layout in order; computed parts such
// as hashes are filled in by the engine. `equal` binds the first columns,
// `any_of` the next one, `range` the one after that. Rows come in the order of
// the columns behind those that `equal` and `any_of` bind; rows of two values
// of `any_of` that are equal in all of these come in a fixed, but unspecified
// order.
struct ScanRequest {
  std::string table = {};
  std::string index = {};  // Empty: the row key.
  std::vector<Value> equal = {};
  std::vector<Value> any_of = {};
  std::optional<Range> range = {};
  // Rows; 0 returns none, and the continuation as it was given.
  uint64_t limit = 100;
  // Of an index: do without the rows. Each record returned has those fields
  // alone that the entry holds: its parts', the row key's and the covering
  // ones; but for these as keys have them, so -0.0 is 0.0. Row::version is 0.
  // InvalidArgument if the values asked for are of a column that the entries
  // have as a hash only.
  bool covered = false;
  // From Page::continuation of the same request; `limit` may differ. Refused
  // with InvalidArgument if damaged or from another request.
  std::string continuation = {};
};

// The groups of a COUNT or SUM index whose values are in a range; see
// ScanRequest. Without any values: all of them.
struct GroupRange {
  std::string table = {};
  std::string index = {};
  std::vector<Value> equal = {};
  std::vector<Value> any_of = {};
  std::optional<Range> range = {};
};

// What a read touched; for tests and EXPLAIN.
struct Work {
  uint64_t seeks = 0;    // Positionings of a store iterator.
  uint64_t entries = 0;  // Index entries, or rows of a row-key scan, read.
  uint64_t gets = 0;     // Point reads. Rows found in memory cost none.
};

// Where a scan stopped.
struct ScanEnd {
  // Hands the rest of the request to a later call; empty at the end. Valid
  // across restarts and changes of the data: rows that exist throughout are
  // neither repeated nor skipped.
  std::string continuation;
  Work work;
};

struct Page : ScanEnd {
  std::vector<Row> rows;
};

// What a COUNT or SUM index has of one group: rows of the same values.
struct Group {
  std::vector<Value> values;  // Of the index's columns.
  uint64_t count = 0;
  absl::int128 sum = 0;  // 0 of a COUNT index.
};
// Sees one group after the other; false ends the read behind it. Must not
// throw.
using GroupVisitor = absl::FunctionRef<bool(const Group&)>;

// Groups added up.
struct Totals {
  uint64_t groups = 0;
  uint64_t count = 0;
  absl::int128 sum = 0;
  Work work;
};

}  // namespace dovetail
