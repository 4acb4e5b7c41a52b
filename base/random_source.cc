// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <random>

#include "base/mutex.h"
#include "dovetail/environment.h"

namespace dovetail {
namespace {

class SystemRandomSource final : public RandomSource {
 public:
  uint64_t Next64() override {
    MutexLock lock(mu_);
    return generator_();
  }

 private:
  static std::mt19937_64 Seeded() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }

  Mutex mu_;
  std::mt19937_64 generator_ GUARDED_BY(mu_) = Seeded();
};

}  // namespace

RandomSource* RandomSource::System() {
  static SystemRandomSource source;
  return &source;
}

}  // namespace dovetail
