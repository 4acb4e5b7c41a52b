// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/known_keys.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/seeded_bug.h"
#include "index/key_part.h"
#include "xxhash.h"

namespace dovetail {
namespace {

constexpr uint64_t kKeysBetweenChecks = 1024;
// Read by then, enough is known to tell whether all would fit.
constexpr uint64_t kKeysOfSample = 64 * kKeysBetweenChecks;

uint64_t HashOf(std::string_view key) {
  return XXH3_64bits(key.data(), key.size());
}

}  // namespace

KnownKeys::KnownKeys(Store* store, std::vector<std::string> prefixes,
                     bool empty, size_t bytes_max)
    : store_(store),
      bytes_max_each_(bytes_max / std::max<size_t>(prefixes.size(), 1)) {
  for (std::string& prefix : prefixes) {
    auto space = std::make_unique<Space>();
    space->prefix = std::move(prefix);
    space->added = std::make_unique<KeyFilter>(bytes_max_each_);
    space->complete = empty;
    space->reading.store(!empty, std::memory_order_relaxed);
    spaces_.push_back(std::move(space));
  }
  if (empty || spaces_.empty()) return;
  snapshot_ = store_->GetSnapshot();
  try {
    thread_ = std::thread([this] { ReadAll(); });
  } catch (const std::system_error&) {
    // No thread is to be had: every key has to be looked for.
    spaces_.clear();
    snapshot_ = nullptr;
  }
}

KnownKeys::~KnownKeys() {
  stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) thread_.join();
}

KnownKeys::Space* KnownKeys::Find(std::string_view key) {
  for (const std::unique_ptr<Space>& space : spaces_) {
    if (key.starts_with(space->prefix)) {
      return space->added != nullptr ? space.get() : nullptr;
    }
  }
  return nullptr;
}

void KnownKeys::TakeWhatWasRead(Space* space) {
  if (space->reading.load(std::memory_order_acquire)) return;
  const std::unique_ptr<KeyFilter> read(
      space->read.exchange(nullptr, std::memory_order_acq_rel));
  if (read == nullptr) {
    GiveUp(space);
    return;
  }
  space->added->Absorb(std::move(*read));
  space->complete = true;
}

void KnownKeys::GiveUp(Space* space) {
  bytes_.fetch_sub(space->added->bytes(), std::memory_order_relaxed);
  keys_.fetch_sub(space->added->keys(), std::memory_order_relaxed);
  space->added = nullptr;
}

bool KnownKeys::SurelyAbsent(std::string_view key) {
  Space* space = Find(key);
  if (space == nullptr) return false;
  if (!space->complete) TakeWhatWasRead(space);
  if (!space->complete || space->added->MayContain(HashOf(key))) return false;
  reads_saved_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void KnownKeys::Add(std::string_view key) {
  Space* space = Find(key);
  if (space == nullptr || SeededBug("filter_forgets_keys")) return;
  const size_t bytes = space->added->bytes();
  const uint64_t keys = space->added->keys();
  if (space->added->Add(HashOf(key))) {
    CountGrowth(*space->added, bytes, keys);
  } else {
    GiveUp(space);
  }
}

void KnownKeys::CountGrowth(const KeyFilter& filter, size_t bytes,
                            uint64_t keys) {
  bytes_.fetch_add(filter.bytes() - bytes, std::memory_order_relaxed);
  keys_.fetch_add(filter.keys() - keys, std::memory_order_relaxed);
}

KnownKeys::Figures KnownKeys::figures() const {
  return {bytes_.load(std::memory_order_relaxed),
          keys_.load(std::memory_order_relaxed),
          reads_saved_.load(std::memory_order_relaxed),
          std::none_of(spaces_.begin(), spaces_.end(),
                       [](const std::unique_ptr<Space>& space) {
                         return space->reading.load(std::memory_order_acquire);
                       })};
}

void KnownKeys::ReadAll() {
  for (const std::unique_ptr<Space>& space : spaces_) {
    std::unique_ptr<KeyFilter> read = Read(*space);
    if (read != nullptr) CountGrowth(*read, 0, 0);
    space->read.store(read.release(), std::memory_order_release);
    space->reading.store(false, std::memory_order_release);
  }
  snapshot_ = nullptr;
}

// Null if there is no room, or the store cannot be read: whoever needs the
// damaged key will be told.
std::unique_ptr<KeyFilter> KnownKeys::Read(const Space& space) {
  auto filter = std::make_unique<KeyFilter>(bytes_max_each_);
  StoreReadOptions options;
  options.snapshot = snapshot_.get();
  options.fill_cache = false;
  const std::unique_ptr<StoreIterator> it = store_->NewIterator(options);
  uint64_t keys = 0;
  for (it->Seek(space.prefix);
       it->Valid() && it->key().starts_with(space.prefix); it->Next()) {
    if (!filter->Add(HashOf(it->key()))) return nullptr;
    if (++keys % kKeysBetweenChecks != 0) continue;
    if (stopping_.load(std::memory_order_acquire)) return nullptr;
    if (keys == kKeysOfSample && !WorthReading(space, it->key(), keys)) {
      return nullptr;
    }
  }
  return it->status().ok() ? std::move(filter) : nullptr;
}

// By the space's size on disk, as far as it has been read and in all.
bool KnownKeys::WorthReading(const Space& space, std::string_view reached,
                             uint64_t keys) const {
  const uint64_t read = store_->ApproximateSize(space.prefix, reached);
  const uint64_t all =
      store_->ApproximateSize(space.prefix, PrefixEnd(space.prefix));
  if (read == 0) return true;
  const double keys_expected = static_cast<double>(keys) *
                               static_cast<double>(all) /
                               static_cast<double>(read);
  return keys_expected <
         static_cast<double>(KeyFilter::KeysAt(bytes_max_each_));
}

}  // namespace dovetail
