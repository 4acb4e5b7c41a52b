// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The questions as queries: the engine plans each anew.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "bench/orders_table.h"
#include "bench/question.h"
#include "dovetail/engine.h"

namespace dovetail::bench {
namespace {

Schema OrdersSchema() {
  TableBuilder orders = OrdersTable();
  orders.Add(
      IndexBuilder::Count("counts", {Field("seller"), Varint("status")}));
  Schema schema;
  schema.Add(orders);
  return schema;
}

class DovetailQuestions : public QuestionStore {
 public:
  explicit DovetailQuestions(std::unique_ptr<Engine> engine)
      : engine_(std::move(engine)) {}

  absl::Status Insert(const std::vector<BenchOrder>& orders) override {
    WriteBatch batch;
    for (const BenchOrder& order : orders) {
      batch.Put(kTable, order.SerializeAsString());
    }
    return engine_->Write({}, std::move(batch)).status();
  }

  absl::Status SetStatus(const std::string& id, int32_t status) override {
    change_.set_status(status);
    WriteBatch batch;
    batch.Patch(kTable, RowRef::By("by_id", {id}), change_.SerializeAsString(),
                {"status"});
    return engine_->Write({}, std::move(batch)).status();
  }

  absl::Status Ask(const Question& question, Answer* answer) override {
    if (question.kind == Question::Kind::kCounts) {
      return AskCounts(question.seller, answer);
    }
    Query query(kTable);
    query.Where(Filter::Equal("seller", question.seller));
    if (question.statuses.size() == 1) {
      query.Where(Filter::Equal("status", question.statuses[0]));
    } else if (!question.statuses.empty()) {
      query.Where(Filter::In(
          "status", {question.statuses.begin(), question.statuses.end()}));
    }
    if (question.kind == Question::Kind::kFilter) {
      query.Where(Filter::AtLeast("ts_us", question.from_us));
      query.Where(Filter::Below("ts_us", question.to_us));
      query.Where(Filter::Above("amount", question.amount));
    }
    query.OrderBy("ts_us", Query::kDescending).Limit(kNewest);
    bool parsed = true;
    RETURN_IF_ERROR(engine_
                        ->ForEach({}, query,
                                  [&](const RowView& row) {
                                    parsed = answer->AddRow()->ParseFromArray(
                                        row.record.data(),
                                        static_cast<int>(row.record.size()));
                                    return parsed;
                                  })
                        .status());
    if (parsed) return absl::OkStatus();
    return absl::DataLossError("row is no order");
  }

 private:
  absl::Status AskCounts(const std::string& seller, Answer* answer) {
    ScanRequest request;
    request.table = kTable;
    request.index = "counts";
    request.equal.emplace_back(seller);
    return engine_
        ->ForEachGroup({}, request,
                       [&](const Group& group) {
                         answer->AddCount(
                             static_cast<int32_t>(group.values[1].as_int()),
                             group.count);
                         return true;
                       })
        .status();
  }

  std::unique_ptr<Engine> engine_;
  BenchOrder change_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<QuestionStore>> OpenDovetailQuestions(
    const QuestionStoreOptions& options) {
  Options engine_options;
  // Together what the others have.
  engine_options.row_cache_bytes = options.cache_bytes / 4;
  engine_options.block_cache_bytes =
      options.cache_bytes - engine_options.row_cache_bytes;
  engine_options.write_buffer_bytes = options.write_buffer_bytes;
  ASSIGN_OR_RETURN(
      std::unique_ptr<Engine> engine,
      Engine::Open(options.directory, OrdersSchema(), engine_options));
  return std::make_unique<DovetailQuestions>(std::move(engine));
}

}  // namespace dovetail::bench
