// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/key_part.h"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/index/key_part_test_util.h"
#include "tests/support/status_matchers.h"

namespace dovetail {
namespace {

using test::CompileText;
using test::IsOk;
using test::IsOkAndHolds;
using test::PartOf;
using test::RowOf;
using test::StatusIs;
using ::testing::ElementsAre;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

using namespace std::string_literals;  // For "\0"s.

absl::StatusOr<std::string> Encode(const KeyPart& part,
                                   const std::vector<Value>& values,
                                   uint32_t salt = 0) {
  const std::vector<FieldValue> row = RowOf(part, values);
  std::string out;
  const absl::Status status = AppendKeyPart(part, row, salt, &out);
  if (!status.ok()) return status;
  return out;
}

// In hexadecimal, for a part that must compile and values that must fit.
std::string Hex(std::string_view part, const std::vector<Value>& values,
                uint32_t salt = 0) {
  const absl::StatusOr<std::string> key = Encode(PartOf(part), values, salt);
  EXPECT_THAT(key, IsOk());
  return key.ok() ? absl::BytesToHexString(*key) : "";
}

absl::StatusOr<Value> DecodeHex(std::string_view part, std::string_view hex) {
  return DecodeKeyPart(PartOf(part), absl::HexStringToBytes(ToAbsl(hex)));
}

// One field, one value, its bytes; the value is what the bytes decode to.
struct Golden {
  std::string_view part;
  Value value;
  std::string_view hex;
};

const Golden kPlain[] = {
    {"fields: 'bool'", false, "00"},
    {"fields: 'bool'", true, "01"},
    {"fields: 'int32'", 0, "80000000"},
    {"fields: 'int32'", -1, "7fffffff"},
    {"fields: 'int32'", INT32_MIN, "00000000"},
    {"fields: 'int32'", INT32_MAX, "ffffffff"},
    {"fields: 'enum'", 2, "80000002"},
    {"fields: 'int64'", 1700000000000, "8000018bcfe56800"},
    {"fields: 'int64'", kInt64Min, "0000000000000000"},
    {"fields: 'int64'", kInt64Max, "ffffffffffffffff"},
    {"fields: 'uint32'", 7u, "00000007"},
    {"fields: 'uint32'", UINT32_MAX, "ffffffff"},
    {"fields: 'uint64'", uint64_t{258}, "0000000000000102"},
    {"fields: 'uint64'", kUint64Max, "ffffffffffffffff"},
    {"fields: 'float'", 0.0, "80000000"},
    {"fields: 'float'", 1.5, "bfc00000"},
    {"fields: 'float'", -2.5, "3fdfffff"},
    {"fields: 'float'", kInfinity, "ff800000"},
    {"fields: 'double'", 0.0, "8000000000000000"},
    {"fields: 'double'", 1.0, "bff0000000000000"},
    {"fields: 'double'", -1.0, "400fffffffffffff"},
    {"fields: 'double'", kInfinity, "fff0000000000000"},
    {"fields: 'double'", -kInfinity, "000fffffffffffff"},
    {"fields: 'string'", "", "00"},
    {"fields: 'string'", "s-17", "732d313700"},
    {"fields: 'string'", "a\0b"s, "6101016200"},
    {"fields: 'string'", "a\1b"s, "6101026200"},
    {"fields: 'string'", "\0\0\1"s, "01010101010200"},
    {"fields: 'string'", "0123456789\0abcdefgh"s,
     "3031323334353637383901016162636465666768"
     "00"},
    {"fields: 'bytes'", "\xff\xfe\0"s, "fffe010100"},
    {"fields: 'timestamp'", TimestampValue{}, "800000000000000000000000"},
    {"fields: 'timestamp'", TimestampValue{1700000000, 500000000},
     "800000006553f1001dcd6500"},
    {"fields: 'timestamp'", TimestampValue{-62135596800, 0},
     "7ffffff1886e090000000000"},
    {"fields: 'timestamp'", TimestampValue{253402300799, 999999999},
     "8000003afff4417f3b9ac9ff"},
};

const Golden kDescendingAndNull[] = {
    {"fields: 'int64' order: DESC", 1700000000000, "7ffffe74301a97ff"},
    {"fields: 'string' order: DESC", "s-17", "8cd2cec8ff"},
    {"fields: 'string' order: DESC", "", "ff"},
    {"fields: 'string' order: DESC", "a\0b"s, "9efefe9dff"},
    {"fields: 'opt_int32'", nullptr, "00"},
    {"fields: 'opt_int32'", 1, "0180000001"},
    {"fields: 'opt_int32' nulls: NULLS_FIRST", nullptr, "00"},
    {"fields: 'opt_int32' nulls: NULLS_LAST", nullptr, "02"},
    {"fields: 'opt_int32' nulls: NULLS_LAST", 1, "0180000001"},
    {"fields: 'opt_int32' order: DESC", nullptr, "02"},
    {"fields: 'opt_int32' order: DESC", 1, "017ffffffe"},
    {"fields: 'opt_int32' order: DESC nulls: NULLS_FIRST", nullptr, "00"},
    {"fields: 'opt_int32' order: DESC nulls: NULLS_LAST", nullptr, "02"},
    {"fields: 'opt_string' order: DESC", "s", "018cff"},
};

const Golden kTransformed[] = {
    {"fields: 'string' reverse {}", "abc", "63626100"},
    {"fields: 'string' reverse {}", "a\xC3\xA9\xF0\x9F\x98\x80",
     "f09f9880c3a96100"},
    {"fields: 'string' reverse {}", "a\0\1"s, "010201016100"},
    {"fields: 'string' reverse {} order: DESC", "abc", "9c9d9eff"},
    {"fields: 'bytes' reverse {}", "\xC3\xA9\0"s, "0101a9c300"},
    {"fields: 'opt_string' reverse {}", nullptr, "00"},
    {"fields: 'string' decimal { digits: 1 }", "9", "09"},
    {"fields: 'string' decimal { digits: 3 }", "007", "0007"},
    {"fields: 'string' decimal { digits: 18 }", "420106199001011234",
     "05d4845cb7651422"},
    {"fields: 'string' decimal { digits: 38 }",
     "99999999999999999999999999999999999999",
     "4b3b4ca85a86c47a098a223fffffffff"},
    {"fields: 'string' decimal { digits: 3 } order: DESC", "007", "fff8"},
    {"fields: 'int64' time32 {}", 1700000000, "6553f100"},
    {"fields: 'int64' time32 { unit: MILLISECONDS }", 1700000000000,
     "6553f100"},
    {"fields: 'uint64' time32 { unit: MICROSECONDS }",
     uint64_t{1700000000000000}, "6553f100"},
    {"fields: 'timestamp' time32 {}", TimestampValue{4294967295, 0},
     "ffffffff"},
    {"fields: 'timestamp' time32 {} order: DESC", TimestampValue{1700000000, 0},
     "9aac0eff"},
    {"fields: 'enum' enum_bytes { bytes: 1 }", 2, "02"},
    {"fields: 'enum' enum_bytes { bytes: 1 } order: DESC", 2, "fd"},
    {"fields: 'uint32' enum_bytes { bytes: 2 }", 258u, "0102"},
    {"fields: 'int64' enum_bytes { bytes: 3 }", 0xFFFFFF, "ffffff"},
    {"fields: 'int64' enum_bytes { bytes: 4 }", int64_t{0xFFFFFFFF},
     "ffffffff"},
};

const Golden kVarints[] = {
    {"fields: 'int64' varint {}", 0, "80"},
    {"fields: 'int64' varint {}", 1, "81"},
    {"fields: 'int64' varint {}", 119, "f7"},
    {"fields: 'int64' varint {}", 120, "f800"},
    {"fields: 'int64' varint {}", 375, "f8ff"},
    {"fields: 'int64' varint {}", 376, "f90100"},
    {"fields: 'int64' varint {}", 65655, "f9ffff"},
    {"fields: 'int64' varint {}", 65656, "fa010000"},
    {"fields: 'int64' varint {}", int64_t{1} << 32, "fbffffff88"},
    {"fields: 'int64' varint {}", kInt64Max, "ff7fffffffffffff87"},
    {"fields: 'uint64' varint {}", kUint64Max, "ffffffffffffffff87"},
    {"fields: 'int64' varint {}", -1, "7f"},
    {"fields: 'int64' varint {}", -120, "08"},
    {"fields: 'int64' varint {}", -121, "07ff"},
    {"fields: 'int64' varint {}", -376, "0700"},
    {"fields: 'int64' varint {}", -377, "06feff"},
    {"fields: 'int64' varint {}", kInt64Min, "008000000000000078"},
    {"fields: 'int32' varint {}", INT32_MIN, "0480000078"},
    {"fields: 'int32' varint {} order: DESC", 376, "06feff"},
    {"fields: 'opt_uint32' varint {}", 5u, "0185"},
};

// Bytes of the value; the value of the bytes; and that the part ends where it
// ends, with more behind it.
void ExpectGolden(const Golden& golden) {
  SCOPED_TRACE(std::string(golden.part) + " " + golden.value.DebugString());
  const KeyPart part = PartOf(golden.part);
  const absl::StatusOr<std::string> key = Encode(part, {golden.value});
  ASSERT_THAT(key, IsOk());
  EXPECT_EQ(absl::BytesToHexString(*key), golden.hex);
  EXPECT_THAT(DecodeKeyPart(part, *key), IsOkAndHolds(golden.value));
  const std::string longer = *key + *key;
  std::string_view rest = longer;
  EXPECT_THAT(ConsumeKeyPart(part, &rest),
              IsOkAndHolds(std::string_view(*key)));
  EXPECT_EQ(rest, *key);
}

TEST(KeyPartTest, PlainEncodings) {
  for (const Golden& golden : kPlain) ExpectGolden(golden);
}
TEST(KeyPartTest, DescendingComplementsTheBodyOnly) {
  for (const Golden& golden : kDescendingAndNull) ExpectGolden(golden);
}
TEST(KeyPartTest, CompactAndReversedEncodings) {
  for (const Golden& golden : kTransformed) ExpectGolden(golden);
}
TEST(KeyPartTest, OrderedVarints) {
  for (const Golden& golden : kVarints) ExpectGolden(golden);
}

TEST(KeyPartTest, DecimalTakesTheFewestBytes) {
  std::vector<size_t> sizes;
  for (uint32_t digits = 1; digits <= 38; ++digits) {
    const std::string part =
        absl::StrCat("fields: 'string' decimal { digits: ", digits, " }");
    const std::string greatest(digits, '9');
    const std::string hex = Hex(part, {greatest});
    EXPECT_THAT(DecodeHex(part, hex), IsOkAndHolds(Value(greatest)));
    sizes.push_back(hex.size() / 2);
  }
  EXPECT_THAT(sizes, ElementsAre(1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 7,
                                 8, 8, 8, 9, 9, 10, 10, 10, 11, 11, 12, 12, 13,
                                 13, 13, 14, 14, 15, 15, 15, 16, 16));
}

TEST(KeyPartTest, EqualNumbersHaveOneForm) {
  EXPECT_EQ(Hex("fields: 'double'", {-0.0}), "8000000000000000");
  EXPECT_EQ(Hex("fields: 'float'", {-0.0}), "80000000");
  EXPECT_EQ(Hex("fields: 'double'", {std::nan("")}), "fff8000000000000");
  EXPECT_EQ(Hex("fields: 'double'", {-std::nan("1")}), "fff8000000000000");
  EXPECT_EQ(Hex("fields: 'float'", {-std::nan("1")}), "ffc00000");
  const absl::StatusOr<Value> nan = DecodeHex("fields: 'float'", "ffc00000");
  ASSERT_THAT(nan, IsOk());
  EXPECT_TRUE(std::isnan(nan->as_double()));
}

TEST(KeyPartTest, HashOfOneStringIsOverItsBytes) {
  EXPECT_EQ(Hex("fields: 'string' hash { algorithm: MD5 bytes: 2 }", {"s-17"}),
            "867f");
  EXPECT_EQ(Hex("fields: 'bytes' hash { algorithm: SHA1 bytes: 4 }", {"s-17"}),
            "b5e49e56");
  EXPECT_EQ(Hex("fields: 'string' hash { algorithm: JAVA_STRING bytes: 4 }",
                {"s-17"}),
            "0034f5c0");
  EXPECT_EQ(Hex("fields: 'string' hash { algorithm: MD5 bytes: 2 } order: DESC",
                {"s-17"}),
            "7980");
  EXPECT_EQ(
      Hex("fields: 'opt_string' hash { algorithm: MD5 bytes: 2 }", {nullptr}),
      "d41d");
}

TEST(KeyPartTest, HashOfOtherFieldsIsOverTheirEncodings) {
  const std::string one = "fields: 'int64' hash { algorithm: SHA256 bytes: 4 }";
  EXPECT_EQ(Hex(one, {42}), "99458a2f");
  const std::string two =
      "fields: 'string' fields: 'int64' hash { algorithm: MD5 bytes: 4 }";
  EXPECT_EQ(Hex(two, {"s-17", 42}), "b12606a1");
  const std::string nullable =
      "fields: 'opt_string' fields: 'int64' hash { algorithm: MD5 bytes: 4 }";
  EXPECT_EQ(Hex(nullable, {"s-17", 42}), "a4b0f3c2");
  EXPECT_EQ(Hex(nullable, {nullptr, 42}), "3c573c1d");
}

// The scratch that the input of a hash needs is at the end of the key.
TEST(KeyPartTest, HashKeepsWhatStandsBeforeIt) {
  const KeyPart part = PartOf(
      "fields: 'string' fields: 'int64' hash { algorithm: MD5 bytes: 4 }");
  const std::vector<Value> values = {"s-17", 42};
  std::string out = "before";
  ASSERT_THAT(AppendKeyPart(part, RowOf(part, values), 0, &out), IsOk());
  EXPECT_EQ(out, "before\xb1\x26\x06\xa1");
}

TEST(KeyPartTest, BucketsTakeOneByteUpTo256) {
  EXPECT_EQ(
      Hex("fields: 'string' bucket { algorithm: MD5 count: 16 }", {"s-17"}),
      "0a");
  EXPECT_EQ(
      Hex("fields: 'string' bucket { algorithm: MD5 count: 256 }", {"s-17"}),
      "da");
  EXPECT_EQ(
      Hex("fields: 'string' bucket { algorithm: MD5 count: 1000 }", {"s-17"}),
      "005a");
  EXPECT_EQ(
      Hex("fields: 'string' bucket { algorithm: MD5 count: 65536 }", {"s-17"}),
      "71da");
  EXPECT_THAT(
      DecodeHex("fields: 'string' bucket { algorithm: MD5 count: 1000 }",
                "005a"),
      IsOkAndHolds(Value(90u)));
}

TEST(KeyPartTest, SaltWritesTheGivenNumber) {
  EXPECT_EQ(Hex("salt { count: 256 }", {}, 255), "ff");
  EXPECT_EQ(Hex("salt { count: 257 }", {}, 255), "00ff");
  EXPECT_EQ(Hex("salt { count: 4 } order: DESC", {}, 3), "fc");
  EXPECT_THAT(DecodeHex("salt { count: 4 } order: DESC", "fc"),
              IsOkAndHolds(Value(3u)));
}

TEST(KeyPartTest, SubBucketSplitsListedValuesOnly) {
  const std::string part =
      "fields: 'string' fields: 'opt_string' "
      "sub_bucket { algorithm: CRC32 count: 16 listed: 'z' listed: 'giant' }";
  EXPECT_EQ(Hex(part, {"small", "o-9"}), "00");
  EXPECT_EQ(Hex(part, {"giant", "o-9"}), "09");  // 1 + 8
  EXPECT_EQ(Hex(part, {"z", "o-9"}), "09");
  const std::string wide =
      "fields: 'opt_string' fields: 'string' "
      "sub_bucket { algorithm: CRC32 count: 256 listed: 'giant' }";
  EXPECT_EQ(Hex(wide, {"giant", "o-9"}), "00e9");
  EXPECT_EQ(Hex(wide, {nullptr, "o-9"}), "0000");
}

TEST(KeyPartTest, SubBucketListsIntegersInDecimal) {
  const std::string part =
      "fields: 'int64' fields: 'string' "
      "sub_bucket { algorithm: CRC32 count: 16 listed: '-9223372036854775808'"
      " listed: '88' }";
  EXPECT_EQ(Hex(part, {88, "o-9"}), "09");
  EXPECT_EQ(Hex(part, {kInt64Min, "o-9"}), "09");
  EXPECT_EQ(Hex(part, {8, "o-9"}), "00");
}

// What a planner writes when it visits every bucket.
TEST(KeyPartTest, NumbersCanBeWrittenWithoutTheirFields) {
  std::string out;
  AppendKeyPartNumber(PartOf("salt { count: 4 } order: DESC"), 3, &out);
  AppendKeyPartNumber(
      PartOf("fields: 'string' bucket { algorithm: MD5 count: 1000 }"), 90,
      &out);
  AppendKeyPartNumber(PartOf("fields: 'string' fields: 'int64' sub_bucket { "
                             "algorithm: MD5 count: 255 }"),
                      255, &out);
  EXPECT_EQ(absl::BytesToHexString(out), "fc005aff");
}

struct Misfit {
  std::string_view part;
  Value value;
  std::string_view keyword;
};

TEST(KeyPartTest, ValuesWithoutEncodingAreRefusedByName) {
  const Misfit misfits[] = {
      {"fields: 'string'", nullptr, "null: path=string"},
      {"fields: 'string' reverse {}", "a\xC3", "UTF-8"},
      {"fields: 'string' reverse {}", "\xED\xA0\x80", "UTF-8"},
      {"fields: 'string' decimal { digits: 3 }", "12", "3 decimal digits"},
      {"fields: 'string' decimal { digits: 3 }", "1234", "3 decimal digits"},
      {"fields: 'string' decimal { digits: 3 }", "12x", "value=\"12x\""},
      {"fields: 'string' decimal { digits: 3 }", " 12", "3 decimal digits"},
      {"fields: 'int64' time32 {}", -1, "1970 to 2106"},
      {"fields: 'int64' time32 {}", int64_t{1} << 32, "1970 to 2106"},
      {"fields: 'int64' time32 { unit: MILLISECONDS }", 1001, "whole seconds"},
      {"fields: 'timestamp' time32 {}", TimestampValue{5, 1}, "whole seconds"},
      {"fields: 'timestamp' time32 {}", TimestampValue{-1, 0}, "1970 to 2106"},
      {"fields: 'enum' enum_bytes { bytes: 1 }", 256, "value=256"},
      {"fields: 'enum' enum_bytes { bytes: 1 }", -1, "path=enum"},
      {"fields: 'uint64' enum_bytes { bytes: 4 }", uint64_t{1} << 32, "4 "},
  };
  for (const Misfit& misfit : misfits) {
    EXPECT_THAT(Encode(PartOf(misfit.part), {misfit.value}),
                StatusIs(kInvalid, std::string(misfit.keyword)))
        << misfit.part << " " << misfit.value.DebugString();
  }
}

// Records can hold what Timestamp does not define; only keys refuse it.
TEST(KeyPartTest, TimestampsOutOfRangeAreRefused) {
  const KeyPart plain = PartOf("fields: 'timestamp'");
  const KeyPart hashed =
      PartOf("fields: 'timestamp' hash { algorithm: MD5 bytes: 4 }");
  const TimestampValue wrong[] = {{kTimestampSecondsMin - 1, 0},
                                  {kTimestampSecondsMax + 1, 0},
                                  {0, -1},
                                  {0, 1'000'000'000}};
  for (const TimestampValue& t : wrong) {
    std::vector<FieldValue> row(test::AllFields().size());
    row[static_cast<size_t>(plain.inputs[0])] = {
        .is_null = false,
        .nanos = t.nanos,
        .bits = static_cast<uint64_t>(t.seconds)};
    std::string out;
    EXPECT_THAT(AppendKeyPart(plain, row, 0, &out), StatusIs(kInvalid, "9999"));
    EXPECT_THAT(AppendKeyPart(hashed, row, 0, &out),
                StatusIs(kInvalid, "path=timestamp"));
  }
}

struct WrongBytes {
  std::string_view part;
  std::string_view hex;
};

TEST(KeyPartTest, DecodeRefusesWhatAppendDoesNotWrite) {
  const WrongBytes wrong[] = {
      {"fields: 'bool'", ""},
      {"fields: 'bool'", "02"},
      {"fields: 'bool'", "0000"},  // A byte too many.
      {"fields: 'int32'", "800000"},
      {"fields: 'float'", "7fffffff"},           // -0.0
      {"fields: 'float'", "ffc00001"},           // Another NaN.
      {"fields: 'float'", "00000000"},           // A negative NaN.
      {"fields: 'double'", "7fffffffffffffff"},  // -0.0
      {"fields: 'double'", "fff0000000000001"},
      {"fields: 'string'", "61"},      // No end.
      {"fields: 'string'", "610061"},  // An end inside.
      {"fields: 'string'", "010300"},  // An unknown escape.
      {"fields: 'string'", "0100"},    // An escape of nothing.
      {"fields: 'string' order: DESC", "9e00"},
      {"fields: 'string' reverse {}", "a9c300"},            // Not UTF-8.
      {"fields: 'timestamp'", "80000000000000003b9aca00"},  // 1e9 nanos.
      {"fields: 'timestamp'", "8000003afff4418000000000"},  // Year 10000.
      {"fields: 'timestamp'", "7ffffff1886e08ff00000000"},  // Year 0.
      {"fields: 'opt_bool'", "0201"},                       // Null last.
      {"fields: 'opt_bool' nulls: NULLS_LAST", "00"},       // Null first.
      {"fields: 'opt_bool'", "0301"},
      {"fields: 'opt_bool'", "01"},
      {"fields: 'opt_bool'", "0000"},  // A null with a body.
      {"fields: 'string' decimal { digits: 3 }", "03e8"},  // 1000
      {"fields: 'string' decimal { digits: 38 }",
       "4b3b4ca85a86c47a098a224000000000"},
      {"fields: 'int32' time32 {}", "80000000"},  // No int32.
      {"fields: 'uint32' time32 { unit: MILLISECONDS }", "00418938"},
      {"fields: 'enum' enum_bytes { bytes: 4 }", "80000000"},  // No int32.
      {"fields: 'int64' varint {}", "f90000"},              // 120 in two bytes.
      {"fields: 'int64' varint {}", "06ffff"},              // -121 in two.
      {"fields: 'int64' varint {}", "ff7fffffffffffff88"},  // 2^63
      {"fields: 'int64' varint {}", "008000000000000077"},  // -2^63 - 1
      {"fields: 'uint64' varint {}", "ffffffffffffffff88"},  // 2^64
      {"fields: 'uint64' varint {}", "7f"},                  // -1
      {"fields: 'int32' varint {}", "fb7fffff88"},           // 2^31
      {"fields: 'uint32' varint {}", "fbffffff88"},          // 2^32
      {"fields: 'string' hash { algorithm: MD5 bytes: 2 }", "86"},
      {"fields: 'string' bucket { algorithm: MD5 count: 16 }", "10"},
      {"fields: 'string' bucket { algorithm: MD5 count: 1000 }", "03e8"},
      {"salt { count: 4 }", "04"},
      {"salt { count: 4 } order: DESC", "fb"},
      {"fields: 'string' fields: 'int64' sub_bucket { algorithm: MD5 count: 4 "
       "}",
       "05"},
  };
  for (const WrongBytes& w : wrong) {
    EXPECT_THAT(DecodeHex(w.part, w.hex), StatusIs(kInvalid, "bytes="))
        << w.part << " " << w.hex;
  }
}

TEST(KeyPartTest, ConsumeLeavesTheKeyAloneOnError) {
  const std::string key = "no end";
  std::string_view rest = key;
  EXPECT_THAT(ConsumeKeyPart(PartOf("fields: 'string'"), &rest),
              StatusIs(kInvalid, "path=string transform=none"));
  EXPECT_EQ(rest, key);
}

struct WrongPart {
  std::string_view part;
  std::string_view keyword;
};

TEST(KeyPartTest, CompileErrorsNameTheProblem) {
  const WrongPart wrong[] = {
      {"", "fields=0 min=1 max=1"},
      {"fields: 'nope'", "unknown=\"nope\""},
      {"fields: 'string' fields: 'int64'", "fields=2 min=1 max=1"},
      {"fields: 'int64' reverse {}", "transform=reverse type=int64"},
      {"fields: 'int64' decimal { digits: 3 }", "type=int64"},
      {"fields: 'bytes' decimal { digits: 3 }", "type=bytes"},
      {"fields: 'string' decimal {}", "digits=0 min=1 max=38"},
      {"fields: 'string' decimal { digits: 39 }", "digits=39"},
      {"fields: 'enum' time32 {}", "type=enum"},
      {"fields: 'double' time32 {}", "type=double"},
      {"fields: 'int64' time32 { unit: 7 }", "unit=7"},
      {"fields: 'timestamp' time32 { unit: MILLISECONDS }",
       "unit=MILLISECONDS"},
      {"fields: 'string' enum_bytes { bytes: 1 }", "type=string"},
      {"fields: 'enum' enum_bytes {}", "bytes=0 min=1 max=4"},
      {"fields: 'enum' enum_bytes { bytes: 5 }", "bytes=5"},
      {"fields: 'float' varint {}", "type=float"},
      {"hash { algorithm: MD5 bytes: 1 }", "fields=0 min=1"},
      {"fields: 'string' hash { bytes: 1 }", "algorithm=0"},
      {"fields: 'string' hash { algorithm: 99 bytes: 1 }", "algorithm=99"},
      {"fields: 'string' hash { algorithm: CRC32 }", "bytes=0 min=1 max=4"},
      {"fields: 'string' hash { algorithm: CRC32 bytes: 5 }", "bytes=5"},
      {"fields: 'string' bucket { algorithm: MD5 }", "count=0"},
      {"fields: 'string' bucket { algorithm: MD5 count: 65537 }",
       "count=65537 min=1 max=65536"},
      {"fields: 'string' bucket { count: 16 }", "algorithm=0"},
      {"salt {}", "count=0"},
      {"salt { count: 65537 }", "max=65536"},
      {"fields: 'string' salt { count: 4 }", "fields=1 min=0 max=0"},
      {"fields: 'string' sub_bucket { algorithm: MD5 count: 4 }",
       "fields=1 min=2"},
      {"fields: 'string' fields: 'int64' "
       "sub_bucket { algorithm: MD5 count: 65536 }",
       "max=65535"},
      {"fields: 'string' fields: 'int64' sub_bucket { count: 4 }",
       "algorithm=0"},
      {"fields: 'double' fields: 'int64' "
       "sub_bucket { algorithm: MD5 count: 4 }",
       "type=double"},
      {"fields: 'string' fields: 'int64' "
       "sub_bucket { algorithm: MD5 count: 4 listed: 'x' listed: 'x' }",
       "twice"},
      {"fields: 'int32' fields: 'int64' "
       "sub_bucket { algorithm: MD5 count: 4 listed: '07' }",
       "listed=\"07\""},
      {"fields: 'int32' fields: 'int64' "
       "sub_bucket { algorithm: MD5 count: 4 listed: '2147483648' }",
       "type=int32"},
      {"fields: 'string' order: 7", "order=7"},
      {"fields: 'string' nulls: 7", "nulls=7"},
      {"salt { count: 4 } nulls: NULLS_LAST", "never null"},
  };
  for (const WrongPart& w : wrong) {
    EXPECT_THAT(CompileText(w.part), StatusIs(kInvalid, std::string(w.keyword)))
        << w.part;
  }
}

// A transform that a later version adds arrives as an unknown field, and the
// part would otherwise pass for a plain one.
TEST(KeyPartTest, CompileRefusesSettingsOfLaterVersions) {
  v1::KeyPart proto;
  proto.add_fields("string");
  proto.GetReflection()->MutableUnknownFields(&proto)->AddVarint(14, 1);
  EXPECT_THAT(CompileKeyPart(proto, test::AllFields()),
              StatusIs(kInvalid, "unknown here"));
  proto.DiscardUnknownFields();
  v1::KeyPart::Reverse* reverse = proto.mutable_reverse();
  reverse->GetReflection()->MutableUnknownFields(reverse)->AddVarint(1, 1);
  EXPECT_THAT(CompileKeyPart(proto, test::AllFields()),
              StatusIs(kInvalid, "transform=reverse"));
}

TEST(KeyPartTest, PlaceOfNullsIsNothingWithoutNulls) {
  EXPECT_EQ(PartOf("fields: 'int64' nulls: NULLS_LAST"),
            PartOf("fields: 'int64'"));
  EXPECT_NE(PartOf("fields: 'opt_int64' nulls: NULLS_LAST"),
            PartOf("fields: 'opt_int64'"));
}

TEST(KeyPartTest, PrefixEndIsTheSuccessorOfTheRange) {
  EXPECT_EQ(PrefixEnd(""), "");
  EXPECT_EQ(PrefixEnd("a"), "b");
  EXPECT_EQ(PrefixEnd(std::string(1, '\0')), "\x01");
  EXPECT_EQ(PrefixEnd("a\x7f"), "a\x80");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("a\xff\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xfe\xff"), "\xff");
  EXPECT_EQ(PrefixEnd("\xff"), "");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
}

}  // namespace
}  // namespace dovetail
