// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/space_sum.h"

// Inlined, since most of what is hashed is short, and with a hash state that
// lies on the stack.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "base/coding.h"

namespace dovetail {
namespace {

// What fits is put together on the stack and hashed in one go, which is several
// times faster than the hash in steps.
constexpr size_t kTogetherMax = 2048;
constexpr size_t kVarintMax = 10;

absl::uint128 ToUint128(const XXH128_hash_t& hash) {
  return absl::MakeUint128(hash.high64, hash.low64);
}

size_t PutVarint(uint64_t v, char* out) {
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) out[n++] = static_cast<char>(v | 0x80);
  out[n++] = static_cast<char>(v);
  return n;
}

XXH128_hash_t HashInSteps(std::string_view name, std::string_view length,
                          std::string_view key, std::string_view value) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (const std::string_view piece : {name, length, key, value}) {
    XXH3_128bits_update(&state, piece.data(), piece.size());
  }
  return XXH3_128bits_digest(&state);
}

}  // namespace

void AppendSum(absl::uint128 sum, std::string* out) {
  AppendBigEndian(absl::Uint128High64(sum), 8, out);
  AppendBigEndian(absl::Uint128Low64(sum), 8, out);
}

absl::uint128 ParseSum(std::string_view bytes) {
  return absl::MakeUint128(DecodeBigEndian(bytes.data(), 8),
                           DecodeBigEndian(bytes.data() + 8, 8));
}

SpaceHasher::SpaceHasher(std::string_view table, std::string_view index) {
  for (const std::string_view name : {table, index}) {
    AppendVarint(name.size(), &name_);
    name_.append(name);
  }
}

SpaceSum SpaceHasher::Of(std::string_view key, std::string_view value) const {
  char together[kTogetherMax];
  if (name_.size() + kVarintMax + key.size() + value.size() <= kTogetherMax) {
    char* end = together;
    const auto append = [&end](std::string_view piece) {
      // A view of nothing may be null, which memcpy must not get.
      if (!piece.empty()) std::memcpy(end, piece.data(), piece.size());
      end += piece.size();
    };
    append(name_);
    end += PutVarint(key.size(), end);
    append(key);
    append(value);
    return {1, ToUint128(XXH3_128bits(together,
                                      static_cast<size_t>(end - together)))};
  }
  const size_t n = PutVarint(key.size(), together);
  return {1, ToUint128(HashInSteps(name_, {together, n}, key, value))};
}

}  // namespace dovetail
