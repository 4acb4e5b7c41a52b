// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/index_definition.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dovetail/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/compiled_table.h"
#include "tests/support/records.pb.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

// A table of Assets, and what one row of it looks like in every index.
class Fixture {
 public:
  explicit Fixture(const TableBuilder& table) {
    auto compiled = CompiledTable::Compile(table.proto());
    EXPECT_THAT(compiled, IsOk());
    table_ = *std::move(compiled);
  }

  void SetRow(const Asset& asset, uint32_t salt = 0) {
    record_ = asset.SerializeAsString();
    ASSERT_THAT(table_->ExtractFields(record_, &row_), IsOk());
    ASSERT_THAT(table_->EncodeKey(salt, &row_), IsOk());
  }

  const CompiledTable& table() const { return *table_; }
  const EncodedRow& row() const { return row_; }

  struct Entry {
    std::string key;
    std::string value;
  };
  Entry EntryIn(size_t index) const {
    Entry entry;
    EXPECT_THAT(
        table_->indexes()[index].EncodeEntry(row_, &entry.key, &entry.value),
        IsOk());
    return entry;
  }

 private:
  std::unique_ptr<const CompiledTable> table_;
  std::string record_;
  EncodedRow row_;
};

TableBuilder Assets() { return TableBuilder("assets", Asset::descriptor()); }

Asset MakeAsset(std::string_view id, std::string_view room) {
  Asset asset;
  asset.set_id(std::string(id));
  asset.set_room(std::string(room));
  return asset;
}

TEST(IndexDefinitionTest, AnIndexThatHoldsTheWholeRowKeyAddsNothing) {
  Fixture f(
      Assets()
          .RowKey({Hash({"room"}, v1::MD5, 2), Field("room"), Field("id")})
          .Index("same", {Hash({"room"}, v1::MD5, 2), Field("room"),
                          Field("id").Desc(), Field("id")}));
  f.SetRow(MakeAsset("a", "r"));
  const Fixture::Entry entry = f.EntryIn(0);
  EXPECT_EQ(entry.value, "");
  std::string key;
  EXPECT_THAT(f.table().indexes()[0].layout().Split(entry.key), IsOk());
  ASSERT_THAT(f.table().indexes()[0].RowKeyOf(entry.key, entry.value, &key),
              IsOk());
  EXPECT_EQ(key, f.row().key);
}

TEST(IndexDefinitionTest, AUniqueEntryHoldsTheRestOfTheRowKeyAsItsValue) {
  Fixture f(
      Assets()
          .RowKey({Hash({"room"}, v1::MD5, 2), Field("room"), Field("id")})
          .Unique("by_id", {Field("id")}));
  f.SetRow(MakeAsset("ab", "r9"));
  const Fixture::Entry entry = f.EntryIn(0);
  EXPECT_EQ(entry.key, std::string("ab\0", 3));
  // The room alone: its hash is computed from it.
  EXPECT_EQ(entry.value, std::string("r9\0", 3));
}

TEST(IndexDefinitionTest, ASaltIsCarriedAlong) {
  Fixture f(Assets()
                .RowKey({Salt(16), Field("id")})
                .Unique("by_id", {Field("id")})
                .Index("by_room", {Field("room")}));
  f.SetRow(MakeAsset("a", "r"), 7);
  EXPECT_EQ(f.EntryIn(0).value, "\x07");
  EXPECT_EQ(f.EntryIn(1).key, std::string("r\0\x07"
                                          "a\0",
                                          5));
}

TEST(IndexDefinitionTest, BytesThatAreNoEntryAreRefused) {
  Fixture f(Assets()
                .RowKey({Field("room"), Field("id")})
                .Unique("by_id", {Field("id")})
                .Index("by_room", {Field("room").Desc()}));
  f.SetRow(MakeAsset("abc", "room"));
  std::string row_key;
  for (size_t i = 0; i < 2; ++i) {
    const IndexDefinition& index = f.table().indexes()[i];
    const Fixture::Entry good = f.EntryIn(i);
    ASSERT_THAT(index.RowKeyOf(good.key, good.value, &row_key), IsOk());
    EXPECT_EQ(row_key, f.row().key);
    for (size_t cut = 0; cut < good.key.size(); ++cut) {
      EXPECT_FALSE(
          index.RowKeyOf(good.key.substr(0, cut), good.value, &row_key).ok());
    }
    for (size_t cut = 0; cut < good.value.size(); ++cut) {
      EXPECT_FALSE(
          index.RowKeyOf(good.key, good.value.substr(0, cut), &row_key).ok());
    }
    EXPECT_FALSE(index.RowKeyOf(good.key + "x", good.value, &row_key).ok());
    EXPECT_FALSE(index.RowKeyOf(good.key, good.value + "x", &row_key).ok());
  }
}

// Random layouts over random records: whatever the declaration, an entry
// leads back to exactly its row.
TEST(IndexDefinitionTest, EveryEntryLeadsBackToItsRow) {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : 20261130;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  const auto pick = [&random](uint64_t n) { return random() % n; };
  const auto random_part = [&](bool salt) -> Part {
    const std::string field = pick(2) == 0 ? "id" : "room";
    switch (pick(salt ? 8 : 7)) {
      case 0:
        return Field(field);
      case 1:
        return Field(field).Desc();
      case 2:
        return Reverse(field);
      case 3:
        return Hash({field}, v1::XXH3, 3);
      case 4:
        return Hash({"id", "room"}, v1::MURMUR3, 2).Desc();
      case 5:
        return Bucket({field}, v1::CRC32, 7);
      case 6:
        return SubBucket(field, {"a", ""}, {"id"}, 3);
      default:
        return Salt(9);
    }
  };
  const auto random_bytes = [&] {
    std::string bytes;
    for (uint64_t n = pick(4); n > 0; --n) {
      bytes.push_back(
          "\0\x01\xff\xfe"
          "ab"[pick(6)]);
    }
    return bytes;
  };

  int checked = 0;
  for (int layout = 0; layout < 2000; ++layout) {
    TableBuilder builder = Assets();
    std::vector<Part> key;
    const bool salted = pick(4) == 0;
    if (salted) key.push_back(Salt(9));
    for (uint64_t n = pick(4) + 1; n > 0; --n) {
      key.push_back(random_part(false));
    }
    key.push_back(Field("id"));
    builder.RowKey(key);
    for (int i = 0; i < 3; ++i) {
      std::vector<Part> parts;
      for (uint64_t n = pick(4) + 1; n > 0; --n) {
        parts.push_back(random_part(false));
      }
      parts.push_back(pick(2) == 0 ? Field("room") : Field("id").Desc());
      const std::string name = "i" + std::to_string(i);
      if (pick(2) == 0) {
        builder.Unique(name, parts);
      } else {
        builder.Index(name, parts);
      }
    }
    Fixture f(builder);
    for (int record = 0; record < 5; ++record) {
      f.SetRow(MakeAsset(random_bytes(), random_bytes()),
               salted ? static_cast<uint32_t>(pick(9)) : 0);
      for (size_t i = 0; i < 3; ++i) {
        const Fixture::Entry entry = f.EntryIn(i);
        std::string row_key;
        ASSERT_THAT(
            f.table().indexes()[i].RowKeyOf(entry.key, entry.value, &row_key),
            IsOk())
            << builder.proto().indexes(static_cast<int>(i)).DebugString();
        ASSERT_EQ(row_key, f.row().key);
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 30'000);
}

}  // namespace
}  // namespace dovetail::test
