// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The phases of the benchmark, as a table of named operations.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_order.pb.h"
#include "bench/workload.h"

namespace dovetail::bench {

// One timed call, made before the clock starts.
struct Operation {
  enum class Kind { kPut, kSetStatus, kGet, kNewest };
  Kind kind;
  std::vector<BenchOrder> orders;  // kPut.
  std::string id;                  // kSetStatus, kGet.
  std::string seller;              // kNewest.
  int32_t status = kAnyStatus;     // kSetStatus, kNewest.
};

// What operations are made from.
struct Inputs {
  const Workload& workload;
  uint64_t orders;  // In the database.
};

// Makes the i-th operation of a phase.
using MakeOperation = void (*)(const Inputs& in, uint64_t i, Operation* op);

// By default: one thread, on the loaded orders.
struct Phase {
  const char* name = nullptr;
  const char* description = nullptr;
  MakeOperation make = nullptr;  // Null: verify.
  uint64_t operations = 0;       // At scale 1; 0: one for every order.
  uint64_t orders_per_operation = 1;
  int threads = 1;
  bool own_database = false;       // A new one, dropped afterwards.
  bool sync = false;               // Of commits; takes an own database.
  bool answers_comparable = true;  // They do not depend on how threads meet.
};

// Null if there is none of that name.
const Phase* FindPhase(std::string_view name);

// In the order in which they are run by default.
std::vector<std::string> PhaseNames();

// One line each, for the usage text.
std::string DescribePhases();

}  // namespace dovetail::bench
