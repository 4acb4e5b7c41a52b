// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Counting takes, for each row, a lock that threads do not share, a search in
// the region map, and two additions; the sketch is asked for one row in some.
// What is slow, a pass over all regions, is done by whoever comes first once a
// 64th of a half-life has passed.

#include "dovetail/region_load.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "observers/hook_times.h"
#include "observers/load_advice.h"
#include "observers/query_costs.h"
#include "observers/region_counters.h"

namespace dovetail {

using internal::RegionCounters;
using internal::RegionSlot;

namespace {

constexpr double kFoldsPerHalfLife = 64;
constexpr size_t kPrefixesShown = 20;
// Reads of fewer entries are cheap however few rows they return.
constexpr uint64_t kCostlyEntries = 100;

absl::Status CheckOptions(const RegionLoadOptions& o) {
  const auto share = [](double x) { return x > 0 && x <= 1; };
  if (o.half_life_seconds > 0 && o.hot_factor > 0 && o.rate_min >= 0 &&
      share(o.big_share) && share(o.monotone_share) && o.entries_per_row > 0 &&
      o.prefixes_max > 0 && o.prefix_columns > 0 && o.sample_every > 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "an option of the region load observer is out of its range");
}

// The lower one of two in the middle, so that one region of two can be hot.
double Median(std::vector<double> rates) {
  const auto middle =
      rates.begin() + static_cast<ptrdiff_t>((rates.size() - 1) / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

RegionLoad LoadOf(const Region& region, const RegionSlot& slot) {
  const auto total = [&](RegionSlot::Figure figure) {
    return slot.totals[figure].load(std::memory_order_relaxed);
  };
  RegionLoad load;
  load.region = region;
  load.rows_read = total(RegionSlot::kReads);
  load.bytes_read = total(RegionSlot::kReadBytes);
  load.rows_written = total(RegionSlot::kWrites);
  load.bytes_written = total(RegionSlot::kWriteBytes);
  load.reads_per_second = slot.Rate(RegionSlot::kReads);
  load.writes_per_second = slot.Rate(RegionSlot::kWrites);
  load.bytes_per_second =
      slot.Rate(RegionSlot::kReadBytes) + slot.Rate(RegionSlot::kWriteBytes);
  load.read_p50_micros = slot.read_micros.QuantileMicros(0.5);
  load.read_p99_micros = slot.read_micros.QuantileMicros(0.99);
  load.write_p50_micros = slot.write_micros.QuantileMicros(0.5);
  load.write_p99_micros = slot.write_micros.QuantileMicros(0.99);
  return load;
}

}  // namespace

class RegionLoadObserver::Impl {
 public:
  explicit Impl(RegionLoadOptions given) : options(std::move(given)) {
    if (options.clock == nullptr) options.clock = Clock::System();
    half_life_micros = options.half_life_seconds * 1e6;
    fold_micros = static_cast<int64_t>(
        std::max(1.0, half_life_micros / kFoldsPerHalfLife));
    last_fold = Now();
    last_halving = last_fold;
    next_fold.store(last_fold + fold_micros, std::memory_order_relaxed);
  }

  int64_t Now() const { return options.clock->MonotonicMicros(); }

  RegionCounters* Of(std::string_view table) const {
    const auto found = tables.find(ToAbsl(table));
    return found == tables.end() ? nullptr : found->second.get();
  }

  // Brings the rates up to `now` if it is time, and nobody else is at it.
  void MaybeFold(int64_t now) {
    if (now < next_fold.load(std::memory_order_relaxed)) return;
    if (folding.exchange(true, std::memory_order_acquire)) return;
    Fold(now);
    folding.store(false, std::memory_order_release);
  }
  void Fold(int64_t now) {
    MutexLock lock(fold_mu);
    const auto passed = static_cast<double>(now - last_fold);
    if (passed < 1) return;
    last_fold = now;
    next_fold.store(now + fold_micros, std::memory_order_relaxed);
    const bool halve =
        static_cast<double>(now - last_halving) >= half_life_micros;
    if (halve) last_halving = now;
    for (const auto& [name, table] : tables) {
      table->Fold(passed, half_life_micros, halve);
    }
  }

  void Write(const RowChange& change, std::optional<int64_t> micros);
  TableLoad MakeLoad(const RegionCounters& counters,
                     const RegionCounters::Snapshot& snapshot) const
      REQUIRES(fold_mu);
  absl::Status AdviseOnQueries(Engine* engine,
                               std::vector<LoadAdvice>* advice) const;

  // Constant after construction.
  RegionLoadOptions options;
  double half_life_micros = 0;
  int64_t fold_micros = 0;
  absl::flat_hash_map<std::string, std::unique_ptr<RegionCounters>> tables;
  std::vector<std::string> names;  // Of the tables, as declared.

  internal::QueryCosts queries;
  internal::RequestStarts requests;  // Of the write hooks.

  std::atomic<int64_t> next_fold{0};
  std::atomic<bool> folding{false};
  // Held through a fold, and through a look at what folds make.
  mutable Mutex fold_mu;
  int64_t last_fold GUARDED_BY(fold_mu) = 0;
  int64_t last_halving GUARDED_BY(fold_mu) = 0;
};

// A row that moves is written in two places, maybe of two regions.
void RegionLoadObserver::Impl::Write(const RowChange& change,
                                     std::optional<int64_t> micros) {
  RegionCounters* const table = Of(change.table);
  if (table == nullptr) return;
  const auto count = [&](std::string_view key, uint64_t bytes) {
    const auto slot = table->Count(RegionSlot::kWrites, key, bytes);
    if (micros.has_value()) slot->write_micros.Add(*micros);
  };
  if (change.new_record.has_value()) {
    count(change.new_key, change.new_key.size() + change.new_record->size());
    if (!change.old_record.has_value()) table->CountInsert(change.new_key);
  }
  const bool left =
      change.old_record.has_value() &&
      (!change.new_record.has_value() || change.old_key != change.new_key);
  if (left) count(change.old_key, change.old_key.size());
}

TableLoad RegionLoadObserver::Impl::MakeLoad(
    const RegionCounters& counters,
    const RegionCounters::Snapshot& snapshot) const {
  TableLoad load;
  load.table = counters.table().name();
  load.rising_share = snapshot.rising;
  load.falling_share = snapshot.falling;
  const internal::SlotMap& slots = *snapshot.slots;
  std::vector<double> rates;
  for (size_t i = 0; i < slots.slots.size(); ++i) {
    load.regions.push_back(LoadOf(slots.map->at(i), *slots.slots[i]));
    rates.push_back(load.regions.back().rate());
  }
  load.median_rate = Median(rates);
  for (RegionLoad& region : load.regions) {
    region.hot = load.regions.size() > 1 && region.rate() > 0 &&
                 region.rate() >= options.rate_min &&
                 region.rate() >= options.hot_factor * load.median_rate;
  }
  for (const auto& counter : snapshot.prefixes) {
    if (snapshot.prefixes_total <= 0) break;
    HotPrefix& prefix = load.prefixes.emplace_back();
    prefix.prefix = counter.key;
    prefix.region = slots.map->PositionOf(counter.key);
    prefix.share_min =
        (counter.count - counter.error) / snapshot.prefixes_total;
    prefix.share_max = counter.count / snapshot.prefixes_total;
  }
  std::sort(load.prefixes.begin(), load.prefixes.end(),
            [](const HotPrefix& a, const HotPrefix& b) {
              return a.share_min > b.share_min;
            });
  if (load.prefixes.size() > kPrefixesShown) {
    load.prefixes.resize(kPrefixesShown);
  }
  for (HotPrefix& prefix : load.prefixes) {
    prefix.words = internal::PrefixWords(counters.table().row_key(),
                                         counters.prefix_part(), prefix.prefix);
  }
  return load;
}

absl::Status RegionLoadObserver::Impl::AdviseOnQueries(
    Engine* engine, std::vector<LoadAdvice>* advice) const {
  for (const internal::QueryCosts::Shape& shape : queries.Read()) {
    const double per_row =
        static_cast<double>(shape.entries) /
        static_cast<double>(std::max<uint64_t>(1, shape.rows));
    if (per_row < options.entries_per_row) continue;
    ASSIGN_OR_RETURN(const std::vector<IndexAdvice> indexes,
                     engine->Advise({shape.query}));
    for (const IndexAdvice& index : indexes) {
      LoadAdvice& out = advice->emplace_back();
      out.kind = LoadAdvice::Kind::kIndex;
      out.table = index.table;
      out.index = index.index;
      out.text = absl::StrCat(
          "table ", index.table, ": queries like ", shape.query.ToJson(),
          " read ", std::llround(per_row), " entries for each row returned, ",
          shape.entries, " in ", shape.calls,
          shape.calls == 1 ? " call" : " calls", ". Declare the index ",
          index.index.name(), ".");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<RegionLoadObserver>> RegionLoadObserver::Create(
    const Schema& schema, RegionLoadOptions options) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto impl = std::make_unique<Impl>(std::move(options));
  for (const v1::TableSchema& table : schema.proto().tables()) {
    ASSIGN_OR_RETURN(auto compiled, CompiledTable::Compile(table));
    impl->names.push_back(table.name());
    impl->tables.emplace(table.name(), std::make_unique<RegionCounters>(
                                           std::move(compiled), impl->options));
  }
  // Not make_shared: the constructor is private.
  return std::shared_ptr<RegionLoadObserver>(
      new RegionLoadObserver(std::move(impl)));
}

RegionLoadObserver::RegionLoadObserver(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

RegionLoadObserver::~RegionLoadObserver() = default;

absl::StatusOr<TableLoad> RegionLoadObserver::Load(
    std::string_view table) const {
  const RegionCounters* const counters = impl_->Of(table);
  if (counters == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no such table: table=", Quote(table)));
  }
  impl_->Fold(impl_->Now());
  MutexLock lock(impl_->fold_mu);
  return impl_->MakeLoad(*counters, counters->Read());
}

absl::StatusOr<std::vector<LoadAdvice>> RegionLoadObserver::Advise(
    Engine* engine) const {
  std::vector<LoadAdvice> all;
  impl_->Fold(impl_->Now());
  for (const std::string& name : impl_->names) {
    const RegionCounters& counters = *impl_->Of(name);
    const RegionCounters::Snapshot snapshot = counters.Read();
    TableLoad load;
    {
      MutexLock lock(impl_->fold_mu);
      load = impl_->MakeLoad(counters, snapshot);
    }
    for (LoadAdvice& advice :
         internal::AdviseOnRegions(load, counters, snapshot, impl_->options)) {
      all.push_back(std::move(advice));
    }
  }
  if (engine != nullptr) {
    RETURN_IF_ERROR(impl_->AdviseOnQueries(engine, &all));
  }
  return all;
}

void RegionLoadObserver::CountWrite(const RowChange& change) {
  impl_->MaybeFold(impl_->Now());
  impl_->Write(change, std::nullopt);
}

ObserverTraits RegionLoadObserver::traits() const {
  ObserverTraits traits;
  traits.name = impl_->options.name;
  traits.priority = impl_->options.priority;
  traits.hooks = kPreBatchMutate | kPostBatchMutate | kPreGet | kPostGet |
                 kPreScan | kPostScan | kRowRead | kRegionsChanged;
  return traits;
}

void RegionLoadObserver::RegionsChanged(
    std::string_view table, const std::shared_ptr<const RegionMap>& map) {
  RegionCounters* const counters = impl_->Of(table);
  if (counters != nullptr) counters->UseMap(map);
}

absl::Status RegionLoadObserver::PreBatchMutate(HookContext& ctx,
                                                const std::vector<RowChange>&) {
  impl_->requests.Push(ctx.sequence(), impl_->Now());
  return absl::OkStatus();
}

absl::Status RegionLoadObserver::PostBatchMutate(
    HookContext& ctx, const std::vector<RowChange>& changes) {
  const int64_t now = impl_->Now();
  impl_->MaybeFold(now);
  const std::optional<int64_t> start = impl_->requests.Pop(ctx.sequence());
  std::optional<int64_t> micros;
  if (start.has_value()) micros = now - *start;
  for (const RowChange& change : changes) impl_->Write(change, micros);
  return absl::OkStatus();
}

absl::Status RegionLoadObserver::PreGet(const ReadEvent& event) {
  internal::read_starts.Push(impl_.get(), event, impl_->Now());
  return absl::OkStatus();
}

void RegionLoadObserver::RowRead(const ReadEvent& event, const RowView& row) {
  RegionCounters* const table = impl_->Of(event.table);
  if (table == nullptr) return;
  std::shared_ptr<RegionSlot> slot = table->Count(
      RegionSlot::kReads, row.key, row.key.size() + row.record.size());
  internal::ReadStarts::Start* const start =
      internal::read_starts.Find(impl_.get(), event);
  if (start == nullptr) return;
  if (start->rows++ == 0) start->place = std::move(slot);
}

absl::Status RegionLoadObserver::PostGet(const ReadEvent& event) {
  const auto start = internal::read_starts.Pop(impl_.get(), event);
  if (!start.has_value()) return absl::OkStatus();
  const int64_t now = impl_->Now();
  impl_->MaybeFold(now);
  if (start->place != nullptr) {
    static_cast<RegionSlot*>(start->place.get())
        ->read_micros.Add(now - start->micros);
  }
  if (event.query != nullptr && event.rows >= kCostlyEntries &&
      static_cast<double>(event.rows) >=
          impl_->options.entries_per_row *
              static_cast<double>(std::max<uint64_t>(1, start->rows))) {
    impl_->queries.Add(*event.query, event.rows, start->rows);
  }
  return absl::OkStatus();
}

absl::Status RegionLoadObserver::PreScan(const ReadEvent& event) {
  return PreGet(event);
}

absl::Status RegionLoadObserver::PostScan(const ReadEvent& event) {
  return PostGet(event);
}

double TableLoad::MaxOverMean() const {
  double sum = 0;
  double max = 0;
  for (const RegionLoad& region : regions) {
    sum += region.rate();
    max = std::max(max, region.rate());
  }
  return sum > 0 ? max * static_cast<double>(regions.size()) / sum : 0;
}

double TableLoad::CoefficientOfVariation() const {
  const auto n = static_cast<double>(regions.size());
  double sum = 0;
  double squares = 0;
  for (const RegionLoad& region : regions) {
    sum += region.rate();
    squares += region.rate() * region.rate();
  }
  if (sum <= 0) return 0;
  const double mean = sum / n;
  return std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean;
}

std::string_view LoadAdviceName(LoadAdvice::Kind kind) {
  switch (kind) {
    case LoadAdvice::Kind::kSplit:
      return "split";
    case LoadAdvice::Kind::kBigPrefix:
      return "big-prefix";
    case LoadAdvice::Kind::kMonotone:
      return "monotone";
    case LoadAdvice::Kind::kIndex:
      return "index";
  }
  return "unknown";
}

}  // namespace dovetail
