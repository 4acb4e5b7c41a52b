// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The cross-check is on in all engine tests; here it has something to find: a
// fault is planted between index maintenance and the commit.

#include "engine/cross_check.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/overlay.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;

// Spaces are numbered in the order of the schema: rows, then its indexes.
constexpr char kRows = 1;
constexpr char kByStatus = 2;
constexpr char kByOrderId = 3;

class Fault final : public internal::PendingTamper {
 public:
  void Tamper(SequenceNumber, Overlay& pending) override {
    if (tamper) tamper(pending);
  }
  std::function<void(Overlay&)> tamper;
};

class CrossCheckTest : public EngineTest {
 protected:
  CrossCheckTest() {
    options_.cross_check = true;
    options_.tamper = fault_;
  }
  // What is pending in a space, in key order.
  static std::string Key(Overlay& pending, char space, bool put) {
    for (const Overlay::Pending* p : pending.InOrder()) {
      if (p->key[0] == space && p->value.has_value() == put) return p->key;
    }
    ADD_FAILURE() << "nothing of the kind is pending";
    return {};
  }
  void ExpectRefused(const absl::Status& status, std::string_view why) {
    EXPECT_THAT(status, StatusIs(StatusCode::kInternal, "cross-check"));
    EXPECT_THAT(status, StatusIs(StatusCode::kInternal, std::string(why)));
    EXPECT_THAT(status, StatusIs(StatusCode::kInternal, "table=orders"));
    fault_->tamper = nullptr;
    // Nothing of it is there, and the engine goes on.
    const auto report = engine().Verify({});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean()) << report->Summary();
    EXPECT_THAT(Put(MakeOrder("next", "s", 9)), IsOk());
  }

  const std::shared_ptr<Fault> fault_ = std::make_shared<Fault>();
};

TEST_F(CrossCheckTest, AnEntryThatIsNotPutIsNoticed) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  fault_->tamper = [](Overlay& pending) {
    pending.Delete(Key(pending, kByStatus, /*put=*/true));
  };
  ExpectRefused(Put(MakeOrder("b", "s", 2)).status(), "index=by_status");
  EXPECT_THAT(BySeller("s"), ElementsAre("next", "a"));
}

TEST_F(CrossCheckTest, AnEntryThatIsNotDeletedIsNoticed) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  fault_->tamper = [](Overlay& pending) {
    pending.Put(Key(pending, kByStatus, /*put=*/false), "");
  };
  ExpectRefused(SetStatus("a", v1::SHIPPED).status(), "wanted=(none)");
}

TEST_F(CrossCheckTest, AnEntryOfAnotherRowIsNoticed) {
  fault_->tamper = [](Overlay& pending) {
    pending.Put(std::string(1, kByStatus) + "stray", "");
  };
  ExpectRefused(Put(MakeOrder("a", "s", 1)).status(),
                "an entry changes without its row");
}

TEST_F(CrossCheckTest, AnEntryWithAnotherValueIsNoticed) {
  fault_->tamper = [](Overlay& pending) {
    pending.Put(Key(pending, kByOrderId, /*put=*/true), "x");
  };
  ExpectRefused(Put(MakeOrder("a", "s", 1)).status(), "index=by_order_id");
}

// A put moves the order; the fault keeps its old row and what else is its own,
// so two rows claim the one entry.
TEST_F(CrossCheckTest, ALostCheckOfUniquenessIsNoticed) {
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  std::string row;
  ASSERT_THAT(engine().ForEachStored({}, "orders", "", "",
                                     [&row](const StoredPair& pair) {
                                       row = std::string(pair.value);
                                       return true;
                                     }),
              IsOk());
  fault_->tamper = [&row](Overlay& pending) {
    pending.Put(Key(pending, kRows, /*put=*/false), row);
    pending.Put(Key(pending, kByStatus, /*put=*/false), "");
  };
  ExpectRefused(Put(MakeOrder("a", "s", 2)).status(), "keeps it");
}

TEST_F(CrossCheckTest, ARowUnderAnotherKeyIsNoticed) {
  fault_->tamper = [](Overlay& pending) {
    const std::string key = Key(pending, kRows, /*put=*/true);
    const std::string value = **pending.Find(key);
    pending.Put(key + "x", value);
  };
  EXPECT_THAT(Put(MakeOrder("a", "s", 1)),
              StatusIs(StatusCode::kInternal, "cross-check"));
  fault_->tamper = nullptr;
}

// Of the requests of one group only the one with the fault fails.
TEST_F(CrossCheckTest, OtherRequestsOfTheGroupAreCommitted) {
  int n = 0;
  fault_->tamper = [&n](Overlay& pending) {
    if (++n == 2) pending.Delete(Key(pending, kByOrderId, /*put=*/true));
  };
  EXPECT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  EXPECT_THAT(Put(MakeOrder("b", "s", 2)),
              StatusIs(StatusCode::kInternal, "sequence=2"));
  EXPECT_THAT(Put(MakeOrder("c", "s", 3)), IsOk());
  EXPECT_THAT(BySeller("s"), ElementsAre("c", "a"));
}

// Without it the fault is stored; verify finds it.
TEST_F(CrossCheckTest, OffNothingIsChecked) {
  options_.cross_check = false;
  fault_->tamper = [](Overlay& pending) {
    pending.Delete(Key(pending, kByStatus, /*put=*/true));
  };
  ASSERT_THAT(Put(MakeOrder("a", "s", 1)), IsOk());
  fault_->tamper = nullptr;
  const auto report = engine().Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->missing, 1u);
  ASSERT_THAT(engine().Repair({}), IsOk());
}

}  // namespace
}  // namespace dovetail::test
