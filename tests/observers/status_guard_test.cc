// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>
#include <string>
#include <vector>

#include "dovetail/observers.h"
#include "tests/observers/observers_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StatusGuardTest : public EngineTest {
 protected:
  StatusGuardTest() {
    options_.in_memory = true;
    // Rows that name no identity: the same order may be in several.
    schema_.Add(TableBuilder("drafts", v1::Order::descriptor())
                    .RowKey({Field("seller_id"), Field("order_id")}));
    rules_.table = "orders";
    rules_.field = "status";
    rules_.initial = {v1::CREATED, "APPROVED"};  // By number and by name.
    rules_.moves = {{v1::CREATED, {v1::APPROVED, v1::CANCELED}},
                    {v1::APPROVED, {v1::SHIPPED, "CANCELED"}},
                    {v1::SHIPPED, {v1::DELIVERED}}};
    rules_.identity = {"order_id"};
  }

  // Opens the engine under rules_, over what is in it already if on disk.
  void Guard() {
    auto guard = StatusGuard::Create(schema_, rules_);
    ASSERT_THAT(guard, IsOk());
    options_.observers.push_back(*guard);
    Open();
  }
  void GuardOver(const std::vector<v1::Order>& rows) {
    options_.in_memory = false;
    for (const v1::Order& order : rows) {
      ASSERT_THAT(PutIn(rules_.table, order), IsOk());
    }
    Guard();
  }
  absl::StatusOr<Commit> PutIn(std::string_view table, const v1::Order& order) {
    return engine().Write({}, WriteBatch().Put(table, Bytes(order)));
  }
  // The statuses of all rows of a seller, in order of the ids.
  std::vector<std::string> Statuses(std::string_view seller) {
    const auto page = engine().Scan({}, {rules_.table, "", {seller}});
    std::vector<std::string> names;
    for (const Row& row : page->rows) {
      v1::Order order;
      EXPECT_TRUE(order.ParseFromString(row.record));
      names.push_back(v1::OrderStatus_Name(order.status()));
    }
    return names;
  }
  static RowRef ById(std::string_view id) {
    return RowRef::By("by_order_id", {id});
  }

  StatusRules rules_;
};

TEST_F(StatusGuardTest, DeclaredMovesPassByPutAndByPatch) {
  Guard();
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1, v1::APPROVED)), IsOk());
  EXPECT_THAT(SetStatus("o-1", v1::SHIPPED), IsOk());
  EXPECT_THAT(SetStatus("o-1", v1::SHIPPED), IsOk());  // Stays what it is.
  EXPECT_THAT(SetStatus("o-1", v1::DELIVERED), IsOk());
  EXPECT_THAT(Statuses("s"), ElementsAre("DELIVERED"));
}

TEST_F(StatusGuardTest, AVetoNamesBothStatusesAndTheRow) {
  Guard();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const std::string facts =
      "observer=status_guard_orders_status hook=PrePut: status may not change "
      "like this: from=CREATED to=SHIPPED table=orders field=status "
      "order_id=\"o-1\" row_key=\"";
  EXPECT_THAT(SetStatus("o-1", v1::SHIPPED),
              StatusIs(StatusCode::kFailedPrecondition, facts));
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1, v1::SHIPPED)),
              StatusIs(StatusCode::kFailedPrecondition, facts));
  EXPECT_THAT(Statuses("s"), ElementsAre("CREATED"));
}

TEST_F(StatusGuardTest, ARowBeginsInAnInitialStatus) {
  Guard();
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1, v1::APPROVED)), IsOk());
  EXPECT_THAT(
      Put(MakeOrder("o-2", "s", 1, v1::SHIPPED)),
      StatusIs(StatusCode::kFailedPrecondition,
               "row may not begin in this status: from=(no row) to=SHIPPED"));
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch().Insert(
                  "orders", Bytes(MakeOrder("o-2", "s", 1, v1::SHIPPED)))),
      StatusIs(StatusCode::kFailedPrecondition, "may not begin"));
}

TEST_F(StatusGuardTest, AMoveOfTheRowIsJudgedAsOneChange) {
  Guard();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1, v1::APPROVED)), IsOk());
  EXPECT_THAT(
      Put(MakeOrder("o-1", "t", 2, v1::CREATED)),
      StatusIs(StatusCode::kFailedPrecondition, "from=APPROVED to=CREATED"));
  EXPECT_THAT(Put(MakeOrder("o-1", "t", 2, v1::CREATED)),
              StatusIs(StatusCode::kFailedPrecondition, " new_row_key=\""));
  v1::Order change = MakeOrder("", "t", 0, v1::CREATED);
  EXPECT_THAT(
      engine().Write({},
                     WriteBatch().Patch("orders", ById("o-1"), Bytes(change),
                                        {"seller_id", "status"})),
      StatusIs(StatusCode::kFailedPrecondition, "from=APPROVED to=CREATED"));
  EXPECT_THAT(Put(MakeOrder("o-1", "t", 2, v1::SHIPPED)), IsOk());
  EXPECT_THAT(Statuses("t"), ElementsAre("SHIPPED"));
}

// The last occurrence of a field counts, as it does for a parser.
TEST_F(StatusGuardTest, BytesThatSayTheStatusTwiceAreReadAsAParserDoes) {
  Guard();
  const std::string twice =
      Bytes(MakeOrder("o-1", "s", 1, v1::APPROVED)) + StatusOnly(v1::SHIPPED);
  EXPECT_THAT(engine().Write({}, WriteBatch().Put("orders", twice)),
              StatusIs(StatusCode::kFailedPrecondition, "to=SHIPPED"));
}

TEST_F(StatusGuardTest, OneBadMutationUndoesItsWholeRequest) {
  Guard();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-2", "s", 2, v1::APPROVED)), IsOk());
  // Both rows at once: CREATED may not become SHIPPED.
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch()
                  .Put("orders", Bytes(MakeOrder("o-3", "s", 3)))
                  .Patch("orders",
                         RowRef::By("by_status", {"s"}, RowRef::Match::kAll),
                         StatusOnly(v1::SHIPPED), {"status"})),
      StatusIs(StatusCode::kFailedPrecondition, "mutation 2"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o-2", "o-1"));
  // Each step of a request counts, not only where it ends.
  EXPECT_THAT(
      engine().Write({}, WriteBatch()
                             .Patch("orders", ById("o-1"),
                                    StatusOnly(v1::SHIPPED), {"status"})
                             .Patch("orders", ById("o-1"),
                                    StatusOnly(v1::CREATED), {"status"})),
      StatusIs(StatusCode::kFailedPrecondition, "mutation 1"));
  EXPECT_THAT(
      engine().Write({}, WriteBatch()
                             .Patch("orders", ById("o-1"),
                                    StatusOnly(v1::APPROVED), {"status"})
                             .Patch("orders", ById("o-1"),
                                    StatusOnly(v1::SHIPPED), {"status"})),
      IsOk());
}

TEST_F(StatusGuardTest, OtherTablesAreNotGuarded) {
  Guard();
  EXPECT_THAT(PutIn("drafts", MakeOrder("o-1", "s", 1, v1::REFUNDED)), IsOk());
}

TEST_F(StatusGuardTest, AStatusThatTheRulesDoNotNameIsRefused) {
  const auto unknown = static_cast<v1::OrderStatus>(42);
  GuardOver({MakeOrder("old", "s", 1, unknown), MakeOrder("o-1", "s", 2)});
  EXPECT_THAT(Put(MakeOrder("new", "s", 3, unknown)),
              StatusIs(StatusCode::kFailedPrecondition,
                       "row may not begin in a status that the rules do not "
                       "name: from=(no row) to=42"));
  EXPECT_THAT(SetStatus("o-1", unknown),
              StatusIs(StatusCode::kFailedPrecondition,
                       "status may not change from or to one that the rules "
                       "do not name: from=CREATED to=42"));
  EXPECT_THAT(SetStatus("old", v1::CREATED),
              StatusIs(StatusCode::kFailedPrecondition, "from=42 to=CREATED"));
  // A value of the enum that no rule names has its name.
  EXPECT_THAT(
      SetStatus("o-1", v1::REFUNDED),
      StatusIs(StatusCode::kFailedPrecondition, "from=CREATED to=REFUNDED"));
  // What does not change the status is no move.
  EXPECT_THAT(Put(MakeOrder("old", "t", 1, unknown)), IsOk());
  EXPECT_THAT(DeleteId("old"), IsOk());
}

TEST_F(StatusGuardTest, UnknownStatusesMayBeAllowed) {
  rules_.allow_unknown = true;
  rules_.deletable = {{v1::CANCELED}};
  Guard();
  const auto unknown = static_cast<v1::OrderStatus>(42);
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1, unknown)), IsOk());
  EXPECT_THAT(SetStatus("o-1", v1::CREATED), IsOk());
  EXPECT_THAT(SetStatus("o-1", unknown), IsOk());
  EXPECT_THAT(DeleteId("o-1"), IsOk());
  EXPECT_THAT(Put(MakeOrder("o-2", "s", 1)), IsOk());
  EXPECT_THAT(SetStatus("o-2", v1::SHIPPED),
              StatusIs(StatusCode::kFailedPrecondition, "like this"));
}

TEST_F(StatusGuardTest, DeletesAreAllowedByStatus) {
  rules_.deletable = {{v1::CANCELED}};
  GuardOver({MakeOrder("o-1", "s", 1), MakeOrder("o-2", "s", 2, v1::CANCELED),
             MakeOrder("o-3", "s", 3, static_cast<v1::OrderStatus>(42))});
  EXPECT_THAT(DeleteId("o-1"),
              StatusIs(StatusCode::kFailedPrecondition,
                       "hook=PreDelete: row may not be deleted in this status: "
                       "from=CREATED to=(no row)"));
  EXPECT_THAT(DeleteId("o-3"),
              StatusIs(StatusCode::kFailedPrecondition, "from=42"));
  EXPECT_THAT(
      engine().Write(
          {}, WriteBatch().Delete("orders", RowRef::By("by_status", {"s"},
                                                       RowRef::Match::kAll))),
      StatusIs(StatusCode::kFailedPrecondition, "may not be deleted"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o-3", "o-2", "o-1"));
  EXPECT_THAT(DeleteId("o-2"), IsOk());
}

class RebirthTest : public StatusGuardTest {
 protected:
  RebirthTest() { rules_.table = "drafts"; }
  static Mutation Delete(std::string_view seller, std::string_view id) {
    return {Mutation::Kind::kDelete,   "drafts", {},
            RowRef::Key({seller, id}), {},       {}};
  }
  static Mutation Insert(std::string_view seller, std::string_view id,
                         v1::OrderStatus status) {
    return {Mutation::Kind::kInsert,
            "drafts",
            Bytes(MakeOrder(id, seller, 1, status)),
            RowRef::Key({}),
            {},
            {}};
  }
  // Gives the row another order id.
  static Mutation Rename(std::string_view seller, std::string_view id,
                         std::string_view next) {
    return {
        Mutation::Kind::kPatch,    "drafts",     Bytes(MakeOrder(next, "", 0)),
        RowRef::Key({seller, id}), {"order_id"}, {}};
  }
  absl::StatusOr<Commit> Run(const std::vector<Mutation>& mutations) {
    WriteBatch batch;
    for (const Mutation& mutation : mutations) batch.Add(mutation);
    return engine().Write({}, batch);
  }
};

TEST_F(RebirthTest, DeletingAndInsertingInOneRequestIsAMoveOfTheStatus) {
  GuardOver({MakeOrder("o-1", "s", 1, v1::SHIPPED)});
  const std::string veto =
      "hook=PreBatchMutate: status may not change by deleting and inserting a "
      "record in one request: from=SHIPPED to=CREATED table=drafts "
      "field=status order_id=\"o-1\" row_key=\"";
  const Mutation gone = Delete("s", "o-1");
  // Under the same row key, under another one, and before the old row goes.
  for (const std::vector<Mutation>& request :
       {std::vector{gone, Insert("s", "o-1", v1::CREATED)},
        std::vector{gone, Insert("t", "o-1", v1::CREATED)},
        std::vector{Insert("t", "o-1", v1::CREATED), gone},
        std::vector{gone, Insert("t", "o-2", v1::CREATED),
                    Rename("t", "o-2", "o-1")},
        std::vector{Rename("s", "o-1", "o-2"),
                    Insert("s", "o-1", v1::CREATED)}}) {
    EXPECT_THAT(Run(request), StatusIs(StatusCode::kFailedPrecondition, veto));
  }
  EXPECT_THAT(Statuses("s"), ElementsAre("SHIPPED"));
  EXPECT_THAT(Statuses("t"), IsEmpty());
}

TEST_F(RebirthTest, ADeclaredMoveMayBeMadeThatWay) {
  GuardOver({MakeOrder("o-1", "s", 1), MakeOrder("o-2", "s", 2)});
  EXPECT_THAT(Run({Delete("s", "o-1"), Insert("t", "o-1", v1::APPROVED),
                   Delete("s", "o-2"), Insert("t", "o-2", v1::CREATED)}),
              IsOk());
  EXPECT_THAT(Statuses("t"), ElementsAre("APPROVED", "CREATED"));
  // Another record's deletion is no concern.
  EXPECT_THAT(Run({Delete("t", "o-1"), Insert("s", "o-3", v1::CREATED)}),
              IsOk());
  // It is still an insert, so the status must be initial.
  EXPECT_THAT(Run({Delete("t", "o-2"), Insert("s", "o-2", v1::CANCELED)}),
              StatusIs(StatusCode::kFailedPrecondition, "may not begin"));
}

TEST_F(RebirthTest, WithoutAnIdentityTheRowKeyIsIt) {
  rules_.identity.clear();
  GuardOver({MakeOrder("o-1", "s", 1, v1::SHIPPED)});
  EXPECT_THAT(
      Run({Delete("s", "o-1"), Insert("s", "o-1", v1::CREATED)}),
      StatusIs(StatusCode::kFailedPrecondition, "from=SHIPPED to=CREATED"));
  // A row that moves keeps its identity, so its old place is free.
  EXPECT_THAT(Run({Rename("s", "o-1", "o-2"), Insert("s", "o-1", v1::CREATED)}),
              IsOk());
  EXPECT_THAT(Run({Delete("s", "o-2"), Insert("t", "o-2", v1::CREATED)}),
              IsOk());
}

TEST_F(RebirthTest, MayBeAllowed) {
  rules_.allow_rebirth = true;
  GuardOver({MakeOrder("o-1", "s", 1, v1::SHIPPED)});
  EXPECT_THAT(Run({Delete("s", "o-1"), Insert("s", "o-1", v1::CREATED)}),
              IsOk());
}

// A limit: hooks see one request. Where it matters, such rows must not be
// deletable.
TEST_F(RebirthTest, TwoRequestsAreNotSeenAsOne) {
  GuardOver({MakeOrder("o-1", "s", 1, v1::SHIPPED)});
  EXPECT_THAT(Run({Delete("s", "o-1")}), IsOk());
  EXPECT_THAT(Run({Insert("s", "o-1", v1::CREATED)}), IsOk());
}

TEST_F(RebirthTest, ARefusedRequestIsForgotten) {
  GuardOver({MakeOrder("o-1", "s", 1, v1::SHIPPED)});
  EXPECT_THAT(Run({Delete("s", "o-1"), Insert("t", "o-2", v1::REFUNDED)}),
              StatusIs(StatusCode::kFailedPrecondition, "may not begin"));
  EXPECT_THAT(Run({Insert("t", "o-1", v1::CREATED)}), IsOk());
}

TEST_F(StatusGuardTest, AdditionsOfEarlierObserversAreGuarded) {
  options_.observers.push_back(std::make_shared<BatchHook>(
      "helper", 0, std::vector<std::string>{"orders"},
      [](HookContext& ctx, const std::vector<RowChange>& changes) {
        if (changes[0].table == "orders") return absl::OkStatus();
        return ctx.Add({Mutation::Kind::kPatch,
                        "orders",
                        StatusOnly(v1::SHIPPED),
                        ById("o-1"),
                        {"status"},
                        {}});
      }));
  Guard();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_THAT(PutIn("drafts", MakeOrder("d", "s", 1)),
              StatusIs(StatusCode::kFailedPrecondition,
                       "from=CREATED to=SHIPPED table=orders field=status "
                       "order_id=\"o-1\" row_key="));
  EXPECT_THAT(
      PutIn("drafts", MakeOrder("d", "s", 1)),
      StatusIs(StatusCode::kFailedPrecondition, "added_by_observer=helper"));
}

TEST_F(StatusGuardTest, IntegersAndStringsAreStatusesToo) {
  rules_.field = "currency";
  rules_.initial = {"open"};
  rules_.moves = {{"open", {"paid \"in full\""}}};
  Guard();
  rules_.field = "items";
  rules_.initial = {0};
  rules_.moves = {{0, {-1}}};
  Guard();
  v1::Order order = MakeOrder("o-1", "s", 1);
  order.set_currency("open");
  EXPECT_THAT(Put(order), IsOk());
  order.set_currency("paid \"in full\"");
  order.set_items(-1);
  EXPECT_THAT(Put(order), IsOk());
  order.set_currency("open");
  EXPECT_THAT(Put(order), StatusIs(StatusCode::kFailedPrecondition,
                                   R"(from="paid \"in full\"" to="open")"));
  order.set_currency("paid \"in full\"");
  order.set_items(0);
  EXPECT_THAT(Put(order), StatusIs(StatusCode::kFailedPrecondition,
                                   "from=-1 to=0 table=orders field=items"));
}

TEST_F(StatusGuardTest, RulesThatDoNotFitTheSchemaAreRefused) {
  const struct {
    std::string_view says;
    std::function<void(StatusRules&)> change;
  } kCases[] = {
      {"a table that the schema does not have: table=\"order\"",
       [](StatusRules& r) { r.table = "order"; }},
      {"state", [](StatusRules& r) { r.field = "state"; }},
      {"no status is initial", [](StatusRules& r) { r.initial.clear(); }},
      {"the enum has no such value: value=\"SENT\" table=orders field=status",
       [](StatusRules& r) { r.initial = {"SENT"}; }},
      {"the enum has no such value",
       [](StatusRules& r) { r.deletable = {{"SENT"}}; }},
      {"never null", [](StatusRules& r) { r.moves[0].to = {nullptr}; }},
      {"int64",
       [](StatusRules& r) {
         r.field = "amount_cents";
         r.initial = {"much"};
       }},
      {"order", [](StatusRules& r) { r.identity = {"order"}; }},
  };
  for (const auto& c : kCases) {
    StatusRules rules = rules_;
    c.change(rules);
    EXPECT_THAT(StatusGuard::Create(schema_, rules),
                StatusIs(StatusCode::kInvalidArgument, std::string(c.says)));
  }
  Schema audit;
  audit.Add(AuditTrail::Table());
  EXPECT_THAT(
      StatusGuard::Create(
          audit, {.table = "audit", .field = "row_key", .initial = {"x"}}),
      StatusIs(StatusCode::kInvalidArgument, "not a bytes"));
}

}  // namespace
}  // namespace dovetail::test
