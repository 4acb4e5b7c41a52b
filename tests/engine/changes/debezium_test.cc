// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/changes/changes_test_util.h"

namespace dovetail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Read(std::string text) {
  return ReadChanges(ChangeFormat::kDebezium, std::move(text));
}

TEST(DebeziumTest, AnEventIsReadWithAndWithoutItsEnvelope) {
  const std::string event =
      R"({"before":{"id":1,"s":"new"},"after":{"id":1,"s":"paid"},)"
      R"("source":{"db":"shop","table":"orders","ts_ms":1700000000000},)"
      R"("op":"u"})";
  const std::string change =
      R"(update shop.orders before{"id":1,"s":"new"} after{"id":1,"s":"paid"})";
  EXPECT_THAT(Read(event), ElementsAre(change));
  EXPECT_THAT(Read(absl::StrCat("{\"payload\":", event, "}")),
              ElementsAre(change));
  EXPECT_THAT(Read(absl::StrCat("{\"schema\":null,\"payload\":", event, "}")),
              ElementsAre(change));
}

TEST(DebeziumTest, AMessageIsKeyAndValueInOneObjectOrTwo) {
  EXPECT_THAT(
      Read(R"({"key":{"id":1},"value":{"before":null,"op":"d"}})"
           "\n"
           R"({"id":1}	{"before":null,"op":"d"})"
           "\n"
           R"({"payload":{"id":1}} {"payload":{"before":null,"op":"d"}})"),
      ElementsAre(R"(delete key{"id":1})", R"(delete key{"id":1})",
                  R"(delete key{"id":1})"));
}

TEST(DebeziumTest, TombstonesAreWhatFollowsADelete) {
  EXPECT_THAT(Read("null\n{\"key\":{\"id\":1},\"value\":null}\n{\"id\":1}\t"
                   "null\n{\"schema\":null,\"payload\":null}\n"),
              ElementsAre("tombstone", R"(tombstone key{"id":1})",
                          R"(tombstone key{"id":1})", "tombstone"));
}

TEST(DebeziumTest, WhatIsNoRowIsToldApart) {
  EXPECT_THAT(
      Read(R"({"status":"BEGIN","id":"571:5","ts_ms":1,"event_count":null})"
           "\n"
           R"({"source":{},"databaseName":"shop","ddl":"ALTER TABLE t"})"
           "\n"
           R"({"ts_ms":1700000000000})"
           "\n"
           R"({"op":"m","message":{"prefix":"p","content":"Ymfy"}})"
           "\n"
           R"({"op":"t","source":{"db":"shop","table":"orders"}})"
           "\n"
           R"({"schema":{"name":"shop.orders.Key"},"payload":{"id":1}})"),
      ElementsAre("transaction", "schema change", "heartbeat", "message",
                  "truncate shop.orders", "key alone"));
}

// The bytes are those that the connector writes: 12345.110 is 12345110 of
// scale 3, 0x00bc5f16.
TEST(DebeziumTest, SchemasMakeDecimalsBytesAndMomentsOfTextsAndNumbers) {
  const std::string schema =
      R"({"type":"struct","fields":[{"field":"after","fields":[)"
      R"({"field":"d","type":"bytes","parameters":{"scale":"3"},)"
      R"("name":"org.apache.kafka.connect.data.Decimal"},)"
      R"({"field":"n","type":"bytes","parameters":{"scale":"3"},)"
      R"("name":"org.apache.kafka.connect.data.Decimal"},)"
      R"({"field":"v","type":"struct",)"
      R"("name":"io.debezium.data.VariableScaleDecimal"},)"
      R"({"field":"b","type":"bytes"},)"
      R"({"field":"t","type":"int64",)"
      R"("name":"io.debezium.time.MicroTimestamp"}]}]})";
  auto reader = ChangeReader::Open(
      ChangeFormat::kDebezium,
      FromText(absl::StrCat(
          "{\"schema\":", schema, ",\"payload\":{\"op\":\"c\",\"after\":{",
          R"("d":"ALxfFg==","n":1.50,"v":{"scale":2,"value":"/2o="},)",
          R"("b":"AP8=","t":1700000000000001}}})")));
  ASSERT_TRUE(reader.ok());
  ChangeEntry entry;
  ASSERT_TRUE(*(*reader)->Next(&entry));
  const ForeignValue& after = *entry.changes[0].after;
  EXPECT_EQ(after.Find("d")->text, "12345.110");
  EXPECT_EQ(after.Find("d")->kind, ForeignValue::Kind::kNumber);
  EXPECT_EQ(after.Find("n")->text, "1.50");
  EXPECT_EQ(after.Find("v")->text, "-1.50");
  EXPECT_EQ(after.Find("b")->text, std::string("\x00\xff", 2));
  EXPECT_EQ(after.Find("b")->kind, ForeignValue::Kind::kBytes);
  EXPECT_EQ(after.Find("t")->unit, ForeignValue::Unit::kMicros);
}

TEST(DebeziumTest, ABadDecimalNamesItsColumn) {
  EXPECT_THAT(
      Read(R"({"schema":{"fields":[{"field":"after","fields":[)"
           R"({"field":"d","type":"bytes","parameters":{"scale":"3"},)"
           R"("name":"org.apache.kafka.connect.data.Decimal"}]}]},)"
           R"("payload":{"op":"c","after":{"d":"***"}}})"),
      ElementsAre("! a decimal that is not base64: column=\"d\": line=1 "
                  "byte=188"));
}

TEST(DebeziumTest, MongoDocumentsAreExtendedJsonInAText) {
  EXPECT_THAT(
      Read(R"({"op":"c","after":"{\"_id\":{\"$numberLong\":\"1004\"},)"
           R"(\"o\":{\"$oid\":\"5f\"},\"a\":[{\"b\":1}]}"})"),
      ElementsAre(R"(insert after{"_id":1004,"o":"5f","a":[{"b":1}]})"));
  EXPECT_THAT(Read(R"({"op":"c","after":"{"})"),
              ElementsAre(HasSubstr("no JSON document: column=\"after\"")));
}

TEST(DebeziumTest, LinesThatAreNoEventsNameTheirCause) {
  EXPECT_THAT(
      Read("\"payload\"\n{\"type\":\"string\"}\n{\"op\":\"x\"}\n"
           "{\"op\":\"u\",\"before\":{\"id\":1}}\n{\"op\":\"d\"}\n"
           "{\"op\":\"c\",\"after\":[]}\n{\"op\":\"c\"\n"
           "{\"op\":\"d\",\"before\":{\"id\":1}}\n"),
      ElementsAre(
          "! an event that is no object: line=1 byte=0",
          "! an event that does not say what was done: it has no member op: "
          "line=2 byte=0",
          "! an operation that Debezium does not have: column=\"op\": line=3 "
          "byte=6",
          "! a change without the row after it: line=4 byte=0",
          "! a delete without the row before it, and no key: line=5 byte=0",
          "! a row image that is no object: column=\"after\": line=6 byte=18",
          "! not JSON: a comma or brace is missing: line=7 byte=9",
          R"(delete before{"id":1})"));
}

TEST(DebeziumTest, TheTimeIsTheSourcesAndNoneWhereItSaysNone) {
  const auto time_of = [](std::string event) {
    auto reader =
        ChangeReader::Open(ChangeFormat::kDebezium, FromText(std::move(event)));
    ChangeEntry entry;
    EXPECT_TRUE(*(*reader)->Next(&entry));
    return entry.changes[0].time_us;
  };
  EXPECT_EQ(time_of(R"({"op":"m","ts_ms":5,"source":{"ts_ms":1700000000123}})"),
            1700000000123000);
  EXPECT_EQ(
      time_of(R"({"op":"m","source":{"ts_ms":0,"ts_us":"1700000000123456"}})"),
      1700000000123456);
  EXPECT_EQ(time_of(R"({"op":"m","ts_ms":"1700000000123","source":{}})"),
            1700000000123000);
  // Nanoseconds in a member for milliseconds.
  EXPECT_EQ(time_of(R"({"op":"m","source":{"ts_ms":1558965508000000000}})"),
            std::nullopt);
}

}  // namespace
}  // namespace dovetail::test
