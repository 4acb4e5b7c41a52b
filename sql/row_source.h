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

// Used by one thread. Source, snapshot and work must outlive it.
class RowSource {
 public:
  RowSource(const Source& source, const Snapshot& snapshot, PlanWork* work)
      : source_(source), work_(*work) {
    read_.snapshot = &snapshot;
  }

  // To the first row.
  absl::Status Start(const ScanPlan& plan, Bounds bounds);
  bool Valid() const { return at_ < count(); }
  // REQUIRES: Valid(). The row, or the group, of which one is read. Views are
  // valid until Next.
  RowView row() const;
  const Group& group() const { return groups_[at_]; }
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
  void ClearPage();
  // Adds a row to the page; false once the page is full.
  bool Keep(const RowView& row);
  size_t count() const {
    return source_.group_index.empty() ? rows_.size() : groups_.size();
  }

  const Source& source_;
  ReadOptions read_;
  PlanWork& work_;

  // What is left to read: one request after the other, or a query.
  std::deque<ScanRequest> requests_;
  std::optional<Query> query_;
  uint64_t page_rows_ = 0;

  // The page: where rows lie in `bytes_`, key before record; or groups.
  struct Place {
    size_t key = 0;
    size_t record = 0;
    size_t end = 0;
    SequenceNumber version{};
  };
  std::vector<Place> rows_;
  std::string bytes_;
  std::vector<Group> groups_;
  size_t at_ = 0;
};

}  // namespace dovetail::sql
