// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What recording leaves in the log, and how it is switched on and off. What is
// left of it by crashes is in recording_crash_test.cc.

#include "dovetail/recording.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/replay.h"
#include "tests/engine/recording_test_util.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Adds a note to every request that puts, and an order of its own.
class NotingObserver : public Observer {
 public:
  explicit NotingObserver(std::string note) : note_(std::move(note)) {}
  ObserverTraits traits() const override {
    ObserverTraits traits;
    traits.name = "noting";
    traits.hooks = kPrePut;
    traits.writes = {"orders"};
    return traits;
  }
  absl::Status PrePut(HookContext& ctx, const RowChange& change) override {
    v1::Order order;
    order.ParseFromString(std::string(*change.new_record));
    if (order.order_id() != "noted") return absl::OkStatus();
    ctx.Annotate(note_);
    return ctx.Add({Mutation::Kind::kPut,
                    "orders",
                    Bytes(MakeOrder("added", "s", 9)),
                    RowRef::Key({}),
                    {},
                    {}});
  }

 private:
  const std::string note_;
};

// Whether `old_fields` has of the record just what keys read.
void ExpectKeyFieldsOf(const std::string& record,
                       const std::string& old_fields) {
  v1::Order order;
  v1::Order kept;
  ASSERT_TRUE(order.ParseFromString(record));
  ASSERT_TRUE(kept.ParseFromString(old_fields));
  order.clear_note();
  EXPECT_EQ(kept.DebugString(), order.DebugString());
}

TEST_F(RecordingTest, HasTheRequestsChangesInTheirOrder) {
  options_.observers.push_back(std::make_shared<NotingObserver>("watched"));
  v1::Order first = MakeOrder("a", "s", 1);
  first.set_note("is read by no key");
  ASSERT_THAT(Put(first), IsOk());
  ASSERT_THAT(Put(MakeOrder("noted", "s", 2)), IsOk());
  // Refused: no sequence, no record.
  ASSERT_FALSE(
      engine().Write({}, WriteBatch().Insert("orders", Bytes(first))).ok());
  WriteBatch batch;
  batch.Put("orders", Bytes(MakeOrder("a", "other", 1)));  // Moves.
  batch.Patch("orders", RowRef::By("by_order_id", {"a"}),
              StatusOnly(v1::SHIPPED), {"status"});
  batch.Delete("orders", RowRef::By("by_order_id", {"noted"}));
  ASSERT_THAT(engine().Write({}, batch), IsOk());
  ASSERT_THAT(DeleteId("nobody"), IsOk());  // A commit without changes.

  const std::vector<v1::WriteLogRecord> log = RecordsIn(LogDirectory());
  ASSERT_THAT(log, SizeIs(4));
  ASSERT_THAT(log[0].effects(), SizeIs(1));
  EXPECT_EQ(log[0].effects(0).table(), "orders");
  EXPECT_EQ(log[0].effects(0).record(), Bytes(first));
  EXPECT_FALSE(log[0].effects(0).has_old_fields());
  EXPECT_NE(log[0].schema_fingerprint(), 0u);

  EXPECT_THAT(log[1].annotations(), ElementsAre("watched"));
  ASSERT_THAT(log[1].effects(), SizeIs(2));
  EXPECT_EQ(log[1].effects(0).added_by(), "");
  EXPECT_EQ(log[1].effects(1).added_by(), "noting");

  ASSERT_THAT(log[2].effects(), SizeIs(3));
  const v1::RowEffect& move = log[2].effects(0);
  EXPECT_EQ(move.old_key(), log[0].effects(0).new_key());
  ExpectKeyFieldsOf(Bytes(first), move.old_fields());
  const v1::RowEffect& patch = log[2].effects(1);
  EXPECT_EQ(patch.old_key(), "");
  EXPECT_EQ(patch.new_key(), move.new_key());
  ExpectKeyFieldsOf(move.record(), patch.old_fields());
  const v1::RowEffect& removal = log[2].effects(2);
  EXPECT_FALSE(removal.has_record());
  ExpectKeyFieldsOf(log[1].effects(0).record(), removal.old_fields());
  EXPECT_THAT(log[3].effects(), IsEmpty());
  ExpectLogIsTheStore();
}

TEST_F(RecordingTest, HasWhatTheChangeFeedHas) {
  ASSERT_THAT(engine().EnableChangeFeed({}), IsOk());
  for (uint64_t n = 0; n < 300; ++n) WriteSome(n).status().IgnoreError();
  const auto feed = engine().OpenFeed("c", FeedStart::kOldest);
  ASSERT_THAT(feed, IsOk());
  v1::WriteLogRecord change;
  size_t at = 0;
  std::vector<v1::WriteLogRecord> log = RecordsIn(LogDirectory());
  while (*(*feed)->Next(&change, std::chrono::microseconds(0))) {
    ASSERT_LT(at, log.size());
    v1::WriteLogRecord recorded = log[at++];
    recorded.clear_schema_fingerprint();
    recorded.clear_digests();
    for (v1::RowEffect& effect : *recorded.mutable_effects()) {
      effect.clear_old_fields();
      effect.clear_old_sum();
    }
    ASSERT_EQ(change.SerializeAsString(), recorded.SerializeAsString());
  }
  EXPECT_EQ(at, log.size());
  ExpectLogIsTheStore();
}

// A copy that records, too, has the same history to hand on.
TEST_F(RecordingTest, AReplayIsRecordedAsItWasTheFirstTime) {
  for (uint64_t n = 0; n < 200; ++n) WriteSome(n).status().IgnoreError();
  Options options;
  options.write_log = WriteLogOptions();
  auto copy = Engine::Open(dir_.Sub("copy"), schema_, options);
  ASSERT_THAT(copy, IsOk());
  const auto source = OpenWriteLogSource(&files_, LogDirectory());
  auto replayer = Replayer::Open(copy->get(), source.get(),
                                 {.sequences = ReplaySequences::kKeep});
  ASSERT_THAT(replayer, IsOk());
  ASSERT_THAT((*replayer)->Run(), IsOk());
  EXPECT_FALSE((*replayer)->report().rows_were_read);
  std::vector<v1::WriteLogRecord> again =
      RecordsIn(dir_.Sub("copy") + "/write-log");
  const std::vector<v1::WriteLogRecord> log = RecordsIn(LogDirectory());
  ASSERT_EQ(again.size(), log.size());
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(again[i].source(), "default");
    EXPECT_EQ(again[i].source_position(), log[i].sequence());
    again[i].clear_source();
    again[i].clear_source_position();
    ASSERT_EQ(again[i].SerializeAsString(), log[i].SerializeAsString());
  }
}

TEST_F(RecordingTest, GoesOnWhoeverOpensTheDatabase) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  options_.write_log.reset();
  Open();
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  ASSERT_THAT(engine().Close(), IsOk());
  Open();
  ExpectLogIsTheStore();
  EXPECT_THAT(engine().open_report().write_log_cuts, IsEmpty());
}

TEST_F(RecordingTest, BeginsAnywhereAndEndsOnDemand) {
  options_.write_log.reset();
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  EXPECT_THAT(engine().DisableWriteLog(), StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(FindWriteLog(&files_, dir_.Sub("db")),
              StatusIs(StatusCode::kNotFound, "db"));
  ASSERT_THAT(engine().EnableWriteLog({}), IsOk());
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  const auto setup = FindWriteLog(&files_, dir_.Sub("db"));
  ASSERT_THAT(setup, IsOk());
  EXPECT_EQ(setup->directory, LogDirectory());
  EXPECT_EQ(Number(setup->recorded_above), 1u);
  ASSERT_THAT(engine().DisableWriteLog(), IsOk());
  ASSERT_THAT(Put(MakeOrder("c", "s", 1)), IsOk());
  EXPECT_FALSE(engine().GetStats()->write_log.has_value());

  const std::vector<v1::WriteLogRecord> log = RecordsIn(LogDirectory());
  ASSERT_THAT(log, SizeIs(1));
  EXPECT_EQ(log[0].sequence(), 2u);

  // A log with a hole would not be one.
  EXPECT_THAT(engine().EnableWriteLog({}),
              StatusIs(StatusCode::kFailedPrecondition,
                       "log_sequence=2 store_sequence=3"));
  ASSERT_THAT(engine().EnableWriteLog({.start_over = true}), IsOk());
  ASSERT_THAT(Put(MakeOrder("d", "s", 1)), IsOk());
  const std::vector<v1::WriteLogRecord> anew = RecordsIn(LogDirectory());
  ASSERT_THAT(anew, SizeIs(1));
  EXPECT_EQ(anew[0].sequence(), 4u);
  EXPECT_THAT(RecordsIn(LogDirectory() + "/before-4"), SizeIs(1));
}

TEST_F(RecordingTest, ALogThatEndsWithTheNewestCommitIsContinued) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  ASSERT_THAT(engine().DisableWriteLog(), IsOk());
  ASSERT_THAT(engine().EnableWriteLog({}), IsOk());
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  ExpectLogIsTheStore();
  EXPECT_THAT(RecordsIn(LogDirectory()), SizeIs(2));
}

TEST_F(RecordingTest, TheSetupChangesButForTheDirectory) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  ASSERT_THAT(engine().EnableWriteLog({.file_bytes_max = 1}), IsOk());
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("c", "s", 1)), IsOk());
  EXPECT_EQ(engine().GetStats()->write_log->files, 3u);
  EXPECT_THAT(engine().EnableWriteLog({.directory = "elsewhere"}),
              StatusIs(StatusCode::kFailedPrecondition, "elsewhere"));
  ASSERT_THAT(Put(MakeOrder("d", "s", 1)), IsOk());
  ExpectLogIsTheStore();
  engine_.reset();
  options_.write_log->directory = "elsewhere";
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kFailedPrecondition, "elsewhere"));
  options_.write_log.reset();
  Open();
  EXPECT_EQ(FindWriteLog(&files_, dir_.Sub("db"))->file_bytes_max, 1u);
}

TEST_F(RecordingTest, TheLogMayBeAnywhere) {
  options_.write_log->directory = dir_.Sub("other-disk");
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  EXPECT_EQ(engine().GetStats()->write_log->directory, dir_.Sub("other-disk"));
  ExpectLogIsTheStore();
}

TEST_F(RecordingTest, ARefusedRecordLeavesNoTraceAndTheOthersGoOn) {
  options_.observers.push_back(std::make_shared<NotingObserver>("\xff"));
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  engine();
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto good = Put(MakeOrder(absl::StrCat("o-", t, "-", i), "s", 1));
        EXPECT_THAT(good, IsOk());
        const auto bad = Put(MakeOrder("noted", "s", 2));
        EXPECT_THAT(bad, StatusIs(StatusCode::kInvalidArgument, "UTF-8"));
        refused += !bad.ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 200);
  EXPECT_THAT(ById("noted"), IsEmpty());
  EXPECT_THAT(ById("added"), IsEmpty());
  EXPECT_EQ(Number(engine().GetStats()->sequence), 200u);
  ExpectLogIsTheStore();
}

TEST_F(RecordingTest, ARequestTooLargeForTheLogIsRefused) {
  options_.limits.record_bytes_max = 40 << 20;
  options_.limits.request_bytes_max = 200 << 20;
  v1::Order large = MakeOrder("a", "s", 1);
  large.set_note(std::string(35 << 20, 'x'));
  WriteBatch batch;
  batch.Put("orders", Bytes(large));
  large.set_order_id("b");
  batch.Put("orders", Bytes(large));
  EXPECT_THAT(engine().Write({}, batch),
              StatusIs(StatusCode::kResourceExhausted, "write log"));
  EXPECT_THAT(BySeller("s"), IsEmpty());
  ASSERT_THAT(Put(large), IsOk());
  ExpectLogIsTheStore();
}

TEST_F(RecordingTest, ASchemaChangeBeginsAFileWithTheNewSchema) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  v1::IndexSchema index;
  index.set_name("by_time");
  index.set_kind(v1::IndexSchema::VALUE);
  index.add_parts()->add_fields("ts_ms");
  ASSERT_THAT(engine().AddIndex("orders", index), IsOk());
  ASSERT_THAT(engine().BuildIndex("orders", "by_time", {}), IsOk());
  ASSERT_THAT(Put(MakeOrder("b", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("c", "s", 1)), IsOk());
  Open();  // The same schema: no file of its own.
  ASSERT_THAT(Put(MakeOrder("d", "s", 1)), IsOk());
  EXPECT_EQ(engine().GetStats()->write_log->files, 2u);

  const auto reader = WriteLogReader::Open(&files_, LogDirectory());
  ASSERT_THAT(reader, IsOk());
  std::vector<std::string> seen;
  std::vector<uint64_t> fingerprints;
  v1::WriteLogRecord record;
  while (*(*reader)->Next(&record)) {
    const v1::TableSchema& table = (*reader)->header().schema().tables(0);
    EXPECT_GT(table.descriptors().ByteSizeLong(), 0u);
    seen.push_back(absl::StrCat(record.sequence(), ":", table.indexes_size()));
    fingerprints.push_back(record.schema_fingerprint());
  }
  const int before = schema_.proto().tables(0).indexes_size();
  EXPECT_THAT(seen, ElementsAre(absl::StrCat("1:", before),
                                absl::StrCat("2:", before + 1),
                                absl::StrCat("3:", before + 1),
                                absl::StrCat("4:", before + 1)));
  EXPECT_NE(fingerprints[0], fingerprints[1]);
  EXPECT_EQ(fingerprints[1], fingerprints[3]);
}

TEST_F(RecordingTest, RetentionDropsOldFiles) {
  options_.write_log->file_bytes_max = 2000;
  options_.write_log->retention.bytes_max = 30'000;
  for (uint64_t n = 0; n < 2000; ++n) {
    WriteSome(n, /*sync=*/n % 10 == 0).status().IgnoreError();
  }
  const WriteLogStats stats = *engine().GetStats()->write_log;
  EXPECT_LE(stats.bytes, 40'000u);  // Dropped when the next file begins.
  EXPECT_GT(Number(stats.first_sequence), 1u);
  EXPECT_EQ(Number(stats.last_sequence), Number(engine().GetStats()->sequence));
  EXPECT_EQ(stats.retention_error, "");
  Open();
  EXPECT_THAT(engine().open_report().write_log_cuts, IsEmpty());
}

TEST_F(RecordingTest, ACheckpointDoesNotRecord) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  ASSERT_THAT(engine().Checkpoint(dir_.Sub("copy"), {}), IsOk());
  EXPECT_THAT(FindWriteLog(&files_, dir_.Sub("copy")),
              StatusIs(StatusCode::kNotFound));
  options_.write_log.reset();
  auto copy = Engine::Open(dir_.Sub("copy"), schema_, options_);
  ASSERT_THAT(copy, IsOk());
  ASSERT_THAT((*copy)->Write({}, WriteBatch().Put(
                                     "orders", Bytes(MakeOrder("b", "s", 1)))),
              IsOk());
  EXPECT_THAT(RecordsIn(LogDirectory()), SizeIs(1));
}

TEST_F(RecordingTest, AnEngineInMemoryDoesNotRecord) {
  options_.in_memory = true;
  EXPECT_THAT(Engine::Open("name", schema_, options_),
              StatusIs(StatusCode::kInvalidArgument, "in memory"));
}

TEST_F(RecordingTest, AReadOnlyEngineLeavesTheLogAsItIs) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  options_.read_only = true;
  options_.write_log->retention.bytes_max = 0;
  Open();
  EXPECT_THAT(BySeller("s"), ElementsAre("a"));
  EXPECT_THAT(engine().EnableWriteLog({}),
              StatusIs(StatusCode::kFailedPrecondition, "read-only"));
  EXPECT_THAT(engine().DisableWriteLog(),
              StatusIs(StatusCode::kFailedPrecondition, "read-only"));
  EXPECT_FALSE(
      FindWriteLog(&files_, dir_.Sub("db"))->retention.bytes_max.has_value());
  EXPECT_THAT(RecordsIn(LogDirectory()), SizeIs(1));
}

TEST_F(RecordingTest, WritersAndSyncsRunBesideEachOther) {
  options_.write_buffer_bytes = 64 << 10;
  options_.write_log->file_bytes_max = 20'000;
  engine();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 300; ++i) {
        v1::Order order = MakeOrder(absl::StrCat("o-", t, "-", i % 40), "s", 1,
                                    static_cast<v1::OrderStatus>(i % 5));
        order.set_note(std::string(500, 'x'));
        EXPECT_THAT(engine().Write({.sync = i % 20 == 0},
                                   WriteBatch().Put("orders", Bytes(order))),
                    IsOk());
        if (i % 50 == 0) {
          EXPECT_THAT(engine().GetStats(), IsOk());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(engine().GetStats()->write_log->files, 10u);
  ExpectLogIsTheStore();
  Open();
  ExpectLogIsTheStore();
}

}  // namespace
}  // namespace dovetail::test
