// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/data.h"

namespace dovetail::test {
namespace {

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

  std::map<std::string, size_t> counts;
  for (const v1::Order& order : orders_) ++counts[order.seller_id()];
  for (const auto& [seller, count] : counts) sellers_.push_back(seller);
  std::stable_sort(sellers_.begin(), sellers_.end(),
                   [&](const std::string& a, const std::string& b) {
                     return counts[a] > counts[b];
                   });
  if (most < orders_.size()) KeepSome(most, counts);
  for (v1::Order& order : orders_) by_id_[order.order_id()] = &order;
  return absl::OkStatus();
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
  for (v1::Order& order : orders_) by_id_[order.order_id()] = &order;
}

void OrderBook::SortNewest(Orders* orders) {
  std::sort(orders->begin(), orders->end(),
            [](const v1::Order* a, const v1::Order* b) {
              return a->ts_ms() != b->ts_ms() ? a->ts_ms() > b->ts_ms()
                                              : a->order_id() < b->order_id();
            });
}

}  // namespace dovetail::test
