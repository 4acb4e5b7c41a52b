// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WriteTest : public EngineTest {};

TEST_F(WriteTest, PutIsFoundByIdBySellerAndByStatus) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 10, v1::SHIPPED)), IsOk());
  EXPECT_THAT(ById("o-1"), ElementsAre("o-1"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o-1"));
  EXPECT_THAT(ByStatus("s", v1::SHIPPED), ElementsAre("o-1"));
  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
}

TEST_F(WriteTest, NewestComeFirst) {
  for (const int ts : {3, 1, 2, -5, 0}) {
    ASSERT_THAT(Put(MakeOrder("o" + std::to_string(ts), "s", ts)), IsOk());
  }
  EXPECT_THAT(BySeller("s"), ElementsAre("o3", "o2", "o1", "o0", "o-5"));
}

TEST_F(WriteTest, PutOfTheSameIdentityElsewhereMovesTheRow) {
  ASSERT_THAT(Put(MakeOrder("o-1", "a", 10)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-1", "b", 20, v1::SHIPPED)), IsOk());
  EXPECT_THAT(BySeller("a"), IsEmpty());
  EXPECT_THAT(ByStatus("a", v1::CREATED), IsEmpty());
  EXPECT_THAT(BySeller("b"), ElementsAre("o-1"));
  EXPECT_THAT(ById("o-1"), ElementsAre("o-1"));
}

TEST_F(WriteTest, PatchChangesOnlyTheNamedFieldsAndMovesTheStatusEntry) {
  v1::Order order = MakeOrder("o-1", "s", 10);
  order.set_note("keep me");
  std::string bytes = Bytes(order);
  bytes += std::string("\xa0\x06\x07", 3);  // Unknown field 100, varint 7.
  ASSERT_THAT(engine().Write({}, WriteBatch().Put("orders", bytes)), IsOk());
  ASSERT_THAT(SetStatus("o-1", v1::DELIVERED), IsOk());

  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
  EXPECT_THAT(ByStatus("s", v1::DELIVERED), ElementsAre("o-1"));
  const auto row = engine().Get({}, "orders", {"s", 10, "o-1"});
  ASSERT_THAT(row, IsOk());
  order.set_status(v1::DELIVERED);
  v1::Order stored;
  ASSERT_TRUE(stored.ParseFromString(row->record));
  EXPECT_EQ(stored.note(), "keep me");
  EXPECT_EQ(stored.GetReflection()->GetUnknownFields(stored).field_count(), 1);
  EXPECT_EQ(row->version, SequenceNumber{2});
}

TEST_F(WriteTest, PatchOfAKeyFieldMovesTheRow) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 10)), IsOk());
  v1::Order change;
  change.set_ts_ms(99);
  ASSERT_THAT(engine().Write({}, WriteBatch().Patch(
                                     "orders", RowRef::Key({"s", 10, "o-1"}),
                                     Bytes(change), {"ts_ms"})),
              IsOk());
  EXPECT_THAT(engine().Get({}, "orders", {"s", 10, "o-1"}),
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(engine().Get({}, "orders", {"s", 99, "o-1"}), IsOk());
  EXPECT_THAT(ById("o-1"), ElementsAre("o-1"));
}

TEST_F(WriteTest, PatchOfNothingIsNotFoundUnlessAllWereAskedFor) {
  EXPECT_THAT(SetStatus("o-1", v1::SHIPPED),
              StatusIs(StatusCode::kNotFound, "no row to patch"));
  const auto commit = engine().Write(
      {}, WriteBatch().Patch(
              "orders",
              RowRef::By("by_status", {"s", v1::CREATED}, RowRef::Match::kAll),
              StatusOnly(v1::SHIPPED), {"status"}));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(0));
}

TEST_F(WriteTest, PatchOrPutInsertsItsValuesWhereNoRowMatches) {
  const auto apply = [this](const v1::Order& values) {
    return engine().Write(
        {}, WriteBatch().PatchOrPut("orders", RowRef::By("by_order_id", {"o"}),
                                    Bytes(values),
                                    {"order_id", "seller_id", "ts_ms"}));
  };
  const auto created = apply(MakeOrder("o", "s", 10, v1::SHIPPED));
  ASSERT_THAT(created, IsOk());
  EXPECT_THAT(created->rows_changed, ElementsAre(1u));
  EXPECT_THAT(ByStatus("s", v1::SHIPPED), ElementsAre("o"));
  // The status is not among the fields, so the second one keeps it.
  ASSERT_THAT(apply(MakeOrder("o", "t", 20, v1::CREATED)), IsOk());
  EXPECT_THAT(BySeller("s"), IsEmpty());
  EXPECT_THAT(ByStatus("t", v1::SHIPPED), ElementsAre("o"));
}

TEST_F(WriteTest, PatchOrPutCreatesNothingWhereAPreconditionAsksForARow) {
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch()
                  .PatchOrPut("orders", RowRef::By("by_order_id", {"o"}),
                              Bytes(MakeOrder("o", "s", 10)), {"order_id"})
                  .If(Precondition::Exists())),
      StatusIs(StatusCode::kFailedPrecondition));
  EXPECT_THAT(BySeller("s"), IsEmpty());
}

TEST_F(WriteTest, DeleteRemovesRowAndEntriesAndRepeatsHarmlessly) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 10)), IsOk());
  auto commit = DeleteId("o-1");
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(1));
  EXPECT_THAT(ById("o-1"), IsEmpty());
  EXPECT_THAT(BySeller("s"), IsEmpty());
  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
  commit = DeleteId("o-1");
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(0));
}

TEST_F(WriteTest, PatchOfAllMatchesChangesEachOfThem) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(Put(MakeOrder("o" + std::to_string(i), "s", i)), IsOk());
  }
  const RowRef created =
      RowRef::By("by_status", {"s", v1::CREATED}, RowRef::Match::kAll);
  const auto commit = engine().Write(
      {}, WriteBatch().Patch("orders", created, StatusOnly(v1::CANCELED),
                             {"status"}));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(5));
  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
  EXPECT_THAT(ByStatus("s", v1::CANCELED),
              ElementsAre("o4", "o3", "o2", "o1", "o0"));
}

TEST_F(WriteTest, OneAskedForAndSeveralMatchingIsRefused) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-2", "s", 2)), IsOk());
  EXPECT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "orders", RowRef::By("by_status", {"s"}))),
              StatusIs(StatusCode::kFailedPrecondition, "several rows match"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o-2", "o-1"));
}

TEST_F(WriteTest, MutationsSeeWhatEarlierOnesOfTheRequestDid) {
  const auto commit = engine().Write(
      {}, WriteBatch()
              .Insert("orders", Bytes(MakeOrder("o-1", "s", 1)))
              .Patch("orders", RowRef::By("by_order_id", {"o-1"}),
                     StatusOnly(v1::SHIPPED), {"status"})
              .Delete("orders", RowRef::By("by_status", {"s", v1::SHIPPED}))
              .Insert("orders", Bytes(MakeOrder("o-1", "t", 2))));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(BySeller("s"), IsEmpty());
  EXPECT_THAT(BySeller("t"), ElementsAre("o-1"));
  EXPECT_EQ(commit->sequence, SequenceNumber{1});
}

TEST_F(WriteTest, AFailedMutationUndoesTheWholeRequest) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch()
                          .Put("orders", Bytes(MakeOrder("o-2", "s", 2)))
                          .Delete("orders", RowRef::By("by_order_id", {"o-1"}))
                          .Insert("orders", Bytes(MakeOrder("o-2", "s", 3)))),
              StatusIs(StatusCode::kAlreadyExists, "mutation 3"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o-1"));
  EXPECT_THAT(ById("o-2"), IsEmpty());
  // It took no sequence either.
  const auto next = Put(MakeOrder("o-3", "s", 3));
  ASSERT_THAT(next, IsOk());
  EXPECT_EQ(next->sequence, SequenceNumber{2});
}

TEST_F(WriteTest, InsertOfAnExistingIdentityIsRefusedWhereverItLives) {
  ASSERT_THAT(Put(MakeOrder("o-1", "a", 1)), IsOk());
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch().Insert("orders", Bytes(MakeOrder("o-1", "b", 2)))),
      StatusIs(StatusCode::kAlreadyExists, "row to insert exists"));
  EXPECT_THAT(BySeller("b"), IsEmpty());
}

TEST_F(WriteTest, PreconditionsHoldOrNothingHappens) {
  const auto put_if = [&](v1::Order order, Precondition condition) {
    return engine().Write(
        {}, WriteBatch().Put("orders", Bytes(order)).If(std::move(condition)));
  };
  const v1::Order order = MakeOrder("o-1", "s", 1);
  EXPECT_THAT(put_if(order, Precondition::Exists()),
              StatusIs(StatusCode::kFailedPrecondition, "must exist"));
  ASSERT_THAT(put_if(order, Precondition::Absent()), IsOk());
  EXPECT_THAT(put_if(order, Precondition::Absent()),
              StatusIs(StatusCode::kFailedPrecondition, "must be absent"));
  EXPECT_THAT(put_if(order, Precondition::VersionEquals(SequenceNumber{7})),
              StatusIs(StatusCode::kFailedPrecondition, "version=1 wanted=7"));
  ASSERT_THAT(put_if(order, Precondition::VersionEquals(SequenceNumber{1})),
              IsOk());
  EXPECT_THAT(
      put_if(order, Precondition::FieldEquals("status", v1::SHIPPED)),
      StatusIs(StatusCode::kFailedPrecondition, "field=status is=0 wanted=4"));
  ASSERT_THAT(put_if(order, Precondition::FieldEquals("status", v1::CREATED)),
              IsOk());
}

TEST_F(WriteTest, UnchangedIndexedFieldsWriteNoEntries) {
  v1::Order order = MakeOrder("o-1", "s", 1);
  ASSERT_THAT(Put(order), IsOk());
  order.set_note("changed");
  ASSERT_THAT(Put(order), IsOk());
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  for (const IndexStats& index : stats->indexes) {
    if (index.index.empty()) continue;
    EXPECT_EQ(index.entries_written, 1u) << index.index;
    EXPECT_EQ(index.entries_deleted, 0u) << index.index;
    EXPECT_EQ(index.entries_unchanged, 1u) << index.index;
  }
}

TEST_F(WriteTest, BadRequestsNameTheirCause) {
  const auto write = [&](WriteBatch batch) {
    return engine().Write({}, std::move(batch)).status();
  };
  EXPECT_THAT(write(WriteBatch().Put("nope", "")),
              StatusIs(StatusCode::kInvalidArgument, "tables=orders"));
  EXPECT_THAT(write(WriteBatch().Put("orders", "\xff")),
              StatusIs(StatusCode::kInvalidArgument, "no record of the table"));
  EXPECT_THAT(write(WriteBatch().Delete("orders", RowRef::By("nope", {"x"}))),
              StatusIs(StatusCode::kInvalidArgument, "indexes=by_status"));
  EXPECT_THAT(write(WriteBatch().Delete("orders", RowRef::Key({"s"}))),
              StatusIs(StatusCode::kInvalidArgument, "one value per column"));
  EXPECT_THAT(write(WriteBatch().Delete(
                  "orders", RowRef::By("by_status", {"s", "text"}))),
              StatusIs(StatusCode::kInvalidArgument, "status"));
  EXPECT_THAT(write(WriteBatch().Patch(
                  "orders", RowRef::By("by_order_id", {"o"}), "", {"nope"})),
              StatusIs(StatusCode::kInvalidArgument, "nope"));
  EXPECT_THAT(write(WriteBatch().Patch(
                  "orders", RowRef::By("by_order_id", {"o"}), "", {})),
              StatusIs(StatusCode::kInvalidArgument));
  const auto stats = engine().GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_EQ(stats->requests, 0u);
}

TEST_F(WriteTest, LimitsAcceptWhatIsAtThemAndRefuseOneMore) {
  options_.limits.record_bytes_max = 200;
  options_.limits.key_bytes_max = 60;
  options_.limits.request_mutations_max = 3;
  options_.limits.request_bytes_max = 500;
  options_.limits.match_rows_max = 2;

  v1::Order order = MakeOrder("o-1", "s", 1);
  order.set_note(std::string(200 - Bytes(order).size() - 3, 'x'));
  ASSERT_EQ(Bytes(order).size(), 200u);
  EXPECT_THAT(Put(order), IsOk());
  order.set_note(order.note() + "x");
  EXPECT_THAT(Put(order),
              StatusIs(StatusCode::kInvalidArgument, "bytes=201 max=200"));

  // Row key: 4 hash + seller and end + 8 time + id and end.
  EXPECT_THAT(Put(MakeOrder(std::string(43, 'i'), "abcd", 1)),
              StatusIs(StatusCode::kInvalidArgument, "key is too long"));
  EXPECT_THAT(Put(MakeOrder(std::string(40, 'i'), "abcd", 1)), IsOk());

  WriteBatch batch;
  for (int i = 0; i < 3; ++i) {
    batch.Put("orders", Bytes(MakeOrder("b" + std::to_string(i), "s", 1)));
  }
  EXPECT_THAT(engine().Write({}, batch), IsOk());
  batch.Put("orders", Bytes(MakeOrder("b3", "s", 1)));
  EXPECT_THAT(engine().Write({}, batch),
              StatusIs(StatusCode::kResourceExhausted, "mutations=4 max=3"));
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch().Delete("orders", RowRef::By("by_status", {"s"},
                                                       RowRef::Match::kAll))),
      StatusIs(StatusCode::kResourceExhausted, "max=2"));
  order.set_note(std::string(170, 'x'));
  EXPECT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", Bytes(order))
                                     .Put("orders", Bytes(order))
                                     .Put("orders", Bytes(order))),
              StatusIs(StatusCode::kResourceExhausted, "max_bytes=500"));
  EXPECT_THAT(BySeller("s").size(), 4u);
}

TEST_F(WriteTest, AnEmptyBatchCommits) {
  EXPECT_THAT(engine().Write({.sync = true}, WriteBatch()), IsOk());
}

TEST_F(WriteTest, EverythingIsThereAfterReopen) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  ASSERT_THAT(SetStatus("o-1", v1::SHIPPED), IsOk());
  ASSERT_THAT(engine().Close(), IsOk());
  EXPECT_THAT(engine().Write({}, WriteBatch()),
              StatusIs(StatusCode::kFailedPrecondition, "closed"));
  EXPECT_THAT(engine().Close(), StatusIs(StatusCode::kFailedPrecondition));
  Open();
  EXPECT_EQ(engine().open_report().sequence, SequenceNumber{2});
  EXPECT_FALSE(engine().open_report().created);
  EXPECT_THAT(ByStatus("s", v1::SHIPPED), ElementsAre("o-1"));
  const auto next = SetStatus("o-1", v1::DELIVERED);
  ASSERT_THAT(next, IsOk());
  EXPECT_EQ(next->sequence, SequenceNumber{3});
}

TEST_F(WriteTest, ConcurrentWritersGetDenseSequencesAndOneStatusPerOrder) {
  constexpr int kThreads = 8;
  constexpr int kWrites = 300;
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(Put(MakeOrder("o" + std::to_string(i), "s", i)), IsOk());
  }
  std::vector<std::vector<uint64_t>> sequences(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWrites; ++i) {
        const auto commit = SetStatus("o" + std::to_string((i * 7 + t) % 20),
                                      static_cast<v1::OrderStatus>(i % 5));
        ASSERT_THAT(commit, IsOk());
        sequences[t].push_back(static_cast<uint64_t>(commit->sequence));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::set<uint64_t> all;
  for (const auto& of_thread : sequences) {
    EXPECT_TRUE(std::is_sorted(of_thread.begin(), of_thread.end()));
    all.insert(of_thread.begin(), of_thread.end());
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kWrites));
  EXPECT_EQ(*all.begin(), 21u);
  EXPECT_EQ(*all.rbegin(), 20u + kThreads * kWrites);
  size_t listed = 0;
  for (int status = 0; status < 5; ++status) {
    listed += ByStatus("s", static_cast<v1::OrderStatus>(status)).size();
  }
  EXPECT_EQ(listed, 20u);
}

TEST_F(WriteTest, OfConcurrentInsertsOfOneIdExactlyOneWins) {
  Open();
  std::atomic<int> won{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto commit = engine().Write(
          {},
          WriteBatch().Insert(
              "orders", Bytes(MakeOrder("o-1", "s" + std::to_string(t), t))));
      if (commit.ok()) {
        ++won;
      } else {
        EXPECT_THAT(commit, StatusIs(StatusCode::kAlreadyExists));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
}

// A table whose unique index is not the identity: by e-mail, beside the id.
class UniqueTest : public EngineTest {
 protected:
  UniqueTest() {
    schema_ = Schema();
    schema_.Add(TableBuilder("orders", v1::Order::descriptor())
                    .RowKey({Field("order_id")})
                    .Unique("by_buyer", {Field("buyer_id")})
                    .Unique("by_note", {Field("seller_id"), Field("note")}));
  }
  static std::string Account(std::string_view id, std::string_view buyer) {
    v1::Order order;
    order.set_order_id(std::string(id));
    order.set_buyer_id(std::string(buyer));
    order.set_note(std::string(id));
    return Bytes(order);
  }
  std::vector<std::string> OwnerOf(std::string_view buyer) {
    const auto rows = engine().GetBy({}, "orders", "by_buyer", {buyer});
    EXPECT_THAT(rows, IsOk());
    return rows.ok() ? Ids(*rows) : std::vector<std::string>();
  }
};

TEST_F(UniqueTest, APutOverAnotherRowsValueIsRefused) {
  ASSERT_THAT(engine().Write({}, WriteBatch().Put("orders", Account("a", "x"))),
              IsOk());
  EXPECT_THAT(
      engine().Write({}, WriteBatch().Put("orders", Account("b", "x"))),
      StatusIs(StatusCode::kAlreadyExists, "index=by_buyer buyer_id=\"x\""));
  EXPECT_THAT(OwnerOf("x"), ElementsAre("a"));
  EXPECT_THAT(engine().Get({}, "orders", {"b"}),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(UniqueTest, RowsMaySwapValuesInOneRequest) {
  ASSERT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", Account("a", "x"))
                                     .Put("orders", Account("b", "y"))
                                     .Put("orders", Account("c", "z"))),
              IsOk());
  ASSERT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", Account("a", "y"))
                                     .Put("orders", Account("b", "z"))
                                     .Put("orders", Account("c", "x"))),
              IsOk());
  EXPECT_THAT(OwnerOf("x"), ElementsAre("c"));
  EXPECT_THAT(OwnerOf("y"), ElementsAre("a"));
  EXPECT_THAT(OwnerOf("z"), ElementsAre("b"));
}

TEST_F(UniqueTest, AClaimThatIsGivenUpAgainLeavesTheFirstOwner) {
  ASSERT_THAT(engine().Write({}, WriteBatch().Put("orders", Account("a", "x"))),
              IsOk());
  ASSERT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", Account("b", "x"))
                                     .Put("orders", Account("b", "w"))),
              IsOk());
  EXPECT_THAT(OwnerOf("x"), ElementsAre("a"));
  EXPECT_THAT(OwnerOf("w"), ElementsAre("b"));
}

TEST_F(UniqueTest, TwoClaimsInOneRequestAreAViolation) {
  EXPECT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", Account("a", "x"))
                                     .Put("orders", Account("b", "x"))),
              StatusIs(StatusCode::kAlreadyExists, "unique violation"));
  EXPECT_THAT(OwnerOf("x"), IsEmpty());
}

TEST_F(UniqueTest, TheValueOfADeletedRowIsFreeInTheSameRequest) {
  ASSERT_THAT(engine().Write({}, WriteBatch().Put("orders", Account("a", "x"))),
              IsOk());
  ASSERT_THAT(engine().Write({}, WriteBatch()
                                     .Put("orders", Account("b", "x"))
                                     .Delete("orders", RowRef::Key({"a"}))),
              IsOk());
  EXPECT_THAT(OwnerOf("x"), ElementsAre("b"));
}

class SplitOrdersTest : public EngineTest {
 protected:
  SplitOrdersTest() {
    schema_ = Schema();
    schema_.Add(presets::SplitOrders("orders"));
  }
};

TEST_F(SplitOrdersTest, ALookUpAmongRowsThatShareAUniqueValueIsRefused) {
  ASSERT_THAT(Put(MakeOrder("o-1", "a", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-1", "b", 2)), IsOk());
  v1::Order same_seller;
  same_seller.set_seller_id("c");
  const RowRef all = RowRef::By("by_order_id", {"o-1"}, RowRef::Match::kAll);
  // Both rows claim (o-1, c) now, and the index has room for one.
  EXPECT_THAT(engine().Write({}, WriteBatch()
                                     .Patch("orders", all, Bytes(same_seller),
                                            {"seller_id"})
                                     .Delete("orders", all)),
              StatusIs(StatusCode::kAlreadyExists, "mutation 2"));
  EXPECT_THAT(ById("o-1").size(), 2u);
}

TEST_F(SplitOrdersTest, OneIdBringsAllItsSellersAndOneChangeReachesAll) {
  ASSERT_THAT(Put(MakeOrder("o-1", "a", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-1", "b", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-2", "a", 2)), IsOk());
  EXPECT_THAT(ById("o-1").size(), 2u);
  const auto commit = engine().Write(
      {}, WriteBatch().Patch(
              "orders", RowRef::By("by_order_id", {"o-1"}, RowRef::Match::kAll),
              StatusOnly(v1::SHIPPED), {"status"}));
  ASSERT_THAT(commit, IsOk());
  EXPECT_THAT(commit->rows_changed, ElementsAre(2));
  EXPECT_THAT(ByStatus("a", v1::SHIPPED), ElementsAre("o-1"));
  EXPECT_THAT(ByStatus("b", v1::SHIPPED), ElementsAre("o-1"));
  EXPECT_THAT(ByStatus("a", v1::CREATED), ElementsAre("o-2"));
}

TEST_F(WriteTest, RowsAreAddressedByEncodedKeysToo) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const auto row = engine().Get({}, "orders", {"s", 1, "o-1"});
  ASSERT_THAT(row, IsOk());
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch().Patch("orders", RowRef::EncodedKey(row->key),
                                         StatusOnly(v1::SHIPPED), {"status"})),
              IsOk());
  EXPECT_THAT(ByStatus("s", v1::SHIPPED), ElementsAre("o-1"));
  EXPECT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "orders", RowRef::EncodedKey("nonsense"))),
              StatusIs(StatusCode::kInvalidArgument, "no row key"));
  EXPECT_THAT(engine().Write({}, WriteBatch().Delete(
                                     "orders", RowRef::EncodedKey(row->key))),
              IsOk());
  EXPECT_THAT(BySeller("s"), IsEmpty());
}

}  // namespace
}  // namespace dovetail::test
