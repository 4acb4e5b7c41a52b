// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ready tables, written in the same language that any user writes, to take as
// they are or to copy from. docs/row-keys.md says why their keys are as they
// are, and `dovetail init --preset NAME` makes a database of one.
//
// Times that are `ts_ms(desc)` make a scan newest first.

#pragma once

#include <span>
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

// Orders between buyers and sellers, record dovetail.v1.Order. An order is
// found and changed by its id alone, and both sides list theirs.
//   row key            hash(order_id) order_id
//   by_buyer           hash(buyer_id) buyer_id ts_ms(desc)
//   by_buyer_status    hash(buyer_id) buyer_id status ts_ms(desc)
//   by_seller          hash(seller_id) seller_id ts_ms(desc)
//   by_seller_status   hash(seller_id) seller_id status ts_ms(desc)
TableBuilder TradeOrders(std::string_view table = "orders");

// Scans of parcels, record dovetail.v1.TrackingEvent. Waybill numbers are not
// unique across carriers.
//   row key     hash(waybill) waybill carrier ts_ms(desc) seq(desc)
//   by_waybill  hash(waybill) waybill ts_ms(desc) seq(desc), carrying the
//               status: a waybill's events of all carriers
TableBuilder TrackingEvents(std::string_view table = "events");

// A ledger, record dovetail.v1.AccountEntry.
//   row key      account_type hash(account) account ts_ms(desc) entry_id
//   by_entry_id  unique and the identity: hash(entry_id) entry_id
//   by_transfer  hash(transfer_id) transfer_id: its entries
//   balances     the sum of amount_cents by account_type, account and currency
TableBuilder AccountEntries(std::string_view table = "entries");

// What devices measure, record dovetail.v1.DeviceReading.
//   row key    device_type region device ts_ms(desc)
//   by_region  region ts_ms(desc): all types of a region
//   by_day     day(desc) ts_ms(desc): all devices, and what expires
TableBuilder DeviceReadings(std::string_view table = "readings");

// Who has whom as a friend or follows whom, record dovetail.v1.Relation.
//   row key    hash(user) user relation target ts_ms(desc)
//   by_target  unique and the identity: hash(target) target relation user, so
//              that two users have each relation once, and the way back
TableBuilder Relations(std::string_view table = "relations");

// What users wrote, record dovetail.v1.Post.
//   row key     hash(author) author ts_ms(desc) post_id; the posts of all that
//               a user follows are one scan, with them as ScanRequest::any_of
//   by_post_id  unique and the identity: hash(post_id) post_id
TableBuilder Posts(std::string_view table = "posts");

// All of these by name, for programs that let their users choose.
struct Preset {
  std::string_view name;   // "seller_orders"
  std::string_view table;  // What the table is called if nothing is said.
  TableBuilder (*make)(std::string_view table);
};
std::span<const Preset> All();

}  // namespace dovetail::presets
