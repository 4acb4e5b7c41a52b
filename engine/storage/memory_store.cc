// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A map from keys to their versions, newest first, under one lock. A read
// sees, of each key, the newest version at or below its own sequence.
//
// A version is dead once no live snapshot is old enough to see it: it has a
// successor at or below the oldest live snapshot. A key that gets a successor
// version is queued with that sequence, and pruned when the oldest snapshot
// has passed it; so the work of pruning is that of the writes.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/storage/store.h"

namespace dovetail {
namespace {

class MemoryBatch final : public StoreBatch {
 public:
  struct Operation {
    std::string key;
    std::optional<std::string> value;  // None: a deletion.
  };

  void Put(std::string_view key, std::string_view value) override {
    bytes_ += key.size() + value.size();
    operations_.push_back({std::string(key), std::string(value)});
  }
  void Delete(std::string_view key) override {
    bytes_ += key.size();
    operations_.push_back({std::string(key), std::nullopt});
  }
  void Clear() override {
    operations_.clear();
    bytes_ = 0;
  }
  size_t ApproximateBytes() const override { return bytes_; }

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
  size_t bytes_ = 0;
};

class MemoryStore;

// Keeps a sequence readable.
class MemorySnapshot final : public StoreSnapshot {
 public:
  explicit MemorySnapshot(MemoryStore* store);
  ~MemorySnapshot() override;
  uint64_t sequence() const { return sequence_; }

 private:
  MemoryStore* const store_;
  const uint64_t sequence_;
};

// Holds a copy of its entry, and no lock between calls.
class MemoryIterator final : public StoreIterator {
 public:
  MemoryIterator(MemoryStore* store, const MemorySnapshot* snapshot);

  void Seek(std::string_view key) override;
  void Next() override;
  bool Valid() const override { return entry_.has_value(); }
  std::string_view key() const override { return entry_->first; }
  std::string_view value() const override { return entry_->second; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  MemoryStore* const store_;
  const std::optional<MemorySnapshot> own_snapshot_;  // If none was given.
  const uint64_t sequence_;
  std::optional<std::pair<std::string, std::string>> entry_;
};

class MemoryStore final : public Store {
 public:
  using Entry = std::pair<std::string, std::string>;

  std::unique_ptr<StoreBatch> NewBatch() override {
    return std::make_unique<MemoryBatch>();
  }

  absl::Status Write(StoreBatch& batch, bool) override {
    MutexLock lock(mu_);
    const auto& operations = static_cast<MemoryBatch&>(batch).operations();
    ++sequence_;
    for (const MemoryBatch::Operation& op : operations) Apply(op);
    Prune();
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Get(const StoreReadOptions& options,
                           std::string_view key, std::string* value) override {
    MutexLock lock(mu_);
    const auto it = versions_.find(key);
    if (it == versions_.end()) return false;
    const uint64_t sequence =
        options.snapshot == nullptr ? sequence_ : SequenceOf(options);
    const std::string* visible = Visible(it->second, sequence);
    if (visible == nullptr) return false;
    *value = *visible;
    return true;
  }

  std::unique_ptr<StoreIterator> NewIterator(
      const StoreReadOptions& options) override {
    return std::make_unique<MemoryIterator>(
        this, static_cast<const MemorySnapshot*>(options.snapshot));
  }

  std::unique_ptr<StoreSnapshot> GetSnapshot() override {
    return std::make_unique<MemorySnapshot>(this);
  }

  uint64_t ApproximateSize(std::string_view begin,
                           std::string_view end) override {
    MutexLock lock(mu_);
    uint64_t size = 0;
    for (auto it = versions_.lower_bound(begin);
         it != versions_.end() && it->first < end; ++it) {
      size += it->first.size();
      for (const Version& version : it->second) {
        if (version.value.has_value()) size += version.value->size();
      }
    }
    return size;
  }

  StoreStats GetStats() override { return {}; }
  void CompactAll() override {}
  void Compact(std::string_view, std::string_view) override {}
  absl::StatusOr<std::unique_ptr<StoreCheckpoint>> BeginCheckpoint() override {
    return absl::UnimplementedError("a store in memory has no checkpoints");
  }
  int Level0Files() override { return 0; }
  std::string Report() override {
    MutexLock lock(mu_);
    return "memory keys=" + std::to_string(versions_.size()) +
           " snapshots=" + std::to_string(live_.size()) + "\n";
  }

  uint64_t Pin() {
    MutexLock lock(mu_);
    live_.insert(sequence_);
    return sequence_;
  }
  void Unpin(uint64_t sequence) {
    MutexLock lock(mu_);
    live_.erase(live_.find(sequence));
    Prune();
  }

  // The first entry at or behind `key`, or only behind it.
  std::optional<Entry> Find(std::string_view key, bool inclusive,
                            uint64_t sequence) {
    MutexLock lock(mu_);
    auto it =
        inclusive ? versions_.lower_bound(key) : versions_.upper_bound(key);
    for (; it != versions_.end(); ++it) {
      const std::string* visible = Visible(it->second, sequence);
      if (visible != nullptr) return Entry(it->first, *visible);
    }
    return std::nullopt;
  }

 private:
  struct Version {
    uint64_t sequence;
    std::optional<std::string> value;  // None: deleted.
  };
  using Versions = std::deque<Version>;  // Newest first.

  static uint64_t SequenceOf(const StoreReadOptions& options) {
    return static_cast<const MemorySnapshot*>(options.snapshot)->sequence();
  }

  static const std::string* Visible(const Versions& versions,
                                    uint64_t sequence) {
    for (const Version& version : versions) {
      if (version.sequence > sequence) continue;
      return version.value.has_value() ? &*version.value : nullptr;
    }
    return nullptr;
  }

  void Apply(const MemoryBatch::Operation& op) REQUIRES(mu_) {
    Versions& versions = versions_[op.key];
    if (!versions.empty() && versions.front().sequence == sequence_) {
      versions.front().value = op.value;  // Again in the same batch.
    } else {
      versions.push_front({sequence_, op.value});
    }
    if (versions.size() > 1 || !op.value.has_value()) {
      outdated_.emplace_back(sequence_, op.key);
    }
  }

  void Prune() REQUIRES(mu_) {
    const uint64_t oldest = live_.empty() ? sequence_ : *live_.begin();
    while (!outdated_.empty() && outdated_.front().first <= oldest) {
      PruneKey(outdated_.front().second, oldest);
      outdated_.pop_front();
    }
  }

  void PruneKey(const std::string& key, uint64_t oldest) REQUIRES(mu_) {
    const auto it = versions_.find(key);
    if (it == versions_.end()) return;
    Versions& versions = it->second;
    while (versions.size() > 1 &&
           versions[versions.size() - 2].sequence <= oldest) {
      versions.pop_back();
    }
    const Version& last = versions.back();
    if (last.value.has_value() || last.sequence > oldest) return;
    versions.pop_back();
    if (versions.empty()) versions_.erase(it);
  }

  Mutex mu_;
  uint64_t sequence_ GUARDED_BY(mu_) = 0;
  std::map<std::string, Versions, std::less<>> versions_ GUARDED_BY(mu_);
  std::multiset<uint64_t> live_ GUARDED_BY(mu_);  // Snapshots' sequences.
  std::deque<std::pair<uint64_t, std::string>> outdated_ GUARDED_BY(mu_);
};

MemorySnapshot::MemorySnapshot(MemoryStore* store)
    : store_(store), sequence_(store->Pin()) {}

MemorySnapshot::~MemorySnapshot() { store_->Unpin(sequence_); }

MemoryIterator::MemoryIterator(MemoryStore* store,
                               const MemorySnapshot* snapshot)
    : store_(store),
      own_snapshot_(snapshot == nullptr
                        ? std::optional<MemorySnapshot>(std::in_place, store)
                        : std::nullopt),
      sequence_(snapshot == nullptr ? own_snapshot_->sequence()
                                    : snapshot->sequence()) {}

void MemoryIterator::Seek(std::string_view key) {
  entry_ = store_->Find(key, /*inclusive=*/true, sequence_);
}

void MemoryIterator::Next() {
  entry_ = store_->Find(entry_->first, /*inclusive=*/false, sequence_);
}

}  // namespace

std::unique_ptr<Store> NewMemoryStore() {
  return std::make_unique<MemoryStore>();
}

}  // namespace dovetail
