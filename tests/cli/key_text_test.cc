// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/key_text.h"

#include "cli/suggest.h"
#include "dovetail/schema.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace dovetail::cli {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

v1::KeyPart Parse(std::string_view text) {
  const absl::StatusOr<KeyParts> parts = ParseKeyText(text);
  EXPECT_TRUE(parts.ok()) << text << ": " << parts.status();
  return parts.ok() && parts->size() == 1 ? (*parts)[0] : v1::KeyPart();
}

TEST(KeyTextTest, EachFormIsTheOneOfTheSchemaLanguage) {
  const std::vector<std::pair<std::string, Part>> forms = {
      {"seller_id", Field("seller_id")},
      {"ship_to.country:desc", Field("ship_to.country").Desc()},
      {"note:nulls_first", Field("note").NullsFirst()},
      {"note:desc:nulls_last", Field("note").Desc().NullsLast()},
      {"reverse(order_id)", Reverse("order_id")},
      {"hash(seller_id)", Hash({"seller_id"})},
      {"hash(seller_id,order_id;md5;8)",
       Hash({"seller_id", "order_id"}, v1::MD5, 8)},
      {"bucket(seller_id;murmur3;16)", Bucket({"seller_id"}, v1::MURMUR3, 16)},
      {"salt(8)", Salt(8)},
      {"sub_bucket(seller_id,order_id;4;s-1|a\\|b\\)\\;c\\\\d)",
       SubBucket("seller_id", {"s-1", "a|b);c\\d"}, {"order_id"}, 4)},
      {"decimal(order_id;12)", Decimal("order_id", 12)},
      {"time32(ts_ms;ms)", Time32("ts_ms", v1::KeyPart::Time32::MILLISECONDS)},
      {"time32(ts_s):desc", Time32("ts_s").Desc()},
      {"enum(status)", EnumBytes("status")},
      {"enum(status;2)", EnumBytes("status", 2)},
      {"varint(items)", Varint("items")}};
  for (const auto& [text, part] : forms) {
    EXPECT_TRUE(MessageDifferencer::Equals(Parse(text), part.proto()))
        << text << "\n"
        << Parse(text).DebugString() << part.proto().DebugString();
    KeyParts parts;
    *parts.Add() = part.proto();
    EXPECT_EQ(KeyText(parts), text);
  }
}

TEST(KeyTextTest, PartsStandApartBySpacesOrCommas) {
  const auto parts = ParseKeyText(" hash( a , b ),a  b:desc,c ");
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(KeyText(*parts), "hash(a,b) a b:desc c");
}

TEST(KeyTextTest, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "parts of the key are missing"},
      {"hash(a", ") is missing"},
      {"hash(a)b", "words behind )"},
      {"mash(a)", "no such form"},
      {"a:down", "no such word"},
      {"bucket(a)", "COUNT is missing"},
      {"salt(x)", "COUNT is a number"},
      {"hash(a;md6)", "BYTES is a number"},
      {"varint(a;4)", "takes no"},
      {"time32(a;h)", "s, ms or us"},
      {"sub_bucket(a,b;4)", "listed values are missing"}};
  for (const auto& [text, says] : wrong) {
    const auto parts = ParseKeyText(text);
    ASSERT_FALSE(parts.ok()) << text;
    EXPECT_THAT(std::string(parts.status().message()), HasSubstr(says));
  }
}

TEST(SuggestTest, TheClosestNameCountsIfItIsCloseEnough) {
  const std::vector<std::string> names = {"get", "get-by", "import", "stats"};
  EXPECT_EQ(Closest("imprt", names), "import");
  EXPECT_EQ(Closest("imoprt", names), "import");
  EXPECT_EQ(Closest("getby", names), "get-by");
  EXPECT_EQ(Closest("STATS", names), "stats");
  EXPECT_EQ(Closest("frobnicate", names), "");
  EXPECT_EQ(DidYouMean("stat", names), "Did you mean stats? ");
  EXPECT_EQ(DidYouMean("", names), "");
}

}  // namespace
}  // namespace dovetail::cli
