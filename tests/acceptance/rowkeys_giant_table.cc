// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A giant seller with a table of its own. The tables are one preset twice; the
// writer says which one an order goes to, the engine does not: what spans both
// is one request, and a read of both goes through one snapshot.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/presets.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using v1::Order;

constexpr size_t kBatchRows = 200;

class GiantTable {
 public:
  GiantTable(const OrderBook& book, Checks* checks)
      : book_(book), checks_(*checks), giant_(book.sellers().front()) {}

  void Run() {
    if (!checks_.Ok(Load(), "giant_table: load")) return;
    for (const std::string& seller : {giant_, book_.sellers()[1]}) {
      CheckNewest(seller, TableOf(seller));
    }
    CheckById();
    const std::string next = book_.sellers()[1];
    if (!checks_.Ok(Move(next), "giant_table: move a seller")) return;
    CheckNewest(next, "giants");
    CheckNewestIn("orders", next, {});
    CheckById();
    const auto report = engine_->Verify({});
    checks_.That(
        report.ok() && report->clean() && report->rows == book_.all().size(),
        "giant_table: verify is clean");
  }

 private:
  std::string TableOf(const std::string& seller) const {
    return seller == giant_ ? "giants" : "orders";
  }

  absl::Status Load() {
    Schema schema;
    schema.Add(presets::SellerOrders("orders"));
    schema.Add(presets::SellerOrders("giants"));
    ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), schema));
    WriteBatch batch;
    for (const Order& order : book_.all()) {
      batch.Insert(TableOf(order.seller_id()), order.SerializeAsString());
      if (batch.count() < kBatchRows) continue;
      RETURN_IF_ERROR(
          engine_->Write({}, std::exchange(batch, WriteBatch())).status());
    }
    return batch.empty() ? absl::OkStatus()
                         : engine_->Write({}, std::move(batch)).status();
  }

  // A seller that has grown: each request takes some of its orders out of one
  // table and puts them into the other, so no reader misses one or sees it
  // twice.
  absl::Status Move(const std::string& seller) {
    ScanRequest scan{.table = "orders", .equal = {seller}, .limit = kBatchRows};
    while (true) {
      ASSIGN_OR_RETURN(const Page page, engine_->Scan({}, scan));
      if (page.rows.empty()) return absl::OkStatus();
      WriteBatch batch;
      for (const Row& row : page.rows) {
        batch.Delete("orders", RowRef::EncodedKey(row.key))
            .Insert("giants", row.record);
      }
      RETURN_IF_ERROR(engine_->Write({}, std::move(batch)).status());
    }
  }

  void CheckNewest(const std::string& seller, const std::string& table) {
    CheckNewestIn(table, seller, book_.OfSeller(seller));
  }

  void CheckNewestIn(const std::string& table, const std::string& seller,
                     const OrderBook::Orders& expected) {
    ScanRequest scan{.table = table, .equal = {seller}, .limit = 7};
    std::vector<std::string> records;
    do {
      const auto page = engine_->Scan({}, scan);
      if (!checks_.Ok(page.status(), "giant_table: scan")) return;
      for (const Row& row : page->rows) records.push_back(row.record);
      scan.continuation = page->continuation;
    } while (!scan.continuation.empty());
    bool same = records.size() == expected.size();
    for (size_t i = 0; same && i < records.size(); ++i) {
      same = records[i] == expected[i]->SerializeAsString();
    }
    checks_.That(same, absl::StrCat("giant_table: newest in ", table));
  }

  // An order's table does not follow from its id: one state, both tables.
  void CheckById() {
    const auto snapshot = engine_->GetSnapshot();
    if (!checks_.Ok(snapshot.status(), "giant_table: snapshot")) return;
    for (size_t i = 0; i < book_.all().size(); i += 49) {
      const Order& order = book_.all()[i];
      size_t found = 0;
      for (const char* table : {"orders", "giants"}) {
        const auto rows = engine_->GetBy({.snapshot = &*snapshot}, table,
                                         "by_order_id", {order.order_id()});
        if (!checks_.Ok(rows.status(), "giant_table: get")) return;
        for (const Row& row : *rows) {
          found += row.record == order.SerializeAsString() ? 1 : 100;
        }
      }
      checks_.Equal(found, size_t{1}, "giant_table: an order by its id");
    }
  }

  const OrderBook& book_;
  Checks& checks_;
  const std::string giant_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

void CheckGiantTable(const OrderBook& all, Checks* checks) {
  GiantTable(all, checks).Run();
}

}  // namespace dovetail::test
