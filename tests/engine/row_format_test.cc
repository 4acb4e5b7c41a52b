// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/row_format.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

// The first byte of a row is its format; `11` would be a row whose record lies
// in a cold store.
TEST(RowFormatTest, ARowOfAnotherFormatIsDataLoss) {
  std::string row = EncodeRow(SequenceNumber{7}, "record");
  ASSERT_THAT(DecodeRow(row), IsOk());
  for (const char format : {'\x00', '\x02', '\x11', '\x81'}) {
    row[0] = format;
    EXPECT_THAT(DecodeRow(row),
                StatusIs(absl::StatusCode::kDataLoss, "unknown format"));
  }
  EXPECT_THAT(DecodeRow(""), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace dovetail::test
