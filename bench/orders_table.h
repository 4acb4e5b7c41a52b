// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#pragma once

#include "bench/bench_order.pb.h"
#include "dovetail/schema.h"

namespace dovetail::bench {

inline constexpr char kTable[] = "orders";

// The orders by seller, newest first, found by id and by status.
inline TableBuilder OrdersTable() {
  constexpr uint32_t kIdDigits = 20;
  TableBuilder orders(kTable, BenchOrder::descriptor());
  orders.RowKey({Hash({"seller"}), Field("seller"), Field("ts_us").Desc(),
                 Decimal("id", kIdDigits)});
  orders.Unique("by_id", {Decimal("id", kIdDigits)}).Identity("by_id");
  orders.Index("by_status",
               {Hash({"seller"}), Field("seller"), Varint("status"),
                Field("ts_us").Desc(), Decimal("id", kIdDigits)});
  return orders;
}

}  // namespace dovetail::bench
