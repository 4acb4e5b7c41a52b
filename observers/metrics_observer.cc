// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "dovetail/metrics.h"
#include "observers/hook_times.h"
#include "observers/latency_histogram.h"
#include "observers/metrics_text.h"

namespace dovetail {

using internal::LatencyHistogram;

namespace {

void Increase(std::atomic<uint64_t>& counter, uint64_t by) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

uint64_t Load(const std::atomic<uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

class MetricsObserver::Impl {
 public:
  // A cache line of its own for each, so that readers of one table do not
  // slow down those of another.
  struct alignas(64) Table {
    std::string name;
    std::atomic<uint64_t> puts{0}, put_bytes{0}, deletes{0}, delete_bytes{0};
    std::atomic<uint64_t> gets{0}, get_rows{0}, scans{0}, scan_rows{0};
    LatencyHistogram commit, get, scan;
    // Of the write hooks, which are never concurrent: whether the request at
    // hand has changed the table.
    bool changed = false;
  };
  Impl(const Schema& schema, MetricsOptions given)
      : options(std::move(given)),
        tables(static_cast<size_t>(schema.proto().tables_size()) + 1) {
    if (options.clock == nullptr) options.clock = Clock::System();
    for (int i = 0; i < schema.proto().tables_size(); ++i) {
      tables[i].name = schema.proto().tables(i).name();
      by_name.try_emplace(tables[i].name, &tables[i]);
    }
  }

  Table& Of(std::string_view name) {
    const auto found = by_name.find(ToAbsl(name));
    return found == by_name.end() ? tables.back() : *found->second;
  }
  int64_t Now() const { return options.clock->MonotonicMicros(); }

  // Since the start of the read that ends with `event`.
  void AddReadTime(const ReadEvent& event, LatencyHistogram& histogram) {
    const auto start = internal::read_starts.Pop(this, event);
    if (start.has_value()) histogram.Add(Now() - start->micros);
  }

  // Constant after construction.
  MetricsOptions options;
  absl::flat_hash_map<std::string, Table*> by_name;

  std::vector<Table> tables;  // The last one stands for all others.
  std::atomic<uint64_t> committed{0}, refused{0}, unknown{0};

  internal::RequestStarts requests;  // Of the write hooks.
};

MetricsObserver::MetricsObserver(const Schema& schema, MetricsOptions options)
    : impl_(std::make_unique<Impl>(schema, std::move(options))) {}

MetricsObserver::~MetricsObserver() = default;

ObserverTraits MetricsObserver::traits() const {
  ObserverTraits traits;
  traits.name = impl_->options.name;
  traits.priority = impl_->options.priority;
  traits.hooks = kPreBatchMutate | kPostBatchMutate |
                 kPostBatchMutateIndispensably | kPreGet | kPostGet | kPreScan |
                 kPostScan;
  return traits;
}

absl::Status MetricsObserver::PreBatchMutate(HookContext& ctx,
                                             const std::vector<RowChange>&) {
  impl_->requests.Push(ctx.sequence(), impl_->Now());
  return absl::OkStatus();
}

absl::Status MetricsObserver::PostBatchMutate(
    HookContext& ctx, const std::vector<RowChange>& changes) {
  for (const RowChange& change : changes) {
    Impl::Table& table = impl_->Of(change.table);
    table.changed = true;
    if (change.new_record.has_value()) {
      Increase(table.puts, 1);
      Increase(table.put_bytes, change.new_record->size());
    } else {
      Increase(table.deletes, 1);
      Increase(table.delete_bytes, change.old_record->size());
    }
  }
  const std::optional<int64_t> start = impl_->requests.Pop(ctx.sequence());
  const int64_t now = impl_->Now();
  for (const RowChange& change : changes) {
    Impl::Table& table = impl_->Of(change.table);
    if (!std::exchange(table.changed, false)) continue;
    if (start.has_value()) table.commit.Add(now - *start);
  }
  return absl::OkStatus();
}

void MetricsObserver::PostBatchMutateIndispensably(
    const absl::Status& outcome) {
  if (outcome.ok()) {
    Increase(impl_->committed, 1);
  } else if (outcome.code() == absl::StatusCode::kUnknown) {
    Increase(impl_->unknown, 1);
  } else {
    Increase(impl_->refused, 1);
  }
}

absl::Status MetricsObserver::PreGet(const ReadEvent& event) {
  internal::read_starts.Push(impl_.get(), event, impl_->Now());
  return absl::OkStatus();
}

absl::Status MetricsObserver::PostGet(const ReadEvent& event) {
  Impl::Table& table = impl_->Of(event.table);
  Increase(table.gets, 1);
  Increase(table.get_rows, event.rows);
  impl_->AddReadTime(event, table.get);
  return absl::OkStatus();
}

absl::Status MetricsObserver::PreScan(const ReadEvent& event) {
  internal::read_starts.Push(impl_.get(), event, impl_->Now());
  return absl::OkStatus();
}

absl::Status MetricsObserver::PostScan(const ReadEvent& event) {
  Impl::Table& table = impl_->Of(event.table);
  Increase(table.scans, 1);
  Increase(table.scan_rows, event.rows);
  impl_->AddReadTime(event, table.scan);
  return absl::OkStatus();
}

MetricsSnapshot MetricsObserver::Snapshot() const {
  MetricsSnapshot out;
  out.committed = Load(impl_->committed);
  out.refused = Load(impl_->refused);
  out.unknown = Load(impl_->unknown);
  for (const Impl::Table& t : impl_->tables) {
    out.tables.push_back({t.name, Load(t.puts), Load(t.put_bytes),
                          Load(t.deletes), Load(t.delete_bytes), Load(t.gets),
                          Load(t.get_rows), Load(t.scans), Load(t.scan_rows),
                          t.commit.Read(), t.get.Read(), t.scan.Read()});
  }
  return out;
}

std::string MetricsObserver::PrometheusText() const {
  return internal::PrometheusText(Snapshot(), impl_->options.labels);
}

uint64_t LatencySnapshot::QuantileMicros(double q) const {
  if (count == 0) return 0;
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    seen += buckets[i];
    if (buckets[i] > 0 &&
        static_cast<double>(seen) >= q * static_cast<double>(count)) {
      return LatencyHistogram::UpperBound(i);
    }
  }
  return LatencyHistogram::UpperBound(buckets.size() - 1);
}

}  // namespace dovetail
