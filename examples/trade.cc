// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Orders are placed, shipped, delivered; both sides look at theirs.
//
//   trade DIRECTORY

#include "trade.h"

#include <cstdio>

namespace {

using dovetail::v1::CREATED;
using dovetail::v1::DELIVERED;
using dovetail::v1::SHIPPED;
using trade::Order;

void Print(const char* title, const std::vector<Order>& orders) {
  std::printf("%s:", title);
  for (const Order& order : orders) {
    std::printf(" %s(%s)", order.order_id().c_str(),
                dovetail::v1::OrderStatus_Name(order.status()).c_str());
  }
  std::printf("\n");
}

absl::Status Run(const char* directory) {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::TradeOrders());
  auto engine = dovetail::Engine::Open(directory, schema);
  if (!engine.ok()) return engine.status();
  auto desk = trade::Desk::Bind(engine->get());
  if (!desk.ok()) return desk.status();

  for (int i = 0; i < 12; ++i) {
    Order order;
    order.set_order_id("o-" + std::to_string(i));
    order.set_buyer_id(i % 3 == 0 ? "ann" : "ben");
    order.set_seller_id(i % 2 == 0 ? "books" : "tools");
    order.set_ts_ms(1'700'000'000'000 + 1000 * i);
    order.set_amount_cents(500 * i);
    if (auto placed = desk->Place(order); !placed.ok()) return placed;
  }
  for (const char* id : {"o-4", "o-6", "o-8"}) {
    auto changed = desk->ChangeStatus(id, CREATED, SHIPPED);
    if (!changed.ok()) return changed;
  }
  if (auto done = desk->ChangeStatus("o-6", SHIPPED, DELIVERED); !done.ok()) {
    return done;
  }
  const absl::Status late = desk->ChangeStatus("o-6", SHIPPED, DELIVERED);
  std::printf("delivered again: %s\n",
              absl::StatusCodeToString(late.code()).c_str());

  auto by_id = desk->Get("o-6");
  auto buyers = desk->Newest(trade::kBuyer, "ann", 3);
  auto sellers = desk->Newest(trade::kSeller, "books", 3);
  auto open = desk->NewestIn(trade::kSeller, "books", {CREATED, SHIPPED}, 4);
  auto large = desk->Between(trade::kBuyer, "ben", {.min = 1'700'000'002'000},
                             {.min = 2'000, .max = 4'000}, 10);
  if (!by_id.ok()) return by_id.status();
  if (!buyers.ok()) return buyers.status();
  if (!sellers.ok()) return sellers.status();
  if (!open.ok()) return open.status();
  if (!large.ok()) return large.status();
  Print("by its id", {*by_id});
  Print("ann's newest", buyers->records);
  Print("the newest of books", sellers->records);
  Print("not delivered by books", open->records);
  Print("ben's of 20 to 40", *large);
  return (*engine)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "trade.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
