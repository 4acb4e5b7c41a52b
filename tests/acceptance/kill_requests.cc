// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/kill_requests.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kOrders = 200;
constexpr uint64_t kAssets = 40;
constexpr uint64_t kTags = 80;

void AddOrder(std::mt19937_64& random, WriteBatch* batch) {
  v1::Order order;
  order.set_order_id(absl::StrCat("o", random() % kOrders));
  order.set_seller_id(KillSellers()[random() % KillSellers().size()]);
  order.set_ts_ms(static_cast<int64_t>(random() % 10));
  order.set_status(static_cast<v1::OrderStatus>(random() % 5));
  // Digits of a random number compress badly, so that files grow.
  std::string* note = order.mutable_note();
  for (uint64_t n = random() % 100; n > 0; --n) absl::StrAppend(note, random());
  batch->Put("orders", order.SerializeAsString());
}

void AddAsset(std::mt19937_64& random, WriteBatch* batch) {
  Asset asset;
  asset.set_id(absl::StrCat("a", random() % kAssets));
  if (random() % 4 != 0) asset.set_tag(absl::StrCat("t", random() % kTags));
  asset.set_rank(static_cast<int64_t>(random() % 5));
  batch->Put("assets", asset.SerializeAsString());
}

void AddPatch(std::mt19937_64& random, WriteBatch* batch) {
  v1::Order values;
  values.set_status(static_cast<v1::OrderStatus>(random() % 5));
  values.set_ts_ms(static_cast<int64_t>(random() % 10));
  const std::string id = absl::StrCat("o", random() % kOrders);
  if (random() % 2 == 0) {
    batch->Patch("orders", RowRef::By("by_order_id", {id}, RowRef::Match::kAll),
                 values.SerializeAsString(), {"status", "ts_ms"});
    return;
  }
  const std::string& seller = KillSellers()[random() % KillSellers().size()];
  batch->Patch("orders",
               RowRef::By("by_status", {seller, static_cast<int>(random() % 5)},
                          RowRef::Match::kAll),
               values.SerializeAsString(), {"status"});
}

void AddDelete(std::mt19937_64& random, WriteBatch* batch) {
  if (random() % 2 == 0) {
    batch->Delete("assets",
                  RowRef::Key({absl::StrCat("a", random() % kAssets)}));
    return;
  }
  batch->Delete("orders", RowRef::By("by_order_id",
                                     {absl::StrCat("o", random() % kOrders)}));
}

}  // namespace

Schema KillSchema() {
  Schema schema;
  TableBuilder log("log", LogEntry::descriptor());
  log.RowKey({Field("round"), Field("thread"), Field("number")})
      .Index("by_thread", {Field("thread"), Field("number").Desc()});
  schema.Add(log);
  schema.Add(presets::SellerOrders("orders"));
  TableBuilder assets("assets", Asset::descriptor());
  assets.RowKey({Field("id")})
      .Unique("by_tag", {Field("tag")})
      .Index("by_rank", {Field("rank").Desc()});
  schema.Add(assets);
  return schema;
}

Model NewKillModel() {
  absl::StatusOr<Model> model = Model::Of(KillSchema());
  DOVETAIL_CHECK(model.ok());
  return *std::move(model);
}

const std::vector<std::string>& KillSellers() {
  static const auto* const sellers =
      new std::vector<std::string>{"s", "s1", "s10", "t", ""};
  return *sellers;
}

WriteBatch KillRequest(uint64_t seed, const RequestId& id) {
  std::seed_seq mixed{static_cast<uint32_t>(seed),
                      static_cast<uint32_t>(seed >> 32), id.round, id.thread,
                      static_cast<uint32_t>(id.number)};
  std::mt19937_64 random(mixed);
  WriteBatch batch;
  LogEntry entry;
  entry.set_round(id.round);
  entry.set_thread(id.thread);
  entry.set_number(id.number);
  batch.Insert("log", entry.SerializeAsString());
  for (uint64_t n = 1 + random() % 3; n > 0; --n) {
    switch (random() % 6) {
      case 0:
        AddAsset(random, &batch);
        break;
      case 1:
        AddDelete(random, &batch);
        break;
      case 2:
        AddPatch(random, &batch);
        break;
      default:
        AddOrder(random, &batch);
    }
  }
  return batch;
}

}  // namespace dovetail::test
