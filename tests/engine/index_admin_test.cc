// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/index_admin.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/keyspace.h"
#include "leveldb/db.h"
#include "leveldb/write_batch.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kOrders = 3000;

class IndexAdminTest : public EngineTest {
 protected:
  IndexAdminTest() { options_.background_work = false; }

  static v1::IndexSchema ByNote() {
    return ValueIndex("by_note", {Field("note"), Field("ts_ms").Desc()});
  }
  static v1::Order Order(int i) {
    v1::Order order =
        MakeOrder(absl::StrCat("o-", i), absl::StrCat("s-", i % 7), 1000 + i);
    order.set_note(absl::StrCat("note-", i % 10));
    return order;
  }
  void Load(int begin, int end) {
    WriteBatch batch;
    for (int i = begin; i < end; ++i) batch.Put("orders", Bytes(Order(i)));
    ASSERT_THAT(engine().Write({}, std::move(batch)), IsOk());
  }
  std::vector<std::string> ByNoteIds(std::string_view note) {
    return Scan({.index = "by_note", .equal = {note}, .limit = 10'000});
  }
  IndexInfo Info(std::string_view index) {
    const auto list = engine().ListIndexes();
    EXPECT_THAT(list, IsOk());
    for (const IndexInfo& info : *list) {
      if (info.index == index) return info;
    }
    return {};
  }
  IndexState StateOf(std::string_view index) { return Info(index).state; }
  BuildReport Build(std::string_view index, const BuildOptions& o = {}) {
    const auto report = engine().BuildIndex("orders", index, o);
    EXPECT_THAT(report, IsOk());
    return report.ok() ? *report : BuildReport();
  }

  // What is stored under the metadata key of the catalog, changed by `change`
  // while the engine is closed.
  void EditCatalog(
      const std::function<void(v1::Catalog&, leveldb::DB&)>& change) {
    engine_.reset();
    leveldb::DB* raw = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, dir_.Sub("db"), &raw).ok());
    const std::unique_ptr<leveldb::DB> db(raw);
    std::string bytes;
    ASSERT_TRUE(db->Get({}, CatalogKey(), &bytes).ok());
    v1::Catalog catalog;
    ASSERT_TRUE(catalog.ParseFromString(bytes));
    change(catalog, *db);
    ASSERT_TRUE(db->Put({}, CatalogKey(), catalog.SerializeAsString()).ok());
  }
};

TEST_F(IndexAdminTest, AnAddedIndexIsBuiltFromTheRowsThatAreThere) {
  Load(0, kOrders);
  ASSERT_THAT(engine().AddIndex("orders", ByNote()), IsOk());
  EXPECT_EQ(StateOf("by_note"), IndexState::kBuilding);
  EXPECT_THAT(engine().Scan({}, {.table = "orders", .index = "by_note"}),
              StatusIs(StatusCode::kFailedPrecondition, "is being built"));
  EXPECT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "orders", RowRef::By("by_note", {"x"}))),
              StatusIs(StatusCode::kFailedPrecondition, "is being built"));

  const BuildReport report = Build("by_note");
  EXPECT_EQ(report.state, IndexState::kReadable);
  EXPECT_EQ(report.done.rows, uint64_t{kOrders});
  EXPECT_EQ(report.done.entries, uint64_t{kOrders});
  EXPECT_FALSE(report.resumed);
  EXPECT_THAT(ByNoteIds("note-3"), SizeIs(kOrders / 10));
  EXPECT_EQ(ByNoteIds("note-3").front(), absl::StrCat("o-", kOrders - 7));
  // And it outlives the engine, and the program that does not declare it.
  schema_ = Schema();
  Open();
  EXPECT_THAT(ByNoteIds("note-3"), SizeIs(kOrders / 10));
  EXPECT_EQ(Build("by_note").state, IndexState::kReadable);
}

TEST_F(IndexAdminTest, TheEngineBuildsOnAThreadOfItsOwn) {
  options_.background_work = true;
  Load(0, kOrders);
  ASSERT_THAT(engine().AddIndex("orders", ByNote()), IsOk());
  while (StateOf("by_note") != IndexState::kReadable) std::this_thread::yield();
  EXPECT_THAT(ByNoteIds("note-3"), SizeIs(kOrders / 10));
}

TEST_F(IndexAdminTest, DeclarationsAreCheckedLikeThoseOfASchema) {
  Load(0, 1);
  EXPECT_THAT(engine().AddIndex("nope", ByNote()),
              StatusIs(StatusCode::kNotFound, "nope"));
  EXPECT_THAT(engine().AddIndex("orders", ValueIndex("i", {Field("nope")})),
              StatusIs(StatusCode::kInvalidArgument, "nope"));
  EXPECT_THAT(engine().AddIndex("orders", ValueIndex("i", {Salt(3)})),
              StatusIs(StatusCode::kInvalidArgument, "index=i"));
  EXPECT_THAT(
      engine().AddIndex("orders", ValueIndex("by_status", {Field("note")})),
      StatusIs(StatusCode::kAlreadyExists, "by_status"));
  EXPECT_THAT(engine().BuildIndex("orders", "nope", {}),
              StatusIs(StatusCode::kNotFound, "indexes=by_status,by_order_id"));
}

TEST_F(IndexAdminTest, WritersKeepItsEntriesOnBothSidesOfTheBuild) {
  Load(0, kOrders);
  ASSERT_THAT(engine().AddIndex("orders", ByNote()), IsOk());
  // Half way, rows before and behind the position change, move and go.
  int steps = 0;
  const BuildOptions half = {.progress = [&](const BuildProgress& p) {
    ++steps;
    return p.rows < kOrders / 2;
  }};
  EXPECT_THAT(engine().BuildIndex("orders", "by_note", half),
              StatusIs(StatusCode::kCancelled, "resumed"));
  EXPECT_GT(steps, 1);
  EXPECT_EQ(StateOf("by_note"), IndexState::kBuilding);
  EXPECT_GE(Info("by_note").rows_built, uint64_t{kOrders / 2});
  for (int i = 0; i < kOrders; i += 10) {
    v1::Order changed = Order(i);
    changed.set_note("changed");
    ASSERT_THAT(Put(changed), IsOk());
    v1::Order moved = Order(i + 1);
    moved.set_seller_id("elsewhere");
    ASSERT_THAT(Put(moved), IsOk());
    ASSERT_THAT(DeleteId(absl::StrCat("o-", i + 2)), IsOk());
  }
  Load(kOrders, kOrders + 100);
  Open();  // The build is resumed by another engine.
  const BuildReport report = Build("by_note");
  EXPECT_TRUE(report.resumed);
  EXPECT_EQ(report.state, IndexState::kReadable);
  EXPECT_THAT(ByNoteIds("changed"), SizeIs(kOrders / 10));
  EXPECT_THAT(ByNoteIds("note-0"), SizeIs(10));
  EXPECT_THAT(ByNoteIds("note-1"), SizeIs(kOrders / 10 + 10));
  EXPECT_THAT(ByNoteIds("note-2"), SizeIs(10));
}

TEST_F(IndexAdminTest, BuildsRunBesideFourWriters) {
  options_.background_work = true;
  Load(0, kOrders);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int n = 0; !stop.load(); ++n) {
        const int i = (n * 4 + t) % kOrders;
        v1::Order order = Order(i);
        order.set_note(absl::StrCat("n", n % 5));
        if (n % 3 == 1) order.set_seller_id("moved");
        if (n % 7 == 0) {
          EXPECT_THAT(DeleteId(order.order_id()), IsOk());
        } else {
          EXPECT_THAT(Put(order), IsOk());
        }
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    ASSERT_THAT(engine().AddIndex("orders", ByNote()), IsOk());
    EXPECT_EQ(Build("by_note").state, IndexState::kReadable);
    const auto verified = engine().Verify({});
    ASSERT_THAT(verified, IsOk());
    EXPECT_TRUE(verified->clean()) << verified->Summary();
    ASSERT_THAT(engine().DropIndex("orders", "by_note"), IsOk());
  }
  stop.store(true);
  for (std::thread& writer : writers) writer.join();
}

TEST_F(IndexAdminTest, AUniqueBuildOverDuplicatesListsThemAndStaysDisabled) {
  Load(0, 20);  // Ten notes, each twice.
  const v1::IndexSchema unique = UniqueIndex("one_note", {Field("note")});
  ASSERT_THAT(engine().AddIndex("orders", unique), IsOk());
  const BuildReport report = Build("one_note");
  EXPECT_EQ(report.state, IndexState::kDisabled);
  EXPECT_EQ(report.done.duplicates, 10u);
  ASSERT_THAT(report.duplicate_samples, SizeIs(10));
  EXPECT_THAT(report.duplicate_samples[0], HasSubstr("note=\"note-"));
  EXPECT_THAT(report.duplicate_samples[0], HasSubstr("order_id="));
  EXPECT_THAT(engine().GetBy({}, "orders", "one_note", {"note-1"}),
              StatusIs(StatusCode::kFailedPrecondition, "rows share values"));
  EXPECT_THAT(Info("one_note").reason, HasSubstr("rows=10"));
  Open();
  EXPECT_EQ(StateOf("one_note"), IndexState::kDisabled);

  // Disabled, it holds nobody up; set right, it is built anew.
  ASSERT_THAT(Put(Order(20)), IsOk());
  for (int i = 10; i <= 20; ++i) {
    ASSERT_THAT(DeleteId(absl::StrCat("o-", i)), IsOk());
  }
  EXPECT_EQ(Build("one_note").state, IndexState::kReadable);
  const auto rows = engine().GetBy({}, "orders", "one_note", {"note-1"});
  ASSERT_THAT(rows, IsOk());
  EXPECT_THAT(Ids(*rows), ElementsAre("o-1"));
  EXPECT_THAT(Put(Order(11)), StatusIs(StatusCode::kAlreadyExists, "one_note"));
}

TEST_F(IndexAdminTest, AUniqueIndexRefusesNewDuplicatesWhileItIsBuilt) {
  Load(0, 5);
  ASSERT_THAT(
      engine().AddIndex("orders", UniqueIndex("one_note", {Field("note")})),
      IsOk());
  ASSERT_THAT(Put(Order(6)), IsOk());
  EXPECT_THAT(Put(Order(16)), StatusIs(StatusCode::kAlreadyExists, "one_note"));
  // Rows the build has not come to: o-0 gives up a value that is taken since.
  v1::Order taken = Order(7);
  taken.set_note("note-0");
  ASSERT_THAT(Put(taken), IsOk());
  ASSERT_THAT(DeleteId("o-0"), IsOk());
  EXPECT_EQ(Build("one_note").state, IndexState::kReadable);
  const auto rows = engine().GetBy({}, "orders", "one_note", {"note-0"});
  ASSERT_THAT(rows, IsOk());
  EXPECT_THAT(Ids(*rows), ElementsAre("o-7"));
}

TEST_F(IndexAdminTest, AHiddenIndexIsKeptButNotRead) {
  Load(0, 10);
  ASSERT_THAT(engine().HideIndex("orders", "by_status"), IsOk());
  EXPECT_EQ(StateOf("by_status"), IndexState::kHidden);
  EXPECT_THAT(engine().Scan({}, {.table = "orders", .index = "by_status"}),
              StatusIs(StatusCode::kFailedPrecondition, "is hidden"));
  EXPECT_THAT(engine().HideIndex("orders", "by_status"),
              StatusIs(StatusCode::kFailedPrecondition, "state=hidden"));
  Load(10, 20);
  Open();
  ASSERT_THAT(engine().ShowIndex("orders", "by_status"), IsOk());
  EXPECT_THAT(ByStatus("s-1", v1::CREATED), SizeIs(3));
}

TEST_F(IndexAdminTest, ADroppedIndexIsGoneAndItsSpaceEmptied) {
  Load(0, kOrders);
  auto before = engine().GetSnapshot();
  ASSERT_THAT(before, IsOk());
  EXPECT_THAT(engine().DropIndex("orders", "by_order_id"),
              StatusIs(StatusCode::kFailedPrecondition, "identity"));
  ASSERT_THAT(engine().DropIndex("orders", "by_status"), IsOk());
  EXPECT_THAT(engine().Scan({}, {.table = "orders", .index = "by_status"}),
              StatusIs(StatusCode::kNotFound, "by_status"));
  EXPECT_EQ(StateOf("by_status"), IndexState::kDropping);
  const auto page = engine().Scan(
      {.snapshot = &*before},
      {.table = "orders", .index = "by_status", .equal = {"s-1", v1::CREATED}});
  ASSERT_THAT(page, IsOk());
  EXPECT_FALSE(page->rows.empty());
  before = absl::CancelledError("not needed any more");

  // Of the same name, and another: nothing of the old one is in it.
  ASSERT_THAT(
      engine().AddIndex("orders", ValueIndex("by_status", {Field("status")})),
      IsOk());
  EXPECT_EQ(Build("by_status").done.rows, uint64_t{kOrders});
  EXPECT_THAT(Scan({.index = "by_status", .equal = {v1::CREATED}, .limit = 9}),
              SizeIs(9));

  schema_ = Schema();
  options_.background_work = true;
  Open();  // Goes on emptying.
  while (engine().ListIndexes()->size() > 2) std::this_thread::yield();
  ASSERT_THAT(engine().Close(), IsOk());
  leveldb::DB* raw = nullptr;
  ASSERT_TRUE(leveldb::DB::Open({}, dir_.Sub("db"), &raw).ok());
  const std::unique_ptr<leveldb::DB> db(raw);
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator({}));
  // Spaces: 1 rows, 2 the old by_status, 3 by_order_id, 4 the new by_status.
  it->Seek(SpacePrefix(SpaceId{2}));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString().substr(0, 1), SpacePrefix(SpaceId{3}));
}

TEST_F(IndexAdminTest, ASchemaMayBringItsIndexesWithIt) {
  Load(0, 100);
  TableBuilder orders = presets::SellerOrders("orders");
  orders.Index("by_note", {Field("note")});
  schema_ = Schema();
  schema_.Add(orders);
  engine_.reset();
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kFailedPrecondition, "index=by_note"));
  options_.add_indexes = true;
  Open();
  EXPECT_EQ(Build("by_note").state, IndexState::kReadable);
  EXPECT_THAT(ByNoteIds("note-3"), SizeIs(10));
}

TEST_F(IndexAdminTest, AChangedFunctionMovesAnIndexToDisabledByItsFirstRow) {
  Load(0, 50);
  const auto forget = [](v1::Catalog& catalog, leveldb::DB&) {
    for (auto& index : *catalog.mutable_tables(0)->mutable_indexes()) {
      index.set_fingerprint(index.fingerprint() + 1);
    }
  };
  // The functions are others, their results the same: nothing happens.
  EditCatalog(forget);
  EXPECT_EQ(StateOf("by_status"), IndexState::kReadable);

  EditCatalog([&](v1::Catalog& catalog, leveldb::DB& db) {
    forget(catalog, db);
    const std::unique_ptr<leveldb::Iterator> it(db.NewIterator({}));
    const std::string by_status = SpacePrefix(SpaceId{2});
    it->Seek(by_status);
    ASSERT_TRUE(it->Valid());
    leveldb::WriteBatch batch;
    batch.Delete(it->key());
    ASSERT_TRUE(db.Write({}, &batch).ok());
  });
  EXPECT_EQ(StateOf("by_order_id"), IndexState::kReadable);
  EXPECT_EQ(StateOf("by_status"), IndexState::kDisabled);
  EXPECT_THAT(Info("by_status").reason, HasSubstr("makes other entries"));
  EXPECT_THAT(Info("by_status").reason, HasSubstr("seller_id="));
  EXPECT_THAT(engine().Scan({}, {.table = "orders", .index = "by_status"}),
              StatusIs(StatusCode::kFailedPrecondition, "is disabled"));
  ASSERT_THAT(Put(Order(60)), IsOk());
  EXPECT_EQ(Build("by_status").state, IndexState::kReadable);
  EXPECT_THAT(ByStatus("s-4", v1::CREATED), SizeIs(8));
}

TEST_F(IndexAdminTest, PutsAreRefusedWhileTheIdentityIsDisabled) {
  Load(0, 5);
  EditCatalog([](v1::Catalog& catalog, leveldb::DB&) {
    auto& index = *catalog.mutable_tables(0)->mutable_indexes(1);
    index.set_state(v1::INDEX_DISABLED);
    index.set_reason("for the test");
  });
  EXPECT_THAT(Put(Order(9)),
              StatusIs(StatusCode::kFailedPrecondition, "for the test"));
  EXPECT_EQ(Build("by_order_id").state, IndexState::kReadable);
  EXPECT_THAT(Put(Order(9)), IsOk());
}

TEST_F(IndexAdminTest, ARowWithoutAPossibleEntryDisablesTheIndexAndIsNamed) {
  Load(0, 5);
  v1::Order order = Order(6);
  order.set_note(std::string(5000, 'x'));
  ASSERT_THAT(Put(order), IsOk());
  ASSERT_THAT(engine().AddIndex("orders", ByNote()), IsOk());
  EXPECT_THAT(engine().BuildIndex("orders", "by_note", {}),
              StatusIs(StatusCode::kInvalidArgument, "order_id=\"o-6\""));
  EXPECT_EQ(StateOf("by_note"), IndexState::kDisabled);
  EXPECT_THAT(Info("by_note").reason, HasSubstr("key is too long"));
}

}  // namespace
}  // namespace dovetail::test
