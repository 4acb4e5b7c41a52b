// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The systems of examples/, asked on data sets and compared with brute force.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

// A database of one system.
struct SystemDatabase {
  TempDir dir;
  std::unique_ptr<Engine> engine;

  absl::Status Open(const Schema& schema) {
    auto opened = Engine::Open(dir.Sub("db"), schema);
    if (!opened.ok()) return opened.status();
    engine = *std::move(opened);
    return absl::OkStatus();
  }
  void Verify(std::string_view what, Checks* checks) const {
    const auto report = engine->Verify({});
    checks->That(report.ok() && report->clean(),
                 absl::StrCat(ToAbsl(what), ": verify is clean"));
  }
};

// `most`: rows of a data set at most.
void CheckSellerOrders(const OrderBook& book, Checks* checks);
void CheckTrade(std::string_view what, const OrderBook& book, Checks* checks);
void CheckFinance(const OrderBook& book, Checks* checks);
void CheckTracking(size_t most, Checks* checks);  // Three data sets.
void CheckDevices(size_t devices, Checks* checks);
void CheckSocial(size_t users, Checks* checks);

// The latest event of a waybill with one event and of one with `events`; of the
// time of each `calls` calls, unless 0.
void CheckLatest(size_t events, size_t calls, Checks* checks);

}  // namespace dovetail::test
