// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/metrics.h"
#include "observers/latency_histogram.h"
#include "tests/observers/observers_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using internal::LatencyHistogram;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class MetricsObserverTest : public EngineTest {
 protected:
  MetricsObserverTest() {
    options_.in_memory = true;
    known_ = schema_;
    // In the database, but not known to the observer.
    for (const char* name : {"extra", "more"}) {
      schema_.Add(TableBuilder(name, v1::Order::descriptor())
                      .RowKey({Field("order_id")}));
    }
  }
  void Measure(MetricsOptions options = {}) {
    metrics_ = std::make_shared<MetricsObserver>(known_, options);
    options_.observers.push_back(metrics_);
    Open();
  }
  TableMetrics Orders() { return metrics_->Snapshot().tables[0]; }

  Schema known_;
  std::shared_ptr<MetricsObserver> metrics_;
};

TEST_F(MetricsObserverTest, RowsAndBytesAreCountedByTable) {
  Measure();
  const std::string first = Bytes(MakeOrder("o-1", "s", 1));
  const std::string moved = Bytes(MakeOrder("o-1", "another", 1));
  ASSERT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", first)
                                     .Put("orders", moved)
                                     .Put("extra", first)),
              IsOk());
  ASSERT_THAT(DeleteId("o-1"), IsOk());
  ASSERT_THAT(DeleteId("o-1"), IsOk());  // Nothing is there.
  ASSERT_THAT(engine().Get({}, "more", {"o-1"}),
              StatusIs(StatusCode::kNotFound));
  ASSERT_THAT(engine().Get({}, "extra", {"o-1"}), IsOk());

  const MetricsSnapshot snapshot = metrics_->Snapshot();
  ASSERT_THAT(snapshot.tables, SizeIs(2));
  const TableMetrics& orders = snapshot.tables[0];
  EXPECT_EQ(orders.table, "orders");
  EXPECT_EQ(orders.puts, 2u);
  EXPECT_EQ(orders.put_bytes, first.size() + moved.size());
  EXPECT_EQ(orders.deletes, 1u);
  EXPECT_EQ(orders.delete_bytes, moved.size());
  EXPECT_EQ(orders.commit.count, 2u);  // Of two requests that changed it.
  const TableMetrics& others = snapshot.tables[1];
  EXPECT_EQ(others.table, "");
  EXPECT_EQ(others.puts, 1u);
  EXPECT_EQ(others.commit.count, 1u);
  EXPECT_EQ(others.gets, 1u);
  EXPECT_EQ(snapshot.committed, 3u);
}

TEST_F(MetricsObserverTest, ReadsAreCountedWithTheirRows) {
  Measure();
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(Put(MakeOrder(absl::StrCat("o-", i), "s", i)), IsOk());
  }
  ASSERT_THAT(engine().Get({}, "orders", {"s", 1, "o-1"}), IsOk());
  ASSERT_THAT(engine().GetBy({}, "orders", "by_status", {"s"}), IsOk());
  ASSERT_THAT(engine().Scan({}, {.table = "orders", .equal = {"s"}}), IsOk());
  ASSERT_THAT(engine().Scan({}, {.table = "orders", .equal = {"none"}}),
              IsOk());
  ASSERT_THAT(
      engine().Scan({}, {.table = "orders", .equal = {"s"}, .limit = 2}),
      IsOk());
  const TableMetrics orders = Orders();
  EXPECT_EQ(orders.gets, 2u);
  EXPECT_EQ(orders.get_rows, 6u);
  EXPECT_EQ(orders.scans, 3u);
  EXPECT_EQ(orders.scan_rows, 7u);
  EXPECT_EQ(orders.get.count, 2u);
  EXPECT_EQ(orders.scan.count, 3u);
}

TEST_F(MetricsObserverTest, RefusedRequestsCountAsThatAndChangeNoRow) {
  Measure();
  bool veto = true;
  options_.observers.push_back(std::make_shared<BatchHook>(
      "later", INT32_MAX, std::vector<std::string>{"extra"},
      [&](HookContext& ctx, const std::vector<RowChange>&) {
        if (veto) return absl::AbortedError("no");
        return ctx.Add({Mutation::Kind::kPut,
                        "extra",
                        Bytes(MakeOrder("e", "", 0)),
                        RowRef::Key({}),
                        {},
                        {}});
      }));
  Open();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), StatusIs(StatusCode::kAborted));
  ASSERT_THAT(engine().Write({}, WriteBatch().Put("nowhere", "")),
              StatusIs(StatusCode::kInvalidArgument));  // Never began.
  EXPECT_EQ(metrics_->Snapshot().refused, 1u);
  EXPECT_EQ(Orders().puts, 0u);
  EXPECT_EQ(Orders().commit.count, 0u);
  veto = false;
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_EQ(metrics_->Snapshot().committed, 1u);
  EXPECT_EQ(Orders().commit.count, 1u);
  EXPECT_EQ(metrics_->Snapshot().tables[1].puts, 1u);  // What was added.
}

// Moves the clock between the hooks that are timed.
TEST_F(MetricsObserverTest, DurationsAreThoseBetweenTheHooks) {
  ManualClock clock;
  Measure({.clock = &clock});
  // After the metrics in PreBatchMutate, so that it is within the commit.
  options_.observers.push_back(std::make_shared<BatchHook>(
      "slow", INT32_MAX, std::vector<std::string>{},
      [&](HookContext&, const std::vector<RowChange>&) {
        clock.now += 100;
        return absl::OkStatus();
      }));
  Open();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_EQ(Orders().commit.sum_micros, 100u);

  // Reads nest in the visitor of a scan, failed ones included.
  const std::vector<Value> key = {"s", 1, "o-1"};
  ASSERT_THAT(engine().ForEach({}, {.table = "orders", .equal = {"s"}},
                               [&](const RowView&) {
                                 clock.now += 10;
                                 EXPECT_THAT(engine().Get({}, "orders", key),
                                             IsOk());
                                 EXPECT_THAT(engine().Get({}, "none", key),
                                             StatusIs(StatusCode::kNotFound));
                                 clock.now += 5;
                                 return true;
                               }),
              IsOk());
  const TableMetrics orders = Orders();
  EXPECT_EQ(orders.scan.sum_micros, 15u);
  EXPECT_EQ(orders.get.sum_micros, 0u);
  EXPECT_EQ(orders.get.count, 1u);
}

TEST_F(MetricsObserverTest, FourThreadsCountExactly) {
  options_.in_memory = false;
  Measure();
  constexpr int kEach = 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string id = absl::StrCat("o-", t, "-", i);
        EXPECT_THAT(Put(MakeOrder(id, "s", i)), IsOk());
        EXPECT_THAT(engine().Get({}, "orders", {"s", i, id}), IsOk());
        EXPECT_THAT(
            engine().Scan({}, {.table = "orders", .equal = {"s", i, id}}),
            IsOk());
        if (i % 3 == 0) {
          EXPECT_THAT(DeleteId(id), IsOk());
        }
        if (i % 10 == 0) {
          EXPECT_FALSE(metrics_->PrometheusText().empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const TableMetrics orders = Orders();
  EXPECT_EQ(orders.puts, 4u * kEach);
  EXPECT_EQ(orders.deletes, 4u * kEach / 3);
  EXPECT_EQ(orders.gets, 4u * kEach);
  EXPECT_EQ(orders.get_rows, 4u * kEach);
  EXPECT_EQ(orders.scans, 4u * kEach);
  EXPECT_EQ(orders.scan_rows, 4u * kEach);
  EXPECT_EQ(orders.commit.count, 4u * kEach + 4u * kEach / 3);
  EXPECT_EQ(orders.get.count, 4u * kEach);
  EXPECT_EQ(orders.scan.count, 4u * kEach);
}

TEST_F(MetricsObserverTest, TheTextIsWhatPrometheusReads) {
  ManualClock clock;
  Measure({.labels = {{"shop", "a \"b\"\\\n"}}, .clock = &clock});
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const std::vector<Value> key = {"s", 1, "o-1"};
  for (const int64_t micros : {0, 3, 4, 70'000'000}) {
    ReadEvent event{"orders", "", key, 1};
    ASSERT_THAT(metrics_->PreGet(event), IsOk());
    clock.now += micros;
    ASSERT_THAT(metrics_->PostGet(event), IsOk());
  }
  const std::string text = metrics_->PrometheusText();
  const std::string shop = R"(shop="a \"b\"\\\n")";
  EXPECT_THAT(text,
              StartsWith(absl::StrCat(
                  "# HELP dovetail_requests_total Write requests by outcome.\n"
                  "# TYPE dovetail_requests_total counter\n"
                  "dovetail_requests_total{",
                  shop,
                  ",outcome=\"committed\"} 1\n"
                  "dovetail_requests_total{",
                  shop,
                  ",outcome=\"refused\"} 0\n"
                  "dovetail_requests_total{",
                  shop,
                  ",outcome=\"unknown\"} 0\n"
                  "# HELP dovetail_puts_total Rows put by committed requests.\n"
                  "# TYPE dovetail_puts_total counter\n"
                  "dovetail_puts_total{",
                  shop,
                  ",table=\"orders\"} 1\n"
                  "dovetail_puts_total{",
                  shop, ",table=\"\"} 0\n")));
  const auto bucket = [&shop](std::string_view le, int count) {
    return HasSubstr(absl::StrCat("\ndovetail_get_duration_seconds_bucket{",
                                  shop, ",table=\"orders\",le=\"",
                                  std::string(le), "\"} ", count, "\n"));
  };
  EXPECT_THAT(text, bucket("0.000001", 1));
  EXPECT_THAT(text, bucket("0.000004", 2));
  EXPECT_THAT(text, bucket("0.000016", 3));
  EXPECT_THAT(text, bucket("67.108864", 3));
  EXPECT_THAT(text, bucket("+Inf", 4));
  EXPECT_THAT(text, HasSubstr("\n# TYPE dovetail_get_duration_seconds "
                              "histogram\n"));
  const std::string labels = absl::StrCat("{", shop, ",table=\"orders\"} ");
  EXPECT_THAT(text, HasSubstr(absl::StrCat("dovetail_get_duration_seconds_sum",
                                           labels, "70.000007\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat(
                        "dovetail_get_duration_seconds_count", labels, "4\n")));
}

TEST(LatencyHistogramTest, BucketsAreInOrderAndAtMostAnEighthWide) {
  EXPECT_EQ(LatencyHistogram::BucketOf(0), 0u);
  EXPECT_EQ(LatencyHistogram::BucketOf(UINT64_MAX),
            LatencyHistogram::kBuckets - 1);
  for (size_t i = 0; i < LatencyHistogram::kBuckets; ++i) {
    const uint64_t upper = LatencyHistogram::UpperBound(i);
    const uint64_t lower = i == 0 ? 0 : LatencyHistogram::UpperBound(i - 1) + 1;
    ASSERT_EQ(LatencyHistogram::BucketOf(lower), i);
    ASSERT_EQ(LatencyHistogram::BucketOf(upper), i);
    ASSERT_LE(8 * (upper - lower), lower);
    if (upper < 16) {
      ASSERT_EQ(lower, upper);
    }
  }
}

TEST(LatencyHistogramTest, QuantilesAreBoundsOfTheirBuckets) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.Read().QuantileMicros(0.5), 0u);
  for (int i = 1; i <= 100; ++i) histogram.Add(i);
  histogram.Add(-5);
  const LatencySnapshot snapshot = histogram.Read();
  EXPECT_EQ(snapshot.count, 101u);
  EXPECT_EQ(snapshot.sum_micros, 5050u);
  EXPECT_EQ(snapshot.QuantileMicros(0), 0u);
  EXPECT_EQ(snapshot.QuantileMicros(0.1), 10u);
  EXPECT_EQ(snapshot.QuantileMicros(0.5), 51u);  // Bucket 48 to 51.
  EXPECT_EQ(snapshot.QuantileMicros(1), 103u);   // Bucket 96 to 103.
}

}  // namespace
}  // namespace dovetail::test
