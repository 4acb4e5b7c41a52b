// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/presets.h"

#include "dovetail/v1/order.pb.h"

namespace dovetail::presets {
namespace {

TableBuilder OrdersBySeller(std::string_view table) {
  return TableBuilder(table, v1::Order::descriptor())
      .RowKey({Hash({"seller_id"}), Field("seller_id"), Field("ts_ms").Desc(),
               Field("order_id")})
      .Index("by_status",
             {Hash({"seller_id"}), Field("seller_id"), Varint("status"),
              Field("ts_ms").Desc(), Field("order_id")});
}

}  // namespace

TableBuilder SellerOrders(std::string_view table) {
  return OrdersBySeller(table)
      .Unique("by_order_id", {Hash({"order_id"}), Field("order_id")})
      .Identity("by_order_id");
}

TableBuilder SplitOrders(std::string_view table) {
  return OrdersBySeller(table)
      .Unique("by_order_id",
              {Hash({"order_id"}), Field("order_id"), Field("seller_id")})
      .Identity("by_order_id");
}

}  // namespace dovetail::presets
