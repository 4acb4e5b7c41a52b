// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/presets.h"

#include "dovetail/v1/account.pb.h"
#include "dovetail/v1/order.pb.h"
#include "dovetail/v1/reading.pb.h"
#include "dovetail/v1/social.pb.h"
#include "dovetail/v1/tracking.pb.h"

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

constexpr Preset kAll[] = {
    {"seller_orders", "orders", SellerOrders},
    {"split_orders", "orders", SplitOrders},
    {"trade_orders", "orders", TradeOrders},
    {"tracking_events", "events", TrackingEvents},
    {"account_entries", "entries", AccountEntries},
    {"device_readings", "readings", DeviceReadings},
    {"relations", "relations", Relations},
    {"posts", "posts", Posts},
};

}  // namespace

std::span<const Preset> All() { return kAll; }

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

TableBuilder TradeOrders(std::string_view table) {
  return TableBuilder(table, v1::Order::descriptor())
      .RowKey({Hash({"order_id"}), Field("order_id")})
      .Index("by_buyer",
             {Hash({"buyer_id"}), Field("buyer_id"), Field("ts_ms").Desc()})
      .Index("by_buyer_status", {Hash({"buyer_id"}), Field("buyer_id"),
                                 Varint("status"), Field("ts_ms").Desc()})
      .Index("by_seller",
             {Hash({"seller_id"}), Field("seller_id"), Field("ts_ms").Desc()})
      .Index("by_seller_status", {Hash({"seller_id"}), Field("seller_id"),
                                  Varint("status"), Field("ts_ms").Desc()});
}

TableBuilder TrackingEvents(std::string_view table) {
  return TableBuilder(table, v1::TrackingEvent::descriptor())
      .RowKey({Hash({"waybill"}), Field("waybill"), Field("carrier"),
               Field("ts_ms").Desc(), Varint("seq").Desc()})
      .Add(IndexBuilder::Value("by_waybill",
                               {Hash({"waybill"}), Field("waybill"),
                                Field("ts_ms").Desc(), Varint("seq").Desc()})
               .Covering({"status", "time_source"}));
}

TableBuilder AccountEntries(std::string_view table) {
  return TableBuilder(table, v1::AccountEntry::descriptor())
      .RowKey({EnumBytes("account_type"), Hash({"account"}), Field("account"),
               Field("ts_ms").Desc(), Field("entry_id")})
      .Unique("by_entry_id", {Hash({"entry_id"}), Field("entry_id")})
      .Identity("by_entry_id")
      .Index("by_transfer", {Hash({"transfer_id"}), Field("transfer_id")})
      .Add(IndexBuilder::Sum("balances",
                             {EnumBytes("account_type"), Hash({"account"}),
                              Field("account"), Field("currency")},
                             "amount_cents"));
}

TableBuilder DeviceReadings(std::string_view table) {
  return TableBuilder(table, v1::DeviceReading::descriptor())
      .RowKey({Field("device_type"), Field("region"), Field("device"),
               Field("ts_ms").Desc()})
      .Index("by_region", {Field("region"), Field("ts_ms").Desc()})
      .Index("by_day", {Varint("day").Desc(), Field("ts_ms").Desc()});
}

TableBuilder Relations(std::string_view table) {
  return TableBuilder(table, v1::Relation::descriptor())
      .RowKey({Hash({"user"}), Field("user"), EnumBytes("relation"),
               Field("target"), Field("ts_ms").Desc()})
      .Unique("by_target", {Hash({"target"}), Field("target"),
                            EnumBytes("relation"), Field("user")})
      .Identity("by_target");
}

TableBuilder Posts(std::string_view table) {
  return TableBuilder(table, v1::Post::descriptor())
      .RowKey({Hash({"author"}), Field("author"), Field("ts_ms").Desc(),
               Field("post_id")})
      .Unique("by_post_id", {Hash({"post_id"}), Field("post_id")})
      .Identity("by_post_id");
}

}  // namespace dovetail::presets
