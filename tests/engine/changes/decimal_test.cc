// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/decimal.h"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace dovetail::changes {
namespace {

using test::IsOkAndHolds;
using test::StatusIs;
using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Base64(std::string_view bytes) {
  return absl::Base64Escape(ToAbsl(bytes));
}

TEST(DecimalTest, UnscaledBytesAreBigEndianTwosComplement) {
  EXPECT_THAT(DecimalFromBase64(Base64("\x7b"), 0), IsOkAndHolds("123"));
  EXPECT_THAT(DecimalFromBase64(Base64("\x7b"), 2), IsOkAndHolds("1.23"));
  EXPECT_THAT(DecimalFromBase64(Base64("\x7b"), 5), IsOkAndHolds("0.00123"));
  EXPECT_THAT(DecimalFromBase64(Base64("\x7b"), -2), IsOkAndHolds("12300"));
  EXPECT_THAT(DecimalFromBase64(Base64("\xff"), 1), IsOkAndHolds("-0.1"));
  EXPECT_THAT(DecimalFromBase64(Base64("\x80"), 0), IsOkAndHolds("-128"));
  EXPECT_THAT(DecimalFromBase64(Base64(std::string_view("\x00\x80", 2)), 0),
              IsOkAndHolds("128"));
  EXPECT_THAT(DecimalFromBase64(Base64(std::string_view("\x00", 1)), 0),
              IsOkAndHolds("0"));
  EXPECT_THAT(DecimalFromBase64(Base64(std::string_view("\x00", 1)), 2),
              IsOkAndHolds("0.00"));
}

TEST(DecimalTest, EveryNumberOf128BitsComesBack) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    const absl::int128 number =
        absl::MakeInt128(static_cast<int64_t>(random()), random()) >>
        static_cast<int>(random() % 128);
    std::string bytes;
    for (int shift = 120; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(static_cast<uint64_t>(number >> shift));
    }
    // Streams write as few bytes as there need be.
    while (bytes.size() > 1 &&
           ((bytes[0] == '\0' && (bytes[1] & 0x80) == 0) ||
            (bytes[0] == '\xff' && (bytes[1] & 0x80) != 0))) {
      bytes.erase(0, 1);
    }
    std::string digits;
    absl::uint128 rest =
        number < 0 ? -absl::uint128(number) : absl::uint128(number);
    do {
      digits.insert(digits.begin(),
                    static_cast<char>('0' + static_cast<int>(rest % 10)));
      rest /= 10;
    } while (rest != 0);
    if (number < 0) digits.insert(0, "-");
    ASSERT_THAT(DecimalFromBase64(Base64(bytes), 0), IsOkAndHolds(digits));
  }
}

TEST(DecimalTest, WhatIsNoDecimalIsRefused) {
  EXPECT_THAT(DecimalFromBase64("", 0), StatusIs(kInvalid, "base64"));
  EXPECT_THAT(DecimalFromBase64("****", 0), StatusIs(kInvalid, "base64"));
  EXPECT_THAT(DecimalFromBase64(Base64(std::string(200, '\x7f')), 0),
              StatusIs(kInvalid, "too many digits"));
  EXPECT_THAT(DecimalFromBase64(Base64("\x01"), 401),
              StatusIs(kInvalid, "too many digits"));
}

TEST(DecimalTest, ScaledIntegersAreExact) {
  EXPECT_THAT(ScaledInt64("12345.110", 3), IsOkAndHolds(12345110));
  EXPECT_THAT(ScaledInt64("12345.110", 2), IsOkAndHolds(1234511));
  EXPECT_THAT(ScaledInt64("-0.5", 1), IsOkAndHolds(-5));
  EXPECT_THAT(ScaledInt64("1.5e3", 0), IsOkAndHolds(1500));
  EXPECT_THAT(ScaledInt64("1500E-2", 0), IsOkAndHolds(15));
  EXPECT_THAT(ScaledInt64("+7", 0), IsOkAndHolds(7));
  EXPECT_THAT(ScaledInt64("000", 0), IsOkAndHolds(0));
  EXPECT_THAT(ScaledInt64("0e999999999", 0), IsOkAndHolds(0));
  EXPECT_THAT(ScaledInt64("-9223372036854775808", 0), IsOkAndHolds(INT64_MIN));
  EXPECT_THAT(ScaledUint64("18446744073709551615", 0),
              IsOkAndHolds(UINT64_MAX));
}

TEST(DecimalTest, WhatAnIntegerCannotHoldIsRefusedNotRounded) {
  EXPECT_THAT(ScaledInt64("0.125", 2),
              StatusIs(kInvalid, "more digits behind the point"));
  EXPECT_THAT(ScaledInt64("9223372036854775808", 0),
              StatusIs(kInvalid, "cannot hold"));
  EXPECT_THAT(ScaledUint64("-1", 0), StatusIs(kInvalid, "cannot hold"));
  EXPECT_THAT(ScaledInt64("1e400", 0), StatusIs(kInvalid, "cannot hold"));
  EXPECT_THAT(ScaledInt64("1e2147483647", 30), StatusIs(kInvalid, ""));
  EXPECT_THAT(ScaledInt64(std::string(500, '1'), 0),
              StatusIs(kInvalid, "too many digits"));
  for (const char* text : {"", "-", ".", "1.2.3", "1e", "1e+", "1e-", "e5",
                           "0x10", "nan", "1 ", "--1", "1e5x", "+-1"}) {
    EXPECT_THAT(ScaledInt64(text, 0), StatusIs(kInvalid, "")) << text;
  }
}

}  // namespace
}  // namespace dovetail::changes
