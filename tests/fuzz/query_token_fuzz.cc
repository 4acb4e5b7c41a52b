// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Continuations of queries. The first byte chooses the query, and what the
// others are: the token, its content under a checksum that fits, or parts of
// the plan and the place in a real one.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/continuation.pb.h"
#include "dovetail/v1/order.pb.h"
#include "engine/continuation.h"
#include "tests/fuzz/require.h"

namespace dovetail::test {
namespace {

constexpr int kOrders = 24;
constexpr uint64_t kLimit = 3;

Engine& Orders() {
  static Engine* const engine = [] {
    Schema schema;
    schema.Add(presets::SellerOrders("orders").Index(
        "by_buyer", {Field("buyer_id"), Field("ts_ms").Desc()}));
    auto opened = Engine::Open("memory", schema, {.in_memory = true});
    Require(opened.ok(), "no engine");
    WriteBatch batch;
    for (int i = 0; i < kOrders; ++i) {
      v1::Order order;
      order.set_order_id(absl::StrCat("order-", i));
      order.set_seller_id(i % 3 == 0 ? "another" : "seller");
      order.set_buyer_id(i % 2 == 0 ? "b-1" : "b-2");
      order.set_ts_ms(i / 2);
      order.set_status(static_cast<v1::OrderStatus>(i % 4));
      batch.Put("orders", order.SerializeAsString());
    }
    Require((*opened)->Write({}, batch).ok(), "no rows");
    return opened->release();
  }();
  return *engine;
}

Query OfOrders(Filter filter) {
  Query query("orders");
  query.Where(std::move(filter)).Limit(kLimit).AllowFullScan();
  return query;
}

// One of each kind of plan.
const std::vector<Query>& Queries() {
  static const auto* const kQueries = new std::vector<Query>{
      OfOrders(Filter::Equal("seller_id", "seller"))
          .OrderBy("ts_ms", Query::kDescending),
      OfOrders(Filter::Equal("seller_id", "seller")).UseIndex("by_status"),
      OfOrders(Filter::AtLeast("ts_ms", 2)).OrderBy("ts_ms").AllowSort(),
      OfOrders(Filter::Or({Filter::Equal("order_id", "order-3"),
                           Filter::Equal("buyer_id", "b-1")})),
      OfOrders(Filter::And({Filter::Equal("seller_id", "seller"),
                            Filter::Equal("buyer_id", "b-1")}))
          .OrderBy("ts_ms", Query::kDescending),
      OfOrders(Filter::In("buyer_id", {"b-1", "b-2"})).OrderByRowKey(),
  };
  return *kQueries;
}

bool Matches(size_t query, const v1::Order& order) {
  switch (query) {
    case 0:
    case 1:
      return order.seller_id() == "seller";
    case 2:
      return order.ts_ms() >= 2;
    case 3:
      return order.order_id() == "order-3" || order.buyer_id() == "b-1";
    case 4:
      return order.seller_id() == "seller" && order.buyer_id() == "b-1";
    default:
      return true;
  }
}

// Whatever the token: it is refused, or pages follow that are no longer than
// their limit, have rows of the query alone, and come to an end.
void CheckToken(size_t number, std::string token) {
  Query query = Queries()[number];
  for (int page = 0;; ++page) {
    Require(page <= kOrders, "no end");
    query.Continuation(token);
    const auto result = Orders().Query({}, query);
    if (!result.ok()) {
      Require(page == 0 && (absl::IsInvalidArgument(result.status()) ||
                            absl::IsFailedPrecondition(result.status())),
              result.status().ToString());
      return;
    }
    Require(result->rows.size() <= kLimit, "a page over its limit");
    for (const Row& row : result->rows) {
      v1::Order order;
      Require(order.ParseFromString(row.record) && Matches(number, order),
              "a row that was not asked for");
    }
    token = result->continuation;
    if (token.empty()) return;
  }
}

const v1::QueryContinuation& RealToken(size_t number) {
  static const auto* const kReal = [] {
    auto* all = new std::vector<v1::QueryContinuation>();
    for (const Query& query : Queries()) {
      const auto page = Orders().Query({}, query);
      Require(page.ok() && !page->continuation.empty(), "no second page");
      const auto content = OpenToken(page->continuation);
      Require(content.ok() && all->emplace_back().ParseFromString(*content),
              "no continuation");
    }
    return all;
  }();
  return (*kReal)[number];
}

// A plan and a place of the input's choice, under the query's own fingerprint.
void CheckForged(size_t number, std::string_view bytes) {
  v1::QueryContinuation forged = RealToken(number);
  v1::QueryContinuation given;
  if (given.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    given.clear_version();
    given.clear_query();
    if (given.spaces_size() > 0) forged.clear_spaces();
    forged.MergeFrom(given);
  } else {  // A few bytes of the real place.
    std::string* key = forged.mutable_key();
    for (size_t i = 0; i < bytes.size() && i < key->size(); ++i) {
      (*key)[key->size() - 1 - i] ^= bytes[i];
    }
  }
  CheckToken(number, SealToken(forged.SerializeAsString()));
}

}  // namespace
}  // namespace dovetail::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1),
                               size - 1);
  const size_t queries = dovetail::test::Queries().size();
  const size_t number = data[0] / 3 % queries;
  switch (data[0] % 3) {
    case 0:
      dovetail::test::CheckToken(number, std::string(bytes));
      break;
    case 1:
      dovetail::test::CheckToken(number,
                                 dovetail::SealToken(std::string(bytes)));
      break;
    default:
      dovetail::test::CheckForged(number, bytes);
  }
  return 0;
}
