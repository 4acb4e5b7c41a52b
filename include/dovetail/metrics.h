// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An observer that counts: rows, bytes and latencies per table, as numbers or
// as text that Prometheus reads.
//
//   auto metrics = std::make_shared<MetricsObserver>(schema);
//   options.observers = {metrics};
//   ...
//   http_response = metrics->PrometheusText();
//
// What it cannot count, because hooks do not see it: bytes read, reads that
// failed (their post hook does not run), the wait of a write in the queue, and
// what a request read before its first hook.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/environment.h"
#include "dovetail/observer.h"
#include "dovetail/schema.h"

namespace dovetail {

// How often what duration was seen. Buckets are log-linear: exact below 16
// microseconds, above at most an eighth of their lower bound wide.
struct LatencySnapshot {
  uint64_t count = 0;
  uint64_t sum_micros = 0;
  std::vector<uint64_t> buckets;

  // The longest duration, in whole microseconds, that falls into the bucket
  // in which the fraction `q` (of [0, 1]) of all durations is reached; 0 if
  // there are none. The last bucket takes all from about 19 hours up.
  uint64_t QuantileMicros(double q) const;
};

struct TableMetrics {
  std::string table;  // Empty: all tables that the schema did not have.
  // Of committed requests, additions of observers included. A row that moves
  // is one put.
  uint64_t puts = 0;
  uint64_t put_bytes = 0;  // Of records, as the request gave or patched them.
  uint64_t deletes = 0;
  uint64_t delete_bytes = 0;
  // Of reads that succeeded. A get is a look-up by row key or index values.
  uint64_t gets = 0;
  uint64_t get_rows = 0;
  uint64_t scans = 0;      // Pages, or calls of ForEach.
  uint64_t scan_rows = 0;  // As ReadEvent::rows counts them.
  // One duration for each committed request that changed the table, from the
  // end of its own work to its post hook: the commit, with its sync, and the
  // others of its group.
  LatencySnapshot commit;
  // From pre to post hook; a scan's includes what its visitor does.
  LatencySnapshot get;
  LatencySnapshot scan;
};

struct MetricsSnapshot {
  // Requests by outcome; see WriteOutcome.
  uint64_t committed = 0;
  uint64_t refused = 0;
  uint64_t unknown = 0;
  std::vector<TableMetrics> tables;  // In the schema's order, then the rest.
};

struct MetricsOptions {
  // Label names and values that every line of the text has.
  std::vector<std::pair<std::string, std::string>> labels = {};
  // Must outlive the observer. Null: the machine's.
  Clock* clock = nullptr;
  std::string name = "metrics";
  // The highest, so that the time of the other pre hooks is not counted in.
  int32_t priority = INT32_MAX;
};

// Snapshot and PrometheusText are thread-safe, and may run beside the engine:
// each number is right, and those that change while they are read need not
// fit together. Memory is fixed by the number of tables, about 7 KiB each.
// May serve one engine at a time. Makes the engine keep the images of a
// request's changes until its post hooks are through.
class MetricsObserver : public Observer {
 public:
  explicit MetricsObserver(const Schema& schema, MetricsOptions options = {});
  ~MetricsObserver() override;

  MetricsSnapshot Snapshot() const;

  // Text exposition format 0.0.4. Of each table, label "table":
  //   dovetail_puts_total             dovetail_put_bytes_total
  //   dovetail_deletes_total          dovetail_delete_bytes_total
  //   dovetail_gets_total             dovetail_get_rows_total
  //   dovetail_scans_total            dovetail_scan_rows_total
  //   dovetail_commit_duration_seconds, dovetail_get_duration_seconds,
  //   dovetail_scan_duration_seconds  histograms, le = 1 us to 67 s by 4
  // and of the engine, label "outcome" (committed, refused, unknown):
  //   dovetail_requests_total
  std::string PrometheusText() const;

  ObserverTraits traits() const override;
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& changes) override;
  absl::Status PostBatchMutate(HookContext& ctx,
                               const std::vector<RowChange>& changes) override;
  void PostBatchMutateIndispensably(const absl::Status& outcome) override;
  absl::Status PreGet(const ReadEvent& event) override;
  absl::Status PostGet(const ReadEvent& event) override;
  absl::Status PreScan(const ReadEvent& event) override;
  absl::Status PostScan(const ReadEvent& event) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail
