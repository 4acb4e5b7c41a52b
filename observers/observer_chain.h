// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The observers of one engine in calling order, and the one way to call them:
// catches what they throw, watches their budget, names them in errors.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/observer.h"

namespace dovetail {

// Thread-safe after Create.
class ObserverChain {
 public:
  // Asks each observer for its traits, once, and orders them by priority.
  // InvalidArgument for a null observer, an empty or repeated name, or an
  // observer that throws when asked.
  static absl::StatusOr<std::unique_ptr<ObserverChain>> Create(
      std::vector<std::shared_ptr<Observer>> observers, Clock* clock);

  size_t size() const { return entries_.size(); }
  const ObserverTraits& traits(size_t i) const { return entries_[i].traits; }
  // Whether any observer wants one of these hooks.
  bool Wants(uint32_t hooks) const { return (hooks_ & hooks) != 0; }
  bool Wants(size_t i, uint32_t hook) const {
    return (entries_[i].traits.hooks & hook) != 0;
  }

  // Calls one hook of observer `i`. An error, with the observer and the hook
  // in front: what `call` returned, Internal if it threw, DeadlineExceeded if
  // the observer is strict and it overran its budget. Never of code kUnknown,
  // which would read as an unknown outcome of the write.
  // While it runs, InHook() is true on this thread.
  absl::Status Call(size_t i, std::string_view hook_name,
                    absl::FunctionRef<absl::Status(Observer&)> call);

  // Calls the hook of every observer that wants it, in order, until one fails.
  absl::Status CallAll(uint32_t hook, std::string_view hook_name,
                       absl::FunctionRef<absl::Status(Observer&)> call);

  // Whether a hook of this chain is running on the calling thread.
  bool InHook() const;

  struct Counts {
    uint64_t calls;
    uint64_t failures;
    uint64_t overruns;
  };
  Counts counts(size_t i) const;

 private:
  struct Counters {
    std::atomic<uint64_t> calls{0};
    std::atomic<uint64_t> failures{0};
    std::atomic<uint64_t> overruns{0};
  };
  struct Entry {
    std::shared_ptr<Observer> observer;
    ObserverTraits traits;
    std::unique_ptr<Counters> counters;
  };

  explicit ObserverChain(Clock* clock) : clock_(clock) {}

  Clock* const clock_;  // Not owned.
  std::vector<Entry> entries_;
  uint32_t hooks_ = 0;
};

}  // namespace dovetail
