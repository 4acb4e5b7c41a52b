// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What an engine must do to be measured.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/bench_order.pb.h"

namespace dovetail::bench {

struct OrderStoreOptions {
  std::string directory;  // Empty or absent: a new database.
  bool sync = false;      // Each commit is on stable storage before it returns.
  size_t cache_bytes = 64 << 20;
  size_t write_buffer_bytes = 32 << 20;
  bool compress = true;
};

// One thread's way to the store; keeps buffers from call to call.
// Thread-compatible.
class OrderSession {
 public:
  virtual ~OrderSession() = default;

  // Inserts or replaces the orders, known by their ids, which are distinct:
  // one atomic commit of rows and index entries.
  virtual absl::Status Put(const std::vector<BenchOrder>& orders) = 0;

  // One atomic commit; the caller knows nothing but the id. NotFound if there
  // is no such order.
  virtual absl::Status SetStatus(const std::string& id, int32_t status) = 0;

  // NotFound if there is no such order.
  virtual absl::Status Get(const std::string& id, BenchOrder* order) = 0;

  // The seller's newest orders, at most `limit`, newest first, of one status
  // or of any (0). The first elements of `orders` hold them on success; it
  // grows as needed and keeps its messages for the next call.
  virtual absl::StatusOr<size_t> Newest(const std::string& seller,
                                        int32_t status, size_t limit,
                                        std::vector<BenchOrder>* orders) = 0;
};

// Thread-safe. Must outlive its sessions.
class OrderStore {
 public:
  virtual ~OrderStore() = default;
  virtual std::unique_ptr<OrderSession> NewSession() = 0;

  // Checks rows against index entries in the store's own way and returns the
  // number of rows. DataLoss if they disagree.
  virtual absl::StatusOr<uint64_t> Check() = 0;
};

// The engine, through its public interface alone.
struct DovetailStoreOptions {
  bool digests = true;  // As by default.
  // With a SUM index over the amounts by seller and status besides, which no
  // phase reads: for what it costs.
  bool counted = false;
};
absl::StatusOr<std::unique_ptr<OrderStore>> OpenDovetailStore(
    const OrderStoreOptions& options, const DovetailStoreOptions& dovetail);

// LevelDB with indexes maintained by hand. `checked`: with every checksum
// verified, as the engine does; else with LevelDB's defaults.
absl::StatusOr<std::unique_ptr<OrderStore>> OpenLevelDbOrderStore(
    const OrderStoreOptions& options, bool checked);

}  // namespace dovetail::bench
