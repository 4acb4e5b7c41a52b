// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Keeps the view of the newest state (live_view.h): applies to it what each
// commit changes, and takes over what scans find.
//
//   commit     a key that is put or deleted changes the range it is in; of
//              the keys deleted one in so many is added to the sample
//   scan       walked over dead keys, and reports what it found between them
//   at once    if its state is still the newest, that becomes a range
//   later      else the range is watched: the changes of each commit in it are
//              written down, and the next scan that finds it, in a state
//              since then, has them to bring what it found up to date
//
// So a busy writer costs a scan a second walk, and no scan waits for writers
// nor they for it, but for the moment in which a view is changed.
//
// The sample is also written to the store, as values of the metadata space, so
// that it is there after a reopen. What was found is not: it would have to be
// exact.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "dovetail/dead_entries.h"
#include "engine/live_view.h"
#include "engine/overlay.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-safe, apart from what says otherwise.
class LiveKeeper {
 public:
  explicit LiveKeeper(const DeadEntryOptions& options);

  // The sample that the store has; to be called before the first commit. What
  // does not parse is passed over. The error of reading.
  absl::Status Load(Store& store);
  // `show` is called after what a scan found has changed the newest view.
  void OnFound(std::function<void()> show) { show_ = std::move(show); }
  // `wake` is called when enough keys have died to look for what to reclaim.
  void OnDead(std::function<void()> wake) { wake_ = std::move(wake); }

  // Of the leader: adds to a batch what the store shall have of the sample.
  void WriteSample(StoreBatch* batch);
  // Of the leader: the store has what is in `overlay`; `sequence` is that of
  // the commit.
  void Committed(const Overlay& overlay, uint64_t sequence);

  // The newest view, and the number of the store's state that it is of.
  struct Newest {
    std::shared_ptr<const LiveView> view;
    uint64_t version;
  };
  Newest newest() const;

  // What a scan found in the state of this number.
  void Report(uint64_t version, std::vector<FoundRange> found);
  // What scans did; any may be 0.
  void CountScan(uint64_t ranges_used, uint64_t entries, uint64_t walked);
  void CountStop() { count_stops_.fetch_add(1, std::memory_order_relaxed); }

  // The keys in [begin, end] that died up to a sequence are gone.
  void Reclaimed(std::string_view begin, std::string_view end,
                 uint64_t sequence);

  size_t entries_max() const { return options_.live_entries_max; }
  // Dead keys that a scan must have met for what it found to be kept.
  uint64_t dead_worth() const { return 4 * uint64_t{options_.sample_every}; }
  bool keeps_ranges() const { return options_.live_bytes_max > 0; }
  const DeadEntryOptions& options() const { return options_; }
  // All but `reclaimed`.
  DeadEntryStats GetStats() const;

 private:
  // What happened in a range since a state.
  struct Watch {
    std::string begin;
    std::string end;
    uint64_t version = 0;
    bool used = false;
    // The newest of each key; nullopt: deleted.
    absl::btree_map<std::string, std::optional<std::string>> changes;
    bool Has(std::string_view key) const { return begin <= key && key < end; }
  };

  void Sample(std::string_view key, uint64_t sequence);
  void ApplyToRanges(const Overlay& overlay) REQUIRES(mu_);
  bool BringUpToDate(uint64_t version, FoundRange* found) REQUIRES(mu_);
  void StartWatch(const std::vector<FoundRange>& found) REQUIRES(mu_);
  // A copy of the newest view, to be changed and shown.
  std::shared_ptr<LiveView> Copy() const REQUIRES(mu_);
  void TakeSamples(LiveView* view) REQUIRES(mu_);
  void WriteAllOfSample(StoreBatch* batch);

  const DeadEntryOptions options_;
  std::function<void()> show_;
  std::function<void()> wake_;

  // Of the leader.
  struct Sampled {
    std::string key;
    DeadKey dead;
  };
  uint64_t until_next_ = 1;  // Deleted keys up to the next one sampled.
  uint64_t random_ = 1;
  std::vector<Sampled> sampled_;   // Not yet in the view.
  std::vector<Sampled> to_write_;  // Not yet in the store.
  // Numbers of the sample's values in the store: first, and behind the last.
  uint64_t first_record_ = 0;
  uint64_t next_record_ = 0;
  uint64_t dead_since_wake_ = 0;
  std::atomic<bool> rewrite_{false};  // The store has what it should not.
  std::atomic<uint64_t> every_;

  mutable Mutex mu_;
  std::shared_ptr<const LiveView> view_ GUARDED_BY(mu_);
  uint64_t version_ GUARDED_BY(mu_) = 0;
  std::vector<Watch> watches_ GUARDED_BY(mu_);

  std::atomic<uint64_t> ranges_found_{0};
  std::atomic<uint64_t> ranges_used_{0};
  std::atomic<uint64_t> entries_served_{0};
  std::atomic<uint64_t> dead_walked_{0};
  std::atomic<uint64_t> count_stops_{0};
};

}  // namespace dovetail
