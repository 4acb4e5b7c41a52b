// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What tests of observers need beside an engine: observers made of one
// function, and a clock that only tests move.

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/environment.h"
#include "dovetail/observer.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {

class ManualClock : public Clock {
 public:
  int64_t NowMicros() override { return now; }
  int64_t MonotonicMicros() override { return now; }
  int64_t now = 0;
};

// Calls a function in PreBatchMutate; may write every table given.
class BatchHook : public Observer {
 public:
  using Body =
      std::function<absl::Status(HookContext&, const std::vector<RowChange>&)>;
  BatchHook(std::string name, int32_t priority, std::vector<std::string> writes,
            Body body)
      : body_(std::move(body)) {
    traits_.name = std::move(name);
    traits_.hooks = kPreBatchMutate;
    traits_.priority = priority;
    traits_.writes = std::move(writes);
  }
  ObserverTraits traits() const override { return traits_; }
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& all) override {
    return body_(ctx, all);
  }

 private:
  ObserverTraits traits_;
  Body body_;
};

}  // namespace dovetail::test
