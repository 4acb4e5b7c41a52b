// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "dovetail/metrics.h"
#include "observers/latency_histogram.h"
#include "observers/metrics_text.h"

namespace dovetail {

using internal::LatencyHistogram;

namespace {

// When the reads that run on this thread began. Pre and post hooks of a read
// are called on one thread, and a scan's visitor may read in between, so they
// nest. A read that fails leaves its start behind: the ring forgets the
// oldest, which is also the fate of a start with more reads nested in it than
// the ring is long.
class ReadStarts {
 public:
  void Push(const void* observer, const ReadEvent& event, int64_t now) {
    ++top_;
    ring_[top_ % ring_.size()] = {observer, &event.values, now};
  }
  // The start of the innermost read by `observer` with the event's values.
  std::optional<int64_t> Pop(const void* observer, const ReadEvent& event) {
    for (size_t depth = 0; depth < ring_.size(); ++depth) {
      Start& start = ring_[(top_ - depth) % ring_.size()];
      if (start.observer != observer || start.values != &event.values) continue;
      start.observer = nullptr;
      return start.micros;
    }
    return std::nullopt;
  }

 private:
  struct Start {
    const void* observer = nullptr;
    const void* values = nullptr;
    int64_t micros = 0;
  };
  std::array<Start, 16> ring_;
  size_t top_ = 0;  // Wraps; the ring's length divides its range.
};

thread_local ReadStarts read_starts;

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
  // A request between its last pre hook and its post hook.
  struct Pending {
    SequenceNumber sequence;
    int64_t start;
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
    const std::optional<int64_t> start = read_starts.Pop(this, event);
    if (start.has_value()) histogram.Add(Now() - *start);
  }
  std::optional<int64_t> TakePending(SequenceNumber sequence);

  // Constant after construction.
  MetricsOptions options;
  absl::flat_hash_map<std::string, Table*> by_name;

  std::vector<Table> tables;  // The last one stands for all others.
  std::atomic<uint64_t> committed{0}, refused{0}, unknown{0};

  // Of the write hooks. Ascending sequences; never more than one commit group.
  std::deque<Pending> pending;
};

std::optional<int64_t> MetricsObserver::Impl::TakePending(
    SequenceNumber sequence) {
  while (!pending.empty() && pending.front().sequence <= sequence) {
    const Pending first = pending.front();
    pending.pop_front();
    if (first.sequence == sequence) return first.start;
  }
  return std::nullopt;
}

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
  // What was noted of a request that failed later has the sequence that this
  // one has now.
  std::deque<Impl::Pending>& pending = impl_->pending;
  while (!pending.empty() && pending.back().sequence >= ctx.sequence()) {
    pending.pop_back();
  }
  pending.push_back({ctx.sequence(), impl_->Now()});
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
  const std::optional<int64_t> start = impl_->TakePending(ctx.sequence());
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
  read_starts.Push(impl_.get(), event, impl_->Now());
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
  read_starts.Push(impl_.get(), event, impl_->Now());
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
