// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which keys the store surely does not hold, so that the write path need not
// look for them: most orders that are written are new, and LevelDB's answer
// that an id is not there costs as much as finding it, and counts as a seek
// that compaction has to make up for.
//
// For each space there is a filter of all its keys. In a new database it is
// complete from the start; else a thread reads the space once, from a snapshot
// taken before the first write, while the writers add what they put. Until
// then, and for good if there is no room, nothing is surely absent. A deleted
// key stays in the filter until the database is opened again.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/key_filter.h"
#include "engine/storage/store.h"

namespace dovetail {

// The thread of the serial section uses it, figures() apart.
class KnownKeys {
 public:
  // `prefixes` are of whole spaces, and no one begins another. `empty`: the
  // store holds no key in them. `bytes_max` is for all filters together.
  // REQUIRES: nobody writes to the store meanwhile. It must outlive this.
  KnownKeys(Store* store, std::vector<std::string> prefixes, bool empty,
            size_t bytes_max);
  // Ends the thread.
  ~KnownKeys();

  KnownKeys(const KnownKeys&) = delete;
  KnownKeys& operator=(const KnownKeys&) = delete;

  // The store does not hold `key`, and nobody has told of a put of it.
  bool SurelyAbsent(std::string_view key);
  // To be called for each key put, before the store has it.
  void Add(std::string_view key);

  // Thread-safe.
  struct Figures {
    uint64_t bytes;
    uint64_t keys;
    uint64_t reads_saved;
    bool complete;  // No space is still being read.
  };
  Figures figures() const;

 private:
  struct Space {
    std::string prefix;
    std::unique_ptr<KeyFilter> added;  // Null: given up.
    bool complete = false;             // `added` has all keys.
    // What the thread made of the store's keys, until `added` absorbs it.
    std::atomic<KeyFilter*> read{nullptr};
    std::atomic<bool> reading{false};
    ~Space() { delete read.load(std::memory_order_acquire); }
  };

  Space* Find(std::string_view key);
  void TakeWhatWasRead(Space* space);
  void GiveUp(Space* space);
  void CountGrowth(const KeyFilter& filter, size_t bytes, uint64_t keys);
  void ReadAll();
  std::unique_ptr<KeyFilter> Read(const Space& space);
  bool WorthReading(const Space& space, std::string_view reached,
                    uint64_t keys) const;

  Store* const store_;
  const size_t bytes_max_each_;
  std::vector<std::unique_ptr<Space>> spaces_;
  std::unique_ptr<StoreSnapshot> snapshot_;  // Of the thread, once it runs.
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> keys_{0};
  std::atomic<uint64_t> reads_saved_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace dovetail
