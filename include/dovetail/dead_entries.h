// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the engine does about dead keys. A key that is deleted stays in the
// store until compaction drops it, and a scan walks over each one on its way:
// the newest twenty orders of a status that a million orders have left would
// take a tenth of a second. So the engine
//
//   remembers a sample of the keys that died, also across a reopen;
//   keeps, of what a scan found between dead keys, the live entries and the
//     bounds between which there are no others, exact at every commit, so
//     that the next scan walks over nothing;
//   asks a COUNT index how many rows a scan will find, and stops behind the
//     last one;
//   compacts ranges in which many keys died, in the background.
//
// docs/top-n.md has the figures.

#pragma once

#include <cstddef>
#include <cstdint>

namespace dovetail {

struct DeadEntryOptions {
  // Memory for the sample of dead keys, and for what scans found between
  // them. What does not fit is thinned out, or forgotten: reads get slower,
  // never wrong. 0 for either: nothing is remembered, so nothing is reclaimed
  // in the background.
  size_t sample_bytes_max = 2 << 20;
  size_t live_bytes_max = 4 << 20;
  // One of so many deleted keys is remembered, as long as they fit. Runs of
  // dead keys much shorter than this go unnoticed. At least 1.
  uint32_t sample_every = 16;
  // Live entries kept in one piece: a scan that met dead keys leaves this
  // many in memory from there on. 1 to 1024.
  uint32_t live_entries_max = 64;
  // Compact a range in the background once about so many keys have died in
  // it. 0: never; Engine::ReclaimDead does it when it is called.
  uint64_t reclaim_at = 50'000;
  // Of its time the background thread compacts at most this part; the rest it
  // waits. 1 to 100.
  uint32_t reclaim_percent_max = 20;
};

struct ReclaimOptions {
  // Ranges in which fewer keys died are left. 0 counts as 1.
  uint64_t dead_min = 1;
};

// What reclaiming did. Sizes are the store's, so approximate.
struct ReclaimReport {
  uint64_t ranges = 0;
  uint64_t dead_entries = 0;  // About so many, in these ranges.
  uint64_t bytes_before = 0;  // Of these ranges, dead and live.
  uint64_t bytes_after = 0;
  uint64_t micros = 0;
  // Ranges whose keys died after a snapshot that somebody holds, or that did
  // not get smaller for another reason: tried again later.
  uint64_t ranges_deferred = 0;
};

struct DeadEntryStats {
  // About so many keys died that were not reclaimed yet.
  uint64_t dead_entries = 0;
  uint64_t sampled = 0;       // Of these are remembered,
  uint64_t sample_every = 0;  // one of so many now.
  uint64_t sample_bytes = 0;
  // Ranges of which all live entries are in memory.
  uint64_t live_ranges = 0;
  uint64_t live_entries = 0;
  uint64_t live_bytes = 0;
  // Since open: what scans found and left there; what they took from there;
  // walks over dead keys, by the sample, that they made all the same; and
  // scans that a COUNT index ended.
  uint64_t ranges_found = 0;
  uint64_t ranges_used = 0;
  uint64_t entries_served = 0;
  uint64_t dead_walked = 0;
  uint64_t count_stops = 0;
  ReclaimReport reclaimed;  // Since open, in the background and by calls.
};

}  // namespace dovetail
