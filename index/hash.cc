// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/coding.h"

namespace dovetail {
namespace {

constexpr size_t kHashBytesMax = 32;

// Null if the cryptography library does not offer the algorithm. Fetched
// once: looking it up by name costs more than hashing a short key.
const EVP_MD* Digest(v1::HashAlgorithm algorithm) {
  static const EVP_MD* const md5 = EVP_MD_fetch(nullptr, "MD5", nullptr);
  static const EVP_MD* const sha1 = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  switch (algorithm) {
    case v1::MD5:
      return md5;
    case v1::SHA1:
      return sha1;
    case v1::SHA256:
      return sha256;
    default:
      return nullptr;
  }
}

uint32_t LittleEndian32(const char* p) {
  uint32_t v = 0;
  for (int i = 0; i < 4; ++i) {
    v |= static_cast<uint32_t>(static_cast<uint8_t>(p[i])) << (8 * i);
  }
  return v;
}

// MurmurHash3 x86_32, seed 0: blocks of four bytes little-endian, then the
// zero to three bytes behind them, then the length.
uint32_t Murmur3(std::string_view data) {
  const auto mix = [](uint32_t k) {
    return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
  };
  uint32_t h = 0;
  size_t i = 0;
  for (; i + 4 <= data.size(); i += 4) {
    h ^= mix(LittleEndian32(data.data() + i));
    h = std::rotl(h, 13) * 5 + 0xe6546b64u;
  }
  if (i < data.size()) {
    char tail[4] = {};
    std::memcpy(tail, data.data() + i, data.size() - i);
    h ^= mix(LittleEndian32(tail));
  }
  h ^= static_cast<uint32_t>(data.size());
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

uint32_t Crc32(std::string_view data) {
  return static_cast<uint32_t>(crc32_z(
      0, reinterpret_cast<const unsigned char*>(data.data()), data.size()));
}

struct HashBytes {
  char bytes[kHashBytesMax];
  size_t size;
};

HashBytes FromInteger(uint64_t v, size_t size) {
  HashBytes hash{};
  hash.size = size;
  for (size_t i = 0; i < size; ++i) {
    hash.bytes[i] = static_cast<char>(v >> (8 * (size - 1 - i)));
  }
  return hash;
}

HashBytes Compute(v1::HashAlgorithm algorithm, std::string_view data) {
  switch (algorithm) {
    case v1::XXH3:
      return FromInteger(XXH3_64bits(data.data(), data.size()), 8);
    case v1::MURMUR3:
      return FromInteger(Murmur3(data), 4);
    case v1::CRC32:
      return FromInteger(Crc32(data), 4);
    case v1::JAVA_STRING:
      return FromInteger(static_cast<uint32_t>(JavaStringHash(data)), 4);
    default:
      break;
  }
  const EVP_MD* digest = Digest(algorithm);
  DOVETAIL_CHECK(digest != nullptr);
  HashBytes hash{};
  unsigned int size = 0;
  DOVETAIL_CHECK(EVP_Digest(data.data(), data.size(),
                            reinterpret_cast<unsigned char*>(hash.bytes), &size,
                            digest, nullptr) == 1);
  hash.size = size;
  return hash;
}

// A hash as Java has it. CRC32.getValue() is a long, and never negative.
struct JavaHash {
  int64_t value;
  bool is_long;
};

JavaHash ToJava(v1::HashAlgorithm algorithm, std::string_view data) {
  const HashBytes hash = Compute(algorithm, data);
  const uint64_t bits =
      DecodeBigEndian(hash.bytes, static_cast<int>(hash.size));
  if (algorithm == v1::CRC32) return {static_cast<int64_t>(bits), true};
  DOVETAIL_CHECK(hash.size == 4 || hash.size == 8);
  if (hash.size == 8) return {static_cast<int64_t>(bits), true};
  return {static_cast<int32_t>(static_cast<uint32_t>(bits)), false};
}

uint32_t UnsignedMod(const HashBytes& hash, uint32_t count) {
  uint64_t rest = 0;
  for (size_t i = 0; i < hash.size; ++i) {
    rest = (rest << 8 | static_cast<uint8_t>(hash.bytes[i])) % count;
  }
  return static_cast<uint32_t>(rest);
}

// A character as Java's decoder of UTF-8 sees it. What is not UTF-8 is
// U+FFFD, one for all the bytes up to the first that cannot go on, and one
// for a whole encoded surrogate.
struct JavaChar {
  uint32_t code_point;
  size_t bytes;
};

constexpr uint32_t kReplacement = 0xFFFD;

// Bytes of a character by its first byte; 0 if none starts with it.
size_t SequenceBytes(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;  // A continuation, or overlong.
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first <= 0xF4 ? 4 : 0;
}

JavaChar DecodeJavaChar(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t bytes = SequenceBytes(first);
  if (bytes == 0) return {kReplacement, 1};
  if (bytes == 1) return {first, 1};
  // The second byte alone tells overlong forms and what is above U+10FFFF.
  uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
  uint32_t code_point = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (i == text.size()) return {kReplacement, i};
    const auto next = static_cast<uint8_t>(text[i]);
    if (next < low || next > high) return {kReplacement, i};
    code_point = code_point << 6 | (next & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  return {surrogate ? kReplacement : code_point, bytes};
}

}  // namespace

size_t HashSize(v1::HashAlgorithm algorithm) {
  switch (algorithm) {
    case v1::XXH3:
      return 8;
    case v1::MURMUR3:
    case v1::CRC32:
    case v1::JAVA_STRING:
      return 4;
    case v1::MD5:
      return Digest(algorithm) != nullptr ? 16 : 0;
    case v1::SHA1:
      return Digest(algorithm) != nullptr ? 20 : 0;
    case v1::SHA256:
      return Digest(algorithm) != nullptr ? 32 : 0;
    default:
      return 0;
  }
}

void AppendHash(v1::HashAlgorithm algorithm, std::string_view data,
                size_t bytes, std::string* out) {
  const HashBytes hash = Compute(algorithm, data);
  DOVETAIL_CHECK(bytes >= 1);
  DOVETAIL_CHECK(bytes <= hash.size);
  out->append(hash.bytes, bytes);
}

uint32_t HashBucket(v1::HashAlgorithm algorithm, std::string_view data,
                    uint32_t count) {
  DOVETAIL_CHECK(count >= 1);
  if (algorithm == v1::JAVA_STRING) {
    // In 64 bits: the absolute value of the least int32 is no int32.
    const int64_t modulus = count;
    const int64_t remainder = int64_t{JavaStringHash(data)} % modulus;
    return static_cast<uint32_t>(remainder < 0 ? remainder + modulus
                                               : remainder);
  }
  const HashBytes hash = Compute(algorithm, data);
  const int bytes = static_cast<int>(std::min<size_t>(hash.size, 8));
  return static_cast<uint32_t>(DecodeBigEndian(hash.bytes, bytes) % count);
}

int64_t HashBucketAs(v1::KeyPart::Text::BucketForm form,
                     v1::HashAlgorithm algorithm, std::string_view data,
                     uint32_t count) {
  using Text = v1::KeyPart::Text;
  DOVETAIL_CHECK(count >= 1);
  if (form == Text::FORM_DEFAULT) return HashBucket(algorithm, data, count);
  if (form == Text::UNSIGNED_MOD) {
    return UnsignedMod(Compute(algorithm, data), count);
  }
  const JavaHash h = ToJava(algorithm, data);
  const int64_t modulus = count;
  const int64_t remainder = h.value % modulus;
  switch (form) {
    case Text::FLOOR_MOD:
      return remainder < 0 ? remainder + modulus : remainder;
    case Text::MASK_MOD:
      return (h.value & (h.is_long ? std::numeric_limits<int64_t>::max()
                                   : std::numeric_limits<int32_t>::max())) %
             modulus;
    case Text::ABS_MOD: {
      // The least integer has no absolute value of its type.
      const int64_t least = h.is_long ? std::numeric_limits<int64_t>::min()
                                      : std::numeric_limits<int32_t>::min();
      if (h.value == least) return remainder;
      break;
    }
    default:
      break;
  }
  // |h| % n and |h % n| are one number.
  return remainder < 0 ? -remainder : remainder;
}

int64_t LeastAbsMod(v1::HashAlgorithm algorithm, uint32_t count) {
  switch (algorithm) {
    case v1::MURMUR3:
    case v1::JAVA_STRING:
      return std::numeric_limits<int32_t>::min() % int64_t{count};
    case v1::XXH3:
      return std::numeric_limits<int64_t>::min() % int64_t{count};
    default:
      return 0;
  }
}

int32_t JavaStringHash(std::string_view text) {
  uint32_t h = 0;
  while (!text.empty()) {
    const JavaChar c = DecodeJavaChar(text);
    if (c.code_point < 0x10000) {
      h = 31 * h + c.code_point;
    } else {
      const uint32_t offset = c.code_point - 0x10000;
      h = 31 * h + (0xD800 + (offset >> 10));
      h = 31 * h + (0xDC00 + (offset & 0x3FF));
    }
    text.remove_prefix(c.bytes);
  }
  return static_cast<int32_t>(h);
}

}  // namespace dovetail
