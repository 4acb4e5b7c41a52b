// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/region_verbs.h"

#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/region_spec.h"
#include "dovetail/regions.h"

namespace dovetail::cli {
namespace {

uint64_t Number(const Region& region) {
  return static_cast<uint64_t>(region.id);
}

absl::StatusOr<RegionId> ParseId(std::string_view text) {
  uint64_t id = 0;
  if (absl::SimpleAtoi(ToAbsl(text), &id)) return RegionId{id};
  return UsageError(
      absl::StrCat("a region's id is a number, see dovetail "
                   "regions DB TABLE: given=",
                   ToAbsl(Quote(text))));
}

void PrintRegions(const std::vector<Region>& regions, const Console& console) {
  TextTable text({"region", "start", "end", "node", "epoch"});
  const bool box = console.format == OutputFormat::kBox;
  for (const Region& region : regions) {
    std::string node = region.node;
    if (console.format == OutputFormat::kTsv) {
      node = absl::StrReplaceAll(node, {{"\\", "\\\\"}});
    }
    text.Add({absl::StrCat(Number(region)),
              region.start.empty() && box ? "-inf" : KeyBytesText(region.start),
              region.end.empty() && box ? "+inf" : KeyBytesText(region.end),
              node, absl::StrCat(region.epoch)});
  }
  if (box) text.DropIfBlank(3);
  Print(TextWithKeys(text, console, {"region", "epoch"}));
}

absl::Status PreSplit(Regions& regions, const RegionsOptions& options) {
  ASSIGN_OR_RETURN(const RegionSpec spec, ParseRegionSpec(options.pre_split));
  absl::StatusOr<std::vector<std::string>> keys =
      spec.kind == RegionSpec::kSample
          ? regions.SampleSplits(options.table, spec.regions)
          : SplitKeys(spec);
  RETURN_IF_ERROR(keys.status());
  const absl::Status split =
      regions.PreSplit(options.table, *keys, {options.nodes, options.replace});
  if (!absl::IsFailedPrecondition(split)) return split;
  return WithHint(split, "--replace gives up the regions that there are.");
}

absl::Status SplitAt(Regions& regions, const RegionsOptions& options) {
  ASSIGN_OR_RETURN(const std::string key, Unescape(options.split_at));
  ASSIGN_OR_RETURN(const Region home, regions.Locate(options.table, key));
  return regions.Split(options.table, {home.id, home.epoch}, key).status();
}

absl::Status MergeRight(Regions& regions, const RegionsOptions& options) {
  ASSIGN_OR_RETURN(const RegionId id, ParseId(options.merge));
  ASSIGN_OR_RETURN(const auto map, regions.Map(options.table));
  for (size_t i = 0; i < map->size(); ++i) {
    if (map->at(i).id != id) continue;
    if (i + 1 == map->size()) {
      return absl::InvalidArgumentError(
          "the last region has none to its right");
    }
    return regions.Merge(options.table, id, map->at(i + 1).id).status();
  }
  return regions.Merge(options.table, id, id).status();  // NotFound.
}

absl::Status MoveTo(Regions& regions, const RegionsOptions& options) {
  const size_t equals = options.move.find('=');
  if (equals == std::string::npos) {
    return UsageError("--move is ID=NODE; ID= assigns to none");
  }
  ASSIGN_OR_RETURN(const RegionId id,
                   ParseId(std::string_view(options.move).substr(0, equals)));
  return regions.Move(options.table, id, options.move.substr(equals + 1))
      .status();
}

absl::Status CheckOptions(const RegionsOptions& options) {
  const int changes = !options.pre_split.empty() + !options.split_at.empty() +
                      !options.merge.empty() + !options.move.empty() +
                      !options.locate.empty();
  if (changes > 1) return UsageError("one change at a time");
  if (options.pre_split.empty() &&
      (options.replace || !options.nodes.empty())) {
    return UsageError("--replace and --node belong to --pre-split");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunRegions(const RegionsOptions& options, const Console& console) {
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  RETURN_IF_ERROR(OpenTable(engine.get(), options.table).status());
  Regions& regions = engine->regions();
  if (!options.locate.empty()) {
    ASSIGN_OR_RETURN(const std::string key, Unescape(options.locate));
    ASSIGN_OR_RETURN(const Region home, regions.Locate(options.table, key));
    PrintRegions({home}, console);
    return engine->Close();
  }
  if (!options.pre_split.empty()) RETURN_IF_ERROR(PreSplit(regions, options));
  if (!options.split_at.empty()) RETURN_IF_ERROR(SplitAt(regions, options));
  if (!options.merge.empty()) RETURN_IF_ERROR(MergeRight(regions, options));
  if (!options.move.empty()) RETURN_IF_ERROR(MoveTo(regions, options));
  ASSIGN_OR_RETURN(const auto map, regions.Map(options.table));
  PrintRegions(map->List(), console);
  return engine->Close();
}

}  // namespace dovetail::cli
