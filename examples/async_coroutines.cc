// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Eight coroutines on one thread place orders; each write is a co_await, and
// those that wait together share a commit group and its sync.
//
//   async_coroutines DIRECTORY

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "dovetail/async.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"

namespace {

namespace asio = boost::asio;

asio::awaitable<void> PlaceOrders(dovetail::AsyncEngine& async, int seller) {
  for (int i = 0; i < 100; ++i) {
    dovetail::v1::Order order;
    order.set_order_id(std::to_string(seller) + "-" + std::to_string(i));
    order.set_seller_id("seller-" + std::to_string(seller));
    order.set_ts_ms(1'700'000'000'000 + i);
    dovetail::WriteBatch batch;
    batch.Insert("orders", order.SerializeAsString());
    const absl::StatusOr<dovetail::Commit> commit = co_await async.Write(
        {.sync = true}, std::move(batch), asio::use_awaitable);
    if (!commit.ok()) {
      std::printf("%s\n", commit.status().ToString().c_str());
      co_return;
    }
  }
  dovetail::ScanRequest newest;
  newest.table = "orders";
  newest.equal.emplace_back("seller-" + std::to_string(seller));
  newest.limit = 3;
  const absl::StatusOr<dovetail::Page> page =
      co_await async.Scan({}, std::move(newest), asio::use_awaitable);
  if (page.ok()) std::printf("seller-%d: %zu\n", seller, page->rows.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: async_coroutines DIRECTORY\n");
    return 2;
  }
  dovetail::Schema schema;
  schema.Add(dovetail::presets::SellerOrders("orders"));
  auto engine = dovetail::Engine::Open(argv[1], schema);
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  dovetail::AsyncEngine async(engine->get());
  asio::io_context context;
  for (int seller = 0; seller < 8; ++seller) {
    asio::co_spawn(context, PlaceOrders(async, seller), asio::detached);
  }
  context.run();
  const absl::StatusOr<dovetail::Stats> stats = (*engine)->GetStats();
  if (!stats.ok()) return 1;
  std::printf("%llu requests, %llu groups\n",
              static_cast<unsigned long long>(stats->requests),
              static_cast<unsigned long long>(stats->groups));
  return stats->requests == 800 && (*engine)->Close().ok() ? 0 : 1;
}
