// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/inspect.h"

#include <unistd.h>

#include "dovetail/errors.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class InspectTest : public EngineTest {
 protected:
  KeyInspector Keys() {
    auto keys = KeyInspector::Create(schema_.proto().tables(0));
    EXPECT_THAT(keys, IsOk());
    return *std::move(keys);
  }
  struct Stored {
    std::string key, value;
  };
  std::vector<Stored> All(std::string_view index, std::string_view from = "") {
    std::vector<Stored> all;
    EXPECT_THAT(
        engine().ForEachStored(
            {}, "orders", index, from,
            [&](const StoredPair& pair) {
              all.push_back({std::string(pair.key), std::string(pair.value)});
              return true;
            }),
        IsOk());
    return all;
  }
  void WriteTwo() {
    WriteBatch batch;
    batch.Put("orders", Bytes(MakeOrder("o-1", "s", 1)));
    batch.Put("orders", Bytes(MakeOrder("o-2", "s", 2)));
    ASSERT_THAT(engine().Write({}, batch), IsOk());
  }
};

std::vector<std::string> Values(const std::vector<ExplainedPart>& parts) {
  std::vector<std::string> values;
  for (const ExplainedPart& part : parts) {
    if (part.transform != "hash") values.push_back(part.value);
  }
  return values;
}

TEST_F(InspectTest, StoredKeysAreThoseThatValuesEncodeTo) {
  WriteTwo();
  const KeyInspector keys = Keys();
  const auto key = keys.Encode("", {"s", 1, "o-1"});
  ASSERT_THAT(key, IsOk());
  const std::vector<Stored> rows = All("");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(*key, ElementsAre(rows[1].key));  // ts_ms is descending.
  const auto row = KeyInspector::RowOf({rows[1].key, rows[1].value});
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ(row->record, Bytes(MakeOrder("o-1", "s", 1)));
  EXPECT_EQ(row->version, SequenceNumber{1});
  EXPECT_THAT(All("", rows[1].key), SizeIs(1));
}

TEST_F(InspectTest, PartsOfAKeyAreItsBytesInOrder) {
  WriteTwo();
  const KeyInspector keys = Keys();
  for (const char* index : {"", "by_order_id", "by_status"}) {
    for (const Stored& stored : All(index)) {
      const auto parts = keys.Explain(index, stored.key);
      ASSERT_THAT(parts, IsOk());
      std::string bytes;
      for (const ExplainedPart& part : *parts) bytes += part.bytes;
      EXPECT_EQ(bytes, stored.key);
    }
  }
}

TEST_F(InspectTest, AnEntryLeadsToItsRow) {
  WriteTwo();
  const KeyInspector keys = Keys();
  const Stored entry = All("by_order_id")[0];
  const auto value = keys.ExplainValue("by_order_id", entry.value);
  ASSERT_THAT(value, IsOk());
  EXPECT_TRUE(value->at(0).of_row_key);
  const auto row_key = keys.RowKeyOf("by_order_id", {entry.key, entry.value});
  ASSERT_THAT(row_key, IsOk());
  const auto parts = keys.Explain("", *row_key);
  ASSERT_THAT(parts, IsOk());
  EXPECT_THAT(*parts, SizeIs(4));
}

TEST_F(InspectTest, SomeColumnsEncodeToWhatKeysBeginWith) {
  const KeyInspector keys = Keys();
  const auto key = keys.Encode("by_status", {"s"});
  ASSERT_THAT(key, IsOk());
  ASSERT_THAT(*key, SizeIs(1));
  const auto parts = keys.Explain("by_status", key->front());
  ASSERT_THAT(parts, IsOk());
  EXPECT_THAT(Values(*parts), ElementsAre("\"s\""));
}

TEST_F(InspectTest, WhatIsNoKeyIsRefusedWithItsPart) {
  const KeyInspector keys = Keys();
  EXPECT_THAT(keys.Explain("", std::string(2, 'x')),
              StatusIs(StatusCode::kInvalidArgument, "part 1 (seller_id)"));
  const auto whole = keys.Encode("", {"s", 1, "o-1"});
  ASSERT_THAT(whole, IsOk());
  EXPECT_THAT(keys.Explain("", whole->front() + "x"),
              StatusIs(StatusCode::kInvalidArgument, "behind the last part"));
  EXPECT_THAT(keys.Explain("by_none", ""),
              StatusIs(StatusCode::kNotFound, "by_none"));
  EXPECT_THAT(KeyInspector::RowOf({"k", ""}).status(),
              StatusIs(StatusCode::kDataLoss, ""));
}

TEST_F(InspectTest, AnErrorSaysWhichMutationItIsOf) {
  WriteBatch batch;
  batch.Put("orders", Bytes(MakeOrder("o-1", "s", 1)));
  batch.Insert("orders", Bytes(MakeOrder("o-1", "s", 1)));
  const absl::Status late = engine().Write({}, batch).status();
  EXPECT_EQ(FailedMutation(late), 1u);
  EXPECT_THAT(std::string(late.message()), HasSubstr("mutation 2: "));
  EXPECT_EQ(MutationCause(late), std::string(late.message()).substr(12));
  batch.Clear();
  batch.Put("orders", std::string(1, '\xff'));
  const absl::Status early = engine().Write({}, batch).status();
  EXPECT_EQ(FailedMutation(early), 0u);
  EXPECT_EQ(FailedMutation(absl::InternalError("mutation 2: no")),
            std::nullopt);
  EXPECT_EQ(MutationCause(absl::InternalError("other: no")), "other: no");
}

TEST_F(InspectTest, ADatabaseInUseNamesTheProcess) {
  engine();
  const absl::Status status = Engine::Open(dir_.Sub("db"), schema_).status();
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "held"));
  EXPECT_EQ(InUseByProcess(status), getpid());
  EXPECT_EQ(InUseByProcess(absl::FailedPreconditionError("the lock is held")),
            std::nullopt);
}

}  // namespace
}  // namespace dovetail::test
