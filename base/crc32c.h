// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// CRC-32C (Castagnoli), the checksum of LevelDB's logs and tables and of
// continuation tokens. Uses the processor's instruction where there is one.

#pragma once

#include <cstdint>
#include <string_view>

namespace dovetail {

// The CRC of a + b, given the CRC of a.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view data);

inline uint32_t Crc32c(std::string_view data) { return ExtendCrc32c(0, data); }

// LevelDB stores CRCs masked, so that the CRC of data that holds CRCs is not
// trivially related to them.
inline uint32_t MaskCrc32c(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

namespace internal {

// ExtendCrc32c without the instruction; named here so that both can be tested
// on one machine.
uint32_t ExtendCrc32cByTable(uint32_t crc, std::string_view data);

}  // namespace internal
}  // namespace dovetail
