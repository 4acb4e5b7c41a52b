// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An order desk between buyers and sellers. The row key is the order's id,
// hashed; what buyers and sellers ask are indexes, which change in the same
// commit as the order.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/order.pb.h"

namespace trade {

using dovetail::v1::Order;
using dovetail::v1::OrderStatus;
using Orders = dovetail::RecordPage<Order>;

// Whose orders: a buyer's or a seller's.
struct Side {
  std::string index;         // Newest first.
  std::string status_index;  // Newest first in each status.
  std::string field;
};
inline const Side kBuyer = {"by_buyer", "by_buyer_status", "buyer_id"};
inline const Side kSeller = {"by_seller", "by_seller_status", "seller_id"};

// Thread-safe; the engine must outlive it.
class Desk {
 public:
  static absl::StatusOr<Desk> Bind(dovetail::Engine* engine) {
    auto orders = dovetail::Table<Order>::Bind(engine, "orders");
    if (!orders.ok()) return orders.status();
    return Desk(engine, *std::move(orders));
  }

  // AlreadyExists if there is an order of this id.
  absl::Status Place(const Order& order) {
    return orders_.Insert(order).status();
  }
  absl::StatusOr<Order> Get(const std::string& order_id) const {
    return orders_.Get({order_id});
  }

  // FailedPrecondition if the order is not in `from`: another one was faster.
  absl::Status ChangeStatus(const std::string& order_id, OrderStatus from,
                            OrderStatus to) {
    Order change;
    change.set_status(to);
    dovetail::WriteBatch batch;
    batch
        .Patch("orders", dovetail::RowRef::Key({order_id}),
               change.SerializeAsString(), {"status"})
        .If(dovetail::Precondition::FieldEquals("status", from));
    return engine_->Write({.sync = true}, std::move(batch)).status();
  }

  // The newest of one side; `continuation` is that of the page before.
  absl::StatusOr<Orders> Newest(const Side& side, const std::string& id,
                                uint64_t limit,
                                const std::string& continuation = {}) const {
    return orders_.Scan({.index = side.index,
                         .equal = {id},
                         .limit = limit,
                         .continuation = continuation});
  }
  // The newest in any of the statuses.
  absl::StatusOr<Orders> NewestIn(const Side& side, const std::string& id,
                                  const std::vector<OrderStatus>& statuses,
                                  uint64_t limit,
                                  const std::string& continuation = {}) const {
    return orders_.Scan({.index = side.status_index,
                         .equal = {id},
                         .any_of = {statuses.begin(), statuses.end()},
                         .limit = limit,
                         .continuation = continuation});
  }

  // What only a query can ask: its newest in a range of time and amount.
  absl::StatusOr<std::vector<Order>> Between(const Side& side,
                                             const std::string& id,
                                             const dovetail::Range& ts_ms,
                                             const dovetail::Range& cents,
                                             uint64_t limit) const {
    using dovetail::Filter;
    const auto page =
        engine_->Query({}, dovetail::Query("orders")
                               .Where(Filter::Equal(side.field, id))
                               .Where(Filter::InRange("ts_ms", ts_ms))
                               .Where(Filter::InRange("amount_cents", cents))
                               .OrderBy("ts_ms", dovetail::Query::kDescending)
                               .Limit(limit));
    if (!page.ok()) return page.status();
    std::vector<Order> orders(page->rows.size());
    for (size_t i = 0; i < orders.size(); ++i) {
      if (!orders[i].ParseFromString(page->rows[i].record)) {
        return absl::DataLossError("order does not parse");
      }
    }
    return orders;
  }

 private:
  Desk(dovetail::Engine* engine, dovetail::Table<Order> orders)
      : engine_(engine), orders_(std::move(orders)) {}

  dovetail::Engine* engine_;
  dovetail::Table<Order> orders_;
};

}  // namespace trade
