// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The layouts of the orders preset over a record whose status is a text.

#pragma once

#include <string_view>

#include "dovetail/schema.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {

inline TableBuilder TextOrders(std::string_view table) {
  TableBuilder builder(table, TextOrder::descriptor());
  builder
      .RowKey({Hash({"seller_id"}), Field("seller_id"), Field("ts_ms").Desc(),
               Field("order_id")})
      .Unique("by_order_id", {Hash({"order_id"}), Field("order_id")})
      .Index("by_status",
             {Hash({"seller_id"}), Field("seller_id"), Field("status"),
              Field("ts_ms").Desc(), Field("order_id")})
      .Identity("by_order_id");
  return builder;
}

}  // namespace dovetail::test
