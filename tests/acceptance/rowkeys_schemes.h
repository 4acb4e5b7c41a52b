// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Row-key schemes, and the orders that each of them is loaded with.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/engine.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"

namespace dovetail::test {

// Orders, and what brute force knows of them.
class OrderBook {
 public:
  OrderBook() = default;
  OrderBook(const OrderBook& other);  // A whole one, none removed.
  OrderBook& operator=(const OrderBook&) = delete;

  // The Olist orders, one per order and seller: of an order that several
  // sellers share, those behind the first have "#2" and so on behind their id.
  // The files name no region and no buyer: `note` has one of five regions, made
  // from the seller's id, and a buyer's id is made from the order's. With
  // `most`, at most so many, and all of their sellers'.
  absl::Status LoadOlist(size_t most);
  // The first lines of the export of one Amazon.in seller: its categories serve
  // as the sellers, the texts of its statuses as the nearest OrderStatus, and a
  // line that is repeated is one order.
  absl::Status LoadAmazon(size_t most);

  using Orders = std::vector<const v1::Order*>;

  const std::vector<v1::Order>& all() const { return orders_; }
  std::vector<v1::Order>& all() { return orders_; }
  // By id, of orders that were not removed.
  const std::map<std::string, v1::Order*>& by_id() const { return by_id_; }
  void Remove(const std::string& id) { by_id_.erase(id); }
  // Largest first.
  const std::vector<std::string>& sellers() const { return sellers_; }
  // Of the orders that `test` holds for; newest first, equal times by id.
  template <typename Test>
  Orders Newest(const Test& test) const {
    Orders found;
    for (const auto& [id, order] : by_id_) {
      if (test(*order)) found.push_back(order);
    }
    SortNewest(&found);
    return found;
  }
  Orders OfSeller(const std::string& seller) const {
    return Newest([&](const v1::Order& o) { return o.seller_id() == seller; });
  }

 private:
  // Sets sellers_; returns how many orders each has.
  std::map<std::string, size_t> RankSellers();
  void Finish();
  void KeepSome(size_t most, const std::map<std::string, size_t>& counts);
  static void SortNewest(Orders* orders);

  std::vector<v1::Order> orders_;
  std::map<std::string, v1::Order*> by_id_;
  std::vector<std::string> sellers_;
};

// One way to lay out the row key of the table `orders`. Every table has the
// same indexes besides: by_order_id, the identity, and by_status (seller,
// status, newest first); and by_seller where the row key does not list a
// seller's orders newest first itself.
struct Scheme {
  std::string name;
  TableBuilder table;
  // The index that lists a seller's orders newest first; empty: the row key.
  std::string by_seller = {};
  // What a range over the sellers' ids gives.
  enum class Sellers {
    kServed,   // Rows in the order of the sellers' ids.
    kRefused,  // `reason` is a part of the error.
  };
  Sellers sellers = Sellers::kRefused;
  std::string reason = {};
  // Whether all orders, of any seller, come newest first.
  bool by_time = false;
  // Whether equal times of a seller come in the order of the orders' ids.
  bool ties_by_id = true;
};

// `giants` are the sellers that sub-buckets are listed for.
std::vector<Scheme> AllSchemes(const std::vector<std::string>& giants);

// Loads the orders under the scheme, changes and removes some, and asks the
// core's questions, and ad hoc ones. Prints a line of figures.
void CheckScheme(const Scheme& scheme, const OrderBook& all, Checks* checks);

// A giant seller with a table of its own, beside one for all others.
void CheckGiantTable(const OrderBook& book, Checks* checks);

// Reports from the field, under every scheme.
void CheckCases(const std::vector<Scheme>& schemes, Checks* checks);

}  // namespace dovetail::test
