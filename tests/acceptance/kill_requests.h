// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The requests of core_kill, and the memory its two processes share.
//
// A request is a function of (seed, round, thread, number) alone, so whoever
// knows which requests are in the database can compute everything that is.
// Each request inserts one row into the log table, under (round, thread,
// number); the row's version is the sequence of the request.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "dovetail/schema.h"
#include "dovetail/write_batch.h"
#include "dovetail/testing/model.h"

namespace dovetail::test {

inline constexpr uint32_t kKillThreads = 4;
inline constexpr uint64_t kKillRequestsMax = 5000;  // Of a thread and round.

struct RequestId {
  uint32_t round = 0;
  uint32_t thread = 0;
  uint64_t number = 0;

  friend bool operator==(const RequestId&, const RequestId&) = default;
};

// log      one row per request
// orders   the seller orders preset, with notes that fill the write buffer
// assets   a unique tag, so that some requests are refused
Schema KillSchema();
Model NewKillModel();
WriteBatch KillRequest(uint64_t seed, const RequestId& id);
// The sellers that orders are put under.
const std::vector<std::string>& KillSellers();

// What became of a request, as the writing process has told. Beyond these, a
// value is the sequence the request was acknowledged with.
inline constexpr uint64_t kPending = 0;
inline constexpr uint64_t kRefused = UINT64_MAX;

// In memory that both processes map: it outlives the one that is killed.
struct KillBoard {
  std::atomic<uint64_t> opened;  // 1 once the engine is open.
  std::atomic<uint64_t> failed;  // 1 if an error came that must not come.
  char error[1000];              // In words; ends with 0.
  std::atomic<uint64_t> started[kKillThreads];
  std::atomic<uint64_t> outcome[kKillThreads][kKillRequestsMax];

  uint64_t StartedInAll() const {
    uint64_t sum = 0;
    for (const std::atomic<uint64_t>& count : started) sum += count.load();
    return sum;
  }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace dovetail::test
