// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <fstream>
#include <string>
#include <vector>

#include "dovetail/dynamic_table.h"
#include "dovetail/table.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/keyspace.h"
#include "engine/storage/store.h"
#include "leveldb/db.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SchemaTest : public EngineTest {
 protected:
  absl::Status TryOpen(const TableBuilder& table) {
    engine_.reset();
    return Engine::Open(dir_.Sub("db"), Schema().Add(table), options_).status();
  }
  static TableBuilder Orders() {
    return TableBuilder("orders", v1::Order::descriptor());
  }
};

TEST_F(SchemaTest, InvalidSchemasAreRefusedWithThePlaceAndLeaveNoDirectory) {
  const auto key = [](Part part) {
    return Orders().RowKey({std::move(part), Field("order_id")});
  };
  const std::vector<std::pair<TableBuilder, std::string>> cases = {
      {Orders(), "row key: a key needs at least one part"},
      {key(Field("selller_id")), "selller_id"},
      {key(Hash({"seller_id"}, v1::XXH3, 9)), "part 1"},
      {key(Hash({"seller_id"}, v1::HASH_ALGORITHM_UNSPECIFIED)), "part 1"},
      {key(Salt(0)), "part 1"},
      {key(Decimal("ts_ms", 5)), "part 1"},
      {key(Reverse("ts_ms")), "part 1"},
      {key(Salt(4)).Index("i", {Salt(4), Field("status")}), "index=i"},
      {key(Field("status"))
           .Index("i", {Field("note")})
           .Index("i", {Field("note")}),
       "declared more than once"},
      {key(Field("status")).Index("9", {Field("note")}), "name must be"},
      {key(Field("status")).Index("i", {Field("note")}).Identity("i"),
       "identity must name a UNIQUE index"},
      {key(Field("status")).Identity("nope"), "identity=nope"},
      {TableBuilder("no spaces", v1::Order::descriptor())
           .RowKey({Field("order_id")}),
       "name=\"no spaces\""},
  };
  for (const auto& [table, message] : cases) {
    EXPECT_THAT(TryOpen(table),
                StatusIs(StatusCode::kInvalidArgument, message));
  }
  EXPECT_FALSE(std::ifstream(dir_.Sub("db") + "/CURRENT").good());
}

TEST_F(SchemaTest, ASchemaThatContradictsTheDatabaseIsRefusedByDifference) {
  const std::vector<Part> key = {Hash({"seller_id"}), Field("order_id")};
  const std::vector<Part> status = {Field("status")};
  ASSERT_THAT(TryOpen(Orders().RowKey(key).Index("by_status", status)), IsOk());
  EXPECT_THAT(TryOpen(Orders().RowKey(key).Index("by_status", status)), IsOk());

  const std::vector<std::pair<TableBuilder, std::string>> cases = {
      {Orders().RowKey({Field("order_id")}).Index("by_status", status),
       "row key part 1"},
      {Orders()
           .RowKey({Hash({"seller_id"}), Field("order_id").Desc()})
           .Index("by_status", status),
       "row key part 2"},
      {Orders().RowKey(key).Index("by_status", status).Index("new", status),
       "index=new: index-added"},
      {Orders().RowKey(key).Unique("by_status", status),
       "index-kind-changed: database=VALUE schema=UNIQUE"},
      {Orders().RowKey(key).Index("by_status", {Varint("status")}),
       "index=by_status part 1"},
      {TableBuilder("orders", v1::Schema::descriptor()).RowKey({Field("x")}),
       ""},
  };
  for (const auto& [table, difference] : cases) {
    const absl::Status status_of_open = TryOpen(table);
    EXPECT_FALSE(status_of_open.ok());
    EXPECT_THAT(std::string(status_of_open.message()), HasSubstr(difference));
  }
}

TEST_F(SchemaTest, ADatabaseServesTablesTheProgramDoesNotDeclare) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1)), IsOk());
  schema_ = Schema();
  schema_.Add(presets::SplitOrders("more"));
  Open();
  EXPECT_THAT(BySeller("s"), ElementsAre("o-1"));
  EXPECT_THAT(engine().Write(
                  {}, WriteBatch().Put("more", Bytes(MakeOrder("o", "s", 1)))),
              IsOk());
  // And with no schema at all: the catalog has everything.
  schema_ = Schema();
  Open();
  const auto stored = engine().GetSchema();
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(stored->tables_size(), 2);
}

TEST_F(SchemaTest, RecordsReadWithoutTheProgramThatWroteThem) {
  ASSERT_THAT(Put(MakeOrder("o-1", "s", 1, v1::SHIPPED)), IsOk());
  schema_ = Schema();
  Open();
  const auto table = DynamicTable::Bind(&engine(), "orders");
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(
      table->Columns("by_status"),
      IsOkAndHolds(ElementsAre("seller_id", "status", "ts_ms", "order_id")));
  const auto status = table->ParseValue("status", "shipped");
  ASSERT_THAT(status, IsOk());
  const auto page = engine().Scan(
      {}, {.table = "orders", .index = "by_status", .equal = {"s", *status}});
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->rows.size(), 1u);
  const auto json = table->ToJson(page->rows[0]);
  ASSERT_THAT(json, IsOk());
  EXPECT_THAT(*json, HasSubstr("\"status\":\"SHIPPED\""));
  EXPECT_THAT(table->FromJson("{\"nope\":1}"),
              StatusIs(StatusCode::kInvalidArgument, "nope"));
  EXPECT_THAT(table->ParseValue("ts_ms", "soon"),
              StatusIs(StatusCode::kInvalidArgument, "column=ts_ms"));
  EXPECT_THAT(DynamicTable::Bind(&engine(), "nope"),
              StatusIs(StatusCode::kNotFound, "tables=orders"));
}

TEST_F(SchemaTest, TheTypedFacadeChecksItsRecordType) {
  auto orders = Table<v1::Order>::Bind(&engine(), "orders");
  ASSERT_THAT(orders, IsOk());
  ASSERT_THAT(orders->Put(MakeOrder("o-1", "s", 1)), IsOk());
  const auto found = orders->GetBy("by_order_id", {"o-1"});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->front().seller_id(), "s");
  const auto page = orders->Scan({.equal = {"s"}});
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->records.size(), 1u);
  EXPECT_THAT(orders->Get({"s", 1, "o-1"}), IsOk());
  EXPECT_THAT(Table<v1::Schema>::Bind(&engine(), "orders"),
              StatusIs(StatusCode::kInvalidArgument, "dovetail.v1.Order"));
  EXPECT_THAT(Table<v1::Order>::Bind(&engine(), "nope"),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(SchemaTest, SchemasReadFromTextWithLineAndCause) {
  const char text[] = R"(
tables {
  name: "orders"
  record_type: "dovetail.v1.Order"
  row_key { parts { fields: "order_id" hash { algorithm: MD5 bytes: 2 } }
            parts { fields: "order_id" } }
})";
  const auto& pool = *google::protobuf::DescriptorPool::generated_pool();
  auto schema = Schema::FromText(text, pool);
  ASSERT_THAT(schema, IsOk());
  EXPECT_THAT(Engine::Open(dir_.Sub("text"), *schema), IsOk());
  EXPECT_THAT(Schema::FromText("tables {\n  nmae: \"x\"\n}", pool),
              StatusIs(StatusCode::kInvalidArgument, "line 2"));
  EXPECT_THAT(Schema::FromText("tables { record_type: \"no.Such\" }", pool),
              StatusIs(StatusCode::kInvalidArgument, "no.Such"));
}

TEST_F(SchemaTest, AMissingDatabaseIsNotCreatedUnlessAsked) {
  options_.create_if_missing = false;
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_, options_),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(SchemaTest, ALevelDbOfSomeoneElseIsRefused) {
  leveldb::DB* db = nullptr;
  leveldb::Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(leveldb::DB::Open(options, dir_.Sub("db"), &db).ok());
  ASSERT_TRUE(db->Put({}, "their", "data").ok());
  delete db;
  EXPECT_THAT(
      Engine::Open(dir_.Sub("db"), schema_),
      StatusIs(StatusCode::kFailedPrecondition, "not a Dovetail database"));
}

TEST_F(SchemaTest, AFormatOfAnotherReleaseIsRefused) {
  ASSERT_THAT(engine().Close(), IsOk());
  engine_.reset();
  {
    LevelDbStoreOptions options;
    options.file_system = FileSystem::Posix();
    StoreOpenReport report;
    const auto store = OpenLevelDbStore(dir_.Sub("db"), options, &report);
    ASSERT_THAT(store, IsOk());
    std::string bytes;
    ASSERT_THAT((*store)->Get({}, CatalogKey(), &bytes), IsOk());
    v1::Catalog catalog;
    ASSERT_TRUE(catalog.ParseFromString(bytes));
    catalog.set_format_version(4);
    const auto batch = (*store)->NewBatch();
    batch->Put(CatalogKey(), catalog.SerializeAsString());
    ASSERT_THAT((*store)->Write(*batch, true), IsOk());
  }
  EXPECT_THAT(
      Engine::Open(dir_.Sub("db"), schema_),
      StatusIs(StatusCode::kFailedPrecondition, "format=4 known=1,2,3"));
}

TEST_F(SchemaTest, ADatabaseInUseIsRefused) {
  Open();
  EXPECT_THAT(Engine::Open(dir_.Sub("db"), schema_),
              StatusIs(StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace dovetail::test
