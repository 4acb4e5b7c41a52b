// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/data.h"

namespace dovetail::test {
namespace {

constexpr size_t kBuyers = 5'000;
constexpr const char* kRegions[] = {"north", "northeast", "center", "southeast",
                                    "south"};

// What a seller gets for the items of an order.
using Items = std::map<std::string, std::map<std::string, int64_t>>;

absl::StatusOr<Items> ReadItems() {
  Items items;
  RETURN_IF_ERROR(ReadCsv(SharedData("olist/order_items.csv.xz"),
                          {"order_id", "seller_id", "price"},
                          [&](std::vector<std::string>& row) -> absl::Status {
                            double price = 0;
                            if (!absl::SimpleAtod(row[2], &price)) {
                              return absl::InvalidArgumentError("price");
                            }
                            items[row[0]][row[1]] +=
                                static_cast<int64_t>(price * 100 + 0.5);
                            return absl::OkStatus();
                          }));
  return items;
}

std::string BuyerOf(const std::string& order_id) {
  return absl::StrCat("b", std::hash<std::string>()(order_id) % kBuyers);
}

// Of Amazon's texts, such as "Shipped - Returned to Seller".
v1::OrderStatus StatusOf(std::string_view text) {
  const auto has = [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  if (has("Delivered")) return v1::DELIVERED;
  if (has("Return") || has("Rejected")) return v1::RETURNED;
  if (has("Cancelled")) return v1::CANCELED;
  if (has("Lost") || has("Damaged")) return v1::UNAVAILABLE;
  if (has("Pending")) return v1::CREATED;
  return has("Shipping") ? v1::PROCESSING : v1::SHIPPED;
}

}  // namespace

absl::Status OrderBook::LoadOlist(size_t most) {
  ASSIGN_OR_RETURN(Items items, ReadItems());
  const auto add = [&](std::vector<std::string>& row) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t ts_ms, ParseTimeMs(row[2]));
    v1::OrderStatus status = v1::CREATED;
    if (!v1::OrderStatus_Parse(absl::AsciiStrToUpper(row[1]), &status)) {
      return absl::InvalidArgumentError(absl::StrCat("status=", row[1]));
    }
    int part = 0;
    for (const auto& [seller, cents] : items[row[0]]) {
      v1::Order order;
      order.set_order_id(++part == 1 ? row[0]
                                     : absl::StrCat(row[0], "#", part));
      order.set_seller_id(seller);
      order.set_buyer_id(BuyerOf(row[0]));
      order.set_ts_ms(ts_ms);
      order.set_status(status);
      order.set_amount_cents(cents);
      const auto sum = static_cast<unsigned char>(seller[0] ^ seller[1]);
      order.set_note(kRegions[sum % std::size(kRegions)]);
      orders_.push_back(std::move(order));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      ReadCsv(SharedData("olist/orders.csv.xz"),
              {"order_id", "order_status", "order_purchase_timestamp"}, add));

  const std::map<std::string, size_t> counts = RankSellers();
  if (most < orders_.size()) KeepSome(most, counts);
  Finish();
  return absl::OkStatus();
}

absl::Status OrderBook::LoadAmazon(size_t most) {
  std::set<std::string> seen;
  const auto add = [&](std::vector<std::string>& row) -> absl::Status {
    const std::string id = absl::StrCat(row[1], "#", row[0]);
    if (orders_.size() == most || !seen.insert(id).second) {
      return absl::OkStatus();
    }
    // "04-30-22" or "05-03-2022", month first.
    const std::vector<std::string> date = absl::StrSplit(row[2], '-');
    if (date.size() != 3) return absl::InvalidArgumentError(row[2]);
    ASSIGN_OR_RETURN(
        const int64_t ts_ms,
        ParseTimeMs(absl::StrCat(date[2].size() == 2 ? "20" : "", date[2], "-",
                                 date[0], "-", date[1])));
    double amount = 0;
    if (!row[5].empty() && !absl::SimpleAtod(row[5], &amount)) {
      return absl::InvalidArgumentError(row[5]);
    }
    v1::Order order;
    order.set_order_id(id);
    order.set_seller_id(row[4]);
    order.set_buyer_id(BuyerOf(row[1]));
    order.set_ts_ms(ts_ms);
    order.set_status(StatusOf(row[3]));
    order.set_amount_cents(static_cast<int64_t>(amount * 100 + 0.5));
    orders_.push_back(std::move(order));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadCsv(
      SharedData("amazon-in-sales/sales.csv.xz"),
      {"index", "Order ID", "Date", "Status", "Category", "Amount"}, add));
  RankSellers();
  Finish();
  return absl::OkStatus();
}

std::map<std::string, size_t> OrderBook::RankSellers() {
  std::map<std::string, size_t> counts;
  for (const v1::Order& order : orders_) ++counts[order.seller_id()];
  for (const auto& [seller, count] : counts) sellers_.push_back(seller);
  std::stable_sort(sellers_.begin(), sellers_.end(),
                   [&](const std::string& a, const std::string& b) {
                     return counts[a] > counts[b];
                   });
  return counts;
}

void OrderBook::Finish() {
  for (v1::Order& order : orders_) by_id_[order.order_id()] = &order;
}

void OrderBook::KeepSome(size_t most,
                         const std::map<std::string, size_t>& counts) {
  std::set<std::string> kept;
  size_t total = 0;
  std::erase_if(sellers_, [&](const std::string& seller) {
    const size_t count = counts.at(seller);
    // A few large ones, so that pages have several rows.
    if (count > most / 8 || total + count > most) return true;
    total += count;
    kept.insert(seller);
    return false;
  });
  std::erase_if(orders_, [&](const v1::Order& order) {
    return !kept.contains(order.seller_id());
  });
}

OrderBook::OrderBook(const OrderBook& other)
    : orders_(other.orders_), sellers_(other.sellers_) {
  Finish();
}

void OrderBook::SortNewest(Orders* orders) {
  std::sort(orders->begin(), orders->end(),
            [](const v1::Order* a, const v1::Order* b) {
              return a->ts_ms() != b->ts_ms() ? a->ts_ms() > b->ts_ms()
                                              : a->order_id() < b->order_id();
            });
}

}  // namespace dovetail::test
