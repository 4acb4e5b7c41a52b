// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is tried first is what would make the rest useless: a monotone key
// moves its hot spot to wherever the last region is split, and a prefix that
// is most of a region stays whole in any split of it.

#include "observers/load_advice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace dovetail::internal {
namespace {

constexpr uint32_t kSubBuckets = 16;
constexpr uint32_t kSalts = 16;
constexpr size_t kHotRegionsMax = 8;  // On which advice is given.

std::string Percent(double share) {
  return absl::StrCat(std::lround(100 * share), "%");
}

uint64_t Number(RegionId id) { return static_cast<uint64_t>(id); }

// The layout as it would be declared, if it compiles.
std::optional<v1::RowKeyLayout> IfValid(const CompiledTable& table,
                                        v1::RowKeyLayout layout) {
  if (!KeyLayout::CompileRowKey(layout, table.fields()).ok()) {
    return std::nullopt;
  }
  return layout;
}

// `part` in front of the parts from `position` on.
void Insert(v1::KeyPart part, int position, v1::RowKeyLayout* layout) {
  *layout->add_parts() = std::move(part);
  for (int i = layout->parts_size() - 1; i > position; --i) {
    layout->mutable_parts()->SwapElements(i, i - 1);
  }
}

// What is computed from a TEXT key's fields is written in one width.
void MakeText(const v1::RowKeyLayout& layout, uint32_t width,
              v1::KeyPart* part) {
  if (layout.encoding() == v1::RowKeyLayout::TEXT) {
    part->mutable_text()->set_width(width);
  }
}

// What the sketch has of one region, in key order.
struct InRegion {
  std::vector<const SpaceSaving::Counter*> prefixes;
  double weight = 0;  // Of the region, of all the sketch's.
};

InRegion PrefixesIn(const TableLoad& load, size_t position,
                    const RegionCounters::Snapshot& snapshot) {
  InRegion out;
  double rates = 0;
  for (const RegionLoad& region : load.regions) rates += region.rate();
  const RegionLoad& region = load.regions[position];
  if (rates > 0) {
    out.weight = snapshot.prefixes_total * region.rate() / rates;
  }
  for (const SpaceSaving::Counter& counter : snapshot.prefixes) {
    if (region.region.Contains(counter.key)) out.prefixes.push_back(&counter);
  }
  std::sort(out.prefixes.begin(), out.prefixes.end(),
            [](const auto* a, const auto* b) { return a->key < b->key; });
  return out;
}

LoadAdvice OnBigPrefix(const TableLoad& load, const RegionLoad& region,
                       const RegionCounters& counters, std::string_view prefix,
                       double share) {
  const CompiledTable& table = counters.table();
  const KeyLayout& layout = table.row_key();
  LoadAdvice advice;
  advice.kind = LoadAdvice::Kind::kBigPrefix;
  advice.table = load.table;
  advice.region = region.region.id;
  advice.text =
      absl::StrCat("table ", load.table, ", region ", Number(region.region.id),
                   ": ", PrefixWords(layout, counters.prefix_part(), prefix),
                   " takes at least ", Percent(share),
                   " of its load, and no split can part it. Spread it over "
                   "sub-buckets, or give it a table of its own.");
  std::string_view rest = prefix;
  const size_t at = static_cast<size_t>(std::max(0, layout.columns()[0].part));
  for (size_t i = 0; i <= at; ++i) {
    const auto bytes = ConsumeKeyPart(layout.parts()[i], &rest);
    if (!bytes.ok()) return advice;
    if (i < at) continue;
    const auto value = DecodeKeyPart(layout.parts()[i], *bytes);
    if (!value.ok() || layout.parts()[i].computed()) return advice;
    advice.row_key = WithSubBucket(table, value->kind() == Value::Kind::kString
                                              ? value->as_string()
                                              : value->DebugString());
  }
  return advice;
}

LoadAdvice OnSplit(const TableLoad& load, const RegionLoad& region,
                   const RegionCounters& counters, const InRegion& in) {
  LoadAdvice advice;
  advice.kind = LoadAdvice::Kind::kSplit;
  advice.table = load.table;
  advice.region = region.region.id;
  double all = 0;
  for (const auto* counter : in.prefixes) all += counter->count;
  // The prefix before which there is closest to half of it.
  double before = 0;
  double best = 0;
  const SpaceSaving::Counter* split = nullptr;
  for (const auto* counter : in.prefixes) {
    const bool closer = std::abs(before - all / 2) < std::abs(best - all / 2);
    if (counter->key > region.region.start && (split == nullptr || closer)) {
      split = counter;
      best = before;
    }
    before += counter->count;
  }
  advice.text = absl::StrFormat(
      "table %s, region %d: %.0f reads and writes a second, %s", load.table,
      Number(region.region.id), region.rate(),
      load.median_rate > 0 ? absl::StrFormat("%.1f times the median region's.",
                                             region.rate() / load.median_rate)
                           : std::string("while the median region has none."));
  if (split == nullptr) {
    absl::StrAppend(&advice.text,
                    " Its keys are not known well enough to split it.");
    return advice;
  }
  advice.split_key = split->key;
  absl::StrAppend(&advice.text, " Split it at ",
                  PrefixWords(counters.table().row_key(),
                              counters.prefix_part(), split->key),
                  ": about ", Percent(all > 0 ? best / all : 0),
                  " of it is before that.");
  return advice;
}

LoadAdvice OnMonotone(const TableLoad& load, const RegionCounters& counters) {
  const bool rising = load.rising_share >= load.falling_share;
  const KeyLayout& layout = counters.table().row_key();
  LoadAdvice advice;
  advice.kind = LoadAdvice::Kind::kMonotone;
  advice.table = load.table;
  advice.text = absl::StrCat(
      "table ", load.table, ": ",
      Percent(std::max(load.rising_share, load.falling_share)),
      " of new row keys are ", rising ? "above" : "below",
      " all others, so writes always land in the ", rising ? "last" : "first",
      " region, wherever it is split. The key begins with ",
      layout.columns()[0].path, ", which ", rising ? "rises" : "falls",
      ": put a hash, a bucket or a salt in front.");
  advice.row_key = WithSpread(counters.table());
  return advice;
}

}  // namespace

std::string PrefixWords(const KeyLayout& layout, size_t last_part,
                        std::string_view prefix) {
  std::string words;
  for (size_t i = 0; i <= last_part && i < layout.parts().size(); ++i) {
    const KeyPart& part = layout.parts()[i];
    const auto bytes = ConsumeKeyPart(part, &prefix);
    if (!bytes.ok()) return "";
    const auto value = DecodeKeyPart(part, *bytes);
    if (part.computed() || !value.ok()) continue;
    absl::StrAppend(&words, words.empty() ? "" : " ", part.input_paths[0], "=",
                    value->DebugString());
  }
  return words;
}

std::optional<v1::RowKeyLayout> WithSubBucket(const CompiledTable& table,
                                              std::string_view listed) {
  const KeyLayout& layout = table.row_key();
  const Column& first = layout.columns().front();
  const Column& last = layout.columns().back();
  if (first.path == last.path || first.part < 0) return std::nullopt;
  v1::RowKeyLayout changed = table.schema().row_key();
  for (v1::KeyPart& part : *changed.mutable_parts()) {
    if (!part.has_sub_bucket() || part.fields(0) != first.path) continue;
    part.mutable_sub_bucket()->add_listed(std::string(listed));
    return IfValid(table, std::move(changed));
  }
  v1::KeyPart part;
  part.add_fields(first.path);
  part.add_fields(last.path);
  part.mutable_sub_bucket()->set_algorithm(v1::XXH3);
  part.mutable_sub_bucket()->set_count(kSubBuckets);
  part.mutable_sub_bucket()->add_listed(std::string(listed));
  MakeText(changed, 2, &part);
  Insert(std::move(part), first.part, &changed);
  return IfValid(table, std::move(changed));
}

std::optional<v1::RowKeyLayout> WithSpread(const CompiledTable& table) {
  const KeyLayout& layout = table.row_key();
  v1::RowKeyLayout changed = table.schema().row_key();
  v1::KeyPart part;
  if (layout.columns().size() == 1) {
    part.add_fields(layout.columns()[0].path);
    part.mutable_hash()->set_algorithm(v1::XXH3);
    part.mutable_hash()->set_bytes(4);
    MakeText(changed, 8, &part);
  } else {
    part.mutable_salt()->set_count(kSalts);
    MakeText(changed, 2, &part);
  }
  Insert(std::move(part), 0, &changed);
  return IfValid(table, std::move(changed));
}

std::vector<LoadAdvice> AdviseOnRegions(
    const TableLoad& load, const RegionCounters& counters,
    const RegionCounters::Snapshot& snapshot,
    const RegionLoadOptions& options) {
  std::vector<LoadAdvice> all;
  if (std::max(load.rising_share, load.falling_share) >=
      options.monotone_share) {
    all.push_back(OnMonotone(load, counters));
  }
  const bool rising = load.rising_share >= load.falling_share;
  const size_t end = rising ? load.regions.size() - 1 : 0;
  std::vector<size_t> hot;
  for (size_t i = 0; i < load.regions.size(); ++i) {
    // The end where monotone keys land is not helped by a split.
    if (load.regions[i].hot && (all.empty() || i != end)) hot.push_back(i);
  }
  std::sort(hot.begin(), hot.end(), [&](size_t a, size_t b) {
    return load.regions[a].rate() > load.regions[b].rate();
  });
  if (hot.size() > kHotRegionsMax) hot.resize(kHotRegionsMax);
  for (const size_t position : hot) {
    const RegionLoad& region = load.regions[position];
    const InRegion in = PrefixesIn(load, position, snapshot);
    const SpaceSaving::Counter* biggest = nullptr;
    for (const auto* counter : in.prefixes) {
      if (biggest == nullptr ||
          counter->count - counter->error > biggest->count - biggest->error) {
        biggest = counter;
      }
    }
    // A prefix that is a whole key is one row, which nothing spreads.
    const double share =
        biggest != nullptr && in.weight > 0
            ? std::min(1.0, (biggest->count - biggest->error) / in.weight)
            : 0;
    const bool row =
        counters.prefix_part() + 1 == counters.table().row_key().parts().size();
    all.push_back(share >= options.big_share && !row
                      ? OnBigPrefix(load, region, counters, biggest->key, share)
                      : OnSplit(load, region, counters, in));
  }
  return all;
}

}  // namespace dovetail::internal
