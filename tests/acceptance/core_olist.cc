// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Three data sets of real orders, loaded into one database and read back in
// every way the indexes offer, against answers computed by brute force from
// the same rows; then the database is reopened and read again.
//
// olist            36,106 orders of 2,497 sellers, some split over several;
//                  147,182 status changes, addressed by order id
// online-retail    541,909 lines: many sellers, ids that differ in case only
// amazon-in-sales  128,976 lines of one seller, in 91 groups of equal times

#include <cstdio>

#include "tests/acceptance/core_olist.h"
#include "tests/support/checks.h"
#include "tests/support/data.h"

namespace dovetail::test {
namespace {

int Main() {
  for (const char* file :
       {"olist/orders.csv.xz", "olist/order_items.csv.xz",
        "olist/status_changes.csv.xz", "olist/facts.json",
        "online-retail/lines.csv.xz", "amazon-in-sales/sales.csv.xz"}) {
    if (HasSharedData(file)) continue;
    std::printf(
        "core-olist: skipped, no data set %s; "
        "set DOVETAIL_SHARED_DATA\n",
        SharedData(file).c_str());
    return 0;
  }
  Checks checks("core-olist");
  OrderSets sets(&checks);
  checks.Ok(sets.Open(), "open") && checks.Ok(sets.LoadOlist(), "load olist") &&
      checks.Ok(sets.LoadRetail(), "load online-retail") &&
      checks.Ok(sets.LoadAmazon(), "load amazon-in-sales") &&
      checks.Ok(sets.CheckAll(), "read") &&
      checks.Ok(sets.Reopen(), "reopen") &&
      checks.Ok(sets.CheckAll(), "read after reopening");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main() { return dovetail::test::Main(); }
