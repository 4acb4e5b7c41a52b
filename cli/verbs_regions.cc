// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/hotspots.h"
#include "cli/region_spec.h"
#include "cli/region_verbs.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

void AddRegions(VerbList* verbs) {
  const auto options = std::make_shared<RegionsOptions>();
  Verb& verb = verbs->Add("regions", kSchema, "DB TABLE",
                          "The regions of a table, shown or changed");
  verb.Details(absl::StrCat(
      "Regions are ranges of row keys with a node each. They are virtual: a "
      "change moves no row. Without an option they are shown, with one they "
      "are changed first. KEY is an encoded row key, or the first bytes of "
      "one, with \\xNN for bytes that are not text. SPEC is ",
      kRegionSpecHelp, "."));
  verb.Example(
          "dovetail regions ./db orders --pre-split uniform:16 --node a "
          "--node b")
      .Example("dovetail regions ./db orders --split-at '\\x80'")
      .Example("dovetail regions ./db orders --move 7=b");
  verb.Text("--pre-split", "SPEC", &options->pre_split,
            "Cut the table, which must be one region")
      .List("--node", "NODE", &options->nodes,
            "With --pre-split: assign regions to these in turn")
      .Flag("--replace", &options->replace,
            "With --pre-split: give up the regions that there are")
      .Text("--split-at", "KEY", &options->split_at,
            "Cut the region that KEY is in, before KEY")
      .Text("--merge", "ID", &options->merge,
            "Merge the region with the one to its right")
      .Text("--move", "ID=NODE", &options->move, "Assign the region to a node")
      .Text("--locate", "KEY", &options->locate,
            "Show the region that KEY is in");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.End());
    return RunRegions(*options, console);
  };
}

void AddHotspots(VerbList* verbs) {
  const auto options = std::make_shared<HotspotsOptions>();
  Verb& verb = verbs->Add("hotspots", kCare, "LOG [TABLE]",
                          "Which regions take the writes, and what to do");
  verb.Details(absl::StrCat(
      "Reads a write log, which another process may be writing, and counts its "
      "writes per region; reads are not in a log, an observer in the program "
      "counts them (dovetail/region_load.h). LOG is as for log show. Rates "
      "decay by the time of the commits. Where the regions are is for you to "
      "say: SPEC is ",
      kRegionSpecHelp,
      ", of the keys in the log; or map, the database's own, which no other "
      "process may have open."));
  verb.Example("dovetail hotspots ./db orders")
      .Example("dovetail hotspots ./db orders --regions uniform:16 --watch=5");
  verb.Text("--regions", "SPEC", &options->regions,
            "Where the regions are [sample:16]")
      .Number("--half-life", 0, &options->half_life,
              "Seconds after which a write counts half [60]")
      .Number("--factor", 0, &options->hot_factor,
              "A region is hot at so many times the median rate [10]")
      .Number("--prefix-columns", 0, &options->prefix_columns,
              "Columns of the row key that name what is hot [1]")
      .Watch(&options->watch_seconds)
      .Number("--count", 0, &options->count,
              "With --watch: so many times [no end]")
      .Flag("--skip-damaged", &options->skip_damaged, "Read on behind damage");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->log));
    if (!words.empty()) RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.End());
    return RunHotspots(*options, console);
  };
}

}  // namespace

void AddRegionVerbs(VerbList* verbs) {
  AddRegions(verbs);
  AddHotspots(verbs);
}

}  // namespace dovetail::cli
