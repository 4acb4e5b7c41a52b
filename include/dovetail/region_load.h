// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An observer that counts load per region, finds the regions that take too
// much of it, and says in words what to do.
//
//   auto load = *RegionLoadObserver::Create(schema);
//   options.observers = {load};
//   ...
//   for (const LoadAdvice& advice : *load->Advise(engine.get())) {
//     std::cout << advice.text << "\n";
//   }
//
// Rates decay: what happened a half-life ago counts half. A region is hot if
// its rate is RegionLoadOptions::hot_factor times the median region's of its
// table, or more.
//
// Which keys make a region hot is told by a sketch of key prefixes, Space-
// Saving (Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and
// top-k elements in data streams", ICDT 2005). Of m counters over a total
// weight W, each prefix with more than W/m has one; a count is too high by at
// most its own error, which is at most W/m, and never too low.
//
// What it does not see: reads that return no row, COUNT and SUM reads, and
// rows that a query reads and does not return, which count for its advice on
// indexes only. docs/regions.md says what the figures mean.
//
// Memory: about 1 KB a region, and prefixes_max prefixes a table.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/observer.h"
#include "dovetail/regions.h"
#include "dovetail/schema.h"

namespace dovetail {

class Engine;

struct RegionLoadOptions {
  double half_life_seconds = 60;

  // A region is hot from this many times the median rate on, but never below
  // rate_min reads and writes a second.
  double hot_factor = 10;
  double rate_min = 1;
  // One prefix is too big for its region if it takes this share of its load.
  double big_share = 0.5;
  // Keys are monotone if this share of a table's inserts is above, or below,
  // all keys before them, but for the newest 64.
  double monotone_share = 0.8;
  // A query wants an index that reads so many entries for each row it returns.
  double entries_per_row = 50;

  // Counters of the sketch of one table.
  size_t prefixes_max = 1024;
  // A prefix is all of a row key up to and with its first columns. More of
  // them name the load more closely.
  size_t prefix_columns = 1;
  // One in so many reads and writes goes into the sketch. 1: all.
  uint32_t sample_every = 8;

  std::string name = "region_load";
  int32_t priority = 3000;
  // Give it the engine's own, Options::clock. Must outlive the observer. Null:
  // the machine's.
  Clock* clock = nullptr;
};

// Of one region.
struct RegionLoad {
  Region region;
  // Since the region is what it is: a split or a merge begins anew.
  uint64_t rows_read = 0;
  uint64_t bytes_read = 0;  // Keys and records.
  uint64_t rows_written = 0;
  uint64_t bytes_written = 0;
  // Decaying.
  double reads_per_second = 0;
  double writes_per_second = 0;
  double bytes_per_second = 0;
  // Of reads that began here, and of requests that wrote here, within the last
  // half-lives; at most a quarter too high.
  uint64_t read_p50_micros = 0;
  uint64_t read_p99_micros = 0;
  uint64_t write_p50_micros = 0;
  uint64_t write_p99_micros = 0;
  bool hot = false;

  double rate() const { return reads_per_second + writes_per_second; }
};

// A prefix of row keys that takes much load.
struct HotPrefix {
  std::string prefix;  // Encoded.
  std::string words;   // seller_id="s-1"
  size_t region = 0;   // Position of the region it begins in.
  // Of the table's load: its true share is between these.
  double share_min = 0;
  double share_max = 0;
};

struct TableLoad {
  std::string table;
  std::vector<RegionLoad> regions;  // In key order.
  double median_rate = 0;           // Of the regions.
  std::vector<HotPrefix> prefixes;  // The biggest first.
  // Shares of inserts above, and below, all keys before them.
  double rising_share = 0;
  double falling_share = 0;

  // Imbalance of the regions' rates; 0 without any load.
  double MaxOverMean() const;
  double CoefficientOfVariation() const;
};

struct LoadAdvice {
  enum class Kind {
    kSplit,      // A hot region of many keys.
    kBigPrefix,  // One prefix takes most of a hot region.
    kMonotone,   // New keys are all at one end.
    kIndex,      // A query reads far more than it returns.
  };
  Kind kind = Kind::kSplit;
  std::string table;
  std::optional<RegionId> region;  // That is hot; not of kMonotone, kIndex.
  std::string text;                // In words, with figures.
  std::string split_key;           // kSplit: where.
  // kBigPrefix, kMonotone: a row key that would spread the load, to be
  // declared for a new table. Absent if none is known.
  std::optional<v1::RowKeyLayout> row_key;
  std::optional<v1::IndexSchema> index;  // kIndex
};
// "split", "big-prefix", "monotone", "index"
std::string_view LoadAdviceName(LoadAdvice::Kind kind);

// Thread-safe. Serves one engine at a time.
class RegionLoadObserver : public Observer {
 public:
  // InvalidArgument if the schema does not compile, or an option is not in its
  // range: shares in (0, 1], all else above 0.
  static absl::StatusOr<std::shared_ptr<RegionLoadObserver>> Create(
      const Schema& schema, RegionLoadOptions options = {});
  ~RegionLoadObserver() override;

  // The figures of a table now. NotFound for one that the schema lacks.
  absl::StatusOr<TableLoad> Load(std::string_view table) const;

  // Advice on all tables, the hottest region first. `engine`, which may be
  // null, names the indexes to declare: it must be the one observed; an error
  // is its own.
  absl::StatusOr<std::vector<LoadAdvice>> Advise(Engine* engine) const;

  // What a hook would count, for load that comes from elsewhere, such as a
  // write log. Not to be called by several threads at once, or beside an
  // engine that writes.
  void CountWrite(const RowChange& change);

  ObserverTraits traits() const override;
  void RegionsChanged(std::string_view table,
                      const std::shared_ptr<const RegionMap>& map) override;
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& changes) override;
  absl::Status PostBatchMutate(HookContext& ctx,
                               const std::vector<RowChange>& changes) override;
  absl::Status PreGet(const ReadEvent& event) override;
  absl::Status PostGet(const ReadEvent& event) override;
  absl::Status PreScan(const ReadEvent& event) override;
  absl::Status PostScan(const ReadEvent& event) override;
  void RowRead(const ReadEvent& event, const RowView& row) override;

 private:
  class Impl;
  explicit RegionLoadObserver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail
