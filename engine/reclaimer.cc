// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/reclaimer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace dovetail {
namespace {

// Compacted in one piece, and so waited for by Stop.
constexpr uint64_t kRangeBytesMax = 64 << 20;
// Dead keys are worth a compaction if they are this part of what it rewrites.
constexpr uint64_t kDeadPart = 10;
// Bytes of a dead key beside the key.
constexpr uint64_t kDeadKeyBytes = 16;
// Samples that are looked at in one piece.
constexpr size_t kBlock = 64;
constexpr size_t kTriedMax = 64;

struct Sample {
  const std::string* key;
  uint32_t weight;
};

// Spaces are free of each other's prefixes, and a range must not cross them:
// the bytes between belong to something else.
size_t SpaceBytes(std::string_view key) {
  const auto first = static_cast<uint8_t>(key.front());
  return first < 0xF0 ? 1 : first == 0xF0 ? 3 : 5;
}

bool SameSpace(std::string_view a, std::string_view b) {
  const size_t n = SpaceBytes(a);
  return a.substr(0, n) == b.substr(0, n);
}

// Nothing lies behind this key, but the write buffer goes into a file first.
void FlushWriteBuffer(Store* store) {
  const std::string behind_all(16, '\xff');
  store->Compact(behind_all, behind_all);
}

void Add(const ReclaimReport& part, ReclaimReport* sum) {
  sum->ranges += part.ranges;
  sum->dead_entries += part.dead_entries;
  sum->bytes_before += part.bytes_before;
  sum->bytes_after += part.bytes_after;
  sum->micros += part.micros;
  sum->ranges_deferred += part.ranges_deferred;
}

}  // namespace

Reclaimer::Reclaimer(Services services) : services_(std::move(services)) {}

Reclaimer::~Reclaimer() { Stop(); }

void Reclaimer::StartBackgroundWork() {
  Wake();  // For what a database had when it was opened.
  thread_ = std::thread([this] { BackgroundLoop(); });
}

void Reclaimer::Stop() {
  {
    MutexLock lock(mu_);
    stopping_.store(true, std::memory_order_release);
  }
  wake_.SignalAll();
  if (thread_.joinable()) thread_.join();
  MutexLock nobody_compacts(round_mu_);
}

void Reclaimer::Wake() {
  MutexLock lock(mu_);
  work_to_do_ = true;
  wake_.SignalAll();
}

void Reclaimer::Wait(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  MutexLock lock(mu_);
  while (!stopping()) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    wake_.WaitFor(mu_, left);
  }
}

void Reclaimer::BackgroundLoop() {
  const DeadEntryOptions& options = services_.live->options();
  const int64_t percent = options.reclaim_percent_max;
  const Rest rest = [&](std::chrono::microseconds took) {
    Wait(took * (100 - percent) / percent);
  };
  while (true) {
    {
      MutexLock lock(mu_);
      while (!work_to_do_ && !stopping()) wake_.Wait(mu_);
      if (stopping()) return;
      work_to_do_ = false;
    }
    if (options.reclaim_at == 0) continue;
    // What fails is tried again when more has died; the store itself says why
    // to the next write.
    Round(options.reclaim_at, rest).status().IgnoreError();
  }
}

absl::StatusOr<ReclaimReport> Reclaimer::Reclaim(uint64_t dead_min) {
  return Round(std::max<uint64_t>(dead_min, 1),
               [](std::chrono::microseconds) {});
}

ReclaimReport Reclaimer::total() const {
  MutexLock lock(mu_);
  return total_;
}

absl::StatusOr<ReclaimReport> Reclaimer::Round(uint64_t dead_min,
                                               const Rest& rest) {
  MutexLock one_at_a_time(round_mu_);
  RETURN_IF_ERROR(services_.committer->CheckWritable());
  ReclaimReport report;
  const std::shared_ptr<const LiveView> view = services_.live->newest().view;
  if (view->dead_weight() < dead_min) return report;
  // So that sizes are those of files.
  FlushWriteBuffer(services_.store);
  const std::optional<uint64_t> oldest = services_.oldest_snapshot();
  uint64_t dead = 0;
  for (const Range& range : Choose(*view, oldest.value_or(UINT64_MAX))) {
    dead += range.dead;
    if (range.dead < dead_min) continue;
    if (stopping()) return absl::CancelledError("engine is closing");
    if (services_.disk != nullptr) RETURN_IF_ERROR(services_.disk->CheckRoom());
    ReclaimReport part;
    RETURN_IF_ERROR(Compact(range, &part));
    {
      MutexLock lock(mu_);
      Add(part, &total_);
    }
    Add(part, &report);
    rest(std::chrono::microseconds(part.micros));
  }
  if (oldest.has_value() && view->dead_weight() - dead >= dead_min) {
    ++report.ranges_deferred;
    MutexLock lock(mu_);
    ++total_.ranges_deferred;
  }
  return report;
}

// Ranges of samples that lie densely enough, in order: blocks of them, cut in
// halves until dead keys are the stated part of the bytes, and joined again
// where they are neighbours.
std::vector<Reclaimer::Range> Reclaimer::Choose(const LiveView& view,
                                                uint64_t up_to) {
  std::vector<Range> ranges;
  bool joins = false;  // The last range ends where the next block begins.
  const std::function<void(const std::vector<Sample>&, size_t, size_t)> look =
      [&](const std::vector<Sample>& samples, size_t from, size_t to) {
        Range block{*samples[from].key, *samples[to - 1].key, 0, 0};
        uint64_t dead_bytes = 0;
        for (size_t i = from; i < to; ++i) {
          block.dead += samples[i].weight;
          dead_bytes +=
              samples[i].weight * (samples[i].key->size() + kDeadKeyBytes);
        }
        block.bytes =
            services_.store->ApproximateSize(block.first, KeyAfter(block.last));
        if (dead_bytes * kDeadPart >= block.bytes) {
          const bool join = joins &&
                            SameSpace(ranges.back().last, block.first) &&
                            ranges.back().bytes + block.bytes <= kRangeBytesMax;
          if (!join) {
            ranges.push_back(std::move(block));
          } else {
            ranges.back().last = std::move(block.last);
            ranges.back().dead += block.dead;
            ranges.back().bytes += block.bytes;
          }
          joins = true;
          return;
        }
        if (to - from < 4) {
          joins = false;
          return;
        }
        const size_t middle = from + (to - from) / 2;
        look(samples, from, middle);
        look(samples, middle, to);
      };
  std::vector<Sample> block;
  const auto flush = [&] {
    if (!block.empty()) look(block, 0, block.size());
    block.clear();
  };
  for (auto it = view.dead().Begin(); it.Valid(); it.Next()) {
    if (it->value.sequence > up_to) continue;
    if (block.size() == kBlock ||
        (!block.empty() && !SameSpace(*block.back().key, it->key))) {
      flush();
    }
    block.push_back({&it->key, it->value.weight});
  }
  flush();
  return ranges;
}

absl::Status Reclaimer::MarkEdges(const Range& range) {
  return services_.committer->RunMaintenance(
      [&](const SchemaState&, SerialView& view) -> absl::Status {
        for (const std::string& edge : {range.first, range.last}) {
          // It may have come to life again.
          ASSIGN_OR_RETURN(const std::optional<std::string> value,
                           view.Read(edge));
          if (!value.has_value()) view.overlay().Delete(edge);
        }
        return absl::OkStatus();
      },
      Committer::Leaves::kChanges);
}

absl::Status Reclaimer::Compact(const Range& range, ReclaimReport* report) {
  const int64_t start = services_.clock->MonotonicMicros();
  RETURN_IF_ERROR(MarkEdges(range));
  const auto sequence =
      static_cast<uint64_t>(services_.committer->published()->sequence);
  Store& store = *services_.store;
  FlushWriteBuffer(&store);
  const std::string end = KeyAfter(range.last);
  const uint64_t before = store.ApproximateSize(range.first, end);
  store.Compact(range.first, range.last);
  const uint64_t after = store.ApproximateSize(range.first, end);
  report->micros =
      static_cast<uint64_t>(services_.clock->MonotonicMicros() - start);
  // A scan that began before may still need what is dead. Once more, then; if
  // it does not help, there was nothing left of it.
  if (after >= before && before > 0 && tried_.insert(range.first).second) {
    if (tried_.size() > kTriedMax) tried_.clear();
    ++report->ranges_deferred;
    return absl::OkStatus();
  }
  tried_.erase(range.first);
  services_.live->Reclaimed(range.first, range.last, sequence);
  ++report->ranges;
  report->dead_entries += range.dead;
  report->bytes_before += before;
  report->bytes_after += after;
  return absl::OkStatus();
}

}  // namespace dovetail
