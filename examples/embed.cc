// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The shortest useful program: orders in, three answers out.
//
//   embed DIRECTORY

#include <cstdio>
#include <string>
#include <vector>

#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/order.pb.h"

using dovetail::v1::Order;

absl::Status Run(const char* directory) {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::SellerOrders("orders"));
  auto engine = dovetail::Engine::Open(directory, schema);
  if (!engine.ok()) return engine.status();
  auto orders = dovetail::Table<Order>::Bind(engine->get(), "orders");
  if (!orders.ok()) return orders.status();

  for (int i = 0; i < 20; ++i) {  // A row and its entries are one commit.
    Order order;
    order.set_order_id("o-" + std::to_string(i));
    order.set_seller_id("seller-" + std::to_string(i % 2));
    order.set_ts_ms(1'700'000'000'000 + i);
    if (auto put = orders->Put(order); !put.ok()) return put.status();
  }
  Order change;
  change.set_status(dovetail::v1::SHIPPED);
  auto patched = orders->Patch(dovetail::RowRef::By("by_order_id", {"o-17"}),
                               change, {"status"}, {.sync = true});
  if (!patched.ok()) return patched.status();

  auto by_id = orders->GetBy("by_order_id", {"o-17"});  // Two hops, one state.
  auto newest = orders->Scan({.equal = {"seller-1"}, .limit = 3});
  auto shipped = orders->Scan({.index = "by_status",
                               .equal = {"seller-1", dovetail::v1::SHIPPED},
                               .limit = 20});
  if (!by_id.ok()) return by_id.status();
  if (!newest.ok()) return newest.status();
  if (!shipped.ok()) return shipped.status();
  for (const auto& answer : {*by_id, newest->records, shipped->records}) {
    for (const Order& order : answer) {
      std::printf("%s %s\n", order.order_id().c_str(),
                  dovetail::v1::OrderStatus_Name(order.status()).c_str());
    }
  }
  return (*engine)->Close();
}

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "orders.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
