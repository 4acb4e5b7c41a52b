// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/key_filter.h"

#include <algorithm>
#include <iterator>

namespace dovetail {
namespace {

constexpr size_t kFirstBlocks = 4096;
constexpr size_t kBitsPerKey = 12;

// Odd numbers, one for each word of a block: each makes other bits of a hash.
constexpr uint32_t kOdd[8] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f,
                              0x165667b1, 0xd3a2646d, 0xfd7046c5, 0xb55a4f09};

}  // namespace

size_t KeyFilter::BlockOf(const Layer& layer, uint64_t hash) {
  return static_cast<size_t>(((hash >> 32) * layer.blocks.size()) >> 32);
}

KeyFilter::Block KeyFilter::BitsOf(uint64_t hash) {
  const auto low = static_cast<uint32_t>(hash);
  Block bits;
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = uint32_t{1} << ((low * kOdd[i]) >> 27);
  }
  return bits;
}

bool KeyFilter::MayContain(uint64_t hash) const {
  const Block bits = BitsOf(hash);
  return std::any_of(layers_.begin(), layers_.end(), [&](const Layer& layer) {
    const Block& block = layer.blocks[BlockOf(layer, hash)];
    uint32_t missing = 0;
    for (size_t i = 0; i < bits.size(); ++i) missing |= bits[i] & ~block[i];
    return missing == 0;
  });
}

uint64_t KeyFilter::KeysAt(size_t bytes) {
  return uint64_t{bytes} * 8 / kBitsPerKey;
}

bool KeyFilter::Grow() {
  const size_t blocks =
      layers_.empty() ? kFirstBlocks : layers_.back().blocks.size() * 2;
  const size_t bytes = blocks * sizeof(Block);
  if (bytes_ + bytes > bytes_max_) return false;
  layers_.push_back({std::vector<Block>(blocks, Block{}), KeysAt(bytes)});
  bytes_ += bytes;
  return true;
}

bool KeyFilter::Add(uint64_t hash) {
  if (MayContain(hash)) return true;
  if ((layers_.empty() || layers_.back().room == 0) && !Grow()) return false;
  Layer& layer = layers_.back();
  Block& block = layer.blocks[BlockOf(layer, hash)];
  const Block bits = BitsOf(hash);
  for (size_t i = 0; i < bits.size(); ++i) block[i] |= bits[i];
  --layer.room;
  ++keys_;
  return true;
}

void KeyFilter::Absorb(KeyFilter other) {
  // The larger last layer goes on being filled.
  if (!other.layers_.empty() &&
      (layers_.empty() ||
       layers_.back().blocks.size() < other.layers_.back().blocks.size())) {
    layers_.swap(other.layers_);
  }
  layers_.insert(layers_.begin(),
                 std::make_move_iterator(other.layers_.begin()),
                 std::make_move_iterator(other.layers_.end()));
  bytes_ += other.bytes_;
  bytes_max_ += other.bytes_;
  keys_ += other.keys_;
}

}  // namespace dovetail
