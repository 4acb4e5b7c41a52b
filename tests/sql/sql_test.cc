// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Dovetail's tables in SQLite: values, plans, what they read, errors. That
// plans give the right rows is tests/acceptance/query-sql's to show.

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sql/columns.h"
#include "sql/module.h"
#include "tests/acceptance/sql_database.h"
#include "tests/support/records.pb.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail {
namespace {

using test::Anything;
using test::IsOk;
using test::SqlDatabase;
using test::SqlValue;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class SqlTest : public testing::Test {
 protected:
  SqlTest() {
    Schema schema;
    schema.Add(
        TableBuilder("things", Anything::descriptor())
            .RowKey({Hash({"text"}), Field("text"), Field("large").Desc(),
                     Field("id")})
            .Unique("by_id", {Field("id")})
            .Index("by_city", {Field("inner.city"), Field("small")})
            .Index("by_amount", {Field("amount")})
            .Index("by_shade", {Field("shade"), Field("small").NullsLast()})
            .Add(IndexBuilder::Unique("by_tag", {Field("tag")}))
            .Add(IndexBuilder::Value("by_small", {Field("small")})
                     .Covering({"flag", "color"}))
            .Add(IndexBuilder::Value("red", {Field("count")})
                     .Where({RowTest::Equal("color", "RED")}))
            .Add(IndexBuilder::Value("by_label", {Field("labels")})
                     .FanOut("labels"))
            .Add(IndexBuilder::Sum("totals", {Field("color"), Field("text")},
                                   "small"))
            .Identity("by_id"));
    Options options;
    options.in_memory = true;
    engine_ = *Engine::Open("things", schema, options);
    EXPECT_THAT(sql::RegisterModule(
                    db_.get(),
                    {.open = [this](const std::string&) { return engine_; }}),
                IsOk());
    EXPECT_THAT(db_.Do("SELECT dovetail_attach('')"), IsOk());
  }

  void Put(const Anything& record) {
    WriteBatch batch;
    batch.Put("things", record.SerializeAsString());
    EXPECT_THAT(engine_->Write({}, std::move(batch)).status(), IsOk());
  }
  static Anything Thing(const std::string& id, const std::string& text,
                        int64_t large, int32_t small = 0) {
    Anything thing;
    thing.set_id(id);
    thing.set_text(text);
    thing.set_large(large);
    thing.set_small(small);
    return thing;
  }
  // 10 texts with 20 things each.
  void PutMany() {
    for (int i = 0; i < 200; ++i) {
      Put(Thing(absl::StrCat("t", 1000 + i), absl::StrCat("text", i % 10), i,
                i % 7));
    }
  }

  std::string Ask(const std::string& sql,
                  const std::vector<SqlValue>& parameters = {}) {
    const auto rows = db_.Run(sql, parameters);
    if (!rows.ok()) return std::string(rows.status().message());
    return absl::StrJoin(*rows, " ; ");
  }
  // Plan and work of the statement: "plan seeks entries gets rows".
  std::string WorkOf(const std::string& sql,
                     const std::vector<SqlValue>& parameters = {}) {
    EXPECT_THAT(db_.Do(sql, parameters), IsOk());
    return Ask(
        "SELECT printf('%s: entries=%d gets=%d rows=%d', plan, entries, gets, "
        "rows) FROM dovetail_work");
  }

  std::shared_ptr<Engine> engine_;
  SqlDatabase db_;
};

TEST_F(SqlTest, EveryKindOfFieldHasItsValue) {
  Anything all = Thing("x", "it's", -5, 7);
  all.set_tag("t");
  all.set_raw(std::string("\0\xff", 2));
  all.set_count(4294967295u);
  all.set_total(std::numeric_limits<uint64_t>::max());
  all.set_ratio(0.5);
  all.set_amount(-0.0);
  all.set_flag(true);
  all.set_maybe(false);
  all.set_color(Anything::RED);
  all.set_shade(static_cast<Anything::Color>(9));
  all.mutable_at()->set_seconds(951782400);
  all.mutable_at()->set_nanos(5);
  all.mutable_inner()->set_zip(3);
  all.mutable_inner()->mutable_deeper()->set_city("c");
  all.add_labels("a");
  all.add_labels("b");
  Put(all);
  EXPECT_EQ(Ask("SELECT * FROM things"),
            "'x'|'it\\'s'|'t'|x00ff|i7|i-5|i4294967295|r1.8446744073709552e+19|"
            "r0.5|r0|i1|i0|'RED'|'9'|'2000-02-29T00:00:00.000000005Z'|"
            "'{\\\"zip\\\":3,\\\"deeper\\\":{\\\"city\\\":\\\"c\\\"}}'|"
            "'[\\\"a\\\",\\\"b\\\"]'");
  EXPECT_EQ(Ask("SELECT \"inner.zip\", \"inner.city\", json_extract(inner, "
                "'$.deeper.city'), datetime(at), _version FROM things"),
            "i3|null|'c'|'2000-02-29 00:00:00'|i1");
  EXPECT_EQ(Ask("SELECT length(_row_key) > 4, length(_record) > 20 FROM "
                "things WHERE total > 9e18"),
            "i1|i1");
}

TEST_F(SqlTest, WhatIsAbsentIsNullAndWhatIsEmptyIsNot) {
  Anything bare;
  bare.set_id("x");
  Put(bare);
  EXPECT_EQ(Ask("SELECT * FROM things"),
            "'x'|''|null|x|i0|null|i0|null|r0|null|i0|null|'NONE'|null|null|"
            "null|'[]'");
}

TEST_F(SqlTest, NanIsNullAndFoundAsNull) {
  Anything nan = Thing("nan", "a", 1);
  nan.set_amount(std::nan(""));
  Put(nan);
  Anything two = Thing("two", "a", 2);
  two.set_amount(2);
  Put(two);
  EXPECT_EQ(Ask("SELECT id, amount FROM things ORDER BY amount"),
            "'nan'|null ; 'two'|r2");
  EXPECT_EQ(Ask("SELECT id FROM things WHERE amount IS NULL"), "'nan'");
  EXPECT_EQ(Ask("SELECT id FROM things WHERE amount > 1"), "'two'");
  EXPECT_THAT(WorkOf("SELECT id FROM things WHERE amount = 2.0"),
              HasSubstr("by_amount(amount=?) covering: entries=1"));
}

TEST_F(SqlTest, ARowIsFoundByItsKeyAndByAUniqueIndex) {
  PutMany();
  EXPECT_EQ(WorkOf("SELECT * FROM things WHERE text = ? AND large = ? AND id = "
                   "?",
                   {"text3", int64_t{3}, "t1003"}),
            "'row key(text=? AND large=? AND id=?): entries=1 gets=0 rows=1'");
  EXPECT_EQ(WorkOf("SELECT * FROM things WHERE id = ?", {"t1003"}),
            "'by_id(id=?): entries=1 gets=1 rows=1'");
}

TEST_F(SqlTest, AnOrderThatAKeyHasStopsEarly) {
  PutMany();
  const std::string sql =
      "SELECT id FROM things WHERE text = ? ORDER BY large DESC LIMIT 2";
  EXPECT_EQ(Ask(sql, {"text3"}), "'t1193' ; 't1183'");
  EXPECT_EQ(WorkOf(sql, {"text3"}),
            "'row key(text=?) order by large desc limit: entries=2 gets=0 "
            "rows=2'");
  // The other way round it has not.
  EXPECT_EQ(WorkOf("SELECT id FROM things WHERE text = ? ORDER BY large LIMIT "
                   "2",
                   {"text3"}),
            "'row key(text=?) limit: entries=20 gets=0 rows=20'");
}

TEST_F(SqlTest, AListIsMergedIntoOneOrder) {
  PutMany();
  const std::string sql =
      "SELECT id FROM things WHERE text IN ('text3', 'text4', 'text3') ORDER "
      "BY large DESC LIMIT 3";
  EXPECT_EQ(Ask(sql), "'t1194' ; 't1193' ; 't1184'");
  EXPECT_EQ(WorkOf(sql),
            "'row key(text IN ?) order by large desc limit: entries=3 gets=0 "
            "rows=3'");
}

TEST_F(SqlTest, ALongListIsReadInTheRightOrderToo) {
  PutMany();
  EXPECT_EQ(Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
                "n WHERE i < 3000) SELECT id FROM things WHERE text IN (SELECT "
                "'text' || i FROM n) ORDER BY large DESC LIMIT 3"),
            "'t1199' ; 't1198' ; 't1197'");
}

TEST_F(SqlTest, ANumberForATextIsComparedAsSqliteDoesInOrderStill) {
  Put(Thing("a", "17", 1));
  Put(Thing("b", "017", 2));
  Put(Thing("c", "17", 3));
  // A literal has no affinity of its own: the text is '17'.
  EXPECT_EQ(Ask("SELECT id FROM things WHERE text = 17 ORDER BY large DESC"),
            "'c' ; 'a'");
  // A column of integers makes numbers of the texts.
  EXPECT_THAT(db_.Do("CREATE TABLE n(i INTEGER)"), IsOk());
  EXPECT_THAT(db_.Do("INSERT INTO n VALUES (17)"), IsOk());
  EXPECT_EQ(Ask("SELECT id FROM n JOIN things ON text = i ORDER BY large DESC"),
            "'c' ; 'b' ; 'a'");
}

TEST_F(SqlTest, EntriesAnswerWhatTheyHold) {
  PutMany();
  EXPECT_EQ(WorkOf("SELECT flag, color, small, id FROM things WHERE small = 3"),
            "'by_small(small=?) covering: entries=29 gets=0 rows=29'");
  EXPECT_THAT(WorkOf("SELECT count(*) FROM things"), HasSubstr(" covering: "));
  EXPECT_THAT(WorkOf("SELECT count FROM things WHERE small = 3"),
              StartsWith("'by_small(small=?): entries=29 gets=2"));
  // An entry knows no version.
  EXPECT_THAT(Ask("SELECT min(_version) FROM things WHERE small = 3"), "i4");
}

TEST_F(SqlTest, IndexesWithoutAllRowsAreLeftAloneUnlessNullIsExcluded) {
  Put(Thing("a", "x", 1));
  Anything tagged = Thing("b", "x", 2);
  tagged.set_tag("t");
  Put(tagged);
  EXPECT_EQ(Ask("SELECT id FROM things WHERE tag IS NULL"), "'a'");
  EXPECT_EQ(Ask("SELECT id, tag FROM things ORDER BY tag"),
            "'a'|null ; 'b'|'t'");
  EXPECT_EQ(WorkOf("SELECT tag FROM things WHERE tag = 't'"),
            "'by_tag(tag=literal) covering: entries=1 gets=0 rows=1'");
  EXPECT_EQ(Ask("SELECT id FROM things WHERE count = 0 ORDER BY id"),
            "'a' ; 'b'");
}

TEST_F(SqlTest, NullsStandWhereSqlPutsThem) {
  for (int i = 0; i < 6; ++i) {
    Anything thing = Thing(absl::StrCat("t", i), "x", i, i % 3);
    if (i % 2 == 0) thing.mutable_inner()->set_city(i < 3 ? "a" : "b");
    Put(thing);
  }
  const std::string sql =
      "SELECT id FROM things ORDER BY \"inner.city\", small LIMIT 4";
  EXPECT_EQ(Ask(sql), "'t3' ; 't1' ; 't5' ; 't0'");
  EXPECT_THAT(WorkOf(sql), HasSubstr("by_city covering order by inner.city"));
  EXPECT_THAT(WorkOf("SELECT id FROM things WHERE \"inner.city\" IS NULL"),
              HasSubstr("by_city(inner.city IS NULL) covering: entries=3"));
}

TEST_F(SqlTest, AnEnumIsFoundByItsName) {
  for (int i = 0; i < 6; ++i) {
    Anything thing = Thing(absl::StrCat("t", i), "x", i);
    thing.set_shade(static_cast<Anything::Color>(i));
    Put(thing);
  }
  EXPECT_EQ(Ask("SELECT id, shade FROM things WHERE shade IN ('GREEN', '5', "
                "'nothing') ORDER BY id"),
            "'t2'|'GREEN' ; 't5'|'5'");
  EXPECT_THAT(WorkOf("SELECT id FROM things WHERE shade = 'BLUE'"),
              HasSubstr("by_shade(shade=literal) covering: entries=1"));
  EXPECT_EQ(Ask("SELECT shade FROM things ORDER BY shade LIMIT 3"),
            "'4' ; '5' ; 'BLUE'");
}

TEST_F(SqlTest, GroupsAreATableOfTheirOwn) {
  PutMany();
  Anything red = Thing("red", "text1", 0, 5);
  red.set_color(Anything::RED);
  Put(red);
  EXPECT_EQ(Ask("SELECT * FROM things_totals WHERE color = 'RED'"),
            "'RED'|'text1'|i1|i5");
  EXPECT_EQ(WorkOf("SELECT \"sum\" FROM things_totals WHERE color = 'NONE' AND "
                   "text = 'text3'"),
            "'totals(color=literal AND text=literal): entries=1 gets=0 "
            "rows=1'");
  EXPECT_EQ(Ask("SELECT sum(\"count\") FROM things_totals"), "i201");
}

TEST_F(SqlTest, AStatementReadsOneStateWhateverIsWrittenMeanwhile) {
  PutMany();
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(db_.get(),
                               "SELECT a.id FROM things a WHERE 500 > (SELECT "
                               "count(*) FROM things b WHERE b.text >= a.text)",
                               -1, &statement, nullptr),
            SQLITE_OK);
  int rows = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    ++rows;
    Put(Thing(absl::StrCat("new", rows), "text5", 1000 + rows));
  }
  sqlite3_finalize(statement);
  EXPECT_EQ(rows, 200);
  EXPECT_EQ(Ask("SELECT count(*) FROM things"), "i400");
}

TEST_F(SqlTest, TablesAreReadOnly) {
  EXPECT_THAT(Ask("DELETE FROM things"), HasSubstr("may not be modified"));
  EXPECT_THAT(Ask("INSERT INTO things(id) VALUES ('x')"),
              HasSubstr("may not be modified"));
}

TEST_F(SqlTest, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(Ask("CREATE VIRTUAL TABLE x USING dovetail('')"),
              HasSubstr("dovetail('PATH', 'TABLE')"));
  EXPECT_THAT(Ask("CREATE VIRTUAL TABLE x USING dovetail('', 'thinks')"),
              HasSubstr("no such table: table=\"thinks\""));
  EXPECT_THAT(Ask("CREATE VIRTUAL TABLE x USING dovetail('', 'things', 'no')"),
              HasSubstr("no such index"));
  EXPECT_THAT(
      Ask("CREATE VIRTUAL TABLE x USING dovetail('', 'things', 'by_id')"),
      HasSubstr("only a COUNT or SUM index"));
}

TEST_F(SqlTest, WhatADatabaseFileBringsAlongOpensNothing) {
  EXPECT_THAT(db_.Do("CREATE VIRTUAL TABLE main.stored USING dovetail('', "
                     "'things')"),
              IsOk());
  EXPECT_THAT(db_.Do("CREATE VIEW sly AS SELECT * FROM stored"), IsOk());
  EXPECT_THAT(Ask("SELECT * FROM sly"), HasSubstr("unsafe use"));
}

// Its collation compares bytes that are not those of keys.
TEST_F(SqlTest, ADatabaseInUtf16SortsTextsItself) {
  SqlDatabase db;
  EXPECT_THAT(db.Do("PRAGMA encoding = 'UTF-16le'"), IsOk());
  EXPECT_THAT(
      sql::RegisterModule(
          db.get(), {.open = [this](const std::string&) { return engine_; }}),
      IsOk());
  EXPECT_THAT(db.Do("SELECT dovetail_attach('')"), IsOk());
  for (const char* id : {"a", "\xc4\x80", "\xc3\xa9"}) Put(Thing(id, "x", 1));
  EXPECT_THAT(db.Do("CREATE TABLE p AS SELECT id FROM things"), IsOk());
  const auto expected = db.Run("SELECT id FROM p ORDER BY id");
  const auto actual = db.Run("SELECT id FROM things ORDER BY id");
  ASSERT_THAT(actual.status(), IsOk());
  EXPECT_EQ(*actual, *expected);
  EXPECT_THAT(*db.Plan("SELECT id FROM things ORDER BY id"),
              HasSubstr("USE TEMP B-TREE"));
  EXPECT_THAT(*db.Plan("SELECT id FROM things WHERE id = 'a'"),
              HasSubstr("by_id(id=literal)"));
}

// Keys that hold less than their values, or hold them in no order: rows are
// found by equality, and everything else is SQLite's.
TEST(SqlKeysTest, HashedAndTextKeysGiveTheRowsAndNoOrder) {
  Schema schema;
  schema.Add(TableBuilder("hashed", Anything::descriptor())
                 .RowKey({Hash({"text"}), Field("id")}));
  schema.Add(
      TableBuilder("texts", Anything::descriptor())
          .TextRowKey("-", {Hash({"id"}, v1::MD5, 2), Field("text"),
                            Field("small").Desc().Width(19), Field("id")})
          .Index("by_small", {Field("small")}));
  Options options;
  options.in_memory = true;
  const std::shared_ptr<Engine> engine = *Engine::Open("keys", schema, options);
  SqlDatabase db;
  EXPECT_THAT(
      sql::RegisterModule(db.get(),
                          {.open = [&](const std::string&) { return engine; }}),
      IsOk());
  EXPECT_THAT(db.Do("SELECT dovetail_attach('')"), IsOk());
  for (int i = 0; i < 40; ++i) {
    Anything thing;
    thing.set_id(absl::StrCat("t", i));
    thing.set_text(absl::StrCat("text", i % 4));
    thing.set_large(i);
    thing.set_small(i % 3);
    WriteBatch batch;
    batch.Put("hashed", thing.SerializeAsString());
    batch.Put("texts", thing.SerializeAsString());
    EXPECT_THAT(engine->Write({}, std::move(batch)), IsOk());
  }
  for (const char* table : {"hashed", "texts"}) {
    EXPECT_THAT(
        db.Do(absl::StrCat("CREATE TABLE plain AS SELECT * FROM ", table)),
        IsOk());
    for (const char* where :
         {"text = 'text1'", "text IN ('text1', 'text2') AND id > 't3'",
          "text = 'text1' AND id = 't5'", "id = 't5'",
          "id = 't5' AND text = 'text1' AND small = 2", "text > 'text1'",
          "small = 1 AND text = 'text2'", "text IS NULL"}) {
      const auto sql = [&](const char* from) {
        return absl::StrCat("SELECT * FROM ", from, " WHERE ", where,
                            " ORDER BY text, small DESC, id");
      };
      const auto expected = db.Run(sql("plain"));
      const auto actual = db.Run(sql(table));
      ASSERT_THAT(actual, IsOk()) << sql(table);
      EXPECT_EQ(*actual, *expected) << sql(table);
    }
    EXPECT_THAT(db.Do("DROP TABLE plain"), IsOk());
  }
  EXPECT_THAT(*db.Plan("SELECT id FROM hashed WHERE text = 'text1'"),
              HasSubstr("row key(text=literal)"));
}

// SQLite knows columns apart without their case.
TEST(SqlNamesTest, NamesThatDifferInCaseOnlyGetAnUnderscore) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("names.proto");
  file.set_syntax("proto2");
  auto* message = file.add_message_type();
  message->set_name("Names");
  int number = 0;
  for (const char* name : {"id", "ID", "_row_key", "order"}) {
    auto* field = message->add_field();
    field->set_name(name);
    field->set_number(++number);
    field->set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
    field->set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
  }
  google::protobuf::DescriptorPool pool;
  Schema schema;
  schema.Add(TableBuilder("names", pool.BuildFile(file)->message_type(0))
                 .RowKey({Field("id")}));
  Options options;
  options.in_memory = true;
  const std::shared_ptr<Engine> engine =
      *Engine::Open("names", schema, options);
  SqlDatabase db;
  EXPECT_THAT(
      sql::RegisterModule(db.get(),
                          {.open = [&](const std::string&) { return engine; }}),
      IsOk());
  EXPECT_THAT(db.Do("SELECT dovetail_attach('')"), IsOk());
  const auto names =
      db.Run("SELECT name FROM pragma_table_xinfo('names') ORDER BY cid");
  EXPECT_THAT(*names, ElementsAre("'id'", "'ID_'", "'_row_key'", "'order'",
                                  "'_row_key_'", "'_version'", "'_record'"));
}

TEST(SqlStoreTest, ConnectionsOfAProcessShareAStore) {
  test::TempDir dir;
  Schema schema;
  schema.Add(
      TableBuilder("things", Anything::descriptor()).RowKey({Field("id")}));
  ASSERT_THAT((*Engine::Open(dir.Sub("db"), schema))->Close(), IsOk());
  SqlDatabase one, two;
  for (SqlDatabase* db : {&one, &two}) {
    EXPECT_THAT(sql::RegisterModule(db->get(), {}), IsOk());
    EXPECT_THAT(db->Do("SELECT dovetail_attach(?)", {SqlValue(dir.Sub("db"))}),
                IsOk());
    EXPECT_THAT(db->Do("SELECT * FROM things"), IsOk());
  }
  // The last one closes it, and it can be opened anew.
  for (SqlDatabase* db : {&one, &two}) {
    EXPECT_THAT(db->Do("DROP TABLE things"), IsOk());
  }
  EXPECT_THAT((*Engine::Open(dir.Sub("db"), schema))->Close(), IsOk());
  EXPECT_THAT(one.Do("SELECT dovetail_attach(?)", {SqlValue(dir.Sub("db"))}),
              IsOk());
  const absl::Status absent =
      one.Do("SELECT dovetail_attach(?)", {SqlValue(dir.Sub("no"))});
  EXPECT_THAT(std::string(absent.message()),
              HasSubstr("cannot open the store: path="));
}

}  // namespace
}  // namespace dovetail
