// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The rows of one scan, page by page, in bounded memory.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/engine.h"
#include "sql/connection.h"
#include "sql/scan_plan.h"

namespace dovetail::sql {

// What a table of SQL reads.
struct Source {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<const DynamicTable> table;
  std::string group_index;  // Empty: rows.
  std::vector<Column> columns;
  std::vector<AccessPath> paths;
};

// The values of a plan's arguments.
struct Bounds {
  bool nothing = false;        // No row can match.
  std::vector<Operand> equal;  // Of the first columns.
  // Of the next one, if the plan says so; each other value once.
  std::optional<std::vector<Operand>> any_of;
  Operand min;
  Operand max;
  uint64_t limit = 0;  // Of rows that are likely asked for; 0: not known.
};

// One row, or one group.
struct ScanRow {
  Row row;
  Group group;
};

// Used by one thread. Source, snapshot and work must outlive it.
class RowSource {
 public:
  RowSource(const Source& source, const Snapshot& snapshot, PlanWork* work)
      : source_(source), work_(*work) {
    read_.snapshot = &snapshot;
  }

  // To the first row.
  absl::Status Start(const ScanPlan& plan, Bounds bounds);
  bool Valid() const { return at_ < count_; }
  // REQUIRES: Valid().
  const ScanRow& row() const { return page_[at_]; }
  absl::Status Next();

 private:
  void MakeRequests(const ScanPlan& plan, Bounds bounds);
  // False if it can be read by scans.
  bool MakeQuery(const ScanPlan& plan, const Bounds& bounds);
  // Without what was refused; or `refused` again.
  absl::Status DropRefused(const absl::Status& refused, ScanRequest* request,
                           bool* nothing);
  absl::StatusOr<bool> Accepts(ScanRequest request);

  absl::Status ReadPage();
  absl::Status ReadRows(ScanRequest* request);
  absl::Status ReadGroups(ScanRequest* request);
  absl::Status ReadQuery();
  // The next slot of the page.
  ScanRow& Slot();
  // Copies a row to it; its size.
  size_t Keep(const RowView& row);

  const Source& source_;
  ReadOptions read_;
  PlanWork& work_;

  // What is left to read: one request after the other, or a query.
  std::deque<ScanRequest> requests_;
  std::optional<Query> query_;
  uint64_t page_rows_ = 0;

  std::vector<ScanRow> page_;  // Its rows are used again for the next page.
  size_t count_ = 0;
  size_t at_ = 0;
};

}  // namespace dovetail::sql
