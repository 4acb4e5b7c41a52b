// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace dovetail {
namespace {

// The Castagnoli polynomial, lowest power in the highest bit.
constexpr uint32_t kPolynomial = 0x82f63b78u;

// kTables[k][b] is the CRC register after byte b and k zero bytes, so that
// eight bytes can be folded in by eight independent look-ups.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) {
      const uint32_t previous = tables[k - 1][b];
      tables[k][b] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t LoadLittleEndian32(const char* p) {
  uint32_t v = 0;
  for (int i = 3; i >= 0; --i) v = v << 8 | static_cast<uint8_t>(p[i]);
  return v;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendByInstruction(
    uint32_t crc, std::string_view data) {
  const char* p = data.data();
  size_t n = data.size();
  uint64_t wide = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; n > 0; --n, ++p) {
    narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(*p));
  }
  return ~narrow;
}
#endif

using ExtendFunction = uint32_t (*)(uint32_t, std::string_view);

ExtendFunction Choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ExtendByInstruction;
#endif
  return internal::ExtendCrc32cByTable;
}

}  // namespace

namespace internal {

uint32_t ExtendCrc32cByTable(uint32_t crc, std::string_view data) {
  const char* p = data.data();
  size_t n = data.size();
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    const uint32_t low = crc ^ LoadLittleEndian32(p);
    const uint32_t high = LoadLittleEndian32(p + 4);
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^
          kTables[5][low >> 16 & 0xff] ^ kTables[4][low >> 24] ^
          kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^
          kTables[1][high >> 16 & 0xff] ^ kTables[0][high >> 24];
  }
  for (; n > 0; --n, ++p) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  }
  return ~crc;
}

}  // namespace internal

uint32_t ExtendCrc32c(uint32_t crc, std::string_view data) {
  static const ExtendFunction extend = Choose();
  return extend(crc, data);
}

}  // namespace dovetail
