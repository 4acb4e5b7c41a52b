// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

// The vectors of RFC 3720, section B.4.
TEST(Crc32cTest, HasTheStandardsValues) {
  std::string rising(32, '\0');
  std::string falling(32, '\0');
  for (int i = 0; i < 32; ++i) {
    rising[static_cast<size_t>(i)] = static_cast<char>(i);
    falling[static_cast<size_t>(i)] = static_cast<char>(31 - i);
  }
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c(falling), 0x113fdb5cu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32cTest, ExtendingIsConcatenating) {
  const std::string text = "the checksum of two parts is that of the whole";
  for (size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(text.substr(0, i)), text.substr(i)),
              Crc32c(text));
  }
}

TEST(Crc32cTest, TableAndInstructionAgree) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(internal::ExtendCrc32cByTable(0x1234u, bytes),
              ExtendCrc32c(0x1234u, bytes))
        << i;
    bytes += static_cast<char>(i * 31 + 7);
  }
}

TEST(Crc32cTest, MaskingIsUndone) {
  for (const uint32_t crc : {0u, 1u, 0xe3069283u, 0xffffffffu}) {
    EXPECT_NE(MaskCrc32c(crc), crc);
    EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
  }
}

}  // namespace
}  // namespace dovetail
