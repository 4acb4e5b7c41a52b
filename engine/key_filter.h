// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An approximate set of keys in memory, which says of most keys that are not
// in it that they are not. Never the opposite: what was added is found.
//
// A blocked Bloom filter (Putze, Sanders, Singler: Cache-, Hash- and
// Space-Efficient Bloom Filters, 2007): all bits of a key are in one block of
// 32 bytes, one in each of eight words, so a look costs one cache miss. It
// grows by layers, each twice as large as the one before; a key is in one of
// them. At twelve bits a key about one absent key in a hundred is not told.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dovetail {

// Thread-compatible.
class KeyFilter {
 public:
  // Takes at most `bytes_max`.
  explicit KeyFilter(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Adds the key with this hash, of 64 good bits. False, and the filter is to
  // be thrown away, if there is no room for it.
  bool Add(uint64_t hash);
  bool MayContain(uint64_t hash) const;

  // Adds all that is in `other`, whose room comes on top.
  void Absorb(KeyFilter other);

  // How many keys a filter of so many bytes holds, roughly.
  static uint64_t KeysAt(size_t bytes);

  size_t bytes() const { return bytes_; }
  // As far as the filter can tell them apart.
  uint64_t keys() const { return keys_; }

 private:
  using Block = std::array<uint32_t, 8>;
  struct Layer {
    std::vector<Block> blocks;
    uint64_t room;  // Keys that still fit.
  };

  static size_t BlockOf(const Layer& layer, uint64_t hash);
  static Block BitsOf(uint64_t hash);
  bool Grow();

  size_t bytes_max_;
  size_t bytes_ = 0;
  uint64_t keys_ = 0;
  std::vector<Layer> layers_;  // The last one takes what is added.
};

}  // namespace dovetail
