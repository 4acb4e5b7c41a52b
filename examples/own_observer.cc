// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A rule of your own beside a ready one: no order above a limit, and no status
// but by a declared move.

#include <cstdio>
#include <memory>

#include "dovetail/engine.h"
#include "dovetail/observers.h"
#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/order.pb.h"

using dovetail::v1::Order;

class AmountLimit : public dovetail::Observer {
 public:
  dovetail::ObserverTraits traits() const override {
    return {.name = "amount_limit", .hooks = dovetail::kPrePut};
  }
  absl::Status PrePut(dovetail::HookContext&,
                      const dovetail::RowChange& change) override {
    Order order;
    order.ParseFromString(std::string(*change.new_record));
    if (order.amount_cents() <= 100'000) return absl::OkStatus();
    return absl::InvalidArgumentError("over 1000.00: ask a manager");
  }
};

int main() {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::SellerOrders("orders"));
  auto guard = dovetail::StatusGuard::Create(
      schema, {.table = "orders",
               .field = "status",
               .initial = {"CREATED"},
               .moves = {{"CREATED", {"APPROVED", "CANCELED"}},
                         {"APPROVED", {"SHIPPED"}}},
               .identity = {"order_id"}});
  if (!guard.ok()) return 1;
  dovetail::Options options{.in_memory = true};
  options.observers = {std::make_shared<AmountLimit>(), *guard};
  auto engine = dovetail::Engine::Open("orders", schema, options);
  if (!engine.ok()) return 1;
  auto orders = dovetail::Table<Order>::Bind(engine->get(), "orders");
  if (!orders.ok()) return 1;

  Order order;
  order.set_order_id("o-1");
  if (!orders->Put(order).ok()) return 1;
  order.set_status(dovetail::v1::SHIPPED);  // Not approved yet.
  const absl::Status skipped = orders->Put(order).status();
  order.set_status(dovetail::v1::APPROVED);
  order.set_amount_cents(5'000'000);
  const absl::Status too_much = orders->Put(order).status();
  std::printf("%s\n%s\n", skipped.ToString().c_str(),
              too_much.ToString().c_str());
  return absl::IsFailedPrecondition(skipped) &&
                 absl::IsInvalidArgument(too_much)
             ? 0
             : 1;
}
