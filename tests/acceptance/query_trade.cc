// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The questions of an order desk, on the Olist orders: a buyer's orders by any
// filter, and a seller's by status, amount and time. Prints each with its plan
// and its work; every answer is compared with brute force, and no query that an
// index serves steps over more than three times what it returns.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/data.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using v1::Order;
using Test = std::function<bool(const Order&)>;

constexpr size_t kBatchOrders = 500;
constexpr size_t kSellers = 20;
constexpr size_t kBuyers = 200;
constexpr uint64_t kLimit = 20;
constexpr double kScannedMax = 3;

class Trade {
 public:
  explicit Trade(Checks* checks) : checks_(*checks) {}

  absl::Status Open();
  absl::Status Load();
  void AskBuyers();
  void AskSellers();

 private:
  // Asks, compares with `test` over all orders, newest first, or by amount,
  // largest first.
  void Ask(std::string_view kind, const Query& query, const Test& test,
           bool by_amount);
  void Report(std::string_view kind, const Query& query);

  struct Figures {
    uint64_t queries = 0;
    uint64_t rows = 0;
    uint64_t entries = 0;
    double worst = 0;
  };

  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  std::vector<Order> orders_;
  std::map<std::string, std::vector<const Order*>> sellers_;
  std::map<std::string, Figures> figures_;
};

absl::Status Trade::Open() {
  Schema schema;
  schema.Add(
      presets::SplitOrders("trade")
          .Index("by_buyer", {Field("buyer_id"), Field("ts_ms").Desc()})
          .Index("by_status_amount", {Field("seller_id"), Varint("status"),
                                      Field("amount_cents").Desc()}));
  ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), schema));
  return absl::OkStatus();
}

// One order per seller of an order. The data names no buyers: an order's is
// made from its id.
absl::Status Trade::Load() {
  std::map<std::string, std::map<std::string, int64_t>> items;
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
  WriteBatch batch;
  size_t in_batch = 0;
  const auto flush = [&]() -> absl::Status {
    in_batch = 0;
    return engine_->Write({}, std::exchange(batch, WriteBatch())).status();
  };
  RETURN_IF_ERROR(
      ReadCsv(SharedData("olist/orders.csv.xz"),
              {"order_id", "order_status", "order_purchase_timestamp"},
              [&](std::vector<std::string>& row) -> absl::Status {
                ASSIGN_OR_RETURN(const int64_t ts_ms, ParseTimeMs(row[2]));
                v1::OrderStatus status = v1::CREATED;
                v1::OrderStatus_Parse(absl::AsciiStrToUpper(row[1]), &status);
                for (const auto& [seller, cents] : items[row[0]]) {
                  Order order;
                  order.set_order_id(row[0]);
                  order.set_seller_id(seller);
                  order.set_buyer_id(absl::StrCat(
                      "b", std::hash<std::string>()(row[0]) % 5000));
                  order.set_ts_ms(ts_ms);
                  order.set_status(status);
                  order.set_amount_cents(cents);
                  batch.Put("trade", order.SerializeAsString());
                  orders_.push_back(std::move(order));
                  if (++in_batch == kBatchOrders) RETURN_IF_ERROR(flush());
                }
                return absl::OkStatus();
              }));
  RETURN_IF_ERROR(flush());
  for (const Order& order : orders_) {
    sellers_[order.seller_id()].push_back(&order);
  }
  std::printf("%zu orders of %zu sellers\n", orders_.size(), sellers_.size());
  return absl::OkStatus();
}

void Trade::Report(std::string_view kind, const Query& query) {
  const auto plan = engine_->Explain({}, query, {.run = true});
  if (!checks_.Ok(plan.status(), "explain")) return;
  std::printf("\n%.*s\n%s", static_cast<int>(kind.size()), kind.data(),
              PlanText(*plan).c_str());
}

void Trade::Ask(std::string_view kind, const Query& query, const Test& test,
                bool by_amount) {
  Figures& figures = figures_[std::string(kind)];
  if (figures.queries++ == 0) Report(kind, query);
  const auto page = engine_->Query({}, query);
  if (!checks_.Ok(page.status(), kind)) return;

  std::vector<const Order*> expected;
  for (const Order& order : orders_) {
    if (test(order)) expected.push_back(&order);
  }
  std::sort(expected.begin(), expected.end(),
            [&](const Order* a, const Order* b) {
              const auto key = [&](const Order* o) {
                return std::make_tuple(by_amount ? -o->amount_cents() : 0,
                                       -o->ts_ms());
              };
              if (by_amount && key(a) == key(b)) {
                return a->order_id() < b->order_id();
              }
              return key(a) != key(b)
                         ? key(a) < key(b)
                         : std::make_pair(a->seller_id(), a->order_id()) <
                               std::make_pair(b->seller_id(), b->order_id());
            });
  if (expected.size() > kLimit) expected.resize(kLimit);
  bool same = page->rows.size() == expected.size();
  for (size_t i = 0; same && i < expected.size(); ++i) {
    same = page->rows[i].record == expected[i]->SerializeAsString();
  }
  checks_.That(same, absl::StrCat(ToAbsl(kind), ": ", query.ToJson()));

  figures.rows += page->rows.size();
  figures.entries += page->work.entries;
  // One more may be looked at to see that it is not in the range.
  const double allowed =
      kScannedMax * static_cast<double>(std::max<size_t>(page->rows.size(), 1));
  const auto entries = static_cast<double>(page->work.entries);
  figures.worst = std::max(
      figures.worst,
      entries / static_cast<double>(std::max<size_t>(page->rows.size(), 1)));
  checks_.That(entries <= allowed,
               absl::StrCat(ToAbsl(kind), ": entries=", page->work.entries,
                            " rows=", page->rows.size(), " ", query.ToJson()));
}

void Trade::AskBuyers() {
  for (size_t i = 0; i < kBuyers; ++i) {
    const std::string buyer = absl::StrCat("b", i);
    const auto is_buyer = [&](const Order& o) { return o.buyer_id() == buyer; };
    const Query newest = Query("trade")
                             .Where(Filter::Equal("buyer_id", buyer))
                             .OrderBy("ts_ms", Query::kDescending)
                             .Limit(kLimit);
    Ask("a buyer's newest orders", newest, is_buyer, false);
  }
}

void Trade::AskSellers() {
  std::vector<std::pair<size_t, std::string>> largest;
  for (const auto& [seller, orders] : sellers_) {
    largest.emplace_back(orders.size(), seller);
  }
  std::sort(largest.rbegin(), largest.rend());
  largest.resize(std::min(largest.size(), kSellers));
  for (const auto& [size, seller] : largest) {
    for (const v1::OrderStatus status :
         {v1::DELIVERED, v1::SHIPPED, v1::CANCELED}) {
      const auto of_status = [&, s = seller](const Order& o) {
        return o.seller_id() == s && o.status() == status;
      };
      Query base = Query("trade")
                       .Where(Filter::Equal("seller_id", seller))
                       .Where(Filter::Equal("status", status))
                       .Limit(kLimit);
      Ask("a seller's newest in a status",
          Query(base).OrderBy("ts_ms", Query::kDescending), of_status, false);
      const int64_t from = 1'514'764'800'000;  // 2018
      Ask(
          "a seller's in a status and a time range",
          Query(base)
              .Where(Filter::AtLeast("ts_ms", from))
              .OrderBy("ts_ms", Query::kDescending),
          [&](const Order& o) { return of_status(o) && o.ts_ms() >= from; },
          false);
      Ask(
          "a seller's largest in a status and an amount range",
          Query(base)
              .Where(Filter::InRange("amount_cents",
                                     {.min = 5'000, .max = 20'000}))
              .OrderBy("amount_cents", Query::kDescending),
          [&](const Order& o) {
            return of_status(o) && o.amount_cents() >= 5'000 &&
                   o.amount_cents() <= 20'000;
          },
          true);
    }
    Ask(
        "a seller's newest in any of three statuses",
        Query("trade")
            .Where(Filter::Equal("seller_id", seller))
            .Where(Filter::In("status",
                              {v1::SHIPPED, v1::INVOICED, v1::PROCESSING}))
            .OrderBy("ts_ms", Query::kDescending)
            .Limit(kLimit),
        [&, s = seller](const Order& o) {
          return o.seller_id() == s &&
                 (o.status() == v1::SHIPPED || o.status() == v1::INVOICED ||
                  o.status() == v1::PROCESSING);
        },
        false);
  }
  std::printf("\n");
  for (const auto& [kind, f] : figures_) {
    std::printf(
        "%s: %llu queries, %llu rows, %llu entries, at most %.1f per "
        "row\n",
        kind.c_str(), static_cast<unsigned long long>(f.queries),
        static_cast<unsigned long long>(f.rows),
        static_cast<unsigned long long>(f.entries), f.worst);
  }
}

int Main() {
  if (!HasSharedData("olist/orders.csv.xz")) {
    std::printf(
        "query-trade: skipped, no data set olist in %s; set "
        "DOVETAIL_SHARED_DATA\n",
        SharedData("").c_str());
    return 0;
  }
  Checks checks("query-trade");
  Trade trade(&checks);
  absl::Status loaded = trade.Open();
  if (loaded.ok()) loaded = trade.Load();
  if (checks.Ok(loaded, "load")) {
    trade.AskBuyers();
    trade.AskSellers();
  }
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main() { return dovetail::test::Main(); }
