// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The shortest useful program: orders in, three answers out.
//
//   embed DIRECTORY

#include <cstdio>
#include <string>

#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/order.pb.h"

namespace {

using dovetail::v1::Order;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

Order MakeOrder(int number) {
  Order order;
  order.set_order_id("o-" + std::to_string(number));
  order.set_seller_id("seller-" + std::to_string(number % 3));
  order.set_ts_ms(1'700'000'000'000 + number * 1000);
  return order;
}

void Print(const char* question, const std::vector<Order>& orders) {
  std::printf("%s\n", question);
  for (const Order& order : orders) {
    std::printf("  %s\n", order.ShortDebugString().c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed DIRECTORY\n");
    return 2;
  }
  dovetail::Schema schema;
  schema.Add(dovetail::presets::SellerOrders("orders"));
  auto engine = dovetail::Engine::Open(argv[1], schema);
  if (!engine.ok()) return Fail(engine.status());
  auto orders = dovetail::Table<Order>::Bind(engine->get(), "orders");
  if (!orders.ok()) return Fail(orders.status());

  // Row and index entries are in the same commit, or none of them is.
  for (int i = 0; i < 12; ++i) {
    if (auto put = orders->Put(MakeOrder(i)); !put.ok()) {
      return Fail(put.status());
    }
  }
  Order shipped;
  shipped.set_status(dovetail::v1::SHIPPED);
  auto patched = orders->Patch(dovetail::RowRef::By("by_order_id", {"o-7"}),
                               shipped, {"status"}, {.sync = true});
  if (!patched.ok()) return Fail(patched.status());

  auto by_id = orders->GetBy("by_order_id", {"o-7"});
  if (!by_id.ok()) return Fail(by_id.status());
  Print("order o-7:", *by_id);

  auto newest = orders->Scan({.equal = {"seller-1"}, .limit = 2});
  if (!newest.ok()) return Fail(newest.status());
  Print("newest two of seller-1:", newest->records);

  auto in_status = orders->Scan({.index = "by_status",
                                 .equal = {"seller-1", dovetail::v1::SHIPPED},
                                 .limit = 10});
  if (!in_status.ok()) return Fail(in_status.status());
  Print("shipped of seller-1:", in_status->records);

  if (absl::Status closed = (*engine)->Close(); !closed.ok()) {
    return Fail(closed);
  }
  return 0;
}
