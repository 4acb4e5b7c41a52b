// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/replay.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/records.pb.h"
#include "tests/support/stored_content.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kBegin = 1'700'000'000'000'000;

// Steps a second with each look.
class SteppingClock final : public Clock {
 public:
  int64_t NowMicros() override { return now_ += 1'000'000; }
  int64_t MonotonicMicros() override { return now_; }

 private:
  int64_t now_ = kBegin;
};

std::string AssetBytes(std::string_view id, std::string_view tag) {
  Asset asset;
  asset.set_id(std::string(id));
  if (!tag.empty()) asset.set_tag(std::string(tag));
  return asset.SerializeAsString();
}

// engine() is the one that records; what it did is replayed into others.
class ReplayTest : public EngineTest {
 protected:
  ReplayTest() {
    schema_.Add(TableBuilder("assets", Asset::descriptor())
                    .RowKey({Field("id")})
                    .Unique("by_tag", {Field("tag")})
                    .Index("by_rank", {Field("rank").Desc()}));
    options_.clock = &clock_;
    options_.write_log = WriteLogOptions{.file_bytes_max = 4000};
    EXPECT_THAT(engine().EnableChangeFeed({.commits_max = 0}), IsOk());
  }

  absl::Status Write(const WriteBatch& batch) {
    return engine().Write({}, batch).status();
  }
  // A request or two of every kind; some of them are refused.
  void WriteRandom(int requests) {
    for (int i = 0; i < requests; ++i) {
      WriteBatch batch;
      for (uint64_t n = 1 + random_() % 4; n > 0; --n) AddRandom(&batch);
      const absl::Status status = Write(batch);
      if (!status.ok()) {
        EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
      }
    }
  }
  void AddRandom(WriteBatch* batch) {
    const std::string id = absl::StrCat("o", random_() % 20);
    const auto status = static_cast<v1::OrderStatus>(random_() % 4);
    const auto ts = static_cast<int64_t>(random_() % 5);
    switch (random_() % 7) {
      case 0:
        batch->Delete("orders", RowRef::By("by_order_id", {id}));
        break;
      case 1:
        batch->Patch("orders",
                     RowRef::By("by_order_id", {id}, RowRef::Match::kAll),
                     StatusOnly(status), {"status"});
        break;
      case 2:
        batch->Put(
            "assets",
            AssetBytes(
                absl::StrCat("a", random_() % 8),
                random_() % 3 == 0 ? "" : absl::StrCat("t", random_() % 9)));
        break;
      case 3:
        batch->Delete("assets",
                      RowRef::Key({absl::StrCat("a", random_() % 8)}));
        break;
      default:
        batch->Put(
            "orders",
            Bytes(MakeOrder(id, absl::StrCat("s", random_() % 3), ts, status)));
    }
  }

  // The log of all that engine() did.
  std::string Log(std::string_view name = "log") {
    const std::string path = dir_.Sub(name);
    std::filesystem::remove_all(path);
    std::filesystem::copy(dir_.Sub("db") + "/write-log", path);
    return path;
  }

  std::unique_ptr<Engine> OpenTarget(std::string_view name = "target",
                                     Options options = {}) {
    auto opened = Engine::Open(dir_.Sub(name), schema_, options);
    EXPECT_THAT(opened, IsOk());
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  // Replays `log`; what came of it is in report_.
  absl::Status Replay(Engine& target, const std::string& log,
                      ReplayOptions options = {}, const ReplayStop& stop = {}) {
    const auto source = OpenWriteLogSource(FileSystem::Posix(), log);
    const auto replayer = Replayer::Open(&target, source.get(), options);
    RETURN_IF_ERROR(replayer.status());
    const absl::Status status = (*replayer)->Run(stop);
    report_ = (*replayer)->report();
    return status;
  }

  static void ExpectClean(Engine& target) {
    const auto report = target.Verify({});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean()) << report->Summary();
  }

  // Lets `change` work on record `sequence` of the log.
  template <typename Change>
  std::string ChangedLog(const std::string& log, uint64_t sequence,
                         Change change, std::string_view name = "changed") {
    const std::string path = dir_.Sub(name);
    WriteLogWriterOptions options;
    options.schema = *engine().GetSchema();
    auto writer = WriteLogWriter::Open(FileSystem::Posix(), path, options);
    auto reader = WriteLogReader::Open(FileSystem::Posix(), log);
    EXPECT_THAT(writer, IsOk());
    v1::WriteLogRecord record;
    while (*(*reader)->Next(&record)) {
      if (record.sequence() == sequence) change(record);
      EXPECT_THAT((*writer)->Append(record), IsOk());
    }
    EXPECT_THAT((*writer)->Close(), IsOk());
    return path;
  }

  static uint64_t SequenceOf(Engine& target) {
    return static_cast<uint64_t>(target.GetStats()->sequence);
  }

  SteppingClock clock_;
  std::mt19937_64 random_{7};
  ReplayReport report_;
};

TEST_F(ReplayTest, AnEmptyDatabaseBecomesTheOneThatRecorded) {
  WriteRandom(300);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log), IsOk());
  EXPECT_EQ(report_.end, ReplayReport::End::kEnd);
  EXPECT_EQ(report_.applied, SequenceOf(engine()));
  EXPECT_EQ(report_.sequence, engine().GetStats()->sequence);
  EXPECT_FALSE(report_.rows_were_read);
  EXPECT_GT(report_.rows, report_.applied);
  EXPECT_EQ(report_.bytes_read, report_.bytes_total);
  // Versions of rows included.
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
  ExpectClean(*target);
}

TEST_F(ReplayTest, AppliesNothingTwice) {
  WriteRandom(50);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log), IsOk());
  ASSERT_THAT(Replay(*target, log), IsOk());
  EXPECT_EQ(report_.applied, 0);
  EXPECT_EQ(report_.applied_total, SequenceOf(engine()));
  EXPECT_EQ(SequenceOf(*target), SequenceOf(engine()));
}

TEST_F(ReplayTest, AnyPrefixThenTheRestIsTheWhole) {
  WriteRandom(60);
  const std::string log = Log();
  const Content whole = ContentOf(engine());
  for (uint64_t n = 0; n <= SequenceOf(engine()); n += 7) {
    const std::string name = absl::StrCat("target", n);
    ASSERT_THAT(
        Replay(*OpenTarget(name), log, {.batch_items = 3}, {.to_position = n}),
        IsOk());
    ASSERT_EQ(report_.applied, n);
    const auto target = OpenTarget(name);
    ASSERT_EQ(SequenceOf(*target), n);
    ASSERT_THAT(Replay(*target, log), IsOk());
    ASSERT_EQ(ContentOf(*target), whole) << n;
  }
}

TEST_F(ReplayTest, OneReplayerGoesOnAfterAStop) {
  WriteRandom(40);
  const auto target = OpenTarget();
  const auto source = OpenWriteLogSource(FileSystem::Posix(), Log());
  const auto replayer = Replayer::Open(target.get(), source.get(), {});
  ASSERT_THAT(replayer, IsOk());
  ASSERT_THAT((*replayer)->Run({.to_position = 7}), IsOk());
  EXPECT_EQ((*replayer)->report().end, ReplayReport::End::kStop);
  EXPECT_EQ((*replayer)->report().position, 7);
  // Each record a second.
  ASSERT_THAT((*replayer)->Run({.to_time_us = kBegin + 20'000'000}), IsOk());
  const uint64_t at_time = (*replayer)->report().position;
  EXPECT_LE(*(*replayer)->report().time_us, kBegin + 20'000'000);
  EXPECT_EQ(SequenceOf(*target), at_time);
  EXPECT_GT(at_time, 7);
  ASSERT_THAT((*replayer)->Run(), IsOk());
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
}

// A checkpoint is the database at an earlier commit.
TEST_F(ReplayTest, ACheckpointGoesOnWithTheLog) {
  WriteRandom(30);
  ASSERT_THAT(engine().Checkpoint(dir_.Sub("target"), {}), IsOk());
  const uint64_t before = SequenceOf(engine());
  WriteRandom(30);
  const std::string log = Log();
  const auto target = OpenTarget();
  EXPECT_THAT(Replay(*target, log),
              StatusIs(StatusCode::kFailedPrecondition, "say whether"));
  ASSERT_THAT(Replay(*target, log, {.sequences = ReplaySequences::kKeep}),
              IsOk());
  EXPECT_EQ(report_.applied, SequenceOf(engine()) - before);
  EXPECT_FALSE(report_.rows_were_read);
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
}

TEST_F(ReplayTest, KeepingSequencesEndsWhenSomebodyElseWrites) {
  WriteRandom(20);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log, {}, {.to_position = 5}), IsOk());
  ASSERT_THAT(target->Write({}, WriteBatch().Put(
                                    "orders", Bytes(MakeOrder("x", "s", 1)))),
              IsOk());
  EXPECT_THAT(Replay(*target, log),
              StatusIs(StatusCode::kFailedPrecondition, "somebody else"));
  // While it is at work, too.
  const auto other = OpenTarget("other");
  const auto source = OpenWriteLogSource(FileSystem::Posix(), log);
  const auto replayer = Replayer::Open(other.get(), source.get(), {});
  ASSERT_THAT((*replayer)->Run({.to_position = 5}), IsOk());
  ASSERT_THAT(other->Write({}, WriteBatch()), IsOk());
  EXPECT_THAT((*replayer)->Run(),
              StatusIs(StatusCode::kAborted, "somebody else"));
  EXPECT_EQ((*replayer)->report().applied, 5);
}

TEST_F(ReplayTest, ADatabaseWithCommitsOfItsOwnReadsItsRows) {
  WriteRandom(60);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(target->Write({}, WriteBatch().Put(
                                    "orders", Bytes(MakeOrder("own", "z", 1)))),
              IsOk());
  const ReplayOptions own = {.sequences = ReplaySequences::kOwn};
  ASSERT_THAT(Replay(*target, log, own), IsOk());
  EXPECT_TRUE(report_.rows_were_read);
  EXPECT_EQ(SequenceOf(*target), 1 + SequenceOf(engine()));
  ASSERT_THAT(Put(MakeOrder("own", "z", 1)), IsOk());
  EXPECT_EQ(ContentOf(*target, Versions::kIgnore),
            ContentOf(engine(), Versions::kIgnore));
  EXPECT_THAT(Replay(*target, log, {.sequences = ReplaySequences::kKeep}),
              StatusIs(StatusCode::kInvalidArgument, "goes on so"));
}

// The row that the log changed is another one here: entries that were made
// from the log's old image would stay behind.
TEST_F(ReplayTest, ARowThatIsNotAsTheLogSaysIsAnError) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  ASSERT_THAT(SetStatus("a", v1::SHIPPED), IsOk());
  ASSERT_THAT(DeleteId("a"), IsOk());
  const std::string log = Log();
  const auto target = OpenTarget();
  const ReplayOptions own = {.sequences = ReplaySequences::kOwn};
  ASSERT_THAT(Replay(*target, log, own, {.to_position = 1}), IsOk());
  ASSERT_THAT(target->Write({}, WriteBatch().Patch(
                                    "orders", RowRef::By("by_order_id", {"a"}),
                                    StatusOnly(v1::CANCELED), {"status"})),
              IsOk());
  EXPECT_THAT(
      Replay(*target, log, own),
      StatusIs(StatusCode::kFailedPrecondition, "indexed fields are others"));
  ExpectClean(*target);
  ReplayOptions replace = own;
  replace.old_rows = ReplayOldRows::kReplace;
  ASSERT_THAT(Replay(*target, log, replace, {.to_position = 2}), IsOk());
  ExpectClean(*target);
  ASSERT_THAT(
      target->Write(
          {}, WriteBatch().Delete("orders", RowRef::By("by_order_id", {"a"}))),
      IsOk());
  EXPECT_THAT(Replay(*target, log, own),
              StatusIs(StatusCode::kFailedPrecondition, "there is none"));
  ASSERT_THAT(Replay(*target, log, replace), IsOk());
  ExpectClean(*target);
}

// Each of these has effects in which entries of a unique index change hands.
TEST_F(ReplayTest, UniqueValuesChangeHandsInOneRequest) {
  const auto put = [](WriteBatch batch, std::string_view id,
                      std::string_view tag) {
    batch.Put("assets", AssetBytes(id, tag));
    return batch;
  };
  WriteBatch begin = put(put(put({}, "a", "x"), "b", "y"), "c", "z");
  ASSERT_THAT(Write(begin), IsOk());
  // A ring of three.
  ASSERT_THAT(Write(put(put(put({}, "a", "y"), "b", "z"), "c", "x")), IsOk());
  // Claimed and given up again: the first owner keeps it.
  ASSERT_THAT(Write(put(put({}, "d", "x"), "d", "w")), IsOk());
  // Deleted and put anew, by another row.
  WriteBatch again;
  again.Delete("assets", RowRef::Key({"a"}));
  again.Put("assets", AssetBytes("e", "y"));
  again.Put("assets", AssetBytes("a", "v"));
  ASSERT_THAT(Write(again), IsOk());
  // Put and deleted.
  WriteBatch nothing = put({}, "f", "u");
  nothing.Delete("assets", RowRef::Key({"f"}));
  ASSERT_THAT(Write(nothing), IsOk());
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log), IsOk());
  EXPECT_FALSE(report_.rows_were_read);
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
  ExpectClean(*target);
}

// No index reads what differs, so only a digest can tell.
TEST_F(ReplayTest, RowsThatAreNotTheLogsAreFoundByTheNextDigest) {
  for (int n = 1; n <= 70; ++n) {
    ASSERT_THAT(Put(MakeOrder(absl::StrCat("o", n), "s", n)), IsOk());
  }
  const std::string log = ChangedLog(Log(), 5, [](v1::WriteLogRecord& record) {
    v1::Order order = MakeOrder("o5", "s", 5);
    order.set_note("another");
    record.mutable_effects(0)->set_record(order.SerializeAsString());
  });
  const auto target = OpenTarget();
  EXPECT_THAT(Replay(*target, log, {.batch_items = 1}),
              StatusIs(StatusCode::kDataLoss,
                       "the rows after the record are not those that the log "
                       "had: sequence=64 table=\"orders\" rows=64 log_rows=64"));
  EXPECT_EQ(SequenceOf(*target), 63);
}

// The log's old images lack what the new index reads.
TEST_F(ReplayTest, AnIndexThatTheLogDoesNotKnowIsKeptRight) {
  WriteRandom(40);
  const std::string log = Log();
  Schema more;
  more.Add(presets::SellerOrders("orders"));
  more.Add(TableBuilder("assets", Asset::descriptor())
               .RowKey({Field("id")})
               .Unique("by_tag", {Field("tag")})
               .Index("by_rank", {Field("rank").Desc()})
               .Index("by_note", {Field("note")}));
  schema_ = more;
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log), IsOk());
  EXPECT_TRUE(report_.rows_were_read);
  ExpectClean(*target);
}

// As the change feed gives them.
TEST_F(ReplayTest, RecordsWithoutOldFieldsReadTheRows) {
  WriteRandom(40);
  const std::string path = dir_.Sub("plain");
  auto writer = WriteLogWriter::Open(FileSystem::Posix(), path, {});
  const auto feed = engine().OpenFeed("plain", FeedStart::kOldest);
  v1::WriteLogRecord record;
  while (*(*feed)->Next(&record, std::chrono::microseconds(0))) {
    ASSERT_THAT((*writer)->Append(record), IsOk());
  }
  ASSERT_THAT((*writer)->Close(), IsOk());
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, path), IsOk());
  EXPECT_TRUE(report_.rows_were_read);
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
}

TEST_F(ReplayTest, ALogThatWasChangedUnderneathIsRefused) {
  WriteRandom(30);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log, {}, {.to_position = 10}), IsOk());
  // Another log, with the same records.
  const std::string second = ChangedLog(
      log, 0, [](v1::WriteLogRecord&) {}, "second");
  EXPECT_THAT(Replay(*target, second),
              StatusIs(StatusCode::kFailedPrecondition, "another source"));
  // Another record in the place: the fingerprint tells before the log id does.
  const std::string other = ChangedLog(
      log, 10, [](v1::WriteLogRecord& record) { record.add_annotations("n"); });
  EXPECT_THAT(Replay(*target, other),
              StatusIs(StatusCode::kFailedPrecondition, "another record"));
  // One that ends before the place.
  WriteLogWriterOptions cut;
  cut.schema = *engine().GetSchema();
  cut.cut_above = SequenceNumber{9};
  ASSERT_THAT(WriteLogWriter::Open(FileSystem::Posix(), log, cut), IsOk());
  EXPECT_THAT(Replay(*target, log),
              StatusIs(StatusCode::kFailedPrecondition, "ends before"));
  EXPECT_EQ(SequenceOf(*target), 10);
}

TEST_F(ReplayTest, ALogThatBeginsLaterIsAGap) {
  WriteRandom(60);
  const std::string log = Log();
  {
    auto writer = WriteLogWriter::Open(FileSystem::Posix(), log,
                                       {.schema = *engine().GetSchema()});
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->DropBefore(SequenceNumber{30}), IsOk());
    ASSERT_GT((*writer)->first_sequence(), SequenceNumber{1});
  }
  const auto target = OpenTarget();
  EXPECT_THAT(Replay(*target, log),
              StatusIs(StatusCode::kFailedPrecondition, "does not go on"));
  EXPECT_EQ(SequenceOf(*target), 0);
}

TEST_F(ReplayTest, AStopAtABadRecordLeavesEverythingBeforeIt) {
  WriteRandom(20);
  const std::string log = Log();
  const std::string bad = ChangedLog(log, 8, [](v1::WriteLogRecord& record) {
    record.mutable_effects(0)->set_new_key("no key");
  });
  const auto target = OpenTarget();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Replay(*target, bad, {.batch_items = 5}),
                StatusIs(StatusCode::kInvalidArgument, "position=8"));
    EXPECT_EQ(report_.end, ReplayReport::End::kError);
    EXPECT_EQ(SequenceOf(*target), 7);
  }
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(ReplayTest, RejectedRecordsAreInTheFileOnce) {
  for (int i = 0; i < 30; ++i) {
    ASSERT_THAT(Put(MakeOrder(absl::StrCat("o", i % 10), "s", i)), IsOk());
  }
  std::string log = Log();
  log = ChangedLog(log, 5, [](v1::WriteLogRecord& record) {
    record.mutable_effects(0)->set_table("nowhere");
  });
  log = ChangedLog(
      log, 20,
      [](v1::WriteLogRecord& record) {
        record.mutable_effects(0)->set_record("\xff");
      },
      "changed_again");
  ReplayOptions options;
  options.on_error = ReplayOnError::kSkip;
  options.rejects_path = dir_.Sub("rejects");
  options.batch_items = 4;
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log, options, {.to_position = 12}), IsOk());
  EXPECT_EQ(report_.rejected, 1);
  EXPECT_THAT(report_.first_reject, HasSubstr("position=5"));
  // What a run wrote that was killed before it committed the place.
  std::ofstream(options.rejects_path, std::ios::app) << "left over, cut o";
  ASSERT_THAT(Replay(*target, log, options), IsOk());
  EXPECT_EQ(report_.rejected_total, 2);
  EXPECT_EQ(report_.applied_total, 28);
  // A rejected record has its sequence all the same.
  EXPECT_EQ(SequenceOf(*target), 30);
  const std::vector<std::string> lines = Lines(options.rejects_path);
  ASSERT_THAT(lines, SizeIs(2));
  v1::ReplayReject reject;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(lines[0], &reject).ok());
  EXPECT_EQ(reject.position(), 5);
  EXPECT_THAT(reject.cause(), HasSubstr("nowhere"));
  EXPECT_EQ(reject.record().sequence(), 5);
  // Old images are not believed any more.
  EXPECT_TRUE(report_.rows_were_read);
  ExpectClean(*target);
  // Somebody else's file is left alone.
  EXPECT_THAT(Replay(*OpenTarget("other"), log, options),
              StatusIs(StatusCode::kAlreadyExists, "not empty"));
}

TEST_F(ReplayTest, ADryRunChecksAndAppliesNothing) {
  WriteRandom(20);
  const std::string log = ChangedLog(Log(), 8, [](v1::WriteLogRecord& record) {
    record.mutable_effects(0)->set_table("nowhere");
  });
  const auto target = OpenTarget();
  EXPECT_THAT(Replay(*target, log, {.dry_run = true}),
              StatusIs(StatusCode::kInvalidArgument, "position=8"));
  ASSERT_THAT(
      Replay(*target, log, {.dry_run = true, .on_error = ReplayOnError::kSkip}),
      IsOk());
  EXPECT_EQ(report_.applied + 1, SequenceOf(engine()));
  EXPECT_EQ(report_.rejected, 1);
  EXPECT_EQ(SequenceOf(*target), 0);
  EXPECT_THAT(*Replayer::ListSources(target.get()), IsEmpty());
}

TEST_F(ReplayTest, ProgressMayEndIt) {
  WriteRandom(40);
  const std::string log = Log();
  ReplayOptions options;
  options.batch_items = 3;
  options.progress_interval_us = 0;
  options.progress = [](const ReplayReport& report) {
    return report.applied < 10;
  };
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log, options), IsOk());
  EXPECT_EQ(report_.end, ReplayReport::End::kCancelled);
  EXPECT_EQ(report_.applied, 12);
  EXPECT_EQ(SequenceOf(*target), 12);
  ASSERT_THAT(Replay(*target, log), IsOk());
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
}

TEST_F(ReplayTest, FollowsALogThatGrows) {
  WriteRandom(10);
  const auto target = OpenTarget();
  const auto source = OpenWriteLogSource(
      FileSystem::Posix(), dir_.Sub("db") + "/write-log", {.follow = true});
  int rounds = 0;
  ReplayOptions options;
  options.follow = true;
  options.poll_interval_us = 1000;
  options.progress_interval_us = 0;
  // Writes when the replay has caught up, and ends it the third time.
  options.progress = [&](const ReplayReport& report) {
    if (report.applied < SequenceOf(engine())) return true;
    if (++rounds == 3) return false;
    WriteRandom(10);
    return true;
  };
  const auto replayer = Replayer::Open(target.get(), source.get(), options);
  ASSERT_THAT(replayer, IsOk());
  ASSERT_THAT((*replayer)->Run(), IsOk());
  EXPECT_EQ(ContentOf(*target), ContentOf(engine()));
}

// Sees every put, and adds an asset for it.
class Counting final : public Observer {
 public:
  ObserverTraits traits() const override {
    ObserverTraits traits;
    traits.name = "counting";
    traits.hooks = kPrePut | kPreDelete | kPostBatchMutate;
    traits.writes = {"assets"};
    return traits;
  }
  absl::Status PrePut(HookContext& ctx, const RowChange& change) override {
    ++puts;
    if (change.table != "orders") return absl::OkStatus();
    Mutation added{Mutation::Kind::kPut, "assets", AssetBytes("seen", ""),
                   RowRef::Key({}),      {},       {}};
    return ctx.Add(std::move(added));
  }
  absl::Status PreDelete(HookContext&, const RowChange&) override {
    ++deletes;
    return absl::OkStatus();
  }
  absl::Status PostBatchMutate(HookContext&,
                               const std::vector<RowChange>&) override {
    ++batches;
    return absl::OkStatus();
  }
  int puts = 0;
  int deletes = 0;
  int batches = 0;
};

TEST_F(ReplayTest, ObserversSeeRecordsOnlyIfTheyAreToRunAgain) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("a", "t", 1)), IsOk());  // Moves.
  ASSERT_THAT(DeleteId("a"), IsOk());
  const std::string log = Log();
  const auto quiet = std::make_shared<Counting>();
  Options options;
  options.observers = {quiet};
  const auto target = OpenTarget("target", options);
  ASSERT_THAT(Replay(*target, log), IsOk());
  EXPECT_EQ(quiet->puts + quiet->deletes + quiet->batches, 0);
  const auto seeing = std::make_shared<Counting>();
  options.observers = {seeing};
  const auto other = OpenTarget("other", options);
  ASSERT_THAT(Replay(*other, log, {.rerun_observers = true}), IsOk());
  EXPECT_EQ(seeing->puts, 2);
  EXPECT_EQ(seeing->deletes, 1);
  EXPECT_EQ(seeing->batches, 3);
  EXPECT_THAT(other->Get({}, "assets", {"seen"}), IsOk());
  ExpectClean(*other);
}

TEST_F(ReplayTest, TheFeedOfTheCopySaysWhereItsCommitsComeFrom) {
  WriteRandom(20);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(target->EnableChangeFeed({}), IsOk());
  ASSERT_THAT(Replay(*target, log, {.source = "primary"}), IsOk());
  const auto ours = target->OpenFeed("c", FeedStart::kOldest);
  const auto theirs = engine().OpenFeed("c", FeedStart::kOldest);
  v1::WriteLogRecord copy;
  v1::WriteLogRecord original;
  while (*(*theirs)->Next(&original, std::chrono::microseconds(0))) {
    ASSERT_THAT((*ours)->Next(&copy, std::chrono::microseconds(0)),
                IsOkAndHolds(true));
    ASSERT_EQ(copy.source(), "primary");
    ASSERT_EQ(copy.source_position(), original.sequence());
    copy.clear_source();
    copy.clear_source_position();
    ASSERT_EQ(copy.SerializeAsString(), original.SerializeAsString());
  }
}

TEST_F(ReplayTest, PlacesAreListedAndForgotten) {
  WriteRandom(5);
  const std::string log = Log();
  const auto target = OpenTarget();
  ASSERT_THAT(Replay(*target, log, {.source = "primary"}), IsOk());
  const auto sources = Replayer::ListSources(target.get());
  ASSERT_THAT(sources, IsOk());
  ASSERT_THAT(*sources, SizeIs(1));
  EXPECT_EQ((*sources)[0].name, "primary");
  EXPECT_EQ((*sources)[0].position, SequenceOf(engine()));
  EXPECT_EQ((*sources)[0].applied, SequenceOf(engine()));
  EXPECT_TRUE((*sources)[0].keeps_sequences);
  EXPECT_THAT((*sources)[0].id, SizeIs(16));
  ASSERT_THAT(Replayer::ForgetSource(target.get(), "primary"), IsOk());
  EXPECT_THAT(Replayer::ForgetSource(target.get(), "primary"),
              StatusIs(StatusCode::kNotFound, "primary"));
}

// Five entries: a put, nothing, one that is no request, a veto, a put.
class Stream final : public ReplaySource {
 public:
  absl::Status Start(const ReplayPlace& place) override {
    at_ = place.position / 10;
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Next(ReplayItem* item) override {
    if (at_ == 5) return false;
    item->position = ++at_ * 10;
    item->kind = ReplayItem::Kind::kRequest;
    item->raw = absl::StrCat("entry ", at_);
    item->batch.Clear();
    if (at_ == 2) item->kind = ReplayItem::Kind::kNothing;
    if (at_ == 3) return absl::InvalidArgumentError("no request");
    if (at_ == 4) {
      item->batch.Insert("orders", Bytes(MakeOrder("o1", "s", 1)));
    } else {
      item->batch.Put("orders",
                      Bytes(MakeOrder(absl::StrCat("o", at_), "s", 1)));
    }
    return true;
  }
  std::string id() const override { return "stream"; }

 private:
  uint64_t at_ = 0;
};

TEST_F(ReplayTest, TheItemsOfAStreamAreRequests) {
  for (size_t batch = 1; batch <= 5; ++batch) {
    const auto target = OpenTarget(absl::StrCat("target", batch));
    ReplayOptions options;
    options.batch_items = batch;
    options.on_error = ReplayOnError::kSkip;
    options.rejects_path = dir_.Sub(absl::StrCat("rejects", batch));
    Stream stream;
    const auto replayer = Replayer::Open(target.get(), &stream, options);
    ASSERT_THAT(replayer, IsOk());
    ASSERT_THAT((*replayer)->Run(), IsOk());
    const ReplayReport& report = (*replayer)->report();
    EXPECT_EQ(report.applied, 2);
    EXPECT_EQ(report.rejected, 2);
    EXPECT_EQ(report.nothing, 1);
    EXPECT_EQ(report.position, 50);
    EXPECT_EQ(SequenceOf(*target), 2);
    EXPECT_THAT(
        Lines(options.rejects_path),
        ElementsAre(AllOf(HasSubstr("no request"), HasSubstr("entry 3")),
                    AllOf(HasSubstr("exists"), HasSubstr("entry 4"))));
    EXPECT_THAT(*Replayer::ListSources(target.get()), SizeIs(1));
    ExpectClean(*target);
  }
}

TEST_F(ReplayTest, AStreamHasNoSequencesToKeep) {
  const auto target = OpenTarget();
  Stream stream;
  EXPECT_THAT(Replayer::Open(target.get(), &stream,
                             {.sequences = ReplaySequences::kKeep}),
              StatusIs(StatusCode::kInvalidArgument, "write log"));
  EXPECT_THAT(Replayer::Open(target.get(), &stream, {.source = ""}),
              StatusIs(StatusCode::kInvalidArgument, "name"));
}

}  // namespace
}  // namespace dovetail::test
