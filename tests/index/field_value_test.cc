// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/field_value.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace dovetail {
namespace {

using test::IsOk;
using test::StatusIs;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  FieldType type;
  Value value;
  Value back;  // What the field's own kind makes of it.
};

TEST(FieldValueTest, ExactValuesAreTakenWhateverTheirKind) {
  const Case cases[] = {
      {FieldType::kBool, true, true},
      {FieldType::kInt32, INT32_MIN, INT32_MIN},
      {FieldType::kInt32, 7u, 7},
      {FieldType::kInt64, kInt64Min, kInt64Min},
      {FieldType::kInt64, uint64_t{kInt64Max}, kInt64Max},
      {FieldType::kUint32, 7, 7u},
      {FieldType::kUint32, UINT32_MAX, UINT32_MAX},
      {FieldType::kUint64, kUint64Max, kUint64Max},
      {FieldType::kEnum, FieldType::kBool, 0},
      {FieldType::kFloat, 0.5, 0.5},
      {FieldType::kFloat, 16777216, 16777216.0},
      {FieldType::kFloat, -kInfinity, -kInfinity},
      {FieldType::kDouble, 0.1, 0.1},
      {FieldType::kDouble, 3, 3.0},
      {FieldType::kDouble, kInt64Min, -0x1p63},
      {FieldType::kDouble, uint64_t{1} << 63, 0x1p63},
      {FieldType::kString, "abc", "abc"},
      {FieldType::kBytes, "\xff", "\xff"},
      {FieldType::kTimestamp, TimestampValue{-1, 999999999},
       TimestampValue{-1, 999999999}},
      {FieldType::kTimestamp, nullptr, nullptr},
      {FieldType::kInt64, nullptr, nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.value.DebugString());
    const absl::StatusOr<FieldValue> field = ToFieldValue(c.value, c.type);
    ASSERT_THAT(field, IsOk());
    EXPECT_EQ(ToValue(*field, c.type), c.back);
  }
}

TEST(FieldValueTest, WhatDoesNotFitIsRefusedByTypeAndValue) {
  const Case cases[] = {
      {FieldType::kBool, 1, "type=bool value=1"},
      {FieldType::kInt32, true, "type=int32 value=true"},
      {FieldType::kInt32, int64_t{INT32_MAX} + 1, "value=2147483648"},
      {FieldType::kInt32, 1.0, "type=int32"},
      {FieldType::kInt64, uint64_t{1} << 63, "value=9223372036854775808"},
      {FieldType::kUint32, -1, "type=uint32 value=-1"},
      {FieldType::kUint32, uint64_t{1} << 32, "type=uint32"},
      {FieldType::kUint64, -1, "type=uint64"},
      {FieldType::kEnum, "PAID", "type=enum value=\"PAID\""},
      {FieldType::kFloat, 0.1, "type=float value=0.1"},
      {FieldType::kFloat, 1e300, "type=float value=1e+300"},
      {FieldType::kFloat, 16777217, "type=float"},
      {FieldType::kDouble, kInt64Max, "type=double"},
      {FieldType::kDouble, kUint64Max, "type=double"},
      {FieldType::kDouble, (int64_t{1} << 53) + 1, "type=double"},
      {FieldType::kDouble, "1", "type=double"},
      {FieldType::kString, 1, "type=string"},
      {FieldType::kBytes, TimestampValue{}, "type=bytes"},
      {FieldType::kTimestamp, 5, "type=timestamp value=5"},
      {FieldType::kTimestamp, TimestampValue{0, -1}, "value=timestamp(0s"},
      {FieldType::kTimestamp, TimestampValue{kTimestampSecondsMax + 1, 0},
       "type=timestamp"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ToFieldValue(c.value, c.type),
                StatusIs(kInvalid, c.back.as_string()));
  }
}

TEST(FieldValueTest, NanStaysNan) {
  for (const FieldType type : {FieldType::kFloat, FieldType::kDouble}) {
    const absl::StatusOr<FieldValue> field = ToFieldValue(std::nan(""), type);
    ASSERT_THAT(field, IsOk());
    EXPECT_TRUE(std::isnan(ToValue(*field, type).as_double()));
  }
}

TEST(ValueTest, DebugStringIsForReaders) {
  const std::vector<std::pair<Value, std::string_view>> cases = {
      {nullptr, "null"},
      {true, "true"},
      {kInt64Min, "-9223372036854775808"},
      {kUint64Max, "18446744073709551615"},
      {1.5, "1.5"},
      {0.1, "0.1"},
      {1.0 / 3, "0.33333333333333331"},
      {std::nan(""), "nan"},
      {kInfinity, "inf"},
      {"a\"b\n", "\"a\\\"b\\x0a\""},
      {TimestampValue{1700000000, 0}, "2023-11-14T22:13:20Z"},
      {TimestampValue{-1, 500000000}, "1969-12-31T23:59:59.5Z"},
      {TimestampValue{kTimestampSecondsMin, 0}, "0001-01-01T00:00:00Z"},
      {TimestampValue{0, -1}, "timestamp(0s, -1ns)"},
  };
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(value.DebugString(), text);
  }
}

}  // namespace
}  // namespace dovetail
