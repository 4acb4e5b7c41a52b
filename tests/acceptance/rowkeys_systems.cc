// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The six systems that row keys are designed for, as examples/ has them, each
// answering its questions on data, equal to brute force.
//
//   rowkeys_systems [--rows N]
//   rowkeys_systems --latest EVENTS [--calls N]
//
// Orders, trade and finance: Olist; trade also amazon-in-sales. Logistics:
// tracking-events, bpi2019, bpi2013. Devices and relations are generated, from
// fixed seeds, since there is no data set of them.

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "absl/strings/numbers.h"
#include "tests/acceptance/rowkeys_systems.h"
#include "tests/support/data.h"

namespace dovetail::test {
namespace {

bool HasData() {
  for (const char* file :
       {"olist/orders.csv.xz", "amazon-in-sales/sales.csv.xz",
        "tracking-events/events.csv", "bpi2019-purchase-orders/events.csv.xz",
        "bpi2013-incidents/events.csv.xz"}) {
    if (HasSharedData(file)) continue;
    std::printf(
        "rowkeys-systems: no data set %s, so only what is generated is asked; "
        "set DOVETAIL_SHARED_DATA\n",
        SharedData(file).c_str());
    return false;
  }
  return true;
}

int Systems(size_t most) {
  Checks checks("rowkeys-systems");
  const bool whole = most == SIZE_MAX;
  CheckDevices(whole ? 60 : 8, &checks);
  CheckSocial(whole ? 600 : 80, &checks);
  if (!HasData()) return checks.Finish();
  OrderBook olist;
  if (checks.Ok(olist.LoadOlist(most), "read Olist")) {
    CheckSellerOrders(olist, &checks);
    CheckTrade("trade, Olist", olist, &checks);
    CheckFinance(olist, &checks);
  }
  OrderBook amazon;
  if (checks.Ok(amazon.LoadAmazon(most), "read amazon-in-sales")) {
    CheckTrade("trade, amazon-in-sales", amazon, &checks);
  }
  CheckTracking(most, &checks);
  return checks.Finish();
}

int Latest(size_t events, size_t calls) {
  Checks checks("rowkeys-latest");
  CheckLatest(events, calls, &checks);
  return checks.Finish();
}

int Main(int argc, char** argv) {
  size_t rows = SIZE_MAX;
  size_t latest = 0;
  size_t calls = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    size_t* to = flag == "--rows"     ? &rows
                 : flag == "--latest" ? &latest
                 : flag == "--calls"  ? &calls
                                      : nullptr;
    if (to == nullptr || i + 1 == argc || !absl::SimpleAtoi(argv[i + 1], to)) {
      std::fprintf(stderr,
                   "usage: rowkeys_systems [--rows N] | --latest EVENTS "
                   "[--calls N]\n");
      return 2;
    }
  }
  return latest > 0 ? Latest(latest, calls) : Systems(rows);
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }
