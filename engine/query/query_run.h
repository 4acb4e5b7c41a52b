// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Running a plan: fetch, filter, count, stop.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/query.h"
#include "engine/covered_row.h"
#include "engine/published_state.h"
#include "engine/query/row_streams.h"
#include "engine/query/sorter.h"
#include "engine/row_fetcher.h"
#include "index/query/checked_query.h"
#include "index/query/plan.h"
#include "index/query/projection.h"

namespace dovetail {

// Where a run stopped.
struct RunEnd {
  StopReason stop = StopReason::kEnd;
  QueryWork work;
  uint64_t rows_returned = 0;
  std::optional<QueryPlace> place;  // nullopt at the end.
};

// One call of a query. Thread-compatible. What it is made from must outlive it.
class QueryRun {
 public:
  struct Input {
    const internal::PublishedState* state = nullptr;
    const TableState* table = nullptr;
    const CheckedQuery* query = nullptr;
    // The filter, if the query's own values are not those asked for.
    const Predicate* where = nullptr;
    const Plan* plan = nullptr;
    Clock* clock = nullptr;
    std::optional<QueryPlace> from;
    uint64_t bytes_max = 0;  // Of rows returned, beyond the first.
  };
  explicit QueryRun(Input input);

  absl::StatusOr<RunEnd> Run(RowVisitor visit);

 private:
  // An entry whose row is still to be fetched.
  struct Ahead {
    QueryPlace place;
    std::string row_key;  // What the rows are fetched in the order of.
    const PlanRead* read = nullptr;
    std::string key;
    std::string value;
    std::string row;  // Record.
    SequenceNumber version{};
    bool matches = false;
  };

  absl::Status RunStreaming(RowVisitor visit);
  absl::Status RunAhead(RowVisitor visit);
  absl::Status RunSorting(RowVisitor visit);

  // Whether the budget is used up; sets why.
  bool Exhausted();
  // Whether the entry at `read` can be of a row that matches.
  absl::StatusOr<bool> EntryMatches(ReadStream& read) const;
  absl::StatusOr<RowView> Fetch(const PlanRead& read, std::string_view key,
                                std::string_view value);
  // Whether the row matches, and is to be returned at this place.
  absl::StatusOr<bool> RowMatches(const RowView& row, const QueryPlace& place);
  std::string OrderKey() const;
  QueryPlace PlaceToMatch(RowStream& stream) const;
  // Passes the row on; false if that was the last one of this call, and why.
  absl::StatusOr<bool> Return(const RowView& row, RowVisitor visit);
  // After the last row of the call: the end if nothing follows.
  void StopBehind(QueryPlace place, RowStream* stream);
  absl::Status FillAhead(RowStream* stream, std::vector<Ahead>* ahead,
                         bool* stopped);
  absl::Status FetchAhead(std::vector<Ahead>* ahead);
  absl::StatusOr<RowPlace> SortPlace(const RowView& row);

  const Input in_;
  const CheckedQuery& query_;
  const Plan& plan_;
  RowFetcher fetcher_;
  std::vector<CoveredRow> covered_;  // By read.
  std::optional<Projection> projection_;
  int64_t deadline_micros_ = 0;
  uint64_t steps_ = 0;
  EncodedRow scratch_;
  std::vector<FieldValue> values_;
  std::string projected_;
  RunEnd end_;
};

}  // namespace dovetail
