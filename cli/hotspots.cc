// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A log is read once for a sample of its keys, if the regions are to come from
// one, then from its beginning into an observer whose clock is that of the
// commits. With --watch the reader stays at the log's end.

#include "cli/hotspots.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/key_text.h"
#include "cli/log_reader.h"
#include "cli/progress.h"
#include "cli/region_spec.h"
#include "dovetail/environment.h"
#include "dovetail/region_load.h"

namespace dovetail::cli {
namespace {

constexpr size_t kSampleMax = 1 << 16;  // Keys of one table.
constexpr uint64_t kSecondsMax = 1'000'000'000;
constexpr int64_t kMicrosPerSecond = 1'000'000;

// The time of the commits.
class LogClock : public Clock {
 public:
  int64_t NowMicros() override { return now_; }
  int64_t MonotonicMicros() override { return now_; }
  void Reach(int64_t micros) { now_ = std::max(now_, micros); }

 private:
  int64_t now_ = 0;
};

// Keys that each had the same chance to be in it (Vitter 1985, algorithm R).
class KeySample {
 public:
  void Add(const std::string& key) {
    if (seen_++ < kSampleMax) {
      keys_.push_back(key);
    } else if (const uint64_t at = random_() % seen_; at < keys_.size()) {
      keys_[at] = key;
    }
  }
  // Those that cut it into `regions` equal parts, or fewer if it is small.
  std::vector<std::string> Cuts(size_t regions) {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    regions = std::min(regions, keys_.size());
    std::vector<std::string> cuts;
    for (size_t i = 1; i < regions; ++i) {
      cuts.push_back(keys_[keys_.size() * i / regions]);
    }
    return cuts;
  }

 private:
  std::mt19937_64 random_{1};
  std::vector<std::string> keys_;
  uint64_t seen_ = 0;
};

RowChange ChangeOf(const v1::RowEffect& effect) {
  RowChange change;
  change.table = effect.table();
  change.new_key = effect.new_key();
  if (effect.has_old_fields()) {
    change.old_record = effect.old_fields();
    change.old_key =
        effect.old_key().empty() ? effect.new_key() : effect.old_key();
  }
  if (effect.has_record()) change.new_record = effect.record();
  return change;
}

std::string Percent(double share) {
  return absl::StrFormat("%.1f", 100 * share);
}

class Hotspots {
 public:
  Hotspots(const HotspotsOptions& options, const Console& console)
      : options_(options), console_(console) {}

  absl::Status Run();

 private:
  absl::Status FindRegions();
  absl::Status SampleLog(size_t regions);
  absl::Status ReadMaps();
  // Counts what there is up to the log's end, as it is now.
  absl::Status ReadOn(WriteLogReader& reader);
  absl::Status Begin(const v1::Schema& schema);
  absl::Status Show();
  absl::Status ShowTable(const TableLoad& load);
  void ShowAdvice(const std::vector<LoadAdvice>& advice);
  bool Wanted(std::string_view table) const {
    return options_.table.empty() || table == options_.table;
  }

  const HotspotsOptions& options_;
  const Console& console_;
  LogClock clock_;
  // By table. A table that is not there is one region.
  std::map<std::string, std::shared_ptr<const RegionMap>, std::less<>> maps_;
  std::shared_ptr<const RegionMap> for_all_;
  std::shared_ptr<RegionLoadObserver> load_;
  std::vector<std::string> tables_;
};

absl::Status Hotspots::FindRegions() {
  if (options_.regions == "map") return ReadMaps();
  ASSIGN_OR_RETURN(const RegionSpec spec, ParseRegionSpec(options_.regions));
  if (spec.kind == RegionSpec::kSample) {
    // Checks the number.
    RETURN_IF_ERROR(
        SplitKeys({RegionSpec::kUniform, spec.regions, 0, ""}).status());
    return SampleLog(spec.regions);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, SplitKeys(spec));
  ASSIGN_OR_RETURN(for_all_, RegionMap::Cut(keys, {}, 1));
  return absl::OkStatus();
}

absl::Status Hotspots::SampleLog(size_t regions) {
  WriteLogReaderOptions how;
  how.skip_damaged = options_.skip_damaged;
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   OpenLogReader(options_.log, how, console_));
  if (reader == nullptr) return absl::OkStatus();
  std::map<std::string, KeySample> samples;
  v1::WriteLogRecord record;
  while (true) {
    if (Interrupted()) return InterruptedError("interrupted");
    const absl::StatusOr<bool> more = reader->Next(&record);
    if (!more.ok()) return ExplainDamage(more.status());
    if (!*more) break;
    for (const v1::RowEffect& effect : record.effects()) {
      if (!effect.has_old_fields() && Wanted(effect.table())) {
        samples[effect.table()].Add(effect.new_key());
      }
    }
  }
  for (auto& [table, sample] : samples) {
    ASSIGN_OR_RETURN(maps_[table], RegionMap::Cut(sample.Cuts(regions), {}, 1));
  }
  return absl::OkStatus();
}

absl::Status Hotspots::ReadMaps() {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options_.log, console_));
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  for (const v1::TableSchema& table : schema.tables()) {
    ASSIGN_OR_RETURN(maps_[table.name()], engine->regions().Map(table.name()));
  }
  return engine->Close();
}

absl::Status Hotspots::Begin(const v1::Schema& schema) {
  RegionLoadOptions options;
  options.half_life_seconds = static_cast<double>(options_.half_life);
  options.hot_factor = static_cast<double>(options_.hot_factor);
  options.prefix_columns = options_.prefix_columns;
  options.sample_every = 1;
  options.clock = &clock_;
  ASSIGN_OR_RETURN(load_, RegionLoadObserver::Create(Schema(schema), options));
  for (const v1::TableSchema& table : schema.tables()) {
    tables_.push_back(table.name());
    const auto map = maps_.find(table.name());
    if (map != maps_.end()) load_->RegionsChanged(table.name(), map->second);
    if (for_all_ != nullptr) load_->RegionsChanged(table.name(), for_all_);
  }
  if (options_.table.empty() || std::find(tables_.begin(), tables_.end(),
                                          options_.table) != tables_.end()) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat("the log has no such table: table=",
                                          ToAbsl(Quote(options_.table))));
}

absl::Status Hotspots::ReadOn(WriteLogReader& reader) {
  Progress progress(console_);
  v1::WriteLogRecord record;
  while (!Interrupted()) {
    const absl::StatusOr<bool> more = reader.Next(&record);
    if (!more.ok()) return ExplainDamage(more.status());
    if (!*more) break;
    clock_.Reach(record.commit_time_us());
    if (load_ == nullptr) RETURN_IF_ERROR(Begin(reader.header().schema()));
    for (const v1::RowEffect& effect : record.effects()) {
      if (Wanted(effect.table())) load_->CountWrite(ChangeOf(effect));
    }
    progress.Update("reading", reader.report().records, 0, "commits");
  }
  progress.Wipe();
  if (Interrupted() && !options_.watch_seconds.has_value()) {
    return InterruptedError("interrupted");
  }
  return absl::OkStatus();
}

absl::Status Hotspots::ShowTable(const TableLoad& load) {
  TextTable text({"table", "region", "start", "node", "rows_written",
                  "bytes_written", "writes_per_second", "share_percent",
                  "hot"});
  double rates = 0;
  for (const RegionLoad& region : load.regions) rates += region.rate();
  const bool box = console_.format == OutputFormat::kBox;
  for (const RegionLoad& region : load.regions) {
    const std::string& start = region.region.start;
    text.Add({load.table, absl::StrCat(static_cast<uint64_t>(region.region.id)),
              start.empty() && box ? "-inf" : KeyBytesText(start),
              region.region.node, absl::StrCat(region.rows_written),
              absl::StrCat(region.bytes_written),
              absl::StrFormat("%.1f", region.writes_per_second),
              rates > 0 ? Percent(region.rate() / rates) : "",
              region.hot ? "hot" : ""});
  }
  if (box) text.DropIfBlank(3);
  Print(TextWithKeys(text, console_,
                     {"region", "rows_written", "bytes_written",
                      "writes_per_second", "share_percent"}));
  Note(console_,
       absl::StrFormat("table %s: %d %s, the hottest %.1f times the mean, "
                       "coefficient of variation %.2f",
                       load.table, load.regions.size(),
                       load.regions.size() == 1 ? "region" : "regions",
                       load.MaxOverMean(), load.CoefficientOfVariation()));
  return absl::OkStatus();
}

void Hotspots::ShowAdvice(const std::vector<LoadAdvice>& advice) {
  TextTable text({"advice", "table", "region", "text", "do"});
  for (const LoadAdvice& one : advice) {
    if (!Wanted(one.table)) continue;
    std::string what;
    if (one.row_key.has_value()) {
      what = absl::StrCat("row key: ", KeyText(one.row_key->parts()));
    } else if (!one.split_key.empty()) {
      what = absl::StrCat("dovetail regions DB ", one.table, " --split-at '",
                          KeyBytesText(one.split_key), "'");
    }
    if (console_.format == OutputFormat::kBox) {
      Print(absl::StrCat("\n", one.text, "\n",
                         what.empty() ? "" : absl::StrCat("  ", what, "\n")));
    }
    text.Add({std::string(LoadAdviceName(one.kind)), one.table,
              one.region.has_value()
                  ? absl::StrCat(static_cast<uint64_t>(*one.region))
                  : "",
              one.text, std::move(what)});
  }
  if (console_.format == OutputFormat::kBox || text.rows() == 0) return;
  if (console_.format == OutputFormat::kTsv) Print("\n");
  Print(text.Text(console_, {"region"}));
}

absl::Status Hotspots::Show() {
  if (load_ == nullptr) {
    Note(console_, "nothing has been written yet");
    return absl::OkStatus();
  }
  for (const std::string& table : tables_) {
    if (!Wanted(table)) continue;
    ASSIGN_OR_RETURN(const TableLoad load, load_->Load(table));
    const bool written = std::any_of(
        load.regions.begin(), load.regions.end(),
        [](const RegionLoad& region) { return region.rows_written > 0; });
    if (written) RETURN_IF_ERROR(ShowTable(load));
  }
  ASSIGN_OR_RETURN(const std::vector<LoadAdvice> advice,
                   load_->Advise(nullptr));
  ShowAdvice(advice);
  return FlushOutput();
}

absl::Status Hotspots::Run() {
  if (options_.half_life == 0 || options_.half_life > kSecondsMax ||
      options_.hot_factor == 0 || options_.prefix_columns == 0) {
    return UsageError("a number is 0, or too large");
  }
  RETURN_IF_ERROR(FindRegions());
  WriteLogReaderOptions how;
  const bool watch = options_.watch_seconds.has_value();
  how.follow = watch;
  how.skip_damaged = options_.skip_damaged;
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   OpenLogReader(options_.log, how, console_));
  if (reader == nullptr) return absl::OkStatus();
  for (uint64_t shown = 0; options_.count == 0 || shown < options_.count;) {
    if (shown > 0) {
      if (!WaitSeconds(*options_.watch_seconds)) break;
      // From the top of an empty screen.
      Print(console_.format == OutputFormat::kBox ? "\x1b[H\x1b[2J" : "\n");
    }
    RETURN_IF_ERROR(ReadOn(*reader));
    // An idle log cools down by the time that passes; one that is not watched
    // ends a second later, so that a log of one moment has rates, too.
    clock_.Reach(watch ? Clock::System()->NowMicros()
                       : clock_.NowMicros() + kMicrosPerSecond);
    RETURN_IF_ERROR(Show());
    ++shown;
    if (!watch) break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunHotspots(const HotspotsOptions& options,
                         const Console& console) {
  return Hotspots(options, console).Run();
}

}  // namespace dovetail::cli
