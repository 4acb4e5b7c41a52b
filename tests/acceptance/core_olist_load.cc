// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Loading: schema, tables, and what the oracles learn on the way.

#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/presets.h"
#include "dovetail/schema.h"
#include "tests/acceptance/core_olist.h"
#include "tests/acceptance/text_orders.h"
#include "tests/support/data.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {
namespace {

constexpr size_t kRequestRows = 200;

Schema AllTables() {
  Schema schema;
  schema.Add(presets::SplitOrders("olist"));
  schema.Add(TextOrders("retail"));
  schema.Add(TextOrders("amazon"));
  return schema;
}

absl::StatusOr<v1::OrderStatus> StatusNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, v1::OrderStatus> kNames[] = {
      {"created", v1::CREATED},   {"approved", v1::APPROVED},
      {"invoiced", v1::INVOICED}, {"processing", v1::PROCESSING},
      {"shipped", v1::SHIPPED},   {"delivered", v1::DELIVERED},
      {"canceled", v1::CANCELED}, {"unavailable", v1::UNAVAILABLE}};
  for (const auto& [text, status] : kNames) {
    if (text == name) return status;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown status=", ToAbsl(Quote(name))));
}

// Collects mutations into requests of kRequestRows.
class Loader {
 public:
  explicit Loader(Engine* engine) : engine_(engine) {}

  absl::Status Add(Mutation mutation) {
    batch_.Add(std::move(mutation));
    ++mutations_;
    return batch_.count() < kRequestRows ? absl::OkStatus() : Flush();
  }
  absl::Status Flush(bool sync = false) {
    if (batch_.empty()) return absl::OkStatus();
    absl::StatusOr<Commit> commit =
        engine_->Write({.sync = sync}, std::move(batch_));
    batch_ = WriteBatch();
    RETURN_IF_ERROR(commit.status());
    for (const uint64_t rows : commit->rows_changed) rows_changed_ += rows;
    return absl::OkStatus();
  }

  uint64_t mutations() const { return mutations_; }
  uint64_t rows_changed() const { return rows_changed_; }

 private:
  Engine* engine_;
  WriteBatch batch_;
  uint64_t mutations_ = 0;
  uint64_t rows_changed_ = 0;
};

// "04-30-22" or "05-03-2022", month first.
absl::StatusOr<int64_t> ParseAmazonDate(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(text), '-');
  if (parts.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a date text=", ToAbsl(Quote(text))));
  }
  const std::string year = parts[2].size() == 2 ? "20" + parts[2] : parts[2];
  return ParseTimeMs(absl::StrCat(year, "-", parts[0], "-", parts[1]));
}

}  // namespace

std::string StatusText(v1::OrderStatus status) {
  return absl::StrCat(static_cast<int>(status));
}

void PrintRate(std::string_view what, uint64_t count, const Stopwatch& watch) {
  std::printf("%-44.*s %9llu in %6.2f s\n", static_cast<int>(what.size()),
              what.data(), static_cast<unsigned long long>(count),
              watch.Seconds());
  std::fflush(stdout);
}

absl::Status OrderSets::Open() {
  ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), AllTables()));
  return absl::OkStatus();
}

absl::Status OrderSets::Reopen() {
  RETURN_IF_ERROR(engine_->Close());
  engine_.reset();
  return Open();
}

absl::Status OrderSets::LoadOlistOrders() {
  std::unordered_map<std::string, std::set<std::string>> sellers;
  RETURN_IF_ERROR(ReadCsv(SharedData("olist/order_items.csv.xz"),
                          {"order_id", "seller_id"},
                          [&](std::vector<std::string>& row) {
                            sellers[row[0]].insert(row[1]);
                            return absl::OkStatus();
                          }));
  Loader loader(engine_.get());
  const Stopwatch watch;
  const absl::Status read =
      ReadCsv(SharedData("olist/orders.csv.xz"),
              {"order_id", "order_purchase_timestamp"},
              [&](std::vector<std::string>& row) -> absl::Status {
                ASSIGN_OR_RETURN(const int64_t ts_ms, ParseTimeMs(row[1]));
                const auto found = sellers.find(row[0]);
                if (found == sellers.end()) return absl::OkStatus();
                for (const std::string& seller : found->second) {
                  v1::Order order;
                  order.set_order_id(row[0]);
                  order.set_seller_id(seller);
                  order.set_ts_ms(ts_ms);
                  order.set_status(v1::CREATED);
                  RETURN_IF_ERROR(loader.Add({Mutation::Kind::kInsert,
                                              "olist",
                                              order.SerializeAsString(),
                                              RowRef::Key({}),
                                              {},
                                              {}}));
                  olist_by_order_[row[0]].push_back(olist_.lines.size());
                  olist_.lines.push_back(
                      {row[0], seller, ts_ms, StatusText(v1::CREATED)});
                }
                return absl::OkStatus();
              });
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(loader.Flush(true));
  PrintRate("olist: orders inserted", loader.mutations(), watch);
  checks_.Equal(loader.rows_changed(), uint64_t{36'106}, "olist order rows");
  return absl::OkStatus();
}

// Each change is a patch by the order id of all matching sellers' rows; orders
// without items match none.
absl::Status OrderSets::ReplayOlistChanges() {
  Loader loader(engine_.get());
  const Stopwatch watch;
  uint64_t expected_rows = 0;
  const absl::Status read = ReadCsv(
      SharedData("olist/status_changes.csv.xz"), {"order_id", "status"},
      [&](std::vector<std::string>& row) -> absl::Status {
        ASSIGN_OR_RETURN(const v1::OrderStatus status, StatusNamed(row[1]));
        v1::Order values;
        values.set_status(status);
        const auto found = olist_by_order_.find(row[0]);
        if (found != olist_by_order_.end()) {
          for (const size_t at : found->second) {
            olist_.lines[at].status = StatusText(status);
          }
          expected_rows += found->second.size();
        }
        return loader.Add(
            {Mutation::Kind::kPatch,
             "olist",
             values.SerializeAsString(),
             RowRef::By("by_order_id", {row[0]}, RowRef::Match::kAll),
             {"status"},
             {}});
      });
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(loader.Flush(true));
  PrintRate("olist: status changes by order id", loader.mutations(), watch);
  checks_.Equal(loader.mutations(), uint64_t{147'182}, "olist changes");
  checks_.Equal(loader.rows_changed(), expected_rows, "olist rows changed");
  return absl::OkStatus();
}

absl::Status OrderSets::SetOlistFinal() {
  Loader loader(engine_.get());
  const Stopwatch watch;
  const absl::Status read = ReadCsv(
      SharedData("olist/orders.csv.xz"), {"order_id", "order_status"},
      [&](std::vector<std::string>& row) -> absl::Status {
        ASSIGN_OR_RETURN(const v1::OrderStatus status, StatusNamed(row[1]));
        const auto found = olist_by_order_.find(row[0]);
        if (found == olist_by_order_.end()) return absl::OkStatus();
        v1::Order values;
        values.set_status(status);
        for (const size_t at : found->second) {
          Line& line = olist_.lines[at];
          line.status = StatusText(status);
          RETURN_IF_ERROR(
              loader.Add({Mutation::Kind::kPatch,
                          "olist",
                          values.SerializeAsString(),
                          RowRef::Key({line.seller, line.ts_ms, line.order}),
                          {"status"},
                          {}}));
        }
        return absl::OkStatus();
      });
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(loader.Flush(true));
  PrintRate("olist: final status by row key", loader.mutations(), watch);
  checks_.Equal(loader.rows_changed(), uint64_t{36'106}, "olist final rows");
  return absl::OkStatus();
}

absl::Status OrderSets::LoadOlist() {
  RETURN_IF_ERROR(LoadOlistOrders());
  RETURN_IF_ERROR(ReplayOlistChanges());
  RETURN_IF_ERROR(CheckOlistCounts("replayed", {{v1::DELIVERED, 33'869},
                                                {v1::SHIPPED, 1'196},
                                                {v1::APPROVED, 1'041},
                                                {v1::CREATED, 0}}));
  RETURN_IF_ERROR(SetOlistFinal());
  return CheckOlistCounts("final", {{v1::DELIVERED, 33'915},
                                    {v1::SHIPPED, 1'108},
                                    {v1::CANCELED, 461},
                                    {v1::INVOICED, 312},
                                    {v1::PROCESSING, 301},
                                    {v1::UNAVAILABLE, 7},
                                    {v1::APPROVED, 2}});
}

absl::Status OrderSets::LoadRetail() {
  Loader loader(engine_.get());
  const Stopwatch watch;
  std::unordered_map<std::string, uint64_t> lines_of_invoice;
  const absl::Status read =
      ReadCsv(SharedData("online-retail/lines.csv.xz"),
              {"InvoiceNo", "StockCode", "InvoiceDate"},
              [&](std::vector<std::string>& row) -> absl::Status {
                ASSIGN_OR_RETURN(const int64_t ts_ms, ParseTimeMs(row[2]));
                TextOrder order;
                order.set_order_id(
                    absl::StrCat(row[0], "#", ++lines_of_invoice[row[0]]));
                order.set_seller_id(row[1]);
                order.set_ts_ms(ts_ms);
                order.set_status(row[0][0] == 'C'   ? "CANCELLED"
                                 : row[0][0] == 'A' ? "ADJUST"
                                                    : "SOLD");
                retail_.lines.push_back({order.order_id(), order.seller_id(),
                                         ts_ms, order.status()});
                return loader.Add({Mutation::Kind::kPut,
                                   "retail",
                                   order.SerializeAsString(),
                                   RowRef::Key({}),
                                   {},
                                   {}});
              });
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(loader.Flush(true));
  PrintRate("online-retail: lines put", loader.mutations(), watch);
  checks_.Equal(loader.rows_changed(), uint64_t{541'909}, "retail lines");
  checks_.Equal(lines_of_invoice.size(), size_t{25'900}, "retail invoices");
  return absl::OkStatus();
}

absl::Status OrderSets::LoadAmazon() {
  Loader loader(engine_.get());
  const Stopwatch watch;
  const absl::Status read =
      ReadCsv(SharedData("amazon-in-sales/sales.csv.xz"),
              {"index", "Order ID", "Date", "Status"},
              [&](std::vector<std::string>& row) -> absl::Status {
                ASSIGN_OR_RETURN(const int64_t ts_ms, ParseAmazonDate(row[2]));
                TextOrder order;
                order.set_order_id(absl::StrCat(row[1], "#", row[0]));
                order.set_seller_id("amazon-in");
                order.set_ts_ms(ts_ms);
                order.set_status(row[3]);
                // The source repeats lines whole, index included: puts of equal
                // rows, which the table holds once.
                amazon_.lines.push_back({order.order_id(), order.seller_id(),
                                         ts_ms, order.status()});
                return loader.Add({Mutation::Kind::kPut,
                                   "amazon",
                                   order.SerializeAsString(),
                                   RowRef::Key({}),
                                   {},
                                   {}});
              });
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(loader.Flush(true));
  PrintRate("amazon-in-sales: lines put", loader.mutations(), watch);
  checks_.Equal(loader.mutations(), uint64_t{128'976}, "amazon lines");
  std::sort(amazon_.lines.begin(), amazon_.lines.end(),
            [](const Line& a, const Line& b) { return Before(&a, &b); });
  const auto repeated = std::unique(
      amazon_.lines.begin(), amazon_.lines.end(),
      [](const Line& a, const Line& b) { return a.order == b.order; });
  std::printf("%-44s %9lld\n", "amazon-in-sales: repeated ids",
              static_cast<long long>(amazon_.lines.end() - repeated));
  amazon_.lines.erase(repeated, amazon_.lines.end());
  checks_.Equal(amazon_.CountByStatus().size(), size_t{13}, "amazon statuses");
  return absl::OkStatus();
}

}  // namespace dovetail::test
