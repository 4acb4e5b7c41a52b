// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One scheme: load, change, remove, ask, verify, reopen.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using v1::Order;

constexpr size_t kBatchRows = 200;
constexpr size_t kLargeSellers = 10;
constexpr size_t kPageRows = 7;
constexpr uint64_t kManyRows = 1'000'000;

class SchemeRun {
 public:
  SchemeRun(const Scheme& scheme, const OrderBook& book, Checks* checks)
      : scheme_(scheme), book_(book), checks_(*checks) {}

  void Run();

 private:
  absl::Status Load();
  absl::Status Change();
  void AskOrders();
  void AskSellers();
  void AskStatuses();
  void AskAdHoc();
  void AskAcrossSellers();
  void CheckStored();
  void Verify();

  // Compares a page's orders with those of the oracle.
  bool Same(std::string_view what, const OrderBook::Orders& expected,
            const std::vector<Order>& actual, bool ties_by_id);
  bool Same(std::string_view what, const OrderBook::Orders& expected,
            const std::vector<Order>& actual) {
    return Same(what, expected, actual, scheme_.ties_by_id);
  }
  // Page by page, to the end.
  std::vector<Order> Scan(ScanRequest request, uint64_t page_rows);
  std::vector<Order> Ask(Query query, uint64_t page_rows);
  // That the query is refused, and the error names `word`.
  void Refused(std::string_view what, const absl::Status& status,
               std::string_view word, std::string_view remedy);
  std::string Name(std::string_view what) const {
    return absl::StrCat(scheme_.name, ": ", ToAbsl(what));
  }

  const Scheme& scheme_;
  OrderBook book_;
  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  uint64_t key_bytes_ = 0;
  uint64_t rows_ = 0;
};

std::optional<Order> Parsed(const Row& row) {
  Order order;
  if (!order.ParseFromString(row.record)) return std::nullopt;
  return order;
}

absl::Status SchemeRun::Load() {
  Schema schema;
  schema.Add(scheme_.table);
  ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), schema));
  WriteBatch batch;
  for (const Order& order : book_.all()) {
    batch.Insert("orders", order.SerializeAsString());
    if (batch.count() < kBatchRows) continue;
    RETURN_IF_ERROR(
        engine_->Write({}, std::exchange(batch, WriteBatch())).status());
  }
  return batch.empty() ? absl::OkStatus()
                       : engine_->Write({}, std::move(batch)).status();
}

// Changes statuses by order id, puts records again as they are or with another
// amount, and deletes; all by what a caller knows: the order's id or record.
absl::Status SchemeRun::Change() {
  size_t number = 0;
  for (Order& order : book_.all()) {
    WriteBatch batch;
    const RowRef by_id = RowRef::By("by_order_id", {order.order_id()});
    switch (++number % 50) {
      case 7:
      case 21: {
        order.set_status(number % 50 == 7 ? v1::RETURNED : v1::REFUNDED);
        Order change;
        change.set_status(order.status());
        batch.Patch("orders", by_id, change.SerializeAsString(), {"status"});
        break;
      }
      case 33:
        order.set_amount_cents(order.amount_cents() + 100);
        batch.Put("orders", order.SerializeAsString());
        break;
      case 34:
        batch.Put("orders", order.SerializeAsString());
        break;
      case 49:
        batch.Delete("orders", by_id);
        book_.Remove(order.order_id());
        break;
      default:
        continue;
    }
    RETURN_IF_ERROR(engine_->Write({}, std::move(batch)).status());
  }
  return absl::OkStatus();
}

bool SchemeRun::Same(std::string_view what, const OrderBook::Orders& expected,
                     const std::vector<Order>& actual, bool ties_by_id) {
  bool same = expected.size() == actual.size();
  for (size_t i = 0; same && i < actual.size(); ++i) {
    if (ties_by_id) {
      same = actual[i].SerializeAsString() == expected[i]->SerializeAsString();
      continue;
    }
    const auto found = book_.by_id().find(actual[i].order_id());
    same = actual[i].ts_ms() == expected[i]->ts_ms() &&
           found != book_.by_id().end() &&
           found->second->SerializeAsString() == actual[i].SerializeAsString();
  }
  return checks_.That(same, absl::StrCat(Name(what), ": rows=", actual.size(),
                                         " expected=", expected.size()));
}

std::vector<Order> SchemeRun::Scan(ScanRequest request, uint64_t page_rows) {
  std::vector<Order> orders;
  request.table = "orders";
  request.limit = page_rows;
  do {
    const auto page = engine_->Scan({}, request);
    if (!checks_.Ok(page.status(), Name("scan"))) return orders;
    for (const Row& row : page->rows) {
      orders.push_back(Parsed(row).value_or(Order()));
    }
    request.continuation = page->continuation;
  } while (!request.continuation.empty());
  return orders;
}

std::vector<Order> SchemeRun::Ask(Query query, uint64_t page_rows) {
  std::vector<Order> orders;
  query.Limit(page_rows);
  std::string continuation;
  do {
    query.Continuation(continuation);
    const auto page = engine_->Query({}, query);
    if (!checks_.Ok(page.status(),
                    absl::StrCat(Name("query "), query.ToJson()))) {
      return orders;
    }
    for (const Row& row : page->rows) {
      orders.push_back(Parsed(row).value_or(Order()));
    }
    continuation = page->continuation;
  } while (!continuation.empty());
  return orders;
}

void SchemeRun::AskOrders() {
  size_t number = 0;
  for (const Order& order : book_.all()) {
    if (++number % 49 != 0 && number % 50 != 49) continue;
    const auto rows =
        engine_->GetBy({}, "orders", "by_order_id", {order.order_id()});
    if (!checks_.Ok(rows.status(), Name("get by id"))) return;
    const bool there = book_.by_id().contains(order.order_id());
    checks_.That(rows->size() == (there ? 1 : 0) &&
                     (!there || (*rows)[0].record == order.SerializeAsString()),
                 Name(absl::StrCat("order ", order.order_id())));
  }
}

void SchemeRun::AskSellers() {
  std::vector<std::string> sellers = book_.sellers();
  if (sellers.size() > 2 * kLargeSellers) {
    // Of the small ones every so many.
    for (size_t i = kLargeSellers; i < 2 * kLargeSellers; ++i) {
      sellers[i] = sellers[i * (sellers.size() / (2 * kLargeSellers))];
    }
    sellers.resize(2 * kLargeSellers);
  }
  sellers.push_back(std::string(32, 'f'));  // There is none.
  for (const std::string& seller : sellers) {
    const OrderBook::Orders expected = book_.OfSeller(seller);
    const ScanRequest scan{.index = scheme_.by_seller, .equal = {seller}};
    Same("a seller's orders", expected, Scan(scan, kPageRows));
    const Query query = Query("orders")
                            .Where(Filter::Equal("seller_id", seller))
                            .OrderBy("ts_ms", Query::kDescending);
    Same("a seller's orders, query", expected, Ask(query, kPageRows));

    OrderBook::Orders top = expected;
    top.resize(std::min<size_t>(top.size(), 20));
    ScanRequest one = scan;
    one.table = "orders";
    one.limit = 20;
    const auto page = engine_->Scan({}, one);
    if (!checks_.Ok(page.status(), Name("newest 20"))) continue;
    std::vector<Order> orders;
    for (const Row& row : page->rows) {
      orders.push_back(Parsed(row).value_or(Order()));
    }
    Same("a seller's newest 20", top, orders);

    if (expected.empty()) continue;
    const int64_t middle = expected[expected.size() / 2]->ts_ms();
    ScanRequest later = scan;
    later.range = Range{.min = middle};
    Same("a seller's from a time on", book_.Newest([&](const Order& o) {
      return o.seller_id() == seller && o.ts_ms() >= middle;
    }),
         Scan(later, 1000));
  }
}

void SchemeRun::AskStatuses() {
  for (size_t i = 0; i < std::min(kLargeSellers, book_.sellers().size()); ++i) {
    const std::string& seller = book_.sellers()[i];
    for (const v1::OrderStatus status :
         {v1::DELIVERED, v1::RETURNED, v1::INVOICED}) {
      const OrderBook::Orders expected = book_.Newest([&](const Order& o) {
        return o.seller_id() == seller && o.status() == status;
      });
      Same("a seller's in a status", expected,
           Scan({.index = "by_status", .equal = {seller, status}}, kPageRows));
      Same("a seller's in a status, query", expected,
           Ask(Query("orders")
                   .Where(Filter::Equal("seller_id", seller))
                   .Where(Filter::Equal("status", status))
                   .OrderBy("ts_ms", Query::kDescending),
               kPageRows));
    }
    const OrderBook::Orders back = book_.Newest([&](const Order& o) {
      return o.seller_id() == seller &&
             (o.status() == v1::RETURNED || o.status() == v1::REFUNDED);
    });
    Same("a seller's in two statuses", back,
         Scan({.index = "by_status",
               .equal = {seller},
               .any_of = {v1::RETURNED, v1::REFUNDED}},
              kPageRows));
  }
}

void SchemeRun::AskAdHoc() {
  const std::string& seller = book_.sellers().front();
  const int64_t from = 1'514'764'800'000;  // 2018
  const auto test = [&](const Order& o) {
    return o.seller_id() == seller && o.ts_ms() >= from &&
           o.amount_cents() >= 5'000 && o.amount_cents() <= 20'000;
  };
  Same("a seller's by time and amount", book_.Newest(test),
       Ask(Query("orders")
               .Where(Filter::Equal("seller_id", seller))
               .Where(Filter::AtLeast("ts_ms", from))
               .Where(Filter::InRange("amount_cents",
                                      {.min = 5'000, .max = 20'000}))
               .OrderBy("ts_ms", Query::kDescending),
           kPageRows));

  // Of all sellers: nothing narrows it, so it has to be allowed.
  const Query large = Query("orders")
                          .Where(Filter::Equal("status", v1::RETURNED))
                          .Where(Filter::Above("amount_cents", 10'000))
                          .OrderBy("ts_ms", Query::kDescending);
  OrderBook::Orders expected = book_.Newest([](const Order& o) {
    return o.status() == v1::RETURNED && o.amount_cents() > 10'000;
  });
  const auto refused = engine_->Query({}, large);
  Refused("all sellers' in a status", refused.status(), "has to be allowed",
          "add an index");
  // Equal times of two sellers come in the order of the row key's fields.
  std::vector<Order> actual =
      Ask(Query(large).AllowFullScan().AllowSort(), kManyRows);
  std::stable_sort(
      actual.begin(), actual.end(), [](const Order& a, const Order& b) {
        return a.ts_ms() != b.ts_ms() ? a.ts_ms() > b.ts_ms()
                                      : a.order_id() < b.order_id();
      });
  Same("all sellers' in a status", expected, actual);
}

void SchemeRun::AskAcrossSellers() {
  const OrderBook::Orders all = book_.Newest([](const Order&) { return true; });
  const Query newest =
      Query("orders").OrderBy("ts_ms", Query::kDescending).Limit(50);
  const auto page = engine_->Query({}, newest);
  if (scheme_.by_time) {
    std::vector<Order> orders;
    if (checks_.Ok(page.status(), Name("newest of all"))) {
      for (const Row& row : page->rows) {
        orders.push_back(Parsed(row).value_or(Order()));
      }
    }
    OrderBook::Orders top = all;
    top.resize(std::min<size_t>(top.size(), 50));
    // Equal times come by seller.
    bool same = orders.size() == top.size();
    for (size_t i = 0; same && i < top.size(); ++i) {
      same = orders[i].ts_ms() == top[i]->ts_ms();
    }
    checks_.That(same, Name("the newest 50 of all sellers"));
  } else {
    Refused("newest of all", page.status(), "sort has to be allowed",
            "add an index");
  }

  std::vector<std::string> ids = book_.sellers();
  std::sort(ids.begin(), ids.end());
  const Range range{.min = ids[ids.size() / 3], .max = ids[ids.size() / 2]};
  const auto in_range = [&](const Order& o) {
    return o.seller_id() >= range.min->as_string() &&
           o.seller_id() <= range.max->as_string();
  };
  ScanRequest scan{.table = "orders",
                   .index = scheme_.by_seller,
                   .range = range,
                   .limit = kManyRows};
  const Query query = Query("orders")
                          .Where(Filter::InRange("seller_id", range))
                          .Limit(kManyRows);
  const auto scanned = engine_->Scan({}, scan);
  const auto asked = engine_->Query({}, query);
  if (scheme_.sellers == Scheme::Sellers::kRefused) {
    Refused("a range of sellers, scan", scanned.status(),
            scheme_.by_seller.empty() ? scheme_.reason : "hash(seller_id)",
            "scan an index");
    Refused("a range of sellers, query", asked.status(), scheme_.reason,
            "add an index");
    return;
  }
  OrderBook::Orders expected = book_.Newest(in_range);
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Order* a, const Order* b) {
                     return a->seller_id() < b->seller_id();
                   });
  std::vector<Order> orders;
  if (checks_.Ok(scanned.status(), Name("a range of sellers, scan"))) {
    for (const Row& row : scanned->rows) {
      orders.push_back(Parsed(row).value_or(Order()));
    }
    Same("a range of sellers, scan", expected, orders);
  }
  Same("a range of sellers, query", expected,
       Ask(Query(query).OrderBy("seller_id"), kPageRows));
}

void SchemeRun::Refused(std::string_view what, const absl::Status& status,
                        std::string_view word, std::string_view remedy) {
  const std::string message(status.message());
  const bool refused = status.code() == absl::StatusCode::kFailedPrecondition ||
                       status.code() == absl::StatusCode::kInvalidArgument;
  checks_.That(
      refused && message.find(word) != std::string::npos &&
          message.find(remedy) != std::string::npos,
      absl::StrCat(Name(what), ": should be refused with ", ToAbsl(Quote(word)),
                   " and ", ToAbsl(Quote(remedy)), ", is ", status.ToString()));
}

void SchemeRun::CheckStored() {
  const absl::Status read =
      engine_->ForEachStored({}, "orders", {}, {}, [&](const StoredPair& row) {
        key_bytes_ += row.key.size();
        ++rows_;
        return true;
      });
  checks_.Ok(read, Name("stored keys"));
  checks_.Equal(rows_, book_.by_id().size(), Name("rows"));
}

void SchemeRun::Verify() {
  const auto report = engine_->Verify({});
  if (!checks_.Ok(report.status(), Name("verify"))) return;
  checks_.That(report->clean(),
               absl::StrCat(Name("verify: "), report->Summary()));
  checks_.Equal(report->rows, book_.by_id().size(), Name("verified rows"));
}

void SchemeRun::Run() {
  absl::Status loaded = Load();
  if (loaded.ok()) loaded = Change();
  if (!checks_.Ok(loaded, Name("load"))) return;
  AskOrders();
  AskSellers();
  AskStatuses();
  AskAdHoc();
  AskAcrossSellers();
  CheckStored();
  Verify();
  if (!checks_.Ok(engine_->Close(), Name("close"))) return;
  engine_.reset();
  auto reopened = Engine::Open(dir_.Sub("db"), Schema().Add(scheme_.table));
  if (!checks_.Ok(reopened.status(), Name("reopen"))) return;
  engine_ = *std::move(reopened);
  AskOrders();
  Verify();
  std::printf("%-28s %7llu rows %6.1f key bytes\n", scheme_.name.c_str(),
              static_cast<unsigned long long>(rows_),
              static_cast<double>(key_bytes_) /
                  static_cast<double>(std::max<uint64_t>(rows_, 1)));
  std::fflush(stdout);
}

}  // namespace

void CheckScheme(const Scheme& scheme, const OrderBook& all, Checks* checks) {
  SchemeRun(scheme, all, checks).Run();
}

}  // namespace dovetail::test
