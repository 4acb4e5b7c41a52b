// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/phases.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace dovetail::bench {
namespace {

// Streams of random numbers, one for each choice a phase makes.
enum Stream : uint64_t {
  kUpdateOrder = 10,
  kUpdateStatus,
  kGetOrder,
  kTopSeller,
  kTopStatusSeller,
  kTopStatusStatus,
  kMixedKind,
  kMixedUpdateOrder,
  kMixedUpdateStatus,
  kMixedTopSeller,
  kMixedTopStatus,
  kMixedGetOrder,
  kUpsertOrder,
  kUpsertStatus,
  kUpsertSeller,
};

std::string AnyId(const Inputs& in, Stream stream, uint64_t i) {
  return in.workload.OrderId(in.workload.Random(stream, i) % in.orders);
}

std::string AnySeller(const Inputs& in, Stream stream, uint64_t i) {
  const uint64_t random = in.workload.Random(stream, i);
  return Workload::Seller(in.workload.SellerRank(random));
}

int32_t AnyStatus(const Inputs& in, Stream stream, uint64_t i) {
  return Workload::Status(in.workload.Random(stream, i));
}

void MakeLoad(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kPut;
  op->orders.resize(1);
  in.workload.FillOrder(i, &op->orders[0]);
}

void MakeLoad100(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kPut;
  op->orders.resize(100);
  for (uint64_t k = 0; k < 100; ++k) {
    in.workload.FillOrder(i * 100 + k, &op->orders[k]);
  }
}

void MakeUpdate(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kSetStatus;
  op->id = AnyId(in, kUpdateOrder, i);
  op->status = AnyStatus(in, kUpdateStatus, i);
}

void MakeGet(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kGet;
  op->id = AnyId(in, kGetOrder, i);
}

void MakeTop(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kNewest;
  op->seller = AnySeller(in, kTopSeller, i);
  op->status = kAnyStatus;
}

void MakeTopStatus(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kNewest;
  op->seller = AnySeller(in, kTopStatusSeller, i);
  op->status = AnyStatus(in, kTopStatusStatus, i);
}

void MakeRarest(const Inputs&, uint64_t, Operation* op) {
  op->kind = Operation::Kind::kNewest;
  op->seller = Workload::Seller(0);
  op->status = kRefunded;
}

// Half updates, three tenths top-N by status, the rest gets.
void MakeMixed(const Inputs& in, uint64_t i, Operation* op) {
  const uint64_t kind = in.workload.Random(kMixedKind, i) % 10;
  if (kind < 5) {
    // Even operations are one thread's and take even orders, odd ones the
    // other's: no two threads update one order.
    const uint64_t half = std::max<uint64_t>(in.orders / 2, 1);
    const uint64_t pick = in.workload.Random(kMixedUpdateOrder, i) % half;
    op->kind = Operation::Kind::kSetStatus;
    op->id = in.workload.OrderId(pick * 2 + i % 2);
    op->status = AnyStatus(in, kMixedUpdateStatus, i);
  } else if (kind < 8) {
    op->kind = Operation::Kind::kNewest;
    op->seller = AnySeller(in, kMixedTopSeller, i);
    op->status = AnyStatus(in, kMixedTopStatus, i);
  } else {
    op->kind = Operation::Kind::kGet;
    op->id = AnyId(in, kMixedGetOrder, i);
  }
}

// Whole orders written again, every second one under another seller and time.
void MakeUpsert(const Inputs& in, uint64_t i, Operation* op) {
  op->kind = Operation::Kind::kPut;
  op->orders.resize(1);
  BenchOrder* order = &op->orders[0];
  in.workload.FillOrder(in.workload.Random(kUpsertOrder, i) % in.orders, order);
  order->set_status(AnyStatus(in, kUpsertStatus, i));
  if (i % 2 == 0) return;
  order->set_seller(AnySeller(in, kUpsertSeller, i));
  order->set_ts_us(order->ts_us() + 7);
}

constexpr Phase kPhases[] = {
    {.name = "load",
     .description = "insert all orders, one in a commit",
     .make = MakeLoad},
    {.name = "load100",
     .description = "insert all orders, 100 in a commit",
     .make = MakeLoad100,
     .orders_per_operation = 100,
     .own_database = true},
    {.name = "load_sync4",
     .description = "insert by 4 threads, each commit synced",
     .make = MakeLoad,
     .operations = 20'000,
     .threads = 4,
     .own_database = true,
     .sync = true},
    {.name = "update",
     .description = "change the status of an order, known by its id",
     .make = MakeUpdate,
     .operations = 200'000},
    {.name = "get",
     .description = "an order by its id, in two hops",
     .make = MakeGet,
     .operations = 200'000},
    {.name = "top20",
     .description = "the newest 20 orders of a seller",
     .make = MakeTop,
     .operations = 100'000},
    {.name = "top20_status",
     .description = "the newest 20 of a seller in one status",
     .make = MakeTopStatus,
     .operations = 100'000},
    {.name = "rarest",
     .description = "the biggest seller's newest 20 in the rarest status",
     .make = MakeRarest,
     .operations = 20'000},
    {.name = "mixed",
     .description = "2 threads: half update, 3/10 top20_status, 2/10 get",
     .make = MakeMixed,
     .operations = 200'000,
     .threads = 2,
     .answers_comparable = false},
    {.name = "upsert",
     .description = "write whole orders again, half of them move",
     .make = MakeUpsert,
     .operations = 20'000},
    {.name = "verify",
     .description = "compare rows and entries, read everything by every way"},
};

}  // namespace

const Phase* FindPhase(std::string_view name) {
  for (const Phase& phase : kPhases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

std::vector<std::string> PhaseNames() {
  std::vector<std::string> names;
  for (const Phase& phase : kPhases) names.push_back(phase.name);
  return names;
}

std::string DescribePhases() {
  std::string text;
  for (const Phase& phase : kPhases) {
    absl::StrAppendFormat(&text, "  %-13s %s\n", phase.name, phase.description);
  }
  return text;
}

}  // namespace dovetail::bench
