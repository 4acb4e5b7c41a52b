// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Seller orders, trade and finance.

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "examples/finance.h"
#include "examples/trade.h"
#include "tests/acceptance/rowkeys_systems.h"

namespace dovetail::test {
namespace {

using v1::AccountEntry;
using v1::Order;

constexpr size_t kPageRows = 7;
constexpr size_t kAsked = 12;  // Sellers and buyers.

bool Same(const OrderBook::Orders& expected, const std::vector<Order>& actual) {
  bool same = expected.size() == actual.size();
  for (size_t i = 0; same && i < actual.size(); ++i) {
    same = actual[i].SerializeAsString() == expected[i]->SerializeAsString();
  }
  return same;
}

// All pages of `read`, which takes a continuation.
template <typename Read>
std::vector<Order> AllPages(const Read& read, std::string_view what,
                            Checks* checks) {
  std::vector<Order> orders;
  std::string continuation;
  do {
    auto page = read(continuation);
    if (!checks->Ok(page.status(), what)) return orders;
    for (Order& order : page->records) orders.push_back(std::move(order));
    continuation = page->continuation;
  } while (!continuation.empty());
  return orders;
}

class TradeCheck {
 public:
  TradeCheck(std::string_view what, const OrderBook& book, Checks* checks)
      : what_(what), book_(book), checks_(*checks) {}

  void Run();

 private:
  void Place();
  void ChangeStatuses();
  void AskSide(const trade::Side& side, const std::string& id);
  std::string Name(std::string_view what) const {
    return absl::StrCat(what_, ": ", ToAbsl(what));
  }

  const std::string what_;
  OrderBook book_;
  Checks& checks_;
  SystemDatabase db_;
  std::optional<trade::Desk> desk_;
};

void TradeCheck::Place() {
  for (const Order& order : book_.all()) {
    if (!checks_.Ok(desk_->Place(order), Name("place"))) return;
  }
  const absl::Status again = desk_->Place(book_.all().front());
  checks_.That(absl::IsAlreadyExists(again), Name("an order is placed once"));
}

void TradeCheck::ChangeStatuses() {
  const size_t every = std::max<size_t>(book_.all().size() / 200, 1);
  for (size_t i = 0; i < book_.all().size(); i += every) {
    Order& order = book_.all()[i];
    const v1::OrderStatus from = order.status();
    checks_.Ok(desk_->ChangeStatus(order.order_id(), from, v1::REFUNDED),
               Name("change a status"));
    order.set_status(v1::REFUNDED);
    if (from == v1::REFUNDED) continue;
    const absl::Status late =
        desk_->ChangeStatus(order.order_id(), from, v1::RETURNED);
    checks_.That(absl::IsFailedPrecondition(late),
                 Name("a change from a status that is over is refused"));
  }
}

void TradeCheck::AskSide(const trade::Side& side, const std::string& id) {
  const bool buyer = &side == &trade::kBuyer;
  const auto theirs = [&](const Order& o) {
    return (buyer ? o.buyer_id() : o.seller_id()) == id;
  };
  const OrderBook::Orders all = book_.Newest(theirs);
  checks_.That(Same(all, AllPages(
                             [&](const std::string& from) {
                               return desk_->Newest(side, id, 100, from);
                             },
                             what_, &checks_)),
               Name(absl::StrCat("newest of ", id)));
  const std::vector<v1::OrderStatus> statuses = {v1::SHIPPED, v1::REFUNDED};
  checks_.That(
      Same(book_.Newest([&](const Order& o) {
        return theirs(o) &&
               (o.status() == v1::SHIPPED || o.status() == v1::REFUNDED);
      }),
           AllPages(
               [&](const std::string& from) {
                 return desk_->NewestIn(side, id, statuses, kPageRows, from);
               },
               what_, &checks_)),
      Name(absl::StrCat("newest in two statuses of ", id)));

  const int64_t middle = all.empty() ? 0 : all[all.size() / 2]->ts_ms();
  OrderBook::Orders between = book_.Newest([&](const Order& o) {
    return theirs(o) && o.ts_ms() >= middle && o.amount_cents() >= 3'000 &&
           o.amount_cents() <= 50'000;
  });
  between.resize(std::min<size_t>(between.size(), 20));
  const auto page = desk_->Between(side, id, {.min = middle},
                                   {.min = 3'000, .max = 50'000}, 20);
  if (!checks_.Ok(page.status(), Name("between"))) return;
  checks_.That(Same(between, *page), Name(absl::StrCat("between, of ", id)));
}

void TradeCheck::Run() {
  absl::Status opened = db_.Open(Schema().Add(presets::TradeOrders()));
  if (!checks_.Ok(opened, Name("open"))) return;
  auto desk = trade::Desk::Bind(db_.engine.get());
  if (!checks_.Ok(desk.status(), Name("bind"))) return;
  desk_ = *std::move(desk);
  Place();
  ChangeStatuses();
  std::set<std::string> buyers;
  for (const Order& order : book_.all()) {
    if (buyers.size() < kAsked) buyers.insert(order.buyer_id());
  }
  for (const std::string& buyer : buyers) AskSide(trade::kBuyer, buyer);
  for (size_t i = 0; i < std::min(kAsked, book_.sellers().size()); ++i) {
    AskSide(trade::kSeller, book_.sellers()[i]);
  }
  for (size_t i = 0; i < book_.all().size(); i += 31) {
    const Order& order = book_.all()[i];
    const auto found = desk_->Get(order.order_id());
    checks_.That(
        found.ok() && found->SerializeAsString() == order.SerializeAsString(),
        Name("an order by its id"));
  }
  db_.Verify(what_, &checks_);
  std::printf("%s: %zu orders of %zu sellers\n", what_.c_str(),
              book_.all().size(), book_.sellers().size());
}

}  // namespace

void CheckTrade(std::string_view what, const OrderBook& book, Checks* checks) {
  TradeCheck(what, book, checks).Run();
}

// The preset of examples/embed.cc.
void CheckSellerOrders(const OrderBook& book, Checks* checks) {
  Scheme scheme{.name = "seller_orders",
                .table = presets::SellerOrders("orders"),
                .reason = "hash(seller_id)"};
  CheckScheme(scheme, book, checks);
}

// Each order is a payment from the house to the seller.
void CheckFinance(const OrderBook& book, Checks* checks) {
  SystemDatabase db;
  if (!checks->Ok(db.Open(Schema().Add(presets::AccountEntries())),
                  "finance: open")) {
    return;
  }
  auto ledger = finance::Ledger::Bind(db.engine.get());
  if (!checks->Ok(ledger.status(), "finance: bind")) return;
  const finance::Account house = {AccountEntry::HOUSE, "market"};
  std::map<std::string, int64_t> balances;
  std::vector<finance::Transfer> some;
  for (const Order& order : book.all()) {
    some.push_back({.id = order.order_id(),
                    .from = house,
                    .to = {AccountEntry::MERCHANT, order.seller_id()},
                    .cents = order.amount_cents(),
                    .ts_ms = order.ts_ms()});
    balances[order.seller_id()] += order.amount_cents();
    if (some.size() < 200 && &order != &book.all().back()) continue;
    if (!checks->Ok(ledger->Book(some), "finance: book")) return;
    checks->That(absl::IsAlreadyExists(ledger->Book(some)),
                 "finance: a transfer is booked once");
    some.clear();
  }
  int64_t paid = 0;
  for (const auto& [seller, cents] : balances) {
    const auto balance = ledger->Balance({AccountEntry::MERCHANT, seller});
    if (!checks->Ok(balance.status(), "finance: balance")) return;
    checks->Equal(*balance, cents, "finance: a seller's balance");
    paid += cents;
  }
  checks->Equal(ledger->Balance(house).value_or(0), -paid,
                "finance: the house's balance");
  checks->Equal(ledger->Total().value_or(1), int64_t{0}, "finance: total");

  for (size_t i = 0; i < std::min(kAsked, book.sellers().size()); ++i) {
    const std::string& seller = book.sellers()[i];
    OrderBook::Orders expected = book.OfSeller(seller);
    const int64_t from = expected[expected.size() / 2]->ts_ms();
    std::erase_if(expected,
                  [from](const Order* o) { return o->ts_ms() < from; });
    std::vector<std::string> ids;
    std::string continuation;
    do {
      const auto page =
          ledger->Statement({AccountEntry::MERCHANT, seller}, kPageRows,
                            {.min = from}, continuation);
      if (!checks->Ok(page.status(), "finance: statement")) return;
      for (const AccountEntry& entry : page->records) {
        ids.push_back(entry.transfer_id());
      }
      continuation = page->continuation;
    } while (!continuation.empty());
    bool same = ids.size() == expected.size();
    for (size_t k = 0; same && k < ids.size(); ++k) {
      same = ids[k] == expected[k]->order_id();
    }
    checks->That(same, "finance: a seller's statement from a day on");
    const auto both = ledger->OfTransfer(ids.front());
    checks->That(both.ok() && both->size() == 2 &&
                     (*both)[0].amount_cents() + (*both)[1].amount_cents() == 0,
                 "finance: both sides of a transfer");
  }
  db.Verify("finance", checks);
  std::printf("finance: %zu transfers to %zu accounts\n", book.all().size(),
              balances.size());
}

}  // namespace dovetail::test
