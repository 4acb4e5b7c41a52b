// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ready schemas, written in the same language that any user writes.

#pragma once

#include <string_view>

#include "dovetail/schema.h"

namespace dovetail::presets {

// Orders of many sellers, record dovetail.v1.Order.
//   row key      hash(seller_id) seller_id ts_ms(desc) order_id
//   by_order_id  unique and the identity: hash(order_id) order_id
//   by_status    hash(seller_id) seller_id status ts_ms(desc) order_id
TableBuilder SellerOrders(std::string_view table = "orders");

// The same, where one order id may be split over several sellers.
//   by_order_id  unique and the identity: hash(order_id) order_id seller_id,
//                looked up by the order id alone: all its sellers' rows.
TableBuilder SplitOrders(std::string_view table = "orders");

}  // namespace dovetail::presets
