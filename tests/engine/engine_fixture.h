// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An engine over the seller-order preset on a real LevelDB in a directory of
// its own, with each commit cross-checked. Ends every test with a verify.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "engine/storage/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

inline v1::Order MakeOrder(std::string_view id, std::string_view seller,
                           int64_t ts, v1::OrderStatus status = v1::CREATED) {
  v1::Order order;
  order.set_order_id(std::string(id));
  order.set_seller_id(std::string(seller));
  order.set_ts_ms(ts);
  order.set_status(status);
  return order;
}

inline std::string Bytes(const v1::Order& order) {
  return order.SerializeAsString();
}

inline std::string StatusOnly(v1::OrderStatus status) {
  v1::Order order;
  order.set_status(status);
  return Bytes(order);
}

// The order ids of rows, in their order.
inline std::vector<std::string> Ids(const std::vector<Row>& rows) {
  std::vector<std::string> ids;
  for (const Row& row : rows) {
    v1::Order order;
    EXPECT_TRUE(order.ParseFromString(row.record));
    ids.push_back(order.order_id());
  }
  return ids;
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    schema_.Add(presets::SellerOrders("orders"));
    options_.cross_check = true;
  }

  void TearDown() override {
    if (engine_ == nullptr) return;
    const auto report = engine_->Verify({});
    if (absl::IsFailedPrecondition(report.status())) return;  // Closed.
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean()) << report->Summary();
  }

  // With options_ and schema_ as they are.
  void Open() {
    engine_.reset();
    auto engine = Engine::Open(dir_.Sub("db"), schema_, options_);
    ASSERT_THAT(engine, IsOk());
    engine_ = *std::move(engine);
  }
  Engine& engine() {
    if (engine_ == nullptr) Open();
    return *engine_;
  }

  VerifyReport Verify() {
    auto report = engine().Verify({});
    EXPECT_THAT(report, IsOk());
    return report.ok() ? *std::move(report) : VerifyReport();
  }
  // Closes the engine, and changes its store below it.
  void ChangeStore(const std::function<void(Store&, StoreBatch&)>& change) {
    ASSERT_THAT(engine().Close(), IsOk());
    engine_.reset();
    LevelDbStoreOptions options;
    options.file_system = FileSystem::Posix();
    StoreOpenReport report;
    auto store = OpenLevelDbStore(dir_.Sub("db"), options, &report);
    ASSERT_THAT(store, IsOk());
    const auto batch = (*store)->NewBatch();
    change(**store, *batch);
    ASSERT_THAT((*store)->Write(*batch, true), IsOk());
  }
  // The same, and opens it again.
  void Damage(const std::function<void(Store&, StoreBatch&)>& change) {
    ASSERT_NO_FATAL_FAILURE(ChangeStore(change));
    Open();
  }

  absl::StatusOr<Commit> Put(const v1::Order& order) {
    return engine().Write({}, WriteBatch().Put("orders", Bytes(order)));
  }
  absl::StatusOr<Commit> SetStatus(std::string_view id,
                                   v1::OrderStatus status) {
    return engine().Write(
        {}, WriteBatch().Patch("orders", RowRef::By("by_order_id", {id}),
                               StatusOnly(status), {"status"}));
  }
  absl::StatusOr<Commit> DeleteId(std::string_view id) {
    return engine().Write(
        {}, WriteBatch().Delete("orders", RowRef::By("by_order_id", {id})));
  }

  // Answers as order ids.
  std::vector<std::string> ById(std::string_view id) {
    const auto rows = engine().GetBy({}, "orders", "by_order_id", {id});
    EXPECT_THAT(rows, IsOk());
    return rows.ok() ? Ids(*rows) : std::vector<std::string>();
  }
  std::vector<std::string> Scan(ScanRequest request) {
    request.table = "orders";
    const auto page = engine().Scan({}, request);
    EXPECT_THAT(page, IsOk());
    return page.ok() ? Ids(page->rows) : std::vector<std::string>();
  }
  std::vector<std::string> BySeller(std::string_view seller) {
    return Scan({.equal = {seller}});
  }
  std::vector<std::string> ByStatus(std::string_view seller,
                                    v1::OrderStatus status) {
    return Scan({.index = "by_status", .equal = {seller, status}});
  }

  TempDir dir_;
  Schema schema_;
  Options options_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace dovetail::test
