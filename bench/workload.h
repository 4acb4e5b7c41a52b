// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The `orders` workload: one deterministic set of orders, and the choices of
// which of them each operation is about. Everything follows from the seed, so
// that every engine gets the same calls.
//
// Sellers follow a Zipf distribution with exponent 0.99: of 20,000 sellers the
// biggest has a tenth of all orders. Order ids are 20 decimal digits in random
// order, times rise by about a millisecond from order to order.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench_order.pb.h"

namespace dovetail::bench {

inline constexpr int kSellers = 20'000;

enum OrderStatus : int32_t {
  kAnyStatus = 0,  // In questions only.
  kCreated = 1,    // 100 per mille of the orders,
  kPaid = 2,       // 150,
  kShipped = 3,    // 200,
  kDelivered = 4,  // 500,
  kCancelled = 5,  // 45,
  kRefunded = 6,   // 5.
};

// The finalizer of splitmix64: a bijection that looks random.
uint64_t Mix(uint64_t x);

// Immutable, thus thread-safe.
class Workload {
 public:
  explicit Workload(uint64_t seed);

  // The i-th random number of an independent stream.
  uint64_t Random(uint64_t stream, uint64_t i) const;

  // From a random number: a seller's rank, 0 being the biggest, and a status.
  int SellerRank(uint64_t random) const;
  static OrderStatus Status(uint64_t random);

  static std::string Seller(int rank);
  std::string OrderId(uint64_t i) const;
  // Order number `i`; every field of `order` is set.
  void FillOrder(uint64_t i, BenchOrder* order) const;

 private:
  uint64_t seed_;
  // Vose's alias table: column c stands for seller c with probability
  // keep_[c], else for seller alias_[c].
  std::vector<double> keep_;
  std::vector<int> alias_;
};

}  // namespace dovetail::bench
