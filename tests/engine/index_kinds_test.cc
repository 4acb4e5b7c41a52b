// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Indexes of a part of the rows, with covering fields, of groups, and of the
// elements of a list: against the reference model, and in each place that has
// to know them.

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dovetail/engine.h"
#include "dovetail/replay.h"
#include "dovetail/testing/model.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"
#include "engine/storage/store.h"
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

// Spaces are numbered in the order of the schema: rows, then its indexes.
constexpr char kRows = 1;
constexpr char kRooms = 5;

std::vector<IndexBuilder> Kinds() {
  return {
      IndexBuilder::Value("tagged", {Field("room"), Field("rank").Desc()})
          .Where({RowTest::IsNotNull("tag"),
                  RowTest::Between("rank", {.min = 1, .max = 3})}),
      IndexBuilder::Unique("one_tag", {Field("tag")})
          .Where({RowTest::In("rank", {1, 2})}),
      IndexBuilder::Value("covering", {Field("rank"), Field("tag")})
          .Covering({"note", "slot"}),
      IndexBuilder::Count("rooms", {Field("room"), Field("slot")}),
      IndexBuilder::Sum("ranks", {Field("tag").Desc()}, "rank")
          .Where({RowTest::Prefix("room", "r")}),
      IndexBuilder::Value("labelled", {Field("labels"), Field("rank")})
          .Covering({"note"})
          .FanOut("labels", 3),
      IndexBuilder::Count("marks", {Field("marks")}).FanOut("marks"),
  };
}

TableBuilder Assets() {
  TableBuilder table("assets", Asset::descriptor());
  table.RowKey({Field("id")});
  return table;
}

Schema WithKinds() {
  TableBuilder table = Assets();
  for (const IndexBuilder& index : Kinds()) table.Add(index);
  Schema schema;
  schema.Add(table);
  return schema;
}

uint64_t Seed() {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  uint64_t seed = std::random_device()();
  if (given != nullptr && !absl::SimpleAtoi(given, &seed)) seed = 0;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  return seed;
}

Asset MakeAsset(std::string_view id, std::string_view room = "r",
                int64_t rank = 1) {
  Asset asset;
  asset.set_id(std::string(id));
  asset.set_room(std::string(room));
  asset.set_rank(rank);
  return asset;
}

class IndexKindsTest : public EngineTest {
 protected:
  IndexKindsTest() {
    schema_ = WithKinds();
    options_.background_work = false;
  }

  absl::Status Put(const Asset& asset) {
    return engine()
        .Write({}, WriteBatch().Put("assets", asset.SerializeAsString()))
        .status();
  }
  absl::Status Delete(std::string_view id) {
    return engine()
        .Write({}, WriteBatch().Delete("assets", RowRef::Key({id})))
        .status();
  }
  Totals Total(std::string_view index, std::vector<Value> equal) {
    const auto totals = engine().Aggregate({}, {.table = "assets",
                                                .index = std::string(index),
                                                .equal = std::move(equal)});
    EXPECT_THAT(totals, IsOk());
    return totals.ok() ? *totals : Totals();
  }
  std::vector<std::string> Ids(std::string_view index,
                               const std::vector<Value>& values) {
    const auto rows = engine().GetBy({}, "assets", index, values);
    EXPECT_THAT(rows, IsOk());
    std::vector<std::string> ids;
    for (const Row& row : *rows) {
      Asset asset;
      EXPECT_TRUE(asset.ParseFromString(row.record));
      ids.push_back(asset.id());
    }
    return ids;
  }

  // Requests that meet in few ids, rooms, tags and lists.
  WriteBatch RandomRequest() {
    WriteBatch batch;
    for (uint64_t n = 1 + random_() % 3; n > 0; --n) {
      const std::string id = absl::StrCat("a", random_() % 30);
      if (random_() % 4 == 0) {
        batch.Delete("assets", RowRef::Key({id}));
        continue;
      }
      Asset asset = MakeAsset(id, random_() % 2 == 0 ? "r1" : "s",
                              static_cast<int64_t>(random_() % 5));
      if (random_() % 3 > 0) asset.set_tag(absl::StrCat("t", random_() % 40));
      if (random_() % 2 > 0) asset.set_slot(static_cast<int>(random_() % 2));
      asset.set_note(absl::StrCat(random_() % 3));
      for (uint64_t i = random_() % 4; i > 0; --i) {
        asset.add_labels(absl::StrCat("l", random_() % 4));
        asset.add_marks(static_cast<int>(random_() % 3) - 1);
      }
      if (random_() % 4 == 0) {
        batch.Patch("assets", RowRef::Key({id}), asset.SerializeAsString(),
                    {"rank", "note", "labels"});
      } else {
        batch.Put("assets", asset.SerializeAsString());
      }
    }
    return batch;
  }

  static std::vector<std::string> Keys(Store& store, char space) {
    std::vector<std::string> keys;
    const auto it = store.NewIterator({});
    for (it->Seek(std::string(1, space)); it->Valid() && it->key()[0] == space;
         it->Next()) {
      keys.emplace_back(it->key());
    }
    return keys;
  }

  // The rows' records by ranks of the model, of every index.
  void ExpectLike(const Model& model) {
    for (const std::string& index : model.IndexNames("assets")) {
      for (const bool covered : {false, true}) {
        ScanRequest request{.table = "assets", .index = index, .limit = 1000};
        request.covered = covered;
        const auto page = engine().Scan({}, request);
        ASSERT_THAT(page, IsOk());
        EXPECT_THAT(model.CheckScan(request, page->rows), IsOk())
            << index << " covered=" << covered;
        EXPECT_TRUE(!covered || page->work.gets == 0);
      }
    }
    for (const std::string& index : model.CountingIndexNames("assets")) {
      const std::vector<Group> expected = model.Groups("assets", index, {});
      size_t i = 0;
      const auto end = engine().ForEachGroup(
          {}, {.table = "assets", .index = index, .limit = 1000},
          [&](const Group& group) {
            const bool more = i < expected.size();
            EXPECT_TRUE(more) << index;
            if (!more) return false;
            EXPECT_EQ(group.values, expected[i].values) << index;
            EXPECT_EQ(group.count, expected[i].count) << index;
            EXPECT_TRUE(group.sum == expected[i].sum) << index;
            ++i;
            return true;
          });
      ASSERT_THAT(end, IsOk());
      EXPECT_EQ(i, expected.size()) << index;
    }
  }

  std::mt19937_64 random_{0};
};

TEST_F(IndexKindsTest, AnswersAreTheModelsAfterAnyRequests) {
  random_.seed(Seed());
  absl::StatusOr<Model> model = Model::Of(schema_);
  ASSERT_THAT(model, IsOk());
  uint64_t sequence = 0;
  for (int i = 0; i < 600; ++i) {
    const WriteBatch batch = RandomRequest();
    const auto commit = engine().Write({}, batch);
    const auto applied = model->Apply(batch, sequence + 1);
    ASSERT_EQ(commit.status().code(), applied.status().code())
        << commit.status();
    sequence += commit.ok() ? 1 : 0;
    if (i % 60 == 59) ExpectLike(*model);
    if (i % 200 == 199) Open();
  }
  ExpectLike(*model);
}

TEST_F(IndexKindsTest, BuildingThemGivesTheBytesThatMaintenanceGives) {
  random_.seed(Seed());
  for (int i = 0; i < 300; ++i)
    engine().Write({}, RandomRequest()).IgnoreError();
  const Content maintained = ContentOf(engine());
  for (const IndexBuilder& index : Kinds()) {
    ASSERT_THAT(engine().DropIndex("assets", index.proto().name()), IsOk());
    ASSERT_THAT(engine().AddIndex("assets", index.proto()), IsOk());
    const auto built = engine().BuildIndex("assets", index.proto().name(), {});
    ASSERT_THAT(built, IsOk());
    EXPECT_EQ(built->state, IndexState::kReadable);
  }
  EXPECT_EQ(ContentOf(engine()), maintained);
}

// Each step of the build is followed by writes in front of it and behind it.
TEST_F(IndexKindsTest, ABuildBesideWritersCountsEachRowOnce) {
  random_.seed(Seed());
  schema_ = Schema();
  schema_.Add(Assets());
  for (int i = 0; i < 200; ++i) {
    Asset asset = MakeAsset(absl::StrCat("a", i), "r1", i % 3);
    asset.set_slot(i % 2);
    asset.add_labels(absl::StrCat("l", i % 4));
    asset.add_marks(i % 3);
    ASSERT_THAT(Put(asset), IsOk());
  }
  for (const IndexBuilder& index : Kinds()) {
    if (index.proto().kind() == v1::IndexSchema::UNIQUE) continue;
    ASSERT_THAT(engine().AddIndex("assets", index.proto()), IsOk());
  }
  for (const IndexBuilder& index : Kinds()) {
    if (index.proto().kind() == v1::IndexSchema::UNIQUE) continue;
    BuildOptions slowly;
    int steps = 0;
    slowly.rows_per_second_max = 10;
    slowly.progress = [&](const BuildProgress&) {
      for (int i = 0; i < 5; ++i) {
        EXPECT_THAT(engine().Write({}, RandomRequest()).status(),
                    ::testing::AnyOf(IsOk(), StatusIs(StatusCode::kNotFound)));
      }
      // Some steps one row at a time, from a build that resumes; then at once.
      return ++steps % 3 != 0;
    };
    for (int resumed = 0; resumed < 4; ++resumed) {
      slowly.rows_per_second_max = 10'000;
      const auto built =
          engine().BuildIndex("assets", index.proto().name(), slowly);
      EXPECT_TRUE(built.ok() || absl::IsCancelled(built.status()))
          << built.status();
      if (resumed == 1) Open();
    }
    const auto built = engine().BuildIndex("assets", index.proto().name(), {});
    ASSERT_THAT(built, IsOk());
    EXPECT_EQ(built->state, IndexState::kReadable);
    EXPECT_TRUE(Verify().clean()) << Verify().Summary();
  }
}

TEST_F(IndexKindsTest, AReplayThatReadsNoRowsMakesTheSameContent) {
  random_.seed(Seed());
  options_.write_log = WriteLogOptions{.file_bytes_max = 20'000};
  for (int i = 0; i < 400; ++i)
    engine().Write({}, RandomRequest()).IgnoreError();
  const auto digest = engine().Digest();
  ASSERT_THAT(digest, IsOk());
  const Content content = ContentOf(engine());
  ASSERT_THAT(engine().Close(), IsOk());
  engine_.reset();

  Options options;
  options.cross_check = true;
  auto target = Engine::Open(dir_.Sub("target"), schema_, options);
  ASSERT_THAT(target, IsOk());
  const auto source =
      OpenWriteLogSource(FileSystem::Posix(), dir_.Sub("db") + "/write-log");
  const auto replayer = Replayer::Open(target->get(), source.get(), {});
  ASSERT_THAT(replayer, IsOk());
  ASSERT_THAT((*replayer)->Run(), IsOk());
  EXPECT_FALSE((*replayer)->report().rows_were_read);
  EXPECT_EQ(ContentOf(**target), content);
  const auto replayed = (*target)->Digest();
  ASSERT_THAT(replayed, IsOk());
  ASSERT_EQ(replayed->spaces.size(), digest->spaces.size());
  for (size_t i = 0; i < digest->spaces.size(); ++i) {
    EXPECT_TRUE(replayed->spaces[i].sum == digest->spaces[i].sum);
  }
  const auto verified = (*target)->Verify({});
  ASSERT_THAT(verified, IsOk());
  EXPECT_TRUE(verified->clean()) << verified->Summary();
}

TEST_F(IndexKindsTest, APartialUniqueIndexIsUniqueAmongItsRows) {
  Asset outside = MakeAsset("a", "r", 7);
  outside.set_tag("t");
  Asset inside = MakeAsset("b", "r", 1);
  inside.set_tag("t");
  ASSERT_THAT(Put(outside), IsOk());
  ASSERT_THAT(Put(inside), IsOk());
  EXPECT_THAT(Ids("one_tag", {"t"}), ElementsAre("b"));
  outside.set_rank(2);
  EXPECT_THAT(Put(outside), StatusIs(StatusCode::kAlreadyExists, "one_tag"));
  inside.set_rank(9);
  ASSERT_THAT(Put(inside), IsOk());
  ASSERT_THAT(Put(outside), IsOk());
  EXPECT_THAT(Ids("one_tag", {"t"}), ElementsAre("a"));
}

TEST_F(IndexKindsTest, ACoveredReadHasTheFieldsOfTheEntryAndReadsNoRow) {
  Asset asset = MakeAsset("a", "room", 5);
  asset.set_tag("t");
  asset.set_note("n");
  asset.set_slot(-3);
  ASSERT_THAT(Put(asset), IsOk());
  const auto page = engine().Scan(
      {},
      {.table = "assets", .index = "covering", .equal = {5}, .covered = true});
  ASSERT_THAT(page, IsOk());
  ASSERT_THAT(page->rows, SizeIs(1));
  Asset read;
  ASSERT_TRUE(read.ParseFromString(page->rows[0].record));
  asset.clear_room();
  EXPECT_EQ(read.SerializeAsString(), asset.SerializeAsString());
  EXPECT_EQ(static_cast<uint64_t>(page->rows[0].version), 0u);
  EXPECT_EQ(page->work.gets, 0u);
  EXPECT_EQ(page->work.seeks, 1u);
}

TEST_F(IndexKindsTest, AColumnThatIsOnlyHashedCannotBeCovered) {
  schema_ = Schema();
  schema_.Add(Assets().Add(IndexBuilder::Value("h", {Hash({"room"})})));
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  EXPECT_THAT(
      engine().Scan(
          {},
          {.table = "assets", .index = "h", .equal = {"r"}, .covered = true}),
      StatusIs(StatusCode::kInvalidArgument, "a hash only"));
}

TEST_F(IndexKindsTest, CountsAndSumsFollowTheRows) {
  for (int i = 0; i < 5; ++i) {
    Asset asset = MakeAsset(absl::StrCat("a", i), "r", INT64_MAX - i);
    asset.set_tag("t");
    ASSERT_THAT(Put(asset), IsOk());
  }
  const Totals all = Total("ranks", {"t"});
  EXPECT_EQ(all.count, 5u);
  EXPECT_TRUE(all.sum == absl::int128(INT64_MAX) * 5 - 10);
  EXPECT_EQ(all.work.gets, 1u);
  EXPECT_EQ(Total("rooms", {"r"}).count, 5u);
  EXPECT_EQ(Total("rooms", {"r", nullptr}).count, 5u);
  EXPECT_EQ(Total("rooms", {"r", 1}).count, 0u);
  for (int i = 0; i < 5; ++i) ASSERT_THAT(Delete(absl::StrCat("a", i)), IsOk());
  // A counter without rows is gone.
  EXPECT_EQ(Total("ranks", {}).groups, 0u);
  EXPECT_EQ(Total("rooms", {}).groups, 0u);
}

TEST_F(IndexKindsTest, ARefusedRequestLeavesNoCount) {
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  WriteBatch batch;
  batch.Put("assets", MakeAsset("b").SerializeAsString());
  batch.Insert("assets", MakeAsset("a").SerializeAsString());
  EXPECT_THAT(engine().Write({}, batch), StatusIs(StatusCode::kAlreadyExists));
  EXPECT_EQ(Total("rooms", {"r"}).count, 1u);
  ASSERT_THAT(Put(MakeAsset("b")), IsOk());
  EXPECT_EQ(Total("rooms", {"r"}).count, 2u);
}

TEST_F(IndexKindsTest, ASnapshotHasItsOwnCounts) {
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  const auto before = engine().GetSnapshot();
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(Put(MakeAsset("b")), IsOk());
  const auto old =
      engine().Aggregate({.snapshot = &*before},
                         {.table = "assets", .index = "rooms", .equal = {"r"}});
  ASSERT_THAT(old, IsOk());
  EXPECT_EQ(old->count, 1u);
  EXPECT_EQ(Total("rooms", {"r"}).count, 2u);
}

TEST_F(IndexKindsTest, AnIndexThatCountsLeadsToNoRows) {
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  EXPECT_THAT(engine().GetBy({}, "assets", "rooms", {"r"}),
              StatusIs(StatusCode::kInvalidArgument, "leads to none"));
  EXPECT_THAT(engine().Scan({}, {.table = "assets", .index = "rooms"}),
              StatusIs(StatusCode::kInvalidArgument, "use Aggregate"));
  EXPECT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "assets", RowRef::By("rooms", {"r"}))),
              StatusIs(StatusCode::kInvalidArgument, "leads to none"));
  EXPECT_THAT(engine().Aggregate({}, {.table = "assets", .index = "covering"}),
              StatusIs(StatusCode::kInvalidArgument, "only COUNT and SUM"));
  EXPECT_THAT(engine().Aggregate({}, {.table = "assets"}),
              StatusIs(StatusCode::kInvalidArgument, "only COUNT and SUM"));
}

TEST_F(IndexKindsTest, WrongCountersAreNamedAndSetRight) {
  for (int i = 0; i < 12; ++i) {
    Asset asset = MakeAsset(absl::StrCat("a", i));
    asset.set_slot(i % 4);
    ASSERT_THAT(Put(asset), IsOk());
  }
  const Content right = ContentOf(engine());
  Damage([](Store& store, StoreBatch& batch) {
    const std::vector<std::string> keys = Keys(store, kRooms);
    ASSERT_THAT(keys, SizeIs(4));
    batch.Delete(keys[0]);       // Lost.
    batch.Put(keys[1], "\x05");  // 5, not 3.
    batch.Put(keys[2], "\x80");  // No number.
    std::string more = keys[3];
    more.back() = '\x77';
    batch.Put(more, "\x01");  // Of no rows.
  });
  const VerifyReport report = Verify();
  EXPECT_EQ(report.missing, 1u);
  EXPECT_EQ(report.wrong_entries, 2u);
  EXPECT_EQ(report.dangling, 1u);
  EXPECT_THAT(report.findings[0].detail, HasSubstr("room=\"r\" slot="));
  // Rows of the group that cannot be read cannot change.
  Asset asset = MakeAsset("new");
  asset.set_slot(2);
  EXPECT_THAT(Put(asset), StatusIs(StatusCode::kDataLoss, "run verify"));
  // Those of the others can, and what is repaired stays as far off.
  asset.set_slot(1);
  ASSERT_THAT(Put(asset), IsOk());
  ASSERT_THAT(Delete("new"), IsOk());
  const auto repaired = engine().Repair({});
  ASSERT_THAT(repaired, IsOk());
  EXPECT_EQ(repaired->entries_added, 3u);
  EXPECT_EQ(repaired->entries_removed, 1u);
  EXPECT_TRUE(Verify().clean()) << Verify().Summary();
  EXPECT_EQ(ContentOf(engine()), right);
}

TEST_F(IndexKindsTest, ACounterThatWouldFallBelowZeroIsRefused) {
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  Damage([](Store& store, StoreBatch& batch) {
    batch.Delete(Keys(store, kRooms)[0]);
  });
  EXPECT_THAT(Delete("a"), StatusIs(StatusCode::kDataLoss, "index=rooms"));
  ASSERT_THAT(engine().Repair({}), IsOk());
  EXPECT_THAT(Delete("a"), IsOk());
}

TEST_F(IndexKindsTest, ALostRowIsCountedNoMoreAfterRepair) {
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  ASSERT_THAT(Put(MakeAsset("b")), IsOk());
  Damage([](Store& store, StoreBatch& batch) {
    batch.Delete(Keys(store, kRows)[0]);
  });
  ASSERT_THAT(engine().Repair({}), IsOk());
  EXPECT_EQ(Total("rooms", {"r"}).count, 1u);
}

TEST_F(IndexKindsTest, ARowHasOneEntryForEachDistinctElement) {
  Asset asset = MakeAsset("a");
  for (const char* label : {"x", "y", "x"}) asset.add_labels(label);
  asset.add_marks(4);
  asset.add_marks(4);
  ASSERT_THAT(Put(asset), IsOk());
  ASSERT_THAT(Put(MakeAsset("none")), IsOk());
  EXPECT_THAT(Ids("labelled", {"x"}), ElementsAre("a"));
  EXPECT_THAT(Ids("labelled", {"y"}), ElementsAre("a"));
  EXPECT_EQ(Total("marks", {4}).count, 1u);
  asset.clear_labels();
  asset.add_labels("y");
  asset.clear_marks();
  ASSERT_THAT(Put(asset), IsOk());
  EXPECT_THAT(Ids("labelled", {"x"}), IsEmpty());
  EXPECT_THAT(Ids("labelled", {"y"}), ElementsAre("a"));
  EXPECT_EQ(Total("marks", {}).groups, 0u);
}

TEST_F(IndexKindsTest, ARowWithTooManyElementsIsRefused) {
  Asset asset = MakeAsset("a");
  for (const char* label : {"x", "y", "z", "x"}) asset.add_labels(label);
  ASSERT_THAT(Put(asset), IsOk());
  asset.add_labels("w");
  EXPECT_THAT(Put(asset), StatusIs(StatusCode::kInvalidArgument,
                                   "index=labelled elements=4 max=3"));
  EXPECT_THAT(Ids("labelled", {"z"}), ElementsAre("a"));
  EXPECT_THAT(Ids("labelled", {"w"}), IsEmpty());
}

TEST_F(IndexKindsTest, TheFormatVersionSaysThatOlderProgramsMustNotWrite) {
  ASSERT_THAT(Put(MakeAsset("a")), IsOk());
  Damage([](Store& store, StoreBatch&) {
    std::string bytes;
    ASSERT_THAT(store.Get({}, CatalogKey(), &bytes), IsOk());
    v1::Catalog catalog;
    ASSERT_TRUE(catalog.ParseFromString(bytes));
    EXPECT_EQ(catalog.format_version(), 3u);
  });
}

TEST_F(IndexKindsTest, ChangedDeclarationsAreRefusedByName) {
  Open();
  const auto refused = [&](size_t index,
                           const std::function<void(v1::IndexSchema&)>& change,
                           std::string_view rule) {
    v1::Schema changed = WithKinds().proto();
    change(
        *changed.mutable_tables(0)->mutable_indexes(static_cast<int>(index)));
    engine_.reset();
    EXPECT_THAT(Engine::Open(dir_.Sub("db"), Schema(changed), options_),
                StatusIs(StatusCode::kFailedPrecondition, std::string(rule)));
  };
  refused(
      0, [](auto& i) { i.mutable_predicate()->RemoveLast(); },
      "index-predicate-changed");
  refused(
      2, [](auto& i) { i.add_covering("room"); }, "index-covering-changed");
  refused(
      4, [](auto& i) { i.set_sum("slot"); }, "index-sum-changed");
  refused(
      5, [](auto& i) { i.set_fan_out_max(4); }, "index-fan-out-changed");
  Open();
}

TEST_F(IndexKindsTest, DeclarationsThatCannotBeAreRefusedWithAReason) {
  const auto refused = [&](const IndexBuilder& index, std::string_view why) {
    Schema schema;
    schema.Add(Assets().Add(index));
    EXPECT_THAT(Engine::Open(dir_.Sub("other"), schema, options_),
                StatusIs(StatusCode::kInvalidArgument, std::string(why)));
  };
  refused(IndexBuilder::Count("i", {Hash({"room"})}), "only hashed");
  refused(IndexBuilder::Count("i", {Field("room")}).Covering({"note"}),
          "no covering fields");
  refused(IndexBuilder::Sum("i", {Field("room")}, "note"), "only integer");
  refused(IndexBuilder::Sum("i", {Field("room")}, ""), "needs the field `sum`");
  refused(IndexBuilder::Value("i", {Field("labels")}), "the field is repeated");
  refused(IndexBuilder::Value("i", {Field("room")}).FanOut("labels"),
          "no part is of the fan_out field");
  refused(IndexBuilder::Value("i", {Field("room")}).FanOut("room"),
          "not a repeated field of scalars");
  refused(IndexBuilder::Unique("i", {Field("labels")}).FanOut("labels"),
          "a UNIQUE index has no fan_out");
  refused(IndexBuilder::Value("i", {Hash({"labels"})}).FanOut("labels"),
          "only hashed");
  refused(IndexBuilder::Value("i", {Field("labels")}).FanOut("labels", 10'001),
          "fan_out_max is too large");
  refused(IndexBuilder::Value("i", {Field("room")}).Covering({"note", "note"}),
          "more than once");
  refused(IndexBuilder::Value("i", {Field("room")}).Covering({"labels"}),
          "the field is repeated");
  refused(IndexBuilder::Value("i", {Field("room")})
              .Where({RowTest::IsNull("room")}),
          "never null");
  refused(IndexBuilder::Value("i", {Field("room")})
              .Where({RowTest::Equal("rank", "x")}),
          "predicate, test 1: value does not fit the field");
  Schema schema;
  schema.Add(Assets()
                 .Add(IndexBuilder::Unique("i", {Field("tag")})
                          .Where({RowTest::Equal("rank", 1)}))
                 .Identity("i"));
  EXPECT_THAT(Engine::Open(dir_.Sub("other"), schema, options_),
              StatusIs(StatusCode::kInvalidArgument, "must be of all rows"));
}

}  // namespace
}  // namespace dovetail::test
