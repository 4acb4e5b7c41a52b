// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/text_key.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/compiled_table.h"
#include "tests/index/text_key_test_util.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();

constexpr std::string_view kSellerOrders =
    "parts { fields: 'string' hash { algorithm: MD5 bytes: 2 } }"
    "parts { fields: 'string' }"
    "parts { fields: 'int64' order: DESC text { width: 19 } }"
    "parts { fields: 'bytes' }";

// One part behind which another stands, and the text of a value.
struct Golden {
  std::string_view part;
  FieldMap fields;
  std::string_view text;
};

// Worked out with Java 17, but for XXH3, whose hash of "a" is one of the
// vectors of hash_test.cc.
const Golden kGolden[] = {
    // Strings and numbers as they are.
    {"fields: 'string'", {{"string", "0017"}}, "0017"},
    {"fields: 'string'", {{"string", ""}}, ""},
    {"fields: 'string' text { width: 4 }", {{"string", "a|-b"}}, "a|-b"},
    {"fields: 'bytes'", {{"bytes", "\xff\xfe"}}, "\xff\xfe"},
    {"fields: 'int64'", {{"int64", 42}}, "42"},
    {"fields: 'int64'", {{"int64", kInt64Min}}, "-9223372036854775808"},
    {"fields: 'uint64'",
     {{"uint64", std::numeric_limits<uint64_t>::max()}},
     "18446744073709551615"},
    {"fields: 'int32' text { width: 5 }", {{"int32", 42}}, "00042"},
    {"fields: 'int64' text { digits: HEX }", {{"int64", 700000}}, "aae60"},
    {"fields: 'int64' text { digits: HEX_UPPER width: 16 }",
     {{"int64", 700000}},
     "00000000000AAE60"},
    {"fields: 'enum'", {{"enum", 3}}, "3"},
    {"fields: 'bool'", {{"bool", true}}, "true"},
    {"fields: 'string' decimal { digits: 4 }", {{"string", "0017"}}, "0017"},
    // Times.
    {"fields: 'timestamp'",
     {{"timestamp", TimestampValue{1700000000, 123000000}}},
     "1700000000123"},
    {"fields: 'timestamp' text { unit: SECONDS width: 10 }",
     {{"timestamp", TimestampValue{1700000000, 0}}},
     "1700000000"},
    {"fields: 'timestamp' text { unit: NANOSECONDS }",
     {{"timestamp", TimestampValue{-2, 999999999}}},
     "-1000000001"},
    {"fields: 'int64' time32 { unit: MILLISECONDS }",
     {{"int64", 1700000000000}},
     "1700000000"},
    // Descending: Long.MAX_VALUE, or what is declared, minus the number.
    {"fields: 'int64' order: DESC",
     {{"int64", 1700000000000}},
     "9223370336854775807"},
    {"fields: 'int64' order: DESC",
     {{"int64", 9000000000000000000}},
     "223372036854775807"},
    {"fields: 'int64' order: DESC text { width: 19 }",
     {{"int64", 9000000000000000000}},
     "0223372036854775807"},
    {"fields: 'int64' order: DESC", {{"int64", kInt64Max}}, "0"},
    {"fields: 'int64' order: DESC text { desc_from: 9999999999999 }",
     {{"int64", 1700000000000}},
     "8299999999999"},
    {"fields: 'int32' order: DESC text { desc_from: 2147483647 }",
     {{"int32", 7}},
     "2147483640"},
    // Reversed.
    {"fields: 'string' reverse {}", {{"string", "s17"}}, "71s"},
    {"fields: 'string' reverse {}",
     {{"string", "x\xF0\x9F\x98\x80"}},
     "\xF0\x9F\x98\x80x"},
    {"fields: 'int64' reverse {}", {{"int64", 1200}}, "0021"},
    {"fields: 'int64' reverse {} text { width: 6 }",
     {{"int64", 1200}},
     "002100"},
    // Null.
    {"fields: 'opt_string' text { null_as: 'null' }",
     {{"opt_string", nullptr}},
     "null"},
    {"fields: 'opt_int64' text { null_as: '' }", {{"opt_int64", nullptr}}, ""},
    // Hashes.
    {"fields: 'string' hash { algorithm: MD5 bytes: 2 }",
     {{"string", "s17"}},
     "c69f"},
    {"fields: 'string' hash { algorithm: MD5 bytes: 3 } text { width: 5 }",
     {{"string", "s17"}},
     "c69fe"},
    {"fields: 'string' hash { algorithm: MD5 bytes: 2 } "
     "text { digits: HEX_UPPER }",
     {{"string", "s17"}},
     "C69F"},
    {"fields: 'string' hash { algorithm: MD5 bytes: 16 } "
     "text { digits: DECIMAL }",
     {{"string", "s17"}},
     "264017407236420804947758597659823698549"},
    {"fields: 'string' hash { algorithm: SHA256 bytes: 32 } "
     "text { digits: DECIMAL width: 78 }",
     {{"string", "s17"}},
     "083253134704061977840389252370750648679662534855650044780864115648735600"
     "979342"},
    {"fields: 'string' hash { algorithm: SHA1 bytes: 20 }",
     {{"string", "s17"}},
     "1224f553d7fdb43b526ad988132299dc72f2ac7f"},
    {"fields: 'string' hash { algorithm: CRC32 bytes: 4 } "
     "text { digits: DECIMAL width: 10 }",
     {{"string", "s17"}},
     "3608587686"},
    {"fields: 'string' hash { algorithm: CRC32 bytes: 4 } "
     "text { digits: SIGNED_DECIMAL }",
     {{"string", "s17"}},
     "-686379610"},
    {"fields: 'string' hash { algorithm: CRC32 bytes: 4 }",
     {{"string", "s317"}},
     "0003291a"},
    {"fields: 'string' hash { algorithm: CRC32 bytes: 4 } "
     "text { digits: HEX_UNPADDED }",
     {{"string", "s317"}},
     "3291a"},
    {"fields: 'string' hash { algorithm: JAVA_STRING bytes: 4 } "
     "text { digits: SIGNED_DECIMAL }",
     {{"string", "polygenelubricants"}},
     "-2147483648"},
    {"fields: 'string' hash { algorithm: JAVA_STRING bytes: 4 } "
     "text { digits: HEX_UNPADDED }",
     {{"string", "\xF0\x9F\x98\x80x"}},
     "3469f75"},
    {"fields: 'string' hash { algorithm: JAVA_STRING bytes: 4 } "
     "text { digits: HEX_UNPADDED }",
     {{"string", ""}},
     "0"},
    {"fields: 'string' hash { algorithm: XXH3 bytes: 8 } "
     "text { digits: SIGNED_DECIMAL }",
     {{"string", "a"}},
     "-1817709641818812897"},
    {"fields: 'string' hash { algorithm: XXH3 bytes: 8 } "
     "text { digits: DECIMAL }",
     {{"string", "a"}},
     "16629034431890738719"},
    {"fields: 'string' hash { algorithm: MURMUR3 bytes: 4 } "
     "text { digits: SIGNED_DECIMAL }",
     {{"string", "abc"}},
     "-1277324294"},
    // What is hashed.
    {"fields: 'string' hash { algorithm: MD5 bytes: 4 } "
     "text { reverse_input: true }",
     {{"string", "s17"}},
     "094532cf"},
    {"fields: 'string' fields: 'int64' hash { algorithm: MD5 bytes: 4 } "
     "text { joiner: '-' }",
     {{"string", "s17"}, {"int64", 42}},
     "92baf661"},
    {"fields: 'string' fields: 'int64' hash { algorithm: MD5 bytes: 4 }",
     {{"string", "s17"}, {"int64", 42}},
     "23a78183"},
    {"fields: 'opt_string' fields: 'int64' hash { algorithm: MD5 bytes: 4 } "
     "text { joiner: '_' null_as: 'null' }",
     {{"opt_string", nullptr}, {"int64", 42}},
     "f84cc6d6"},
    // Buckets, in the forms of Java code.
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 100 } "
     "text { width: 3 }",
     {{"string", "polygenelubricants"}},
     "052"},
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 100 } "
     "text { width: 3 form: FLOOR_MOD }",
     {{"string", "polygenelubricants"}},
     "052"},
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 100 } "
     "text { width: 3 form: ABS_MOD }",
     {{"string", "polygenelubricants"}},
     "-48"},
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 10 } "
     "text { width: 2 form: ABS_MOD }",
     {{"string", "polygenelubricants"}},
     "-8"},
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 100 } "
     "text { width: 2 form: MASK_MOD }",
     {{"string", "polygenelubricants"}},
     "00"},
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 100 } "
     "text { width: 2 form: MOD_ABS }",
     {{"string", "polygenelubricants"}},
     "48"},
    {"fields: 'string' bucket { algorithm: MURMUR3 count: 100 } "
     "text { width: 2 }",
     {{"string", "abc"}},
     "02"},
    {"fields: 'string' bucket { algorithm: MURMUR3 count: 100 } "
     "text { width: 2 form: FLOOR_MOD }",
     {{"string", "abc"}},
     "06"},
    {"fields: 'string' bucket { algorithm: MURMUR3 count: 100 } "
     "text { width: 2 form: ABS_MOD }",
     {{"string", "abc"}},
     "94"},
    {"fields: 'string' bucket { algorithm: MURMUR3 count: 100 } "
     "text { width: 2 form: MASK_MOD }",
     {{"string", "abc"}},
     "54"},
    {"fields: 'string' bucket { algorithm: MD5 count: 100 } "
     "text { width: 2 form: UNSIGNED_MOD }",
     {{"string", "s17"}},
     "49"},
    {"fields: 'string' bucket { algorithm: JAVA_STRING count: 256 } "
     "text { width: 2 digits: HEX }",
     {{"string", "s17"}},
     "d9"},
};

TEST(TextKeyTest, PartsHaveTheseTexts) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.part);
    const KeyLayout layout =
        LayoutOf(absl::StrCat("parts { ", ToAbsl(golden.part),
                              " } parts { fields: 'uint32' }"),
                 "|");
    FieldMap fields = golden.fields;
    fields["uint32"] = 5u;
    EXPECT_THAT(KeyOf(layout, fields),
                IsOkAndHolds(absl::StrCat(ToAbsl(golden.text), "|5")));
  }
}

TEST(TextKeyTest, WhatStandsInAKeyReadsBack) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.part);
    const KeyLayout layout =
        LayoutOf(absl::StrCat("parts { ", ToAbsl(golden.part),
                              " } parts { fields: 'uint32' }"),
                 "|");
    const KeyPart& part = layout.parts()[0];
    const std::string bytes = absl::StrCat(ToAbsl(golden.text), "|");
    const absl::StatusOr<Value> value = DecodeKeyPart(part, bytes);
    ASSERT_THAT(value, IsOk());
    if (part.computed()) continue;
    const Value& given = golden.fields.begin()->second;
    const absl::StatusOr<FieldValue> a = ToFieldValue(*value, part.type());
    const absl::StatusOr<FieldValue> b = ToFieldValue(given, part.type());
    ASSERT_THAT(a, IsOk());
    EXPECT_EQ(*a, *b);
  }
}

TEST(TextKeyTest, SellerOrdersReadAsHBaseDesignsWriteThem) {
  const KeyLayout layout = LayoutOf(kSellerOrders);
  const absl::StatusOr<std::string> key = KeyOf(
      layout, {{"string", "s17"}, {"int64", 1700000000000}, {"bytes", "o1"}});
  EXPECT_THAT(key, IsOkAndHolds("c69f-s17-9223370336854775807-o1"));
  EXPECT_THAT(layout.DebugString(*key),
              IsOkAndHolds("hash(string)=c69f string=\"s17\" "
                           "int64=1700000000000 bytes=\"o1\""));
}

TEST(TextKeyTest, SaltsAndSubBucketsAreNumbers) {
  EXPECT_THAT(KeyOf(LayoutOf("parts { salt { count: 16 } text { width: 2 } }"
                             "parts { fields: 'string' }",
                             "_"),
                    {{"string", "x"}}, 7),
              IsOkAndHolds("07_x"));
  // One digit is a width of its own, so that nothing need follow it.
  EXPECT_THAT(KeyOf(LayoutOf("parts { salt { count: 10 } "
                             "        text { joined: true } }"
                             "parts { fields: 'string' }"),
                    {{"string", "-x"}}, 7),
              IsOkAndHolds("7-x"));
  const KeyLayout split = LayoutOf(
      "parts { fields: 'string' }"
      "parts { fields: 'string' fields: 'int64' text { width: 3 }"
      "        sub_bucket { algorithm: CRC32 count: 16 listed: 'giant' } }"
      "parts { fields: 'int64' }");
  EXPECT_THAT(KeyOf(split, {{"string", "small"}, {"int64", 42}}),
              IsOkAndHolds("small-000-42"));
  // crc32("42") is 0x3224b088.
  EXPECT_THAT(KeyOf(split, {{"string", "giant"}, {"int64", 42}}),
              IsOkAndHolds("giant-009-42"));
}

TEST(TextKeyTest, PartsOfAWidthNeedNoSeparator) {
  const KeyLayout layout = LayoutOf(
      "parts { fields: 'string' hash { algorithm: MD5 bytes: 2 } }"
      "parts { fields: 'int64' text { width: 13 } }"
      "parts { fields: 'string' }",
      "");
  EXPECT_THAT(KeyOf(layout, {{"string", "s17"}, {"int64", 1700000000000}}),
              IsOkAndHolds("c69f1700000000000s17"));
}

// Layouts that could not be read back, or say what makes no sense.
TEST(TextKeyTest, LayoutsThatCannotBeReadBackAreRefused) {
  struct Case {
    std::string_view parts;
    std::string_view separator;
    std::string why;
  };
  const Case cases[] = {
      {"parts { fields: 'string' } parts { fields: 'int64' }", "",
       "cannot be told from the next one"},
      {"parts { fields: 'string' text { joined: true } }"
       "parts { fields: 'int64' }",
       "-", "cannot be told from the next one"},
      {"parts { fields: 'string' text { joined: true } }", "-",
       "but is the last"},
      {"parts { fields: 'string' }", "a", "no letters or digits"},
      {"parts { fields: 'string' }", "---------", "bytes_max=8"},
      {"parts { fields: 'string' hash { algorithm: MD5 bytes: 4 } }", "-",
       "a field that can be read back"},
      {"parts { fields: 'string' text { digits: SIGNED_DECIMAL }"
       "        hash { algorithm: JAVA_STRING bytes: 4 } }"
       "parts { fields: 'string' }",
       "-", "sign is the separator"},
      {"parts { fields: 'double' }", "-", "type=double"},
      {"parts { fields: 'float' hash { algorithm: MD5 bytes: 4 } }", "-",
       "type=float"},
      {"parts { fields: 'int64' varint {} }", "-", "BINARY keys"},
      {"parts { fields: 'int64' enum_bytes { bytes: 1 } }", "-", "BINARY keys"},
      {"parts { fields: 'string' order: DESC }", "-", "no DESC"},
      {"parts { fields: 'string' hash { algorithm: MD5 bytes: 4 }"
       "        order: DESC }",
       "-", "no DESC"},
      {"parts { fields: 'opt_int64' nulls: NULLS_LAST }", "-", "null_as sorts"},
      {"parts { fields: 'int64' text { null_as: 'x' } }", "-", "never null"},
      {"parts { fields: 'opt_int64' text { null_as: 'a-b' } }"
       "parts { fields: 'string' }",
       "-", "holds the separator"},
      {"parts { fields: 'opt_int64' text { width: 4 null_as: 'null' } }"
       "parts { fields: 'opt_int32' text { width: 4 null_as: '000n' } }",
       "-", "stand among its numbers"},
      {"parts { fields: 'opt_int64' text { width: 4 null_as: 'x' } }", "-",
       "the part's width"},
      {"parts { fields: 'opt_string' text { null_as: '' } }", "-",
       "an empty key"},
      {"parts { fields: 'string' text { digits: HEX } }", "-",
       "in these digits"},
      {"parts { fields: 'int64' text { digits: SIGNED_DECIMAL } }", "-",
       "in these digits"},
      {"parts { fields: 'string' text { digits: SIGNED_DECIMAL }"
       "        hash { algorithm: MD5 bytes: 4 } }",
       "-", "in these digits"},
      {"parts { fields: 'bool' text { width: 5 } }", "-", "width=5"},
      {"parts { fields: 'int64' text { width: 257 } }", "-", "max=256"},
      {"parts { fields: 'string' hash { algorithm: MD5 bytes: 4 }"
       "        text { width: 6 } }",
       "-", "min=7 max=8"},
      {"parts { fields: 'string' text { width: 1 }"
       "        bucket { algorithm: MD5 count: 11 } }",
       "-", "min=2"},
      {"parts { fields: 'string' text { width: 3 form: ABS_MOD }"
       "        bucket { algorithm: MD5 count: 11 } }",
       "-", "form=2"},
      {"parts { fields: 'string' text { form: MASK_MOD } }", "-", "form=3"},
      {"parts { fields: 'string' text { unit: SECONDS } }", "-", "unit=1"},
      {"parts { fields: 'string' text { joiner: '-' } }", "-", "joiner"},
      {"parts { fields: 'string' fields: 'int64' text { reverse_input: true }"
       "        hash { algorithm: MD5 bytes: 4 } }",
       "-", "reverse_input"},
      {"parts { fields: 'int64' text { desc_from: 9 } }", "-", "not DESC"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(CompileLayout(c.parts, c.separator).status(),
                StatusIs(kInvalid, c.why))
        << c.parts;
  }
}

TEST(TextKeyTest, ValuesThatWouldMakeAKeyAmbiguousAreRefusedByName) {
  struct Case {
    std::string_view part;  // Before a string.
    FieldMap fields;
    std::string why;
  };
  const Case cases[] = {
      {"fields: 'bytes'", {{"bytes", "a::b"}}, "path=bytes"},
      {"fields: 'bytes'", {{"bytes", "a::b"}}, "value=\"a::b\""},
      // Its end would be taken for the separator's beginning.
      {"fields: 'bytes'", {{"bytes", "a:"}}, "holds the separator"},
      {"fields: 'bytes' text { width: 3 }", {{"bytes", "ab"}}, "its width"},
      {"fields: 'int64' text { width: 3 }", {{"int64", 1000}}, "value=1000"},
      {"fields: 'int64' text { width: 3 }", {{"int64", 1000}}, "of 3 digits"},
      {"fields: 'int64' text { width: 3 }",
       {{"int64", -1}},
       "no negative numbers"},
      {"fields: 'int64' text { digits: HEX }",
       {{"int64", -1}},
       "no negative numbers"},
      {"fields: 'int64' reverse {}", {{"int64", -1}}, "no negative numbers"},
      {"fields: 'int64' order: DESC", {{"int64", -1}}, "from 0 to 9223"},
      {"fields: 'uint64' order: DESC text { desc_from: 99 }",
       {{"uint64", 100u}},
       "from 0 to 99"},
      {"fields: 'opt_int64'", {{"opt_int64", nullptr}}, "no text for null"},
      {"fields: 'opt_bytes' text { null_as: 'null' }",
       {{"opt_bytes", "null"}},
       "reads as null"},
      {"fields: 'opt_string' hash { algorithm: MD5 bytes: 2 }",
       {{"opt_string", nullptr}},
       "no text for null"},
      {"fields: 'timestamp'",
       {{"timestamp", TimestampValue{1, 1}}},
       "whole MILLISECONDS"},
      {"fields: 'timestamp' text { unit: NANOSECONDS }",
       {{"timestamp", TimestampValue{10'000'000'000, 0}}},
       "range of its unit"},
      {"fields: 'int64' time32 { unit: MILLISECONDS }",
       {{"int64", 1}},
       "whole seconds"},
      {"fields: 'bytes' bucket { algorithm: JAVA_STRING count: 100 }"
       "text { width: 2 form: ABS_MOD }",
       {{"bytes", "polygenelubricants"}},
       "bucket=-48 width=2"},
  };
  for (const Case& c : cases) {
    FieldMap fields = c.fields;
    fields["string"] = "::x";
    EXPECT_THAT(KeyOf(LayoutOf(absl::StrCat("parts { ", ToAbsl(c.part),
                                            " } parts { fields: 'string' }"),
                               "::"),
                      fields)
                    .status(),
                StatusIs(kInvalid, c.why))
        << c.part;
  }
  // The least int's bucket has a sign, which the separator must not be.
  const KeyLayout signed_bucket = LayoutOf(
      "parts { fields: 'string' text { form: ABS_MOD }"
      "        bucket { algorithm: JAVA_STRING count: 100 } }"
      "parts { fields: 'string' }");
  EXPECT_THAT(KeyOf(signed_bucket, {{"string", "polygenelubricants"}}),
              StatusIs(kInvalid, "holds the separator"));
  EXPECT_THAT(KeyOf(LayoutOf("parts { fields: 'string' }"), {{"string", ""}}),
              StatusIs(kInvalid, "an empty key"));
}

TEST(TextKeyTest, BytesThatAreNoTextAreRefused) {
  const struct {
    std::string_view part;
    std::string_view text;
  } cases[] = {
      {"fields: 'int64'", ""},
      {"fields: 'int64'", "007"},
      {"fields: 'int64'", "+7"},
      {"fields: 'int64'", "--7"},
      {"fields: 'int64'", "-0"},
      {"fields: 'int64'", "9223372036854775808"},
      {"fields: 'uint64'", "18446744073709551616"},
      {"fields: 'uint64'", "-1"},
      {"fields: 'int64' text { width: 3 }", "-07"},
      {"fields: 'int64' text { width: 3 }", "0007"},
      {"fields: 'int64' text { digits: HEX }", "aG"},
      {"fields: 'int64' text { digits: HEX }", "AA"},
      {"fields: 'int64' reverse {}", "120"},
      {"fields: 'int64' order: DESC", "9223372036854775808"},
      {"fields: 'bool'", "yes"},
      {"fields: 'string' decimal { digits: 3 }", "12x"},
      {"fields: 'string' hash { algorithm: MD5 bytes: 2 }", "c69"},
      {"fields: 'string' hash { algorithm: MD5 bytes: 2 }", "C69F"},
      {"fields: 'string' hash { algorithm: CRC32 bytes: 4 }"
       "text { digits: DECIMAL }",
       "4294967296"},
      {"fields: 'string' hash { algorithm: CRC32 bytes: 4 }"
       "text { digits: SIGNED_DECIMAL }",
       "2147483648"},
      {"fields: 'string' bucket { algorithm: MD5 count: 100 }", "100"},
      {"fields: 'string' bucket { algorithm: JAVA_STRING count: 100 }"
       "text { form: ABS_MOD }",
       "-47"},
      {"fields: 'timestamp'", "253402300800000"},
  };
  for (const auto& c : cases) {
    const KeyLayout layout =
        LayoutOf(absl::StrCat("parts { ", ToAbsl(c.part),
                              " } parts { fields: 'string' }"),
                 "|");
    EXPECT_THAT(
        DecodeKeyPart(layout.parts()[0], absl::StrCat(ToAbsl(c.text), "|"))
            .status(),
        StatusIs(kInvalid))
        << c.part << " " << c.text;
  }
}

std::vector<std::string> Bounds(const KeyLayout& layout,
                                const std::vector<Value>& equal,
                                const std::optional<Range>& range = {}) {
  const auto ranges = layout.Ranges(equal, {}, range, 100);
  EXPECT_THAT(ranges, IsOk());
  std::vector<std::string> bounds;
  if (!ranges.ok()) return bounds;
  for (const KeyRange& r : *ranges) {
    bounds.push_back(r.begin);
    bounds.push_back(r.end);
  }
  return bounds;
}

TEST(TextKeyTest, PrefixesEndBehindTheSeparator) {
  const KeyLayout layout = LayoutOf(kSellerOrders);
  EXPECT_THAT(Bounds(layout, {"s17"}),
              testing::ElementsAre("c69f-s17-", "c69f-s17."));
  // A whole key is that key alone, and not what starts like it.
  const std::string key = "c69f-s17-9223370336854775807-o1";
  EXPECT_THAT(Bounds(layout, {"s17", 1700000000000, "o1"}),
              testing::ElementsAre(key, key + '\0'));
}

TEST(TextKeyTest, RangesOfFixedWidthAreServed) {
  EXPECT_THAT(Bounds(LayoutOf(kSellerOrders), {"s17"},
                     Range{.min = 1600000000000, .max = 1700000000000}),
              testing::ElementsAre("c69f-s17-9223370336854775807-",
                                   "c69f-s17-9223370436854775807."));
  const KeyLayout last =
      LayoutOf("parts { fields: 'int32' } parts { fields: 'string' }");
  EXPECT_THAT(Bounds(last, {7}, Range{.min = "a", .max = "b"}),
              testing::ElementsAre("7-a", std::string("7-b\0", 4)));
  const KeyLayout nullable = LayoutOf(
      "parts { fields: 'opt_int32' text { width: 4 null_as: 'null' } }"
      "parts { fields: 'string' }");
  EXPECT_THAT(Bounds(nullable, {}, Range{.min = 12}),
              testing::ElementsAre("0012-", ":"));
}

TEST(TextKeyTest, RangesThatTextDoesNotOrderAreRefusedWithARemedy) {
  struct Case {
    std::string_view part;
    Range range;
    std::string why;
  };
  const Case cases[] = {
      {"fields: 'int64'", {.min = 9}, "declare a width"},
      {"fields: 'int64' order: DESC", {.min = 9}, "19 holds Long.MAX_VALUE"},
      {"fields: 'bytes'", {.min = "a"}, "or put the part last"},
      {"fields: 'opt_bytes' text { width: 1 null_as: '\\000' }",
       {.min = "a"},
       "null's text"},
      {"fields: 'bytes' reverse {}", {.min = "a"}, "its text is reverse"},
      {"fields: 'bool'", {.min = false}, "its text is a word"},
      {"fields: 'int64' text { width: 3 }", {.min = -1}, "no negative"},
  };
  for (const Case& c : cases) {
    const KeyLayout layout = LayoutOf(absl::StrCat(
        "parts { ", ToAbsl(c.part), " } parts { fields: 'string' }"));
    EXPECT_THAT(layout.Ranges({}, {}, c.range, 100).status(),
                StatusIs(kInvalid, c.why))
        << c.part;
  }
}

TEST(TextKeyTest, BinaryKeysHaveNoTextSettings) {
  EXPECT_THAT(CompileText("fields: 'int64' text { width: 3 }").status(),
              StatusIs(kInvalid, "of no TEXT row key"));
  v1::RowKeyLayout binary;
  binary.add_parts()->add_fields("int64");
  binary.set_separator("-");
  EXPECT_THAT(KeyLayout::CompileRowKey(binary, AllFields()).status(),
              StatusIs(kInvalid, "no separator"));
  binary.set_encoding(static_cast<v1::RowKeyLayout::Encoding>(7));
  EXPECT_THAT(KeyLayout::CompileRowKey(binary, AllFields()).status(),
              StatusIs(kInvalid, "encoding=7"));
}

}  // namespace
}  // namespace dovetail::test
