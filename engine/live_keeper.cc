// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/live_keeper.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "base/status_macros.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/keyspace.h"

namespace dovetail {
namespace {

// Samples that go into the view, and into the store, together.
constexpr size_t kIntoView = 8;
constexpr size_t kIntoStore = 64;
// Values of the sample in the store beyond which all of it is written anew.
constexpr uint64_t kRecordsMax = 1024;
constexpr size_t kWatchesMax = 8;
constexpr size_t kWatchedChangesMax = 1024;
// States after which nobody has come to use it.
constexpr uint64_t kWatchedStatesMax = 100'000;

uint64_t NextRandom(uint64_t* state) {  // xorshift64
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

DeadEntryOptions Sensible(DeadEntryOptions options) {
  options.sample_every = std::max<uint32_t>(options.sample_every, 1);
  options.live_entries_max =
      std::clamp<uint32_t>(options.live_entries_max, 1, 1024);
  options.reclaim_percent_max =
      std::clamp<uint32_t>(options.reclaim_percent_max, 1, 100);
  return options;
}

}  // namespace

LiveKeeper::LiveKeeper(const DeadEntryOptions& options)
    : options_(Sensible(options)),
      every_(options_.sample_every),
      view_(std::make_shared<LiveView>()) {}

absl::Status LiveKeeper::Load(Store& store) {
  auto view = std::make_shared<LiveView>();
  const std::string prefix = DeadKeysPrefix();
  const std::unique_ptr<StoreIterator> it = store.NewIterator({});
  bool any = false;
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    const std::string_view rest = it->key().substr(prefix.size());
    if (rest.size() != 8) continue;
    const uint64_t number = DecodeBigEndian(rest.data(), 8);
    if (!any) first_record_ = number;
    any = true;
    next_record_ = number + 1;
    v1::DeadKeys record;
    if (!record.ParseFromArray(it->value().data(),
                               static_cast<int>(it->value().size()))) {
      rewrite_ = true;
      continue;
    }
    for (v1::DeadKeys::Key& key : *record.mutable_keys()) {
      if (key.weight() == 0 || key.key().empty()) continue;
      view->AddDead(std::move(*key.mutable_key()), {0, key.weight()});
      if (view->dead_bytes() > options_.sample_bytes_max) view->ThinDead();
    }
  }
  RETURN_IF_ERROR(it->status());
  dead_since_wake_ = view->dead_weight();
  MutexLock lock(mu_);
  view_ = std::move(view);
  return absl::OkStatus();
}

LiveKeeper::Newest LiveKeeper::newest() const {
  MutexLock lock(mu_);
  return {view_, version_};
}

std::shared_ptr<LiveView> LiveKeeper::Copy() const {
  return std::make_shared<LiveView>(*view_);
}

void LiveKeeper::WriteSample(StoreBatch* batch) {
  if (rewrite_.load(std::memory_order_relaxed) ||
      next_record_ - first_record_ > kRecordsMax) {
    WriteAllOfSample(batch);
    return;
  }
  if (to_write_.size() < kIntoStore) return;
  v1::DeadKeys record;
  for (Sampled& sampled : to_write_) {
    v1::DeadKeys::Key& key = *record.add_keys();
    key.set_key(std::move(sampled.key));
    key.set_weight(sampled.dead.weight);
  }
  to_write_.clear();
  batch->Put(DeadKeysKey(next_record_++), record.SerializeAsString());
}

// Should the batch fail, the engine is read-only, and what is not there is
// only not known after the reopen.
void LiveKeeper::WriteAllOfSample(StoreBatch* batch) {
  rewrite_.store(false, std::memory_order_relaxed);
  to_write_.clear();
  for (; first_record_ < next_record_; ++first_record_) {
    batch->Delete(DeadKeysKey(first_record_));
  }
  const std::shared_ptr<const LiveView> view = newest().view;
  v1::DeadKeys record;
  for (auto it = view->dead().Begin(); it.Valid();) {
    v1::DeadKeys::Key& key = *record.add_keys();
    key.set_key(it->key);
    key.set_weight(it->value.weight);
    it.Next();
    if (it.Valid() && record.keys_size() < static_cast<int>(kIntoStore)) {
      continue;
    }
    batch->Put(DeadKeysKey(next_record_++), record.SerializeAsString());
    record.Clear();
  }
}

void LiveKeeper::Sample(std::string_view key, uint64_t sequence) {
  const uint64_t every = every_.load(std::memory_order_relaxed);
  // At random, 1 to 2n - 1 apart, so that no pattern of writes is missed.
  until_next_ = 1 + NextRandom(&random_) % (2 * every - 1);
  const DeadKey dead{sequence, static_cast<uint32_t>(every)};
  sampled_.push_back({std::string(key), dead});
  to_write_.push_back(sampled_.back());
}

void LiveKeeper::TakeSamples(LiveView* view) {
  for (Sampled& sampled : sampled_) {
    dead_since_wake_ += sampled.dead.weight;
    view->AddDead(std::move(sampled.key), sampled.dead);
  }
  sampled_.clear();
  if (view->dead_bytes() <= options_.sample_bytes_max) return;
  view->ThinDead();
  every_.store(2 * every_.load(std::memory_order_relaxed),
               std::memory_order_relaxed);
  rewrite_.store(true, std::memory_order_relaxed);
}

void LiveKeeper::Committed(const Overlay& overlay, uint64_t sequence) {
  if (options_.sample_bytes_max > 0) {
    static const std::string kMetadata = SpacePrefix(kMetadataSpace);
    overlay.ForEach(
        [&](const std::string& key, const std::optional<std::string>& value) {
          if (value.has_value() || --until_next_ != 0) return;
          if (key.starts_with(kMetadata)) {
            until_next_ = 1;
            return;
          }
          Sample(key, sequence);
        });
  }
  {
    MutexLock lock(mu_);
    ++version_;
    if (!watches_.empty() || !view_->ranges().empty()) ApplyToRanges(overlay);
    if (sampled_.size() >= kIntoView) {
      const std::shared_ptr<LiveView> next = Copy();
      TakeSamples(next.get());
      view_ = next;
    }
  }
  if (dead_since_wake_ < options_.reclaim_at || options_.reclaim_at == 0) {
    return;
  }
  dead_since_wake_ = 0;
  if (wake_) wake_();
}

void LiveKeeper::ApplyToRanges(const Overlay& overlay) {
  std::erase_if(watches_, [now = version_](const Watch& watch) {
    return now - watch.version > kWatchedStatesMax;
  });
  std::vector<Watch>* const watches = &watches_;
  const std::shared_ptr<const LiveView> before = view_;
  std::shared_ptr<LiveView> next;
  overlay.ForEach(
      [&](const std::string& key, const std::optional<std::string>& value) {
        for (Watch& watch : *watches) {
          if (!watch.Has(key)) continue;
          std::optional<std::string>& change = watch.changes[key];
          change = value;
          // Of a value that is not kept it is enough to know that.
          if (change.has_value() && change->size() > LiveView::kValueBytesMax) {
            change->resize(LiveView::kValueBytesMax + 1);
          }
        }
        const LiveView& view = next != nullptr ? *next : *before;
        const LiveView::Ranges::Item* at = view.ranges().AtMost(key);
        if (at == nullptr || key > at->value->end) return;
        if (value.has_value() && key == at->value->end) return;
        if (next == nullptr) next = std::make_shared<LiveView>(*before);
        if (value.has_value()) {
          next->Put(key, *value, entries_max());
        } else {
          next->Delete(key);
        }
      });
  std::erase_if(watches_, [](const Watch& watch) {
    return watch.changes.size() > kWatchedChangesMax;
  });
  if (next == nullptr) return;
  if (next->live_bytes() > options_.live_bytes_max) {
    next->ShrinkTo(options_.live_bytes_max / 4 * 3);
  }
  view_ = next;
}

void LiveKeeper::Report(uint64_t version, std::vector<FoundRange> found) {
  if (found.empty() || !keeps_ranges()) return;
  bool changed = false;
  {
    MutexLock lock(mu_);
    std::shared_ptr<LiveView> next;
    std::vector<FoundRange> unsure;
    for (FoundRange& range : found) {
      if (version != version_ && !BringUpToDate(version, &range)) {
        unsure.push_back(std::move(range));
        continue;
      }
      if (next == nullptr) next = Copy();
      next->Add(std::move(range));
      ranges_found_.fetch_add(1, std::memory_order_relaxed);
    }
    std::erase_if(watches_, [](const Watch& watch) { return watch.used; });
    if (!unsure.empty()) StartWatch(unsure);
    if (next != nullptr) {
      if (next->live_bytes() > options_.live_bytes_max) {
        next->ShrinkTo(options_.live_bytes_max / 4 * 3);
      }
      view_ = next;
      changed = true;
    }
  }
  if (changed && show_) show_();
}

// Cuts what was found in a state that is not the newest to what has been
// watched since then, and makes the changes since then. False if nothing of it
// was watched.
bool LiveKeeper::BringUpToDate(uint64_t version, FoundRange* found) {
  const auto watch =
      std::find_if(watches_.begin(), watches_.end(), [&](const Watch& w) {
        return w.version <= version && w.begin < found->end &&
               found->begin < w.end;
      });
  if (watch == watches_.end()) return false;
  watch->used = true;
  found->begin = std::max(found->begin, watch->begin);
  found->end = std::min(found->end, watch->end);
  // Changes that the state had already lead to the same, so all are made.
  absl::btree_map<std::string_view, std::shared_ptr<const LiveEntry>> entries;
  for (auto& entry : found->entries) {
    const std::string_view key = entry->key;
    if (key < found->begin || key >= found->end) continue;
    entries[key] = std::move(entry);
  }
  for (auto it = watch->changes.lower_bound(found->begin);
       it != watch->changes.end() && it->first < found->end; ++it) {
    const auto& [key, value] = *it;
    entries.erase(key);
    if (!value.has_value()) continue;
    if (value->size() > LiveView::kValueBytesMax) {
      found->end = key;
      break;
    }
    auto entry = std::make_shared<const LiveEntry>(LiveEntry{key, *value});
    const std::string_view its_key = entry->key;
    entries[its_key] = std::move(entry);
  }
  LiveEntries all;
  for (auto& [key, entry] : entries) {
    if (key < found->end) all.push_back(std::move(entry));
  }
  found->entries = std::move(all);
  return found->begin < found->end;
}

void LiveKeeper::StartWatch(const std::vector<FoundRange>& found) {
  Watch watch;
  watch.begin = found.front().begin;
  watch.end = found.back().end;
  watch.version = version_;
  // In place of what it is nearest to, or of the oldest.
  std::erase_if(watches_, [&](const Watch& w) {
    return w.begin < watch.end && watch.begin < w.end;
  });
  if (watches_.size() == kWatchesMax) watches_.erase(watches_.begin());
  watches_.push_back(std::move(watch));
}

void LiveKeeper::CountScan(uint64_t ranges_used, uint64_t entries,
                           uint64_t walked) {
  const auto add = [](std::atomic<uint64_t>& counter, uint64_t n) {
    if (n > 0) counter.fetch_add(n, std::memory_order_relaxed);
  };
  add(ranges_used_, ranges_used);
  add(entries_served_, entries);
  add(dead_walked_, walked);
}

void LiveKeeper::Reclaimed(std::string_view begin, std::string_view end,
                           uint64_t sequence) {
  {
    MutexLock lock(mu_);
    const std::shared_ptr<LiveView> next = Copy();
    next->DropDead(begin, end, sequence);
    view_ = next;
  }
  rewrite_.store(true, std::memory_order_relaxed);
  if (show_) show_();
}

DeadEntryStats LiveKeeper::GetStats() const {
  const std::shared_ptr<const LiveView> view = newest().view;
  DeadEntryStats stats;
  stats.dead_entries = view->dead_weight();
  stats.sampled = view->dead().size();
  stats.sample_every = every_.load(std::memory_order_relaxed);
  stats.sample_bytes = view->dead_bytes();
  stats.live_ranges = view->ranges().size();
  stats.live_entries = view->live_entries();
  stats.live_bytes = view->live_bytes();
  stats.ranges_found = ranges_found_.load(std::memory_order_relaxed);
  stats.ranges_used = ranges_used_.load(std::memory_order_relaxed);
  stats.entries_served = entries_served_.load(std::memory_order_relaxed);
  stats.dead_walked = dead_walked_.load(std::memory_order_relaxed);
  stats.count_stops = count_stops_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace dovetail
