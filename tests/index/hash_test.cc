// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/hash.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;

constexpr v1::HashAlgorithm kAlgorithms[] = {
    v1::XXH3,   v1::MURMUR3, v1::MD5,        v1::SHA1,
    v1::SHA256, v1::CRC32,   v1::JAVA_STRING};

std::string HexHash(v1::HashAlgorithm algorithm, std::string_view data) {
  std::string hash;
  AppendHash(algorithm, data, HashSize(algorithm), &hash);
  return absl::BytesToHexString(hash);
}

struct Golden {
  v1::HashAlgorithm algorithm;
  std::string_view data;
  std::string_view hex;
};

constexpr std::string_view kFox = "The quick brown fox jumps over the lazy dog";

constexpr Golden kGolden[] = {
    {v1::XXH3, "", "2d06800538d394c2"},
    {v1::XXH3, "a", "e6c632b61e964e1f"},
    {v1::XXH3, "abc", "78af5f94892f3950"},
    {v1::MURMUR3, "", "00000000"},
    {v1::MURMUR3, "a", "3c2569b2"},
    {v1::MURMUR3, "abc", "b3dd93fa"},
    {v1::MURMUR3, "test", "ba6bd213"},
    {v1::MURMUR3, "hello", "248bfa47"},
    {v1::MURMUR3, "hello, world", "149bbb7f"},
    {v1::MURMUR3, "Hello, world!", "c0363e43"},
    {v1::MURMUR3, kFox, "2e4ff723"},
    {v1::MD5, "", "d41d8cd98f00b204e9800998ecf8427e"},
    {v1::MD5, "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {v1::MD5, kFox, "9e107d9d372bb6826bd81d3542a419d6"},
    {v1::SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {v1::SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {v1::SHA1, kFox, "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"},
    {v1::SHA256, "",
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {v1::SHA256, "abc",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {v1::CRC32, "", "00000000"},
    {v1::CRC32, "123456789", "cbf43926"},
    {v1::CRC32, kFox, "414fa339"},
    {v1::JAVA_STRING, "", "00000000"},
    {v1::JAVA_STRING, "a", "00000061"},
    {v1::JAVA_STRING, "hello", "05e918d2"},
    {v1::JAVA_STRING, "polygenelubricants", "80000000"},
    {v1::JAVA_STRING, "GydZG_", "80000000"},
    {v1::JAVA_STRING, "DESIGNING WORKHOUSES", "80000000"},
};

TEST(HashTest, GoldenVectors) {
  for (const Golden& golden : kGolden) {
    EXPECT_EQ(HexHash(golden.algorithm, golden.data), golden.hex)
        << v1::HashAlgorithm_Name(golden.algorithm) << " of "
        << Quote(golden.data);
  }
}

TEST(HashTest, SizeIsZeroForWhatIsNoAlgorithm) {
  EXPECT_EQ(HashSize(v1::HASH_ALGORITHM_UNSPECIFIED), 0u);
  EXPECT_EQ(HashSize(static_cast<v1::HashAlgorithm>(99)), 0u);
}

TEST(HashTest, AppendsTheFirstBytesOnly) {
  std::string out = "key";
  AppendHash(v1::MD5, "abc", 3, &out);
  EXPECT_EQ(out, "key\x90\x01\x50");
}

TEST(HashTest, DataMayBeAViewOfTheOutput) {
  std::string out = "abc";
  AppendHash(v1::SHA256, out, 32, &out);
  EXPECT_EQ(absl::BytesToHexString(out.substr(3)), HexHash(v1::SHA256, "abc"));
}

// Characters above U+FFFF are two UTF-16 units in Java.
TEST(HashTest, JavaHashesUtf16) {
  EXPECT_EQ(JavaStringHash("\xC3\xA9"), 0xE9);
  EXPECT_EQ(JavaStringHash("\xE4\xB8\xAD\xE6\x96\x87"), 0x0009dcfa);
  EXPECT_EQ(JavaStringHash("\xEF\xBF\xBF"), 0xFFFF);
  EXPECT_EQ(JavaStringHash("\xF0\x9F\x98\x80"), 0x001b0d63);
  EXPECT_EQ(JavaStringHash("x\xF0\x9F\x98\x80y"), 0x037d2bfe);
}

// As `new String(bytes, UTF_8).hashCode()` does: one U+FFFD for the bytes up
// to the first that cannot go on, one for a whole encoded surrogate.
TEST(HashTest, JavaReplacesWhatIsNotUtf8) {
  const int32_t one = 0xFFFD;
  const int32_t two = 31 * 0xFFFD + 0xFFFD;
  EXPECT_EQ(JavaStringHash("\x80"), one);
  EXPECT_EQ(JavaStringHash("\xC0\x80"), two);
  EXPECT_EQ(JavaStringHash("\xC3"), one);
  EXPECT_EQ(JavaStringHash("\xE0\x80"), two);
  EXPECT_EQ(JavaStringHash("\xE4\xB8"), one);
  EXPECT_EQ(JavaStringHash("\xE4\xB8"
                           "A"),
            31 * one + 'A');
  EXPECT_EQ(JavaStringHash("\xED\xA0\x80"), one);
  EXPECT_EQ(JavaStringHash("\xF0\x9F\x98"), one);
  EXPECT_EQ(JavaStringHash("\xF4\x90"), two);
  EXPECT_EQ(JavaStringHash("\xFF\xFE"), two);
}

TEST(HashTest, BucketIsTheFirstEightBytesModuloTheCount) {
  std::vector<uint32_t> buckets;
  for (const uint32_t count : {16u, 256u, 1000u, 65536u}) {
    buckets.push_back(HashBucket(v1::MD5, "s-17", count));
    buckets.push_back(HashBucket(v1::MURMUR3, "s-17", count));
  }
  EXPECT_THAT(buckets, ElementsAre(10, 5, 218, 149, 90, 453, 29146, 25493));
}

// The naive Math.abs(hashCode()) % n is negative for Integer.MIN_VALUE.
TEST(HashTest, JavaBucketIsFloorModEvenForTheLeastInteger) {
  ASSERT_EQ(JavaStringHash("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(HashBucket(v1::JAVA_STRING, "polygenelubricants", 7), 5u);
  EXPECT_EQ(HashBucket(v1::JAVA_STRING, "polygenelubricants", 16), 0u);
  EXPECT_EQ(HashBucket(v1::JAVA_STRING, "polygenelubricants", 1000), 352u);
  EXPECT_EQ(HashBucket(v1::JAVA_STRING, "polygenelubricants", UINT32_MAX),
            UINT32_MAX - (1u << 31));
}

TEST(HashTest, BucketsAreInRangeAndAllUsed) {
  for (const v1::HashAlgorithm algorithm : kAlgorithms) {
    for (const uint32_t count : {1u, 7u, 16u, 256u}) {
      std::vector<int> sizes(count);
      for (int i = 0; i < 8000; ++i) {
        const std::string id = "seller-" + std::to_string(i * 7919);
        const uint32_t bucket = HashBucket(algorithm, id, count);
        ASSERT_LT(bucket, count) << v1::HashAlgorithm_Name(algorithm);
        ++sizes[bucket];
      }
      EXPECT_THAT(sizes, ::testing::Each(::testing::Gt(0)))
          << v1::HashAlgorithm_Name(algorithm) << " count=" << count;
    }
  }
}

}  // namespace
}  // namespace dovetail
