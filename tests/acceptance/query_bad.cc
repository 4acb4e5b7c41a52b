// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Queries that cannot be answered: each has a typed error that says what to
// change, and none costs more memory than it has bytes.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

class BadQueries {
 public:
  explicit BadQueries(Checks* checks) : checks_(*checks) {}

  absl::Status Open() {
    Schema schema;
    schema.Add(presets::SellerOrders("orders"));
    auto engine = Engine::Open(dir_.Sub("db"), schema);
    if (!engine.ok()) return engine.status();
    engine_ = *std::move(engine);
    WriteBatch batch;
    for (int i = 0; i < 50; ++i) {
      v1::Order order;
      order.set_order_id(absl::StrCat("o-", i));
      order.set_seller_id(absl::StrCat("s-", i % 3));
      order.set_ts_ms(i);
      batch.Put("orders", order.SerializeAsString());
    }
    return engine_->Write({}, std::move(batch)).status();
  }

  // The query is refused with the code, and says each of the words.
  void Refused(const Query& query, absl::StatusCode code,
               const std::vector<std::string_view>& words) {
    const absl::Status status = engine_->Query({}, query).status();
    checks_.That(status.code() == code,
                 absl::StrCat("code ", absl::StatusCodeToString(code), ": ",
                              status.ToString()));
    for (const std::string_view word : words) {
      checks_.That(
          absl::StrContains(status.message(), ToAbsl(word)),
          absl::StrCat("says ", ToAbsl(word), ": ", status.ToString()));
    }
    const absl::Status explained = engine_->Explain({}, query).status();
    checks_.Equal(explained.message(), status.message(), "explain's refusal");
  }

  void Fields();
  void Orders();
  void Budgets();
  void Sizes();
  void Tokens();

 private:
  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

Query All() { return Query("orders"); }

void BadQueries::Fields() {
  Refused(Query("order"), absl::StatusCode::kNotFound, {"orders"});
  Refused(All().Where(Filter::Equal("sellerid", "s-1")), kInvalid,
          {"near=seller_id", "table=orders"});
  Refused(All().Where(Filter::Equal("ts_ms", "yesterday")), kInvalid,
          {"ts_ms", "int64"});
  Refused(All().Where(Filter::Equal("items", int64_t{1} << 40)), kInvalid,
          {"items", "int32"});
  Refused(All().Where(Filter::Equal("status", "SENT")), kInvalid,
          {"names=CREATED", "SENT"});
  Refused(All().Where(Filter::Equal("note", nullptr)), kInvalid,
          {"is_null", "note"});
  Refused(All().Where(Filter::Prefix("items", "1")), kInvalid, {"prefix"});
  Refused(All().Select({"notes"}), kInvalid, {"near=note"});
  Refused(All().UseIndex("by_buyer"), absl::StatusCode::kNotFound,
          {"by_status", "@row_key"});
  Refused(All().AvoidIndex("@row_key").UseIndex(Query::kRowKey), kInvalid,
          {"avoid fewer"});
}

void BadQueries::Orders() {
  Refused(All().OrderBy("amount_cents"), kPrecondition,
          {"sort_bytes_max", "(amount_cents)"});
  Refused(All()
              .Where(Filter::Equal("seller_id", "s-1"))
              .OrderBy("amount_cents", Query::kDescending),
          kPrecondition, {"(seller_id, amount_cents desc)"});
  Refused(All().OrderBy("ts_ms").OrderByRowKey(), kInvalid, {"not both"});
  Refused(All().Where(Filter::Equal("buyer_id", "b-1")), kPrecondition,
          {"allow_full_scan", "(buyer_id)"});
  Query many = All();
  for (int i = 0; i < 17; ++i) many.OrderBy("ts_ms");
  Refused(many, kInvalid, {"max=16"});
  Refused(All().Where(Filter::Equal("seller_id", "s-1")).RefuseOver(10),
          kPrecondition, {"proven_entries=100", "max=10"});
}

void BadQueries::Budgets() {
  for (int i = 0; i < 4; ++i) {
    Query::Budget budget;
    (i == 0   ? budget.rows
     : i == 1 ? budget.entries
     : i == 2 ? budget.bytes
              : budget.micros) = 0;
    Refused(All().WithBudget(budget), kInvalid, {"budget of 0"});
  }
  Refused(All().ReadAhead(100'000), kInvalid, {"max=1024"});
  Query::Budget ten;
  ten.entries = 10;
  const Query sorted =
      All().OrderBy("amount_cents").AllowSort().AllowFullScan().WithBudget(ten);
  const absl::Status cut = engine_->Query({}, sorted).status();
  checks_.That(absl::IsResourceExhausted(cut) &&
                   absl::StrContains(cut.message(), "raise it"),
               cut.ToString());
}

void BadQueries::Sizes() {
  Refused(All().Where(
              Filter::In("seller_id", std::vector<Value>(100'000, Value("s")))),
          kInvalid, {"values=100000", "max=10000", "several queries"});
  Filter deep = Filter::Equal("seller_id", "s-1");
  for (int i = 0; i < 1000; ++i) deep = Filter::Not(std::move(deep));
  Refused(All().Where(std::move(deep)), kInvalid, {"too deep", "max=32"});
  std::vector<Filter> wide(20'000, Filter::Equal("seller_id", "s-1"));
  Refused(All().Where(Filter::Or(std::move(wide))), kInvalid,
          {"too many conditions"});
  Refused(All().Where(Filter::Equal("note", std::string(2 << 20, 'x'))),
          kInvalid, {"too large", "split"});
  std::string json = R"({"table":"orders","where":)";
  for (int i = 0; i < 10'000; ++i) json += R"({"not":)";
  checks_.That(absl::IsInvalidArgument(Query::FromJson(json).status()),
               "JSON that nests without end");
  std::string text = "table: \"orders\" where ";
  for (int i = 0; i < 10'000; ++i) text += "{ not ";
  checks_.That(absl::IsInvalidArgument(Query::FromText(text).status()),
               "text that nests without end");
  checks_.That(
      absl::IsInvalidArgument(Query::FromJson(R"({"tabel":1})").status()),
      "JSON of an unknown field");
}

void BadQueries::Tokens() {
  const Query query = All().Where(Filter::Equal("seller_id", "s-1")).Limit(2);
  const auto page = engine_->Query({}, query);
  if (!checks_.Ok(page.status(), "a page")) return;
  checks_.That(!page->continuation.empty(), "there is more");
  Query other = All().Where(Filter::Equal("seller_id", "s-2")).Limit(2);
  Refused(other.Continuation(page->continuation), kInvalid, {"another query"});
  for (size_t i = 0; i < page->continuation.size(); ++i) {
    std::string damaged = page->continuation;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    Query again = query;
    Refused(again.Continuation(damaged), kInvalid, {"continuation"});
  }
  Query cut = query;
  Refused(cut.Continuation(page->continuation.substr(0, 10)), kInvalid,
          {"damaged"});
  const auto scanned =
      engine_->Scan({}, {.table = "orders", .equal = {"s-1"}, .limit = 2});
  if (!checks_.Ok(scanned.status(), "a scan's page")) return;
  Query scan = query;
  Refused(scan.Continuation(scanned->continuation), kInvalid, {"continuation"});
}

int Main() {
  Checks checks("query-bad");
  BadQueries bad(&checks);
  if (checks.Ok(bad.Open(), "open")) {
    bad.Fields();
    bad.Orders();
    bad.Budgets();
    bad.Sizes();
    bad.Tokens();
  }
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main() { return dovetail::test::Main(); }
