// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/region_load.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "observers/region_counters.h"
#include "observers/space_saving.h"
#include "tests/observers/observers_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using internal::CoarseHistogram;
using internal::KeyTrend;
using internal::SpaceSaving;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000;

// Zipf's law by the harmonic weights of so many ranks.
std::discrete_distribution<int> Zipf(int ranks) {
  std::vector<double> weights;
  for (int i = 1; i <= ranks; ++i) weights.push_back(1.0 / i);
  return {weights.begin(), weights.end()};
}

TEST(SpaceSavingTest, CountsAreTooHighByNoMoreThanTheirError) {
  std::mt19937_64 random(7);
  auto zipf = Zipf(5000);
  SpaceSaving sketch(100);
  std::map<std::string, double> exact;
  double total = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string key = absl::StrCat("k", zipf(random));
    sketch.Add(key, 1);
    exact[key] += 1;
    total += 1;
    if (i % 10'000 == 9'999) {  // Old weight decays.
      sketch.Scale(0.5);
      total *= 0.5;
      for (auto& [k, weight] : exact) weight *= 0.5;
    }
  }
  double sum = 0;
  size_t frequent = 0;
  for (const SpaceSaving::Counter& c : sketch.Counters()) {
    const double weight = exact[c.key];
    EXPECT_LE(weight, c.count + 1e-6) << c.key;
    EXPECT_GE(weight, c.count - c.error - 1e-6) << c.key;
    EXPECT_LE(c.error, total / 100 + 1e-6) << c.key;
    sum += c.count;
    frequent += weight > total / 100;
  }
  EXPECT_NEAR(sum, total, 1e-6);
  EXPECT_NEAR(sketch.total(), total, 1e-6);
  const auto wanted =
      std::count_if(exact.begin(), exact.end(),
                    [&](const auto& kv) { return kv.second > total / 100; });
  EXPECT_EQ(frequent, static_cast<size_t>(wanted));
  EXPECT_GT(frequent, 3u);
}

TEST(CoarseHistogramTest, NoValueIsOffByMoreThanAQuarter) {
  for (uint64_t micros = 0; micros < 100'000; micros += 1 + micros / 50) {
    const uint64_t bound =
        CoarseHistogram::UpperBound(CoarseHistogram::BucketOf(micros));
    EXPECT_GE(bound, micros);
    EXPECT_LE(bound, micros + micros / 4);
  }
  CoarseHistogram histogram;
  EXPECT_EQ(histogram.QuantileMicros(0.5), 0u);
  for (int i = 0; i < 99; ++i) histogram.Add(3);
  histogram.Add(int64_t{1} << 40);
  EXPECT_EQ(histogram.QuantileMicros(0.5), 3u);
  EXPECT_EQ(histogram.QuantileMicros(1), (uint64_t{1} << 26) - 1);
}

TEST(KeyTrendTest, ToleratesKeysThatAreALittleLate) {
  std::mt19937_64 random(3);
  KeyTrend rising;
  KeyTrend any;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t late = random() % 60;
    rising.Add(absl::StrFormat("%08d", 1000 + i - static_cast<int>(late)));
    any.Add(absl::StrCat(random()));
  }
  EXPECT_TRUE(rising.known());
  EXPECT_GT(rising.rising(), 0.95);
  EXPECT_LT(rising.falling(), 0.01);
  EXPECT_LT(any.rising(), 0.3);
}

// One table of orders, keyed by `parts`, in memory, with a clock that the test
// sets.
class RegionLoadTest : public EngineTest {
 protected:
  RegionLoadTest() { options_.in_memory = true; }

  void Observe(std::vector<Part> row_key, RegionLoadOptions options = {}) {
    schema_ = Schema();
    schema_.Add(TableBuilder("orders", v1::Order::descriptor())
                    .RowKey(std::move(row_key)));
    options.clock = &clock_;
    options.sample_every = 1;
    auto load = RegionLoadObserver::Create(schema_, options);
    ASSERT_THAT(load, IsOk());
    load_ = *load;
    options_.observers = {load_};
    Open();
  }
  void PreSplit(const std::vector<std::string>& keys) {
    ASSERT_THAT(engine().regions().PreSplit("orders", keys), IsOk());
  }
  // The regions that a table with the rows there are would have.
  void SplitEvenly(size_t regions) {
    const auto keys = engine().regions().SampleSplits("orders", regions);
    ASSERT_THAT(keys, IsOk());
    PreSplit(*keys);
  }
  void Write(int i, std::string_view seller) {
    ASSERT_THAT(Put(MakeOrder(absl::StrFormat("o-%08d", i), seller,
                              1'700'000'000'000 + 1000 * i)),
                IsOk());
    clock_.now += kSecond / 100;
  }
  TableLoad Load() {
    auto load = load_->Load("orders");
    EXPECT_THAT(load, IsOk());
    return load.ok() ? *std::move(load) : TableLoad();
  }
  std::vector<LoadAdvice> Advice() {
    auto advice = load_->Advise(&engine());
    EXPECT_THAT(advice, IsOk());
    return advice.ok() ? *std::move(advice) : std::vector<LoadAdvice>();
  }
  std::vector<std::string> Kinds() {
    std::vector<std::string> kinds;
    for (const LoadAdvice& advice : Advice()) {
      kinds.emplace_back(LoadAdviceName(advice.kind));
    }
    return kinds;
  }

  ManualClock clock_;
  std::shared_ptr<RegionLoadObserver> load_;
};

TEST_F(RegionLoadTest, CountsRowsWhereTheirKeysAre) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("seller_id"), Field("order_id")}));
  PreSplit({"m"});
  Write(1, "a");
  Write(2, "x");
  Write(3, "x");
  ASSERT_THAT(engine().Scan({}, {.table = "orders"}), IsOk());
  ASSERT_THAT(engine().Get({}, "orders", {"x", "o-00000002"}), IsOk());
  const TableLoad load = Load();
  ASSERT_THAT(load.regions, SizeIs(2));
  EXPECT_EQ(load.regions[0].rows_written, 1u);
  EXPECT_EQ(load.regions[1].rows_written, 2u);
  EXPECT_EQ(load.regions[0].rows_read, 1u);
  EXPECT_EQ(load.regions[1].rows_read, 3u);
  // As many bytes each way for a row: key and record.
  EXPECT_EQ(load.regions[0].bytes_read, load.regions[0].bytes_written);
  EXPECT_GT(load.regions[0].bytes_read, 10u);
  EXPECT_THAT(load_->Load("carts"), StatusIs(StatusCode::kNotFound, "table"));
}

TEST_F(RegionLoadTest, DeletesCountAsWrites) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("seller_id"), Field("order_id")}));
  PreSplit({"m"});
  Write(1, "a");
  ASSERT_THAT(
      engine().Write(
          {}, WriteBatch().Delete("orders", RowRef::Key({"a", "o-00000001"}))),
      IsOk());
  EXPECT_EQ(Load().regions[0].rows_written, 2u);
  EXPECT_EQ(Load().regions[1].rows_written, 0u);
}

TEST_F(RegionLoadTest, RatesDecayByHalfInAHalfLife) {
  ASSERT_NO_FATAL_FAILURE(
      Observe({Field("order_id")}, {.half_life_seconds = 10}));
  for (int i = 0; i < 10'000; ++i) Write(i, "s");  // 100 a second.
  EXPECT_NEAR(Load().regions[0].writes_per_second, 100, 2);
  clock_.now += 10 * kSecond;
  EXPECT_NEAR(Load().regions[0].writes_per_second, 50, 2);
  clock_.now += 10 * kSecond;
  EXPECT_NEAR(Load().regions[0].writes_per_second, 25, 2);
  EXPECT_EQ(Load().regions[0].rows_written, 10'000u);
}

TEST_F(RegionLoadTest, OnlyRegionsThatChangeBeginAnew) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("seller_id"), Field("order_id")}));
  PreSplit({"m"});
  Write(1, "a");
  Write(2, "x");
  const Region right = *engine().regions().Locate("orders", "x");
  ASSERT_THAT(engine().regions().Split("orders", right.id, "t"), IsOk());
  ASSERT_THAT(engine().regions().Move("orders", RegionId{2}, "node"), IsOk());
  const TableLoad load = Load();
  ASSERT_THAT(load.regions, SizeIs(3));
  EXPECT_EQ(load.regions[0].rows_written, 1u);
  EXPECT_EQ(load.regions[0].region.node, "node");
  EXPECT_EQ(load.regions[1].rows_written, 0u);
  EXPECT_EQ(load.regions[2].rows_written, 0u);
}

TEST_F(RegionLoadTest, LatencyIsOfReadsThatBeginInTheRegion) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("seller_id"), Field("order_id")}));
  PreSplit({"m"});
  Write(1, "a");
  Write(2, "x");
  ASSERT_THAT(engine().ForEach({}, {.table = "orders"},
                               [&](const RowView&) {
                                 clock_.now += 500;
                                 return true;
                               }),
              IsOk());
  const TableLoad load = Load();
  EXPECT_GE(load.regions[0].read_p99_micros, 1000u);
  EXPECT_LE(load.regions[0].read_p99_micros, 1250u);
  EXPECT_EQ(load.regions[1].read_p99_micros, 0u);
}

TEST_F(RegionLoadTest, PlainRisingIdsAreMonotone) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("order_id")}));
  for (int i = 0; i < 1000; ++i) Write(i, "s");
  SplitEvenly(8);
  for (int i = 1000; i < 4000; ++i) Write(i, "s");
  EXPECT_TRUE(Load().regions[7].hot);
  const std::vector<LoadAdvice> advice = Advice();
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].kind, LoadAdvice::Kind::kMonotone);
  EXPECT_THAT(advice[0].text, HasSubstr("last region"));
  ASSERT_TRUE(advice[0].row_key.has_value());
  EXPECT_EQ(advice[0].row_key->parts(0).hash().bytes(), 4u);
  EXPECT_EQ(advice[0].row_key->parts(1).fields(0), "order_id");
}

TEST_F(RegionLoadTest, TimeFirstIsMonotoneEitherWay) {
  for (const bool descending : {false, true}) {
    Part time = Field("ts_ms");
    if (descending) time = std::move(time).Desc();
    ASSERT_NO_FATAL_FAILURE(Observe({time, Field("order_id")}));
    for (int i = 0; i < 3000; ++i) Write(i, "s");
    const std::vector<LoadAdvice> advice = Advice();
    ASSERT_THAT(advice, SizeIs(1));
    EXPECT_EQ(advice[0].kind, LoadAdvice::Kind::kMonotone);
    EXPECT_THAT(advice[0].text,
                HasSubstr(descending ? "first region" : "last region"));
    ASSERT_TRUE(advice[0].row_key.has_value());
    EXPECT_EQ(advice[0].row_key->parts(0).salt().count(), 16u);
  }
}

TEST_F(RegionLoadTest, HashedKeysNeedNoAdvice) {
  ASSERT_NO_FATAL_FAILURE(Observe({Hash({"order_id"}), Field("order_id")}));
  PreSplit(*UniformSplits(16));
  for (int i = 0; i < 5000; ++i) Write(i, "s");
  EXPECT_THAT(Kinds(), IsEmpty());
  EXPECT_LT(Load().MaxOverMean(), 1.5);
  EXPECT_LT(Load().CoefficientOfVariation(), 0.2);
}

// 3,000 orders of 200 sellers, and as many of one.
void WriteWithGiant(std::function<void(int, std::string_view)> write) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 6000; ++i) {
    write(i, i % 2 == 0 ? "s-big" : absl::StrCat("s-", random() % 200));
  }
}

TEST_F(RegionLoadTest, AGiantSellerIsNamedAndSubBucketsHelp) {
  ASSERT_NO_FATAL_FAILURE(Observe({Hash({"seller_id"}), Field("seller_id"),
                                   Field("ts_ms").Desc(), Field("order_id")}));
  PreSplit(*UniformSplits(16));
  const auto write = [this](int i, std::string_view s) { Write(i, s); };
  ASSERT_NO_FATAL_FAILURE(WriteWithGiant(write));
  const TableLoad load = Load();
  ASSERT_FALSE(load.prefixes.empty());
  EXPECT_EQ(load.prefixes[0].words, "seller_id=\"s-big\"");
  EXPECT_NEAR(load.prefixes[0].share_min, 0.5, 0.02);
  const std::vector<LoadAdvice> advice = Advice();
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].kind, LoadAdvice::Kind::kBigPrefix);
  EXPECT_THAT(advice[0].text, HasSubstr("seller_id=\"s-big\""));
  ASSERT_TRUE(advice[0].row_key.has_value());
  const v1::KeyPart& part = advice[0].row_key->parts(1);
  ASSERT_TRUE(part.has_sub_bucket());
  EXPECT_THAT(part.sub_bucket().listed(), ElementsAre("s-big"));
  EXPECT_THAT(part.fields(), ElementsAre("seller_id", "order_id"));

  // Declared so, the seller can be split, and is not named any more.
  const double skew = load.MaxOverMean();
  std::vector<Part> row_key;
  for (const v1::KeyPart& p : advice[0].row_key->parts())
    row_key.emplace_back(p);
  ASSERT_NO_FATAL_FAILURE(Observe(std::move(row_key)));
  ASSERT_NO_FATAL_FAILURE(WriteWithGiant(write));
  SplitEvenly(16);
  ASSERT_NO_FATAL_FAILURE(
      WriteWithGiant([&](int i, std::string_view s) { Write(i + 10'000, s); }));
  EXPECT_THAT(Kinds(), IsEmpty());
  EXPECT_GT(skew, 7);
  EXPECT_LT(Load().MaxOverMean(), 2);
}

TEST_F(RegionLoadTest, AHotRegionOfManySellersIsSplitInTheMiddle) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("seller_id"), Field("order_id")}));
  std::vector<std::string> letters;
  for (char c = 'b'; c <= 'z'; ++c) letters.push_back(std::string(1, c));
  PreSplit(letters);
  std::mt19937_64 random(9);
  for (int i = 0; i < 10'000; ++i) {
    const auto letter = static_cast<char>('a' + random() % 26);
    Write(i, i % 2 == 0 ? absl::StrFormat("m%02d", random() % 50)
                        : absl::StrCat(std::string(1, letter), random() % 50));
  }
  const std::vector<LoadAdvice> advice = Advice();
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].kind, LoadAdvice::Kind::kSplit);
  const Region hot = *engine().regions().Locate("orders", "m");
  EXPECT_EQ(advice[0].region, hot.id);
  EXPECT_GT(advice[0].split_key, "m2");
  EXPECT_LT(advice[0].split_key, "m3");
  ASSERT_THAT(engine().regions().Split("orders", *advice[0].region,
                                       advice[0].split_key),
              IsOk());
}

TEST_F(RegionLoadTest, AQueryThatReadsTooMuchNamesItsIndex) {
  ASSERT_NO_FATAL_FAILURE(Observe({Field("seller_id"), Field("order_id")}));
  for (int i = 0; i < 1000; ++i) Write(i, "s");
  const Query query = Query("orders")
                          .Where(Filter::Equal("seller_id", "s"))
                          .Where(Filter::Equal("buyer_id", "b"));
  ASSERT_THAT(engine().Query({}, query), IsOk());
  ASSERT_THAT(engine().Query({}, query), IsOk());
  std::vector<LoadAdvice> advice = Advice();
  std::erase_if(advice, [](const LoadAdvice& a) {
    return a.kind != LoadAdvice::Kind::kIndex;
  });
  ASSERT_THAT(advice, SizeIs(1));
  ASSERT_TRUE(advice[0].index.has_value());
  EXPECT_THAT(advice[0].text, HasSubstr("2000 in 2 calls"));
  EXPECT_THAT(advice[0].index->ShortDebugString(), HasSubstr("buyer_id"));
}

TEST_F(RegionLoadTest, OptionsOutOfRangeAreRefused) {
  EXPECT_THAT(RegionLoadObserver::Create(schema_, {.half_life_seconds = 0}),
              StatusIs(StatusCode::kInvalidArgument, "range"));
  EXPECT_THAT(RegionLoadObserver::Create(schema_, {.big_share = 1.5}),
              StatusIs(StatusCode::kInvalidArgument, "range"));
  EXPECT_THAT(RegionLoadObserver::Create(schema_, {.sample_every = 0}),
              StatusIs(StatusCode::kInvalidArgument, "range"));
}

}  // namespace
}  // namespace dovetail::test
