// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A store of orders that come in the status CREATED, of which some leave it,
// and a map of what must be in it. Of query_tombstones.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "dovetail/index_admin.h"
#include "dovetail/presets.h"
#include "dovetail/query.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

inline constexpr int kBatch = 500;
inline constexpr uint64_t kTop = 20;

// Live orders of the status CREATED, by seller: by -ts, then id.
using Oracle =
    std::map<std::string, std::map<std::pair<int, std::string>, bool>>;

struct OrderOf {
  std::string seller;
  int ts;
  bool leaves;  // Goes on from CREATED to SHIPPED.
  std::string id() const { return absl::StrCat(seller, "-", ts); }
};

inline v1::IndexSchema CountIndex() {
  v1::IndexSchema index =
      ValueIndex("per_status", {Field("status"), Field("seller_id")});
  index.set_kind(v1::IndexSchema::COUNT);
  return index;
}

inline std::string RecordOf(const OrderOf& order, v1::OrderStatus status) {
  v1::Order record;
  record.set_order_id(order.id());
  record.set_seller_id(order.seller);
  record.set_ts_ms(order.ts);
  record.set_status(status);
  return record.SerializeAsString();
}

inline std::string StatusOnly(v1::OrderStatus status) {
  v1::Order record;
  record.set_status(status);
  return record.SerializeAsString();
}

inline double MicrosOf(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - start)
      .count();
}

// One store, and what must be in it.
class Shop {
 public:
  Shop(bool changes, Checks* checks) : changes_(changes), checks_(*checks) {}

  absl::Status Open(bool background, uint64_t reclaim_at = 50'000) {
    Options options;
    options.background_work = background;
    options.dead_entries.reclaim_at = reclaim_at;
    Schema schema;
    schema.Add(presets::SellerOrders("orders"));
    ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), schema, options));
    if (!engine_->open_report().created) return absl::OkStatus();
    RETURN_IF_ERROR(engine_->AddIndex("orders", CountIndex()));
    return engine_->BuildIndex("orders", "per_status", {}).status();
  }
  absl::Status Reopen(bool background) {
    RETURN_IF_ERROR(engine_->Close());
    engine_.reset();
    return Open(background);
  }
  Engine& engine() { return *engine_; }

  // Writes them all, and then changes those that leave.
  absl::Status Add(const std::vector<OrderOf>& orders) {
    RETURN_IF_ERROR(
        InBatches(orders, [&](const OrderOf& order, WriteBatch* batch) {
          const bool shipped = order.leaves && !changes_;
          batch->Put("orders",
                     RecordOf(order, shipped ? v1::SHIPPED : v1::CREATED));
          if (!order.leaves)
            oracle_[order.seller][{-order.ts, order.id()}] = true;
        }));
    if (!changes_) return absl::OkStatus();
    return InBatches(orders, [&](const OrderOf& order, WriteBatch* batch) {
      if (order.leaves) Ship(order, batch);
    });
  }
  // An order comes, or leaves the status.
  absl::Status Come(const OrderOf& order) {
    oracle_[order.seller][{-order.ts, order.id()}] = true;
    return engine_
        ->Write({}, WriteBatch().Put("orders", RecordOf(order, v1::CREATED)))
        .status();
  }
  absl::Status Leave(const OrderOf& order) {
    oracle_[order.seller].erase({-order.ts, order.id()});
    WriteBatch batch;
    Ship(order, &batch);
    return engine_->Write({}, batch).status();
  }

  // The newest twenty, compared; in microseconds.
  double Top(const std::string& seller) {
    std::vector<Row> rows;
    const double micros = MicrosOf([&] {
      auto page = engine_->Scan({}, RequestFor(seller));
      if (page.ok()) rows = std::move(page->rows);
    });
    Compare(seller, rows, 0, "scan");
    return micros;
  }
  // The same, asked as a query.
  double TopByQuery(const std::string& seller) {
    std::vector<Row> rows;
    const Query query = Query("orders")
                            .Where(Filter::Equal("seller_id", seller))
                            .Where(Filter::Equal("status", v1::CREATED))
                            .OrderBy("ts_ms", Query::kDescending)
                            .Limit(kTop);
    const double micros = MicrosOf([&] {
      auto page = engine_->Query({}, query);
      if (page.ok()) rows = std::move(page->rows);
    });
    Compare(seller, rows, 0, "query");
    return micros;
  }
  // All of them, page by page.
  void PageThrough(const std::string& seller) {
    ScanRequest request = RequestFor(seller);
    size_t seen = 0;
    do {
      const auto page = engine_->Scan({}, request);
      if (!checks_.Ok(page.status(), "page")) return;
      Compare(seller, page->rows, seen, "page");
      seen += page->rows.size();
      request.continuation = page->continuation;
    } while (!request.continuation.empty());
    checks_.Equal(seen, oracle_[seller].size(), "rows of all pages");
  }
  std::vector<std::string> TopOf(const Snapshot& snapshot,
                                 const std::string& seller) {
    const auto page =
        engine_->Scan({.snapshot = &snapshot}, RequestFor(seller));
    std::vector<std::string> ids;
    if (!checks_.Ok(page.status(), "scan of a snapshot")) return ids;
    for (const Row& row : page->rows) ids.push_back(IdOf(row));
    return ids;
  }

  DeadEntryStats Figures() { return engine_->GetStats()->dead_entries; }
  uint64_t IndexBytes() {
    const absl::StatusOr<Stats> stats = engine_->GetStats();
    for (const IndexStats& index : stats->indexes) {
      if (index.index == "by_status") return index.bytes_on_disk;
    }
    return 0;
  }

 private:
  using Add1 = std::function<void(const OrderOf&, WriteBatch*)>;

  absl::Status InBatches(const std::vector<OrderOf>& orders, const Add1& add) {
    WriteBatch batch;
    for (size_t i = 0; i < orders.size(); ++i) {
      add(orders[i], &batch);
      if (batch.count() < kBatch && i + 1 < orders.size()) continue;
      if (batch.empty()) continue;
      RETURN_IF_ERROR(engine_->Write({}, batch).status());
      batch = WriteBatch();
    }
    return absl::OkStatus();
  }
  static void Ship(const OrderOf& order, WriteBatch* batch) {
    batch->Patch("orders", RowRef::By("by_order_id", {order.id()}),
                 StatusOnly(v1::SHIPPED), {"status"});
  }
  static ScanRequest RequestFor(const std::string& seller) {
    ScanRequest request{.table = "orders", .index = "by_status"};
    request.equal = {seller, v1::CREATED};
    request.limit = kTop;
    return request;
  }
  static std::string IdOf(const Row& row) {
    v1::Order order;
    order.ParseFromString(row.record);
    return order.order_id();
  }
  // The rows are those behind the first `skip`.
  void Compare(const std::string& seller, const std::vector<Row>& rows,
               size_t skip, std::string_view what) {
    const auto& live = oracle_[seller];
    auto it = live.begin();
    std::advance(it, std::min(skip, live.size()));
    bool same = rows.size() == std::min<size_t>(kTop, live.size() - skip);
    for (size_t i = 0; same && i < rows.size(); ++i, ++it) {
      same = IdOf(rows[i]) == it->first.second;
    }
    checks_.That(same, absl::StrCat(ToAbsl(what), " of ", seller,
                                    " differs; rows=", rows.size()));
  }

  const bool changes_;
  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  Oracle oracle_;
};

}  // namespace dovetail::test
