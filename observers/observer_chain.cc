// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/observer_chain.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail {
namespace {

// Of the hook that runs on this thread, so that a hook which calls its own
// engine is refused instead of waiting for itself.
thread_local const ObserverChain* running_chain = nullptr;

class RunningHook {
 public:
  explicit RunningHook(const ObserverChain* chain)
      : before_(std::exchange(running_chain, chain)) {}
  ~RunningHook() { running_chain = before_; }
  RunningHook(const RunningHook&) = delete;
  RunningHook& operator=(const RunningHook&) = delete;

 private:
  const ObserverChain* before_;
};

absl::Status Guarded(absl::FunctionRef<absl::Status()> call) {
  try {
    return call();
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("threw an exception: ", e.what()));
  } catch (...) {
    return absl::InternalError("threw something that is no std::exception");
  }
}

absl::Status Named(const ObserverTraits& traits, std::string_view hook,
                   const absl::Status& status) {
  const absl::StatusCode code = status.code() == absl::StatusCode::kUnknown
                                    ? absl::StatusCode::kFailedPrecondition
                                    : status.code();
  return absl::Status(
      code, absl::StrCat("observer refused: observer=", traits.name,
                         " hook=", ToAbsl(hook), ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObserverChain>> ObserverChain::Create(
    std::vector<std::shared_ptr<Observer>> observers, Clock* clock) {
  std::unique_ptr<ObserverChain> chain(new ObserverChain(clock));
  for (std::shared_ptr<Observer>& observer : observers) {
    if (observer == nullptr) {
      return absl::InvalidArgumentError("an observer is null");
    }
    ObserverTraits traits;
    const absl::Status asked = Guarded([&] {
      traits = observer->traits();
      return absl::OkStatus();
    });
    if (!asked.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("observer's traits() ", asked.message()));
    }
    if (traits.name.empty()) {
      return absl::InvalidArgumentError("an observer has no name");
    }
    for (const Entry& other : chain->entries_) {
      if (other.traits.name == traits.name) {
        return absl::InvalidArgumentError(absl::StrCat(
            "two observers have one name: observer=", traits.name));
      }
    }
    chain->hooks_ |= traits.hooks;
    chain->entries_.push_back(
        {std::move(observer), std::move(traits), std::make_unique<Counters>()});
  }
  std::stable_sort(chain->entries_.begin(), chain->entries_.end(),
                   [](const Entry& a, const Entry& b) {
                     return a.traits.priority < b.traits.priority;
                   });
  return chain;
}

absl::Status ObserverChain::Call(
    size_t i, std::string_view hook_name,
    absl::FunctionRef<absl::Status(Observer&)> call) {
  Entry& entry = entries_[i];
  const ObserverTraits& traits = entry.traits;
  Counters& counters = *entry.counters;
  counters.calls.fetch_add(1, std::memory_order_relaxed);
  const int64_t start =
      traits.budget_micros > 0 ? clock_->MonotonicMicros() : 0;
  absl::Status status;
  {
    RunningHook running(this);
    status = Guarded([&] { return call(*entry.observer); });
  }
  if (traits.budget_micros > 0) {
    const int64_t took = clock_->MonotonicMicros() - start;
    if (took > traits.budget_micros) {
      counters.overruns.fetch_add(1, std::memory_order_relaxed);
      if (traits.strict && status.ok()) {
        status = absl::DeadlineExceededError(
            absl::StrCat("over its time budget: took_micros=", took,
                         " budget_micros=", traits.budget_micros));
      }
    }
  }
  if (status.ok()) return status;
  counters.failures.fetch_add(1, std::memory_order_relaxed);
  return Named(traits, hook_name, status);
}

absl::Status ObserverChain::CallAll(
    uint32_t hook, std::string_view hook_name,
    absl::FunctionRef<absl::Status(Observer&)> call) {
  if (!Wants(hook)) return absl::OkStatus();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!Wants(i, hook)) continue;
    if (absl::Status s = Call(i, hook_name, call); !s.ok()) return s;
  }
  return absl::OkStatus();
}

bool ObserverChain::InHook() const { return running_chain == this; }

ObserverChain::Counts ObserverChain::counts(size_t i) const {
  const Counters& c = *entries_[i].counters;
  return {c.calls.load(std::memory_order_relaxed),
          c.failures.load(std::memory_order_relaxed),
          c.overruns.load(std::memory_order_relaxed)};
}

}  // namespace dovetail
