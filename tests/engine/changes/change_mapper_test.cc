// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/engine/changes/changes_test_util.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// The fields of an order from columns of short names.
constexpr char kFields[] = R"(
    table: "orders" find_by: "by_order_id"
    fields { field: "order_id" column: "id" }
    fields { field: "seller_id" column: "seller" }
    fields { field: "ts_ms" column: "ts" time { unit: MILLISECONDS } }
    fields { field: "status" column: "st"
             names { names { from: "paid" to: "APPROVED" } } }
    fields { field: "amount_cents" column: "amount" decimal { scale: 2 }
             default_value: "0" })";

class ChangeMapperTest : public EngineTest {
 protected:
  absl::StatusOr<ChangeMapper> Compile(std::string_view mapping) {
    v1::ChangeMapping message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        std::string(mapping), &message))
        << mapping;
    return ChangeMapper::Compile(&engine(), message);
  }

  // Applies all entries; a line each: what became of its changes, or why it
  // was refused.
  std::vector<std::string> Apply(ChangeFormat format, std::string text,
                                 std::string_view mapping) {
    auto mapper = Compile(mapping);
    if (!mapper.ok()) return {absl::StrCat("! ", mapper.status().message())};
    auto reader = ChangeReader::Open(format, FromText(std::move(text)));
    std::vector<std::string> out;
    ChangeEntry entry;
    for (;;) {
      const absl::StatusOr<bool> got = (*reader)->Next(&entry);
      if (got.ok() && !*got) return out;
      out.push_back(got.ok() ? ApplyOne(*mapper, entry)
                             : absl::StrCat("! ", got.status().message()));
    }
  }

  std::string ApplyOne(const ChangeMapper& mapper, const ChangeEntry& entry) {
    absl::StatusOr<MappedEntry> mapped = mapper.Map(entry);
    if (!mapped.ok()) return absl::StrCat("! ", mapped.status().message());
    std::vector<std::string> words;
    for (const ChangeOutcome& outcome : mapped->outcomes) {
      words.push_back(absl::StrCat(ToAbsl(EffectName(outcome.effect)),
                                   outcome.why.empty() ? "" : ": ",
                                   ToAbsl(outcome.why)));
    }
    if (!mapped->batch.empty()) {
      const auto commit = engine().Write({}, std::move(mapped->batch));
      if (!commit.ok()) return absl::StrCat("! ", commit.status().message());
    }
    return absl::StrJoin(words, ", ");
  }

  // "id seller ts status amount note" of every row, in the order of keys.
  std::vector<std::string> Rows() {
    std::vector<std::string> rows;
    const auto page = engine().Scan({}, {.table = "orders", .limit = 1000});
    EXPECT_THAT(page, IsOk());
    for (const Row& row : page->rows) {
      v1::Order order;
      EXPECT_TRUE(order.ParseFromString(row.record));
      rows.push_back(absl::StrCat(
          order.order_id(), " ", order.seller_id(), " ", order.ts_ms(), " ",
          v1::OrderStatus_Name(order.status()), " ", order.amount_cents(),
          order.note().empty() ? "" : " ", order.note()));
    }
    return rows;
  }

  static std::string Mapping(std::string_view more = "") {
    return absl::StrCat("tables {", kFields, ToAbsl(more), "}");
  }
};

TEST_F(ChangeMapperTest, AnInsertPutsTheRow) {
  EXPECT_THAT(Apply(ChangeFormat::kDebezium,
                    R"({"op":"c","after":{"id":"o1","seller":"s","ts":5000,)"
                    R"("st":"paid","amount":"12.50"}})",
                    Mapping()),
              ElementsAre("put"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 5000 APPROVED 1250"));
}

TEST_F(ChangeMapperTest, AnUpdateKeepsTheFieldsThatAreNotMapped) {
  v1::Order order = MakeOrder("o1", "s", 5000);
  order.set_note("ours");
  ASSERT_THAT(Put(order), IsOk());
  EXPECT_THAT(
      Apply(ChangeFormat::kDebezium,
            R"({"op":"u","before":null,"after":{"id":"o1","seller":"s",)"
            R"("ts":5000,"st":"shipped","amount":1}})",
            Mapping()),
      ElementsAre("update"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 5000 SHIPPED 100 ours"));
  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
}

// Scenario 16.
TEST_F(ChangeMapperTest, AnUpdateKeepsFieldsThatTheSchemaDoesNotKnow) {
  const std::string unknown = "\xa2\x06\x03xyz";  // Field 100, bytes.
  ASSERT_THAT(
      engine().Write(
          {}, WriteBatch().Put("orders",
                               Bytes(MakeOrder("o1", "s", 5000)) + unknown)),
      IsOk());
  EXPECT_THAT(Apply(ChangeFormat::kMaxwell,
                    R"({"type":"update","data":{"id":"o1","st":"shipped"}})",
                    Mapping()),
              ElementsAre("update"));
  const auto rows = engine().GetBy({}, "orders", "by_order_id", {"o1"});
  ASSERT_THAT(rows, IsOk());
  EXPECT_THAT((*rows)[0].record, HasSubstr(unknown));
}

TEST_F(ChangeMapperTest, AnUpdateOfARowThatIsNotHereCreatesItIfItIsWhole) {
  EXPECT_THAT(
      Apply(ChangeFormat::kMaxwell,
            R"({"type":"update","data":{"id":"o1","seller":"s","ts":5000,)"
            R"("st":"paid","amount":"1"}})"
            "\n"
            R"({"type":"update","data":{"id":"o2","st":"paid"}})",
            Mapping()),
      ElementsAre("update", HasSubstr("no row to patch")));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 5000 APPROVED 100"));
}

TEST_F(ChangeMapperTest, AMinimalRowImageChangesWhatItHas) {
  ASSERT_THAT(Put(MakeOrder("o1", "s", 5000)), IsOk());
  EXPECT_THAT(Apply(ChangeFormat::kMaxwell,
                    R"({"type":"update","data":{"id":"o1","st":"shipped"}})",
                    Mapping()),
              ElementsAre("update"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 5000 SHIPPED 0"));
}

// The database logs no large column that an update left alone.
TEST_F(ChangeMapperTest, AColumnThatWasNotLoggedStays) {
  ASSERT_THAT(Put(MakeOrder("o1", "s", 5000, v1::SHIPPED)), IsOk());
  EXPECT_THAT(Apply(ChangeFormat::kDebezium,
                    R"({"op":"u","after":{"id":"o1","seller":"s","ts":6000,)"
                    R"("st":"__debezium_unavailable_value","amount":"2"}})",
                    Mapping()),
              ElementsAre("update"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 6000 SHIPPED 200"));
}

TEST_F(ChangeMapperTest, AChangedKeyMovesTheRowInOneRequest) {
  ASSERT_THAT(Put(MakeOrder("o1", "s", 5000)), IsOk());
  EXPECT_THAT(
      Apply(ChangeFormat::kCanal,
            R"({"type":"UPDATE","data":[{"id":"o9","seller":"s","ts":"5000",)"
            R"("st":"paid","amount":"1"}],"old":[{"id":"o1"}]})",
            Mapping()),
      ElementsAre("move"));
  EXPECT_THAT(Rows(), ElementsAre("o9 s 5000 APPROVED 100"));
  EXPECT_THAT(ById("o1"), IsEmpty());
}

TEST_F(ChangeMapperTest, ADeleteByKeyAloneTakesTheRowAndItsEntries) {
  ASSERT_THAT(Put(MakeOrder("o1", "s", 5000, v1::SHIPPED)), IsOk());
  EXPECT_THAT(Apply(ChangeFormat::kDebezium,
                    "{\"key\":{\"id\":\"o1\"},\"value\":{\"op\":\"d\","
                    "\"before\":null}}\n"
                    "{\"key\":{\"id\":\"o1\"},\"value\":null}\n",
                    Mapping()),
              ElementsAre("delete", "skipped: tombstone"));
  EXPECT_THAT(Rows(), IsEmpty());
  EXPECT_THAT(ByStatus("s", v1::SHIPPED), IsEmpty());
}

TEST_F(ChangeMapperTest, RowsOfOneMessageAreOneRequest) {
  EXPECT_THAT(
      Apply(ChangeFormat::kCanal,
            R"({"type":"INSERT","data":[)"
            R"({"id":"o1","seller":"s","ts":"1","st":"paid"},)"
            R"({"id":"o2","seller":"s","ts":"x","st":"paid"}]})"
            "\n"
            R"({"type":"INSERT","data":[)"
            R"({"id":"o3","seller":"s","ts":"3","st":"paid"},)"
            R"({"id":"o4","seller":"s","ts":"4","st":"paid"}]})",
            Mapping()),
      ElementsAre("! not a time: value=\"x\": field=ts_ms column=\"ts\" "
                  "byte=100 line=1",
                  "put, put"));
  EXPECT_THAT(Rows(), ElementsAre("o4 s 4 APPROVED 0", "o3 s 3 APPROVED 0"));
}

TEST_F(ChangeMapperTest, ATableWithoutPrimaryKeyIsRefusedUnlessAllowed) {
  const std::string insert =
      R"({"type":"INSERT","table":"t","pkNames":null,"data":[{"id":"o1",)"
      R"("seller":"s","ts":"1","st":"paid"}]})";
  EXPECT_THAT(Apply(ChangeFormat::kCanal, insert, Mapping()),
              ElementsAre(HasSubstr("no primary key")));
  EXPECT_THAT(Apply(ChangeFormat::kCanal, insert,
                    Mapping(" allow_no_primary_key: true")),
              ElementsAre("put"));
}

TEST_F(ChangeMapperTest, ATruncateIsRefusedUnlessItIsToBeSkipped) {
  EXPECT_THAT(Apply(ChangeFormat::kDebezium, R"({"op":"t"})", Mapping()),
              ElementsAre(HasSubstr("the source emptied its table")));
  EXPECT_THAT(Apply(ChangeFormat::kDebezium, R"({"op":"t"})",
                    Mapping(" truncate: SKIP")),
              ElementsAre("skipped: truncate"));
}

TEST_F(ChangeMapperTest, TheFirstTableThatFitsTakesTheChange) {
  const std::string insert =
      R"({"type":"insert","database":"Shop","table":"Orders","data":)"
      R"({"ID":"o1","Seller":"s","ts":1,"st":"paid"}})";
  const std::string source = R"( sources { database: "shop" table: "orders" })";
  EXPECT_THAT(Apply(ChangeFormat::kMaxwell, insert, Mapping(source)),
              ElementsAre("skipped: another table"));
  EXPECT_THAT(Apply(ChangeFormat::kMaxwell, insert,
                    Mapping(source) + " other_tables: REJECT"),
              ElementsAre(HasSubstr("no table of the mapping takes")));
  EXPECT_THAT(Apply(ChangeFormat::kMaxwell, insert,
                    Mapping(source + " ignore_case: true")),
              ElementsAre("put"));
}

// 2026-03-02 in four units; scenario 11.
TEST_F(ChangeMapperTest, AMomentsUnitIsToldNeverGuessed) {
  const auto apply = [this](std::string_view unit, std::string_view number) {
    const std::string fields = absl::StrCat(
        "tables { table: \"orders\" fields { field: \"order_id\" column: "
        "\"id\" } fields { field: \"seller_id\" constant: \"s\" } fields { "
        "field: \"ts_ms\" column: \"ts\" time { ",
        ToAbsl(unit), " } } }");
    return Apply(ChangeFormat::kJsonLines,
                 absl::StrCat("{\"id\":\"o1\",\"ts\":", ToAbsl(number), "}"),
                 fields)[0];
  };
  EXPECT_EQ(apply("unit: SECONDS", "1772452800"), "put");
  EXPECT_EQ(apply("unit: MILLISECONDS", "1772452800000"), "put");
  EXPECT_EQ(apply("unit: MICROSECONDS", "1772452800000000"), "put");
  EXPECT_EQ(apply("unit: NANOSECONDS", "\"1772452800000000000\""), "put");
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1772452800000 CREATED 0"));
  EXPECT_EQ(apply("unit: DAYS", "20514"), "put");
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1772409600000 CREATED 0"));
  EXPECT_THAT(apply("", "1772452800"), HasSubstr("nobody gives a unit"));
  EXPECT_THAT(apply("unit: MILLISECONDS", "1772452800000000"),
              HasSubstr("outside the years that the mapping allows"));
}

TEST_F(ChangeMapperTest, AStreamsUnitMustBeTheMappings) {
  const std::string event =
      R"({"schema":{"fields":[{"field":"after","fields":[{"field":"ts",)"
      R"("type":"int64","name":"io.debezium.time.MicroTimestamp"}]}]},)"
      R"("payload":{"op":"c","after":{"id":"o1","seller":"s",)"
      R"("ts":1700000000000001,"st":"paid"}}})";
  EXPECT_THAT(Apply(ChangeFormat::kDebezium, event, Mapping()),
              ElementsAre(HasSubstr("different units: stream=MICROSECONDS "
                                    "mapping=MILLISECONDS")));
  std::string mapping = Mapping();
  mapping.replace(mapping.find("unit: MILLISECONDS"), 18, "");
  EXPECT_THAT(Apply(ChangeFormat::kDebezium, event, mapping),
              ElementsAre("put"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1700000000000 APPROVED 0"));
}

TEST_F(ChangeMapperTest, TextsAreTimesOfAZone) {
  const std::string mapping =
      R"(tables { table: "orders"
           fields { field: "order_id" column: "id" }
           fields { field: "seller_id" constant: "s" }
           fields { field: "ts_ms" column: "ts" time { zone: "Asia/Shanghai" }
                    null_texts: "0000-00-00 00:00:00"
                    default_value: "1999-01-01" } })";
  EXPECT_THAT(
      Apply(ChangeFormat::kCsv,
            "id,ts\no1,2023-11-15 06:13:20.5\no2,2023-11-14T22:13:20Z\n"
            "o3,0000-00-00 00:00:00\no4,0001-01-01 00:00:00\no5,today\n",
            mapping),
      ElementsAre("put", "put", "put",
                  HasSubstr("outside the years that the mapping allows"),
                  "! not a time: value=\"today\": field=ts_ms column=\"ts\" "
                  "byte=3 line=6"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1700000000500 CREATED 0",
                                  "o2 s 1700000000000 CREATED 0",
                                  "o3 s 915120000000 CREATED 0"));
}

TEST_F(ChangeMapperTest, AStatusNumberThatIsNotKnownStaysItself) {
  const std::string row = R"({"id":"o1","seller":"s","ts":1,"st":)";
  EXPECT_THAT(
      Apply(ChangeFormat::kJsonLines, row + "\"99\"}\n" + row + "\"lost\"}\n",
            Mapping()),
      ElementsAre("put", HasSubstr("give the word a meaning with names")));
  EXPECT_THAT(ByStatus("s", static_cast<v1::OrderStatus>(99)),
              ElementsAre("o1"));
  EXPECT_THAT(ByStatus("s", v1::CREATED), IsEmpty());
}

TEST_F(ChangeMapperTest, NumbersAreExactOrRefused) {
  const auto apply = [this](std::string_view amount) {
    return Apply(
        ChangeFormat::kJsonLines,
        absl::StrCat("{\"id\":\"o1\",\"seller\":\"s\",\"ts\":1,\"st\":\"paid\","
                     "\"amount\":",
                     ToAbsl(amount), "}"),
        Mapping())[0];
  };
  EXPECT_EQ(apply("92233720368547758.07"), "put");
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1 APPROVED 9223372036854775807"));
  EXPECT_THAT(apply("0.125"), HasSubstr("more digits behind the point"));
  EXPECT_THAT(apply("92233720368547758.08"), HasSubstr("cannot hold"));
  EXPECT_THAT(apply("[1]"), HasSubstr("an object or array"));
  EXPECT_EQ(apply("null"), "put");
}

TEST_F(ChangeMapperTest, PlainRowsSayInAColumnWhatIsDone) {
  const std::string mapping = Mapping(
      R"( operation { column: "op" put: "I" update: "U" delete: "D" })");
  EXPECT_THAT(Apply(ChangeFormat::kCsv,
                    "op,id,seller,ts,st\nI,o1,s,1,paid\nI,o2,s,2,paid\n"
                    "U,o1,s,1,shipped\nD,o2,s,2,paid\nX,o3,s,1,paid\n",
                    mapping),
              ElementsAre("put", "put", "update", "delete",
                          "! a word for what is done that the mapping lacks: "
                          "column=\"op\" value=\"X\" byte=0 line=6"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1 SHIPPED 0"));
}

TEST_F(ChangeMapperTest, HBaseCellsMergeIntoRows) {
  const std::string mapping = R"(tables {
      table: "orders"
      fields { field: "seller_id" column: "row"
               split { separator: "-" part: 1 parts: 4 } }
      fields { field: "ts_ms" column: "row"
               split { separator: "-" part: 2 parts: 4 }
               time { unit: MILLISECONDS taken_from: 9223372036854775807 } }
      fields { field: "order_id" column: "row"
               split { separator: "-" part: 3 parts: 4 } }
      fields { field: "status" column: "d:st" default_value: "CREATED" }
      fields { field: "items" column: "d:n"
               binary { form: BIG_ENDIAN_INTEGER } default_value: "0" }
      fields { field: "note" column: "e:note" } })";
  const std::string row = "ab-s-9223370336854775807-o1";
  const std::string head = "Sequence=1, table=orders, region=r, at\n";
  const auto put = [&](std::string column, std::string value) {
    return absl::StrCat(head, "row=", row, ", column=", column,
                        ", type=Put\n    value: ", value, "\n");
  };
  EXPECT_THAT(Apply(ChangeFormat::kHBaseWal,
                    absl::StrCat(put("d:st", "SHIPPED"), put("e:note", "hello"),
                                 put("d:n", "\\x00\\x00\\x01\\x02")),
                    mapping),
              ElementsAre("update", "update", "update"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1700000000000 SHIPPED 0 hello"));
  const auto drop = [&](std::string family) {
    return absl::StrCat("row=", row, ", column=", family,
                        ":, type=DeleteFamily\n");
  };
  EXPECT_THAT(
      Apply(ChangeFormat::kHBaseWal, absl::StrCat(head, drop("d")), mapping),
      ElementsAre("update"));
  EXPECT_THAT(Rows(), ElementsAre("o1 s 1700000000000 CREATED 0 hello"));
  EXPECT_THAT(Apply(ChangeFormat::kHBaseWal,
                    absl::StrCat(head, drop("d"), drop("e")), mapping),
              ElementsAre("delete"));
  EXPECT_THAT(Rows(), IsEmpty());
}

TEST_F(ChangeMapperTest, TemplatesJoinColumns) {
  EXPECT_THAT(Apply(ChangeFormat::kJsonLines,
                    R"({"o":{"no":7},"i":2,"seller":"s"})"
                    "\n"
                    R"({"o":{"no":7},"seller":"s"})",
                    R"(tables { table: "orders"
                 fields { field: "order_id" template: "{o.no}#{i}" }
                 fields { field: "seller_id" column: "seller" }
                 fields { field: "ts_ms" constant: "2001-01-01" time {} } })"),
              ElementsAre("put", HasSubstr("a column of the key is missing")));
  EXPECT_THAT(Rows(), ElementsAre("7#2 s 978307200000 CREATED 0"));
}

TEST_F(ChangeMapperTest, AMappingThatDoesNotFitSaysWhatOfIt) {
  const auto problem = [this](std::string_view mapping) {
    const auto mapper = Compile(mapping);
    EXPECT_FALSE(mapper.ok()) << mapping;
    return std::string(mapper.status().message());
  };
  EXPECT_THAT(problem(""), HasSubstr("the mapping has no table"));
  EXPECT_THAT(problem("tables { table: \"x\" }"), HasSubstr("no such table"));
  EXPECT_THAT(problem("tables { table: \"orders\" fields { field: \"x\" "
                      "column: \"a\" } }"),
              HasSubstr("x"));
  EXPECT_THAT(
      problem("tables { table: \"orders\" fields { field: \"note\" } }"),
      HasSubstr("without column, constant or template"));
  EXPECT_THAT(problem("tables { table: \"orders\" fields { field: \"note\" "
                      "column: \"a\" time {} } }"),
              HasSubstr("time needs a Timestamp or an integer field"));
  EXPECT_THAT(problem("tables { table: \"orders\" fields { field: \"order_id\" "
                      "column: \"a\" } }"),
              HasSubstr("a field of the key is not mapped: field=seller_id"));
  EXPECT_THAT(problem("tables { table: \"orders\" find_by: \"by_x\" fields { "
                      "field: \"note\" column: \"a\" } }"),
              HasSubstr("not mapped"));
  EXPECT_THAT(problem("tables { table: \"orders\" fields { field: \"note\" "
                      "template: \"{a\" } }"),
              HasSubstr("a brace without its partner"));
  EXPECT_THAT(problem("tables { table: \"orders\" fields { field: \"ts_ms\" "
                      "column: \"a\" time { zone: \"Mars\" } } }"),
              HasSubstr("no such time zone"));
}

// Any text is read and mapped to the end, and refused with line and byte or
// taken.
TEST_F(ChangeMapperTest, DamagedLinesAreRefusedOrTakenNeverMore) {
  const auto mapper = Compile(Mapping());
  ASSERT_THAT(mapper, IsOk());
  const std::string line =
      R"({"op":"u","before":{"id":"o1","seller":"s","ts":1,"st":"paid"},)"
      R"("after":{"id":"o1","seller":"s","ts":1,"st":"paid","amount":1.5},)"
      R"("source":{"db":"d","table":"t","ts_ms":1700000000000}})";
  for (size_t at = 0; at < line.size(); ++at) {
    for (const char byte : {'"', '{', '0', '\\', '\xff'}) {
      std::string damaged = line;
      damaged[at] = byte;
      auto reader =
          ChangeReader::Open(ChangeFormat::kDebezium, FromText(damaged, 100));
      ChangeEntry entry;
      const absl::StatusOr<bool> got = (*reader)->Next(&entry);
      const absl::Status status =
          got.ok() ? mapper->Map(entry).status() : got.status();
      if (status.ok()) continue;
      ASSERT_THAT(status, StatusIs(kInvalid, "line=1")) << damaged;
      ASSERT_THAT(status, StatusIs(kInvalid, "byte=")) << damaged;
    }
  }
}

}  // namespace
}  // namespace dovetail::test
