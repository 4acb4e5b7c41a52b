// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the cases share: a database in a directory of its own, with a write
// buffer so small that a few rows reach the disk, verified at the end.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/schema.h"
#include "dovetail/v1/order.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/acceptance/text_orders.h"
#include "tests/support/data.h"
#include "tests/support/records.pb.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

template <typename T, typename Status>
std::string MakeOrder(const std::string& order, const std::string& seller,
                      int64_t ts_ms, Status status) {
  T record;
  record.set_order_id(order);
  record.set_seller_id(seller);
  record.set_ts_ms(ts_ms);
  record.set_status(status);
  return record.SerializeAsString();
}

class Cases : public ::testing::Test {
 protected:
  void Open(const std::vector<TableBuilder>& tables) {
    for (const TableBuilder& table : tables) schema_.Add(table);
    // Rows that are there only to fill the write buffer.
    TableBuilder filler("filler", Event::descriptor());
    filler.RowKey({Field("waybill"), Field("position")});
    schema_.Add(filler);
    Reopen();
  }

  void Reopen() {
    if (engine_ != nullptr) {
      ASSERT_THAT(engine_->Close(), IsOk());
    }
    engine_.reset();
    Options options;
    options.write_buffer_bytes = 64 << 10;
    absl::StatusOr<std::unique_ptr<Engine>> engine =
        Engine::Open(dir_.Sub("db"), schema_, options);
    ASSERT_THAT(engine, IsOk());
    engine_ = *std::move(engine);
  }

  void TearDown() override {
    if (engine_ == nullptr) return;
    ExpectClean();
    Reopen();
    if (engine_ != nullptr) ExpectClean();
  }

  void ExpectClean() {
    absl::StatusOr<VerifyReport> report = engine_->Verify({});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean()) << report->Summary();
  }

  void Write(WriteBatch batch) {
    ASSERT_THAT(engine_->Write({}, std::move(batch)), IsOk());
  }

  // Writes more than one write buffer of other rows, so that everything
  // before goes into a table file of its own.
  void FlushWriteBuffer() {
    Event event;
    event.set_waybill("filler");
    uint64_t noise = ++fillers_ * 0x9E3779B97F4A7C15u;
    for (int row = 0; row < 10; ++row) {
      event.set_position(row);
      std::string* text = event.mutable_status();
      text->clear();
      for (int i = 0; i < 10'000; ++i) {  // Does not compress to nothing.
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        text->push_back(static_cast<char>('0' + (noise >> 58)));
      }
      Write(WriteBatch().Put("filler", event.SerializeAsString()));
    }
  }

  // The order ids of all rows of the request, read in pages of `page_rows`.
  template <typename T>
  std::vector<std::string> Orders(ScanRequest request,
                                  uint64_t page_rows = 1000) {
    std::vector<std::string> orders;
    request.limit = page_rows;
    do {
      absl::StatusOr<Page> page = engine_->Scan({}, request);
      EXPECT_THAT(page, IsOk());
      if (!page.ok()) break;
      for (const Row& row : page->rows) {
        T record;
        EXPECT_TRUE(record.ParseFromString(row.record));
        orders.push_back(record.order_id());
      }
      request.continuation = page->continuation;
    } while (!request.continuation.empty());
    return orders;
  }

  TempDir dir_;
  Schema schema_;
  std::unique_ptr<Engine> engine_;
  uint64_t fillers_ = 0;
};

}  // namespace dovetail::test
