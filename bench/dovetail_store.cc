// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "bench/order_store.h"
#include "bench/orders_table.h"
#include "dovetail/engine.h"

namespace dovetail::bench {
namespace {

Schema OrdersSchema(bool counted) {
  TableBuilder orders = OrdersTable();
  if (counted) {
    orders.Add(IndexBuilder::Sum("badges", {Field("seller"), Varint("status")},
                                 "amount"));
  }
  Schema schema;
  schema.Add(orders);
  return schema;
}

absl::Status Parse(std::string_view key, std::string_view record,
                   BenchOrder* order) {
  if (order->ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("row is no order: key=", Quote(key)));
}

class DovetailSession : public OrderSession {
 public:
  DovetailSession(Engine* engine, bool sync) : engine_(engine) {
    write_options_.sync = sync;
  }

  absl::Status Put(const std::vector<BenchOrder>& orders) override {
    WriteBatch batch;
    for (const BenchOrder& order : orders) {
      batch.Put(kTable, order.SerializeAsString());
    }
    return engine_->Write(write_options_, std::move(batch)).status();
  }

  absl::Status SetStatus(const std::string& id, int32_t status) override {
    change_.set_status(status);
    WriteBatch batch;
    batch.Patch(kTable, RowRef::By("by_id", {id}), change_.SerializeAsString(),
                {"status"});
    return engine_->Write(write_options_, std::move(batch)).status();
  }

  absl::Status Get(const std::string& id, BenchOrder* order) override {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     engine_->GetBy({}, kTable, "by_id", {id}));
    if (rows.empty()) return absl::NotFoundError("no such order");
    return Parse(rows[0].key, rows[0].record, order);
  }

  absl::StatusOr<size_t> Newest(const std::string& seller, int32_t status,
                                size_t limit,
                                std::vector<BenchOrder>* orders) override {
    ScanRequest request;
    request.table = kTable;
    request.equal.emplace_back(seller);
    if (status != 0) {
      request.index = "by_status";
      request.equal.emplace_back(status);
    }
    request.limit = limit;
    size_t count = 0;
    absl::Status parsed;
    RETURN_IF_ERROR(engine_
                        ->ForEach({}, request,
                                  [&](const RowView& row) {
                                    if (orders->size() == count) {
                                      orders->emplace_back();
                                    }
                                    parsed = Parse(row.key, row.record,
                                                   &(*orders)[count++]);
                                    return parsed.ok();
                                  })
                        .status());
    RETURN_IF_ERROR(parsed);
    return count;
  }

 private:
  Engine* engine_;  // Not owned.
  WriteOptions write_options_;
  BenchOrder change_;
};

class DovetailStore : public OrderStore {
 public:
  DovetailStore(std::unique_ptr<Engine> engine, bool sync)
      : engine_(std::move(engine)), sync_(sync) {}

  std::unique_ptr<OrderSession> NewSession() override {
    return std::make_unique<DovetailSession>(engine_.get(), sync_);
  }

  absl::StatusOr<uint64_t> Check() override {
    ASSIGN_OR_RETURN(const VerifyReport report, engine_->Verify({}));
    if (report.clean()) return report.rows;
    return absl::DataLossError(report.Summary());
  }

 private:
  std::unique_ptr<Engine> engine_;
  bool sync_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OrderStore>> OpenDovetailStore(
    const OrderStoreOptions& options, DovetailStoreOptions more) {
  Options engine_options;
  engine_options.digests = more.digests;
  engine_options.block_cache_bytes = options.cache_bytes;
  engine_options.write_buffer_bytes = options.write_buffer_bytes;
  engine_options.compress = options.compress;
  if (more.recording) engine_options.write_log = WriteLogOptions();
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                   Engine::Open(options.directory, OrdersSchema(more.counted),
                                engine_options));
  return std::make_unique<DovetailStore>(std::move(engine), options.sync);
}

}  // namespace dovetail::bench
