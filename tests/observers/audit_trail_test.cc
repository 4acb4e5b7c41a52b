// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/observers.h"
#include "dovetail/v1/audit.pb.h"
#include "tests/observers/observers_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using v1::AuditRecord;

std::string OrderText(const std::string& bytes) {
  v1::Order order;
  EXPECT_TRUE(order.ParseFromString(bytes));
  return order.ShortDebugString();
}

std::string KeyText(const v1::Order& order) {
  return absl::StrCat("seller_id=\"", order.seller_id(),
                      "\" ts_ms=", order.ts_ms(), " order_id=\"",
                      order.order_id(), "\"");
}

class AuditTrailTest : public EngineTest {
 protected:
  AuditTrailTest() {
    schema_.Add(AuditTrail::Table());
    schema_.Add(TableBuilder("drafts", v1::Order::descriptor())
                    .RowKey({Field("order_id")}));
    audit_.watch = {{.table = "orders"}};
    audit_.clock = &clock_;
    options_.clock = &clock_;
    options_.in_memory = true;
  }
  // Adds the trail as audit_ says, and opens the engine.
  void Watch() {
    auto trail = AuditTrail::Create(schema_, audit_);
    ASSERT_THAT(trail, IsOk());
    options_.observers.push_back(*trail);
    Open();
  }
  std::vector<AuditRecord> Records(ScanRequest request) {
    request.table = "audit";
    request.limit = 100'000;
    const auto page = engine().Scan({}, request);
    EXPECT_THAT(page, IsOk());
    std::vector<AuditRecord> records;
    for (const Row& row : page->rows) {
      EXPECT_TRUE(records.emplace_back().ParseFromString(row.record));
      EXPECT_EQ(row.version, SequenceNumber{records.back().sequence()});
    }
    return records;
  }
  std::vector<AuditRecord> History(std::string_view row_key) {
    return Records({.equal = {"orders", row_key}});
  }
  // Without the hash in front.
  std::string KeyInWords(const std::string& row_key) {
    const std::string words =
        engine().DecodeKey("orders", row_key).value_or(" seller_id=?");
    return words.substr(words.find(" seller_id=") + 1);
  }
  // "3.0 UPDATED {status: ...} > {...}", and where it moved from or to.
  std::string Line(const AuditRecord& r) {
    std::string out = absl::StrCat(r.sequence(), ".", r.change(), " ",
                                   AuditRecord::Kind_Name(r.kind()));
    if (!r.other_row_key().empty()) {
      absl::StrAppend(&out, " ", KeyInWords(r.other_row_key()));
    }
    if (r.has_old_record()) {
      absl::StrAppend(&out, " old {", OrderText(r.old_record()), "}");
    }
    if (r.has_new_record()) {
      absl::StrAppend(&out, " new {", OrderText(r.new_record()), "}");
    }
    return out;
  }
  std::vector<std::string> Lines(const std::vector<AuditRecord>& records) {
    std::vector<std::string> lines;
    for (const AuditRecord& record : records) lines.push_back(Line(record));
    return lines;
  }

  ManualClock clock_;
  AuditOptions audit_;
};

TEST_F(AuditTrailTest, TheHistoryOfARowIsOneRangeNewestFirst) {
  Watch();
  clock_.now = 5;
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const std::string key = engine().Get({}, "orders", {"s", 1, "o-1"})->key;
  ASSERT_THAT(Put(MakeOrder("o-2", "s", 1)), IsOk());
  clock_.now = 6;
  ASSERT_THAT(SetStatus("o-1", v1::SHIPPED), IsOk());
  ASSERT_THAT(DeleteId("o-1"), IsOk());
  const std::vector<AuditRecord> history = History(key);
  EXPECT_THAT(
      Lines(history),
      ElementsAre(
          "4.0 DELETED old {order_id: \"o-1\" seller_id: \"s\" ts_ms: 1 "
          "status: SHIPPED}",
          "3.0 UPDATED old {order_id: \"o-1\" seller_id: \"s\" ts_ms: 1} new "
          "{order_id: \"o-1\" seller_id: \"s\" ts_ms: 1 status: SHIPPED}",
          "1.0 INSERTED new {order_id: \"o-1\" seller_id: \"s\" ts_ms: 1}"));
  EXPECT_EQ(history[0].time_us(), 6);
  EXPECT_EQ(history[2].time_us(), 5);
  EXPECT_EQ(history[0].row_key(), key);
}

TEST_F(AuditTrailTest, AMoveIsUnderTheNewKeyWithAPointerUnderTheOld) {
  Watch();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const std::string old_key = engine().Get({}, "orders", {"s", 1, "o-1"})->key;
  ASSERT_THAT(Put(MakeOrder("o-1", "t", 1)), IsOk());
  const std::string new_key = engine().Get({}, "orders", {"t", 1, "o-1"})->key;
  EXPECT_THAT(Lines(History(new_key)),
              ElementsAre("2.0 MOVED_IN seller_id=\"s\" ts_ms=1 "
                          "order_id=\"o-1\" old {order_id: \"o-1\" seller_id: "
                          "\"s\" ts_ms: 1} new {order_id: \"o-1\" seller_id: "
                          "\"t\" ts_ms: 1}"));
  EXPECT_THAT(Lines(History(old_key)),
              ElementsAre("2.0 MOVED_OUT seller_id=\"t\" ts_ms=1 "
                          "order_id=\"o-1\"",
                          "1.0 INSERTED new {order_id: \"o-1\" seller_id: "
                          "\"s\" ts_ms: 1}"));
}

TEST_F(AuditTrailTest, TheSubjectIsOneRangeWhereverItsRowMoves) {
  audit_.watch = {{.table = "orders", .subject = "order_id"},
                  {.table = "drafts", .subject = "ts_ms"}};
  Watch();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-1", "t", 1)), IsOk());
  ASSERT_THAT(Put(MakeOrder("o-10", "t", 1)), IsOk());
  ASSERT_THAT(DeleteId("o-1"), IsOk());
  std::vector<std::string> kinds;
  for (const AuditRecord& r :
       Records({.index = "by_subject", .equal = {"orders", "o-1"}})) {
    kinds.push_back(AuditRecord::Kind_Name(r.kind()));
  }
  EXPECT_THAT(kinds, ElementsAre("DELETED", "MOVED_IN", "INSERTED"));
  ASSERT_THAT(engine().Write({}, WriteBatch().Put(
                                     "drafts", Bytes(MakeOrder("d", "", -7)))),
              IsOk());
  EXPECT_THAT(Records({.index = "by_subject", .equal = {"drafts", "-7"}}),
              SizeIs(1));
}

TEST_F(AuditTrailTest, OfNamedFieldsOnlyThoseThatChangedAreKept) {
  audit_.watch = {{.table = "orders", .fields = {"status", "note"}}};
  Watch();
  v1::Order order = MakeOrder("o-1", "s", 1, v1::APPROVED);
  ASSERT_THAT(Put(order), IsOk());
  order.set_status(v1::SHIPPED);
  order.set_amount_cents(5);
  ASSERT_THAT(Put(order), IsOk());
  order.set_amount_cents(6);
  ASSERT_THAT(Put(order), IsOk());
  order.set_note("gift");
  order.set_seller_id("t");
  ASSERT_THAT(Put(order), IsOk());
  ASSERT_THAT(DeleteId("o-1"), IsOk());
  std::vector<std::string> lines;
  for (const AuditRecord& r : Records({.index = "by_time"})) {
    lines.push_back(Line(r) + " of");
    for (const std::string& f : r.changed_fields()) lines.back() += " " + f;
  }
  EXPECT_THAT(
      lines,
      ElementsAre("5.0 DELETED old {status: SHIPPED note: \"gift\"} of status "
                  "note",
                  "4.0 MOVED_IN seller_id=\"s\" ts_ms=1 order_id=\"o-1\" old "
                  "{} new {note: \"gift\"} of note",
                  "4.0 MOVED_OUT seller_id=\"t\" ts_ms=1 order_id=\"o-1\" of",
                  "3.0 UPDATED old {} new {} of",
                  "2.0 UPDATED old {status: APPROVED} new {status: SHIPPED} of "
                  "status",
                  "1.0 INSERTED new {status: APPROVED} of status"));
}

TEST_F(AuditTrailTest, ARequestHasOneTimeAndItsChangesAreNumbered) {
  audit_.watch = {{.table = "orders"}, {.table = "drafts"}};
  Watch();
  clock_.now = 77;
  ASSERT_THAT(
      engine().Write({}, WriteBatch()
                             .Put("orders", Bytes(MakeOrder("o-1", "s", 1)))
                             .Put("drafts", Bytes(MakeOrder("d-1", "s", 1)))
                             .Delete("drafts", RowRef::Key({"d-1"}))),
      IsOk());
  clock_.now = 78;
  ASSERT_THAT(Put(MakeOrder("o-2", "s", 1)), IsOk());
  std::vector<std::string> order;
  for (const AuditRecord& r : Records({.index = "by_time"})) {
    order.push_back(absl::StrCat(r.time_us(), " ", r.table(), " ", r.change()));
  }
  EXPECT_THAT(order, ElementsAre("78 orders 0", "77 drafts 2", "77 drafts 1",
                                 "77 orders 0"));
  EXPECT_THAT(Records({.index = "by_time", .range = Range{.min = 78}}),
              SizeIs(1));
}

TEST_F(AuditTrailTest, UnwatchedTablesLeaveNoRecord) {
  Watch();
  ASSERT_THAT(engine().Write({}, WriteBatch().Put(
                                     "drafts", Bytes(MakeOrder("d", "s", 1)))),
              IsOk());
  EXPECT_THAT(Records({}), IsEmpty());
}

TEST_F(AuditTrailTest, ARefusedRequestLeavesNoRecordAndNoGap) {
  auto guard = StatusGuard::Create(
      schema_,
      {.table = "orders", .field = "status", .initial = {v1::CREATED}});
  ASSERT_THAT(guard, IsOk());
  bool last_vetoes = false;
  options_.observers = {*guard,
                        std::make_shared<BatchHook>(
                            "last", 9999, std::vector<std::string>{},
                            [&](HookContext&, const std::vector<RowChange>&) {
                              return last_vetoes ? absl::AbortedError("no")
                                                 : absl::OkStatus();
                            })};
  Watch();
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1, v1::SHIPPED)),
              StatusIs(StatusCode::kFailedPrecondition));
  last_vetoes = true;
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)), StatusIs(StatusCode::kAborted));
  EXPECT_THAT(Records({}), IsEmpty());
  last_vetoes = false;
  EXPECT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_THAT(Records({}), SizeIs(1));
}

TEST_F(AuditTrailTest, AdditionsOfEarlierObserversAreRecordedAsTheirs) {
  audit_.watch.push_back({.table = "drafts"});
  options_.observers.push_back(std::make_shared<BatchHook>(
      "copier", 0, std::vector<std::string>{"drafts"},
      [](HookContext& ctx, const std::vector<RowChange>& changes) {
        return ctx.Add({Mutation::Kind::kPut,
                        "drafts",
                        std::string(*changes[0].new_record),
                        RowRef::Key({}),
                        {},
                        {}});
      }));
  Watch();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const std::vector<AuditRecord> drafts = Records({.equal = {"drafts"}});
  ASSERT_THAT(drafts, SizeIs(1));
  EXPECT_EQ(drafts[0].added_by(), "copier");
  EXPECT_EQ(drafts[0].change(), 1u);
  const std::vector<AuditRecord> orders = Records({.equal = {"orders"}});
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(orders[0].added_by(), "");
}

TEST_F(AuditTrailTest, TheCallbackSaysWhoAndMayRefuse) {
  audit_.note = [](const RowChange& change) -> absl::StatusOr<AuditNote> {
    v1::Order order;
    order.ParseFromString(std::string(*change.new_record));
    if (order.note().empty()) {
      return absl::UnauthenticatedError("nobody signs for it");
    }
    return AuditNote{order.note(), "by hand"};
  };
  Watch();
  v1::Order order = MakeOrder("o-1", "s", 1);
  EXPECT_THAT(Put(order), StatusIs(StatusCode::kUnauthenticated,
                                   "observer=audit_trail hook=PreBatchMutate: "
                                   "nobody signs for it"));
  order.set_note("ana");
  EXPECT_THAT(Put(order), IsOk());
  const std::vector<AuditRecord> records = Records({});
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].who(), "ana");
  EXPECT_EQ(records[0].note(), "by hand");
}

TEST_F(AuditTrailTest, OnlyTheTrailWritesItsTable) {
  Watch();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  const AuditRecord record = Records({})[0];
  const RowRef target = RowRef::Key(
      {record.table(), record.row_key(), record.sequence(), record.change()});
  for (const WriteBatch& batch :
       {WriteBatch().Put("audit", record.SerializeAsString()),
        WriteBatch().Patch("audit", target, "", {"who"}),
        WriteBatch().Delete("audit", target)}) {
    EXPECT_THAT(engine().Write({}, batch),
                StatusIs(StatusCode::kFailedPrecondition,
                         "only the audit trail itself writes its table"));
  }
  EXPECT_EQ(Records({})[0].SerializeAsString(), record.SerializeAsString());
}

TEST_F(AuditTrailTest, DeletesForPruningMayBeAllowed) {
  audit_.allow_deletes = true;
  Watch();
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch().Delete("audit", RowRef::By("by_time", {0}))),
              IsOk());
  EXPECT_THAT(Records({}), IsEmpty());
  EXPECT_THAT(engine().Write({}, WriteBatch().Put("audit", "")),
              StatusIs(StatusCode::kFailedPrecondition));
}

TEST_F(AuditTrailTest, RequestsThatTheRecordsMakeTooLargeAreRefused) {
  options_.limits.request_mutations_max = 10;
  Watch();
  const auto puts = [this](int count) {
    WriteBatch batch;
    for (int i = 0; i < count; ++i) {
      batch.Put("orders", Bytes(MakeOrder(absl::StrCat(i), "s", i)));
    }
    return engine().Write({}, batch);
  };
  EXPECT_THAT(puts(6), StatusIs(StatusCode::kResourceExhausted, "audit_trail"));
  EXPECT_THAT(Records({}), IsEmpty());
  EXPECT_THAT(puts(5), IsOk());

  v1::Order large = MakeOrder("large", "s", 1);
  large.set_note(std::string(600 << 10, 'x'));
  EXPECT_THAT(Put(large), IsOk());
  EXPECT_THAT(Put(large),
              StatusIs(StatusCode::kInvalidArgument, "observer=audit_trail"));
}

TEST_F(AuditTrailTest, OptionsThatDoNotFitTheSchemaAreRefused) {
  const auto create = [this](std::vector<AuditOptions::Watch> watch,
                             std::string table = "audit") {
    AuditOptions options;
    options.table = std::move(table);
    options.watch = std::move(watch);
    return AuditTrail::Create(schema_, options).status();
  };
  EXPECT_THAT(create({}), IsOk());
  const auto refused = [](const std::string& why) {
    return StatusIs(StatusCode::kInvalidArgument, why);
  };
  EXPECT_THAT(create({}, "trail"), refused("table=\"trail\""));
  EXPECT_THAT(create({}, "drafts"), refused("audit table has other records"));
  EXPECT_THAT(create({{.table = "order"}}), refused("table=\"order\""));
  EXPECT_THAT(create({{.table = "audit"}}), refused("it is the audit table"));
  EXPECT_THAT(create({{.table = "orders"}, {.table = "orders"}}),
              refused("watched twice"));
  EXPECT_THAT(create({{.table = "orders", .fields = {"state"}}}),
              refused("state"));
  EXPECT_THAT(create({{.table = "orders", .subject = "status"}}),
              refused("a subject is a string or an integer"));
}

TEST_F(AuditTrailTest, EverySnapshotHasEachRowWithItsRecord) {
  options_.in_memory = false;
  Watch();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 400; ++i) {
      EXPECT_THAT(Put(MakeOrder(absl::StrCat("o-", i % 7), "s", i % 3,
                                static_cast<v1::OrderStatus>(i % 5))),
                  IsOk());
    }
    done = true;
  });
  do {
    const auto snapshot = engine().GetSnapshot();
    ASSERT_THAT(snapshot, IsOk());
    const ReadOptions at{&*snapshot};
    const auto rows = engine().Scan(at, {.table = "orders", .equal = {"s"}});
    ASSERT_THAT(rows, IsOk());
    for (const Row& row : rows->rows) {
      const auto newest = engine().Scan(
          at, {.table = "audit", .equal = {"orders", row.key}, .limit = 1});
      ASSERT_THAT(newest, IsOk());
      ASSERT_THAT(newest->rows, SizeIs(1));
      EXPECT_EQ(newest->rows[0].version, row.version);
    }
  } while (!done);
  writer.join();
}

// The orders as they should be, and the history they should have: lines by
// row key, oldest first.
struct Model {
  std::map<std::string, v1::Order> orders;  // By order id.
  std::map<std::string, std::vector<std::string>> history;
};

// One request, built and applied to a model alike.
class RandomRequest {
 public:
  RandomRequest(Model model, uint64_t sequence)
      : model_(std::move(model)), sequence_(sequence) {}

  void Add(std::mt19937_64& random) {
    const auto pick = [&random](int n) {
      return static_cast<int>(random() % static_cast<uint64_t>(n));
    };
    const std::string id = absl::StrCat("o-", pick(30));
    const auto status = static_cast<v1::OrderStatus>(pick(3));
    v1::Order order =
        MakeOrder(id, absl::StrCat("s-", pick(3)), pick(3), status);
    const int what = pick(20);
    if (what < 10) {
      batch_.Put("orders", Bytes(order));
      Set(order);
    } else if (what < 12) {
      batch_.Insert("orders", Bytes(order));
      fails_ |= model_.orders.contains(id);
      Set(order);
    } else if (what < 16) {
      batch_.Patch("orders", RowRef::By("by_order_id", {id}),
                   StatusOnly(status), {"status"});
      fails_ |= !model_.orders.contains(id);
      order = model_.orders[id];
      order.set_status(status);
      Set(order);
    } else if (what < 18) {
      batch_.Delete("orders", RowRef::By("by_order_id", {id}));
      Remove(id);
    } else {
      batch_.Delete("orders",
                    RowRef::By("by_status", {order.seller_id(), status},
                               RowRef::Match::kAll));
      RemoveAll(order.seller_id(), status);
    }
  }

  const WriteBatch& batch() const { return batch_; }
  bool fails() const { return fails_; }
  Model TakeModel() { return std::move(model_); }

 private:
  void Set(const v1::Order& order) {
    const std::string key = KeyText(order);
    const std::string after = " new {" + order.ShortDebugString() + "}";
    const auto old = model_.orders.find(order.order_id());
    if (old == model_.orders.end()) {
      Note(key, "INSERTED" + after);
    } else {
      const std::string old_key = KeyText(old->second);
      const std::string both =
          " old {" + old->second.ShortDebugString() + "}" + after;
      if (old_key != key) {
        Note(old_key, "MOVED_OUT " + key);
        Note(key, "MOVED_IN " + old_key + both);
      } else {
        Note(key, "UPDATED" + both);
      }
    }
    model_.orders[order.order_id()] = order;
    ++change_;
  }
  void Remove(const std::string& id) {
    const auto found = model_.orders.find(id);
    if (found == model_.orders.end()) return;
    Note(KeyText(found->second),
         "DELETED old {" + found->second.ShortDebugString() + "}");
    model_.orders.erase(found);
    ++change_;
  }
  // In the order of the index: newest first, then by id.
  void RemoveAll(const std::string& seller, v1::OrderStatus status) {
    std::vector<std::pair<int64_t, std::string>> rows;
    for (const auto& [id, order] : model_.orders) {
      if (order.seller_id() == seller && order.status() == status) {
        rows.emplace_back(-order.ts_ms(), id);
      }
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& row : rows) Remove(row.second);
  }
  void Note(const std::string& key, const std::string& line) {
    model_.history[key].push_back(
        absl::StrCat(sequence_, ".", change_, " ", line));
  }

  Model model_;
  const uint64_t sequence_;
  uint32_t change_ = 0;
  WriteBatch batch_;
  bool fails_ = false;
};

TEST_F(AuditTrailTest, TheTrailOfRandomRequestsIsThatOfAModel) {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : 20'260'101;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  options_.in_memory = false;
  Watch();
  Model model;
  uint64_t sequence = 0;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    RandomRequest request(model, sequence + 1);
    for (uint64_t n = 1 + random() % 3; n > 0; --n) request.Add(random);
    const auto commit = engine().Write({}, request.batch());
    ASSERT_EQ(commit.ok(), !request.fails()) << commit.status();
    refused += request.fails();
    if (commit.ok()) {
      model = request.TakeModel();
      ASSERT_EQ(static_cast<uint64_t>(commit->sequence), ++sequence);
    }
    if (i % 500 == 250) Open();  // Without a close: as after a crash.
  }
  EXPECT_GT(refused, 100);
  ASSERT_THAT(engine().Close(), IsOk());
  Open();

  std::map<std::string, std::vector<std::string>> history;
  for (const AuditRecord& record : Records({})) {
    history[KeyInWords(record.row_key())].push_back(Line(record));
  }
  for (auto& [key, lines] : model.history) {
    std::reverse(lines.begin(), lines.end());
  }
  EXPECT_EQ(history.size(), model.history.size());
  for (const auto& [key, lines] : model.history) {
    ASSERT_EQ(history[key], lines) << key;
  }
  // The newest record of each row is of the commit that made it what it is.
  const auto rows = engine().Scan({}, {.table = "orders", .limit = 1000});
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->rows.size(), model.orders.size());
  for (const Row& row : rows->rows) {
    const std::vector<AuditRecord> of_row = History(row.key);
    ASSERT_FALSE(of_row.empty());
    EXPECT_EQ(SequenceNumber{of_row[0].sequence()}, row.version);
    EXPECT_EQ(of_row[0].new_record(), row.record);
    ASSERT_EQ(Lines(of_row), model.history[KeyInWords(row.key)]);
  }
}

}  // namespace
}  // namespace dovetail::test
