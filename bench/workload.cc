// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/workload.h"

#include <cmath>
#include <cstdio>

namespace dovetail::bench {
namespace {

constexpr double kZipfExponent = 0.99;
constexpr int64_t kFirstTimeUs = 1'700'000'000'000'000;

// Streams of the orders themselves; phases.cc numbers its own from 10.
constexpr uint64_t kOrderStream = 1;
constexpr uint64_t kSellerStream = 2;

std::string Numbered(const char* format, int number) {
  char buffer[24];
  std::snprintf(buffer, sizeof(buffer), format, number);
  return buffer;
}

// Six bits of randomness a letter, so that compression finds little.
void FillNote(uint64_t random, size_t length, std::string* note) {
  static constexpr char kLetters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";
  note->resize(length);
  uint64_t bits = 0;
  for (size_t i = 0; i < length; ++i, bits >>= 6) {
    if (i % 10 == 0) bits = Mix(random + i);
    (*note)[i] = kLetters[bits & 63];
  }
}

}  // namespace

uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Workload::Workload(uint64_t seed)
    : seed_(Mix(seed)), keep_(kSellers, 1.0), alias_(kSellers, 0) {
  std::vector<double> weight(kSellers);
  double sum = 0;
  for (int i = 0; i < kSellers; ++i) {
    weight[i] = 1 / std::pow(i + 1, kZipfExponent);
    sum += weight[i];
  }
  std::vector<int> below, above;  // The average weight, which becomes 1.
  for (int i = 0; i < kSellers; ++i) {
    weight[i] *= kSellers / sum;
    (weight[i] < 1 ? below : above).push_back(i);
  }
  // Each column below the average is filled up from one above it.
  while (!below.empty() && !above.empty()) {
    const int low = below.back();
    const int high = above.back();
    below.pop_back();
    keep_[low] = weight[low];
    alias_[low] = high;
    weight[high] -= 1 - weight[low];
    if (weight[high] < 1) {
      above.pop_back();
      below.push_back(high);
    }
  }
}

uint64_t Workload::Random(uint64_t stream, uint64_t i) const {
  return Mix(Mix(seed_ ^ (stream * 0x9e37)) ^ i);
}

int Workload::SellerRank(uint64_t random) const {
  const int column = static_cast<int>(static_cast<uint32_t>(random) % kSellers);
  const double fraction = static_cast<double>(Mix(random) >> 11) * 0x1p-53;
  return fraction < keep_[column] ? column : alias_[column];
}

OrderStatus Workload::Status(uint64_t random) {
  const uint64_t mille = random % 1000;
  if (mille < 100) return kCreated;
  if (mille < 250) return kPaid;
  if (mille < 450) return kShipped;
  if (mille < 950) return kDelivered;
  if (mille < 995) return kCancelled;
  return kRefunded;
}

std::string Workload::Seller(int rank) { return Numbered("s%07d", rank); }

std::string Workload::OrderId(uint64_t i) const {
  char buffer[24];
  std::snprintf(buffer, sizeof(buffer), "%020llu",
                static_cast<unsigned long long>(Mix(seed_ ^ i)));
  return buffer;
}

void Workload::FillOrder(uint64_t i, BenchOrder* order) const {
  const uint64_t r = Random(kOrderStream, i);
  const uint64_t r2 = Mix(r);
  order->set_id(OrderId(i));
  order->set_seller(Seller(SellerRank(Random(kSellerStream, i))));
  order->set_buyer(Numbered("b%08d", static_cast<int>(r2 % 1'000'000)));
  order->set_currency("BRL");
  order->set_ts_us(kFirstTimeUs + static_cast<int64_t>(i * 1000 + r % 5000));
  order->set_amount(static_cast<int64_t>((r >> 16) % 1'000'000));
  order->set_items(1 + static_cast<int>(r >> 40) % 9);
  order->set_status(Status(r2 >> 20));
  FillNote(r2, 118 + (r2 >> 40) % 33, order->mutable_note());
}

}  // namespace dovetail::bench
