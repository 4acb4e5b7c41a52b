// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A region map is a list of chunks of regions, both sorted. A change builds
// one chunk anew and copies the list, whose chunks are shared with the map
// before: some hundred regions and pointers, however large the map is.

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/regions.h"

namespace dovetail {
namespace {

constexpr size_t kChunk = 256;  // Of twice as many several are made.

absl::Status CheckCover(const std::vector<Region>& regions) {
  if (regions.empty() || regions.size() > kRegionsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a table has 1 to ", kRegionsMax, " regions: given=", regions.size()));
  }
  absl::flat_hash_set<uint64_t> ids;
  for (size_t i = 0; i < regions.size(); ++i) {
    std::string_view before;
    if (i > 0) before = regions[i - 1].end;
    const bool last = i + 1 == regions.size();
    const auto id = static_cast<uint64_t>(regions[i].id);
    if (regions[i].start != before || (i > 0 && before.empty()) ||
        (!regions[i].end.empty() && regions[i].end <= regions[i].start) ||
        (last && !regions[i].end.empty())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "regions leave a gap or overlap: region=", id,
          " start=", Quote(regions[i].start), " end=", Quote(regions[i].end)));
    }
    if (!ids.insert(id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two regions have one id: region=", id));
    }
  }
  return absl::OkStatus();
}

std::vector<std::vector<Region>> ChunksOf(std::vector<Region> regions) {
  std::vector<std::vector<Region>> chunks;
  for (size_t i = 0; i < regions.size(); i += kChunk) {
    const auto begin = regions.begin() + static_cast<ptrdiff_t>(i);
    const auto end =
        begin + static_cast<ptrdiff_t>(std::min(kChunk, regions.size() - i));
    chunks.emplace_back(std::make_move_iterator(begin),
                        std::make_move_iterator(end));
  }
  return chunks;
}

}  // namespace

std::shared_ptr<const RegionMap> RegionMap::Whole() {
  static const std::shared_ptr<const RegionMap> kWhole = [] {
    std::shared_ptr<RegionMap> map(new RegionMap());
    Region all;
    all.id = RegionId{1};
    map->SetChunks({{std::move(all)}});
    return map;
  }();
  return kWhole;
}

absl::StatusOr<std::shared_ptr<const RegionMap>> RegionMap::Of(
    std::vector<Region> regions, uint64_t version) {
  RETURN_IF_ERROR(CheckCover(regions));
  std::shared_ptr<RegionMap> map(new RegionMap());
  map->version_ = version;
  map->SetChunks(ChunksOf(std::move(regions)));
  return std::shared_ptr<const RegionMap>(std::move(map));
}

absl::StatusOr<std::shared_ptr<const RegionMap>> RegionMap::Cut(
    const std::vector<std::string>& keys, const std::vector<std::string>& nodes,
    uint64_t version) {
  std::vector<Region> regions(keys.size() + 1);
  for (size_t i = 0; i < regions.size(); ++i) {
    regions[i].id = RegionId{i + 1};
    if (i > 0) regions[i].start = keys[i - 1];
    if (i < keys.size()) regions[i].end = keys[i];
    if (!nodes.empty()) regions[i].node = nodes[i % nodes.size()];
    // An empty key would read as an infinite bound.
    if (i > 0 &&
        (keys[i - 1].empty() || (i > 1 && keys[i - 2] >= keys[i - 1]))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "split keys must ascend: position=", i, " key=", Quote(keys[i - 1])));
    }
  }
  return Of(std::move(regions), version);
}

size_t RegionMap::ChunkAt(size_t position) const {
  const auto behind = std::upper_bound(
      chunks_.begin(), chunks_.end(), position,
      [](size_t p, const Chunk& chunk) { return p < chunk.begin; });
  return static_cast<size_t>(behind - chunks_.begin()) - 1;
}

size_t RegionMap::PositionOf(std::string_view row_key) const {
  const auto chunk_behind =
      std::upper_bound(chunks_.begin() + 1, chunks_.end(), row_key,
                       [](std::string_view key, const Chunk& chunk) {
                         return key < chunk.regions->front().start;
                       });
  const Chunk& chunk = *(chunk_behind - 1);
  const auto behind =
      std::upper_bound(chunk.regions->begin() + 1, chunk.regions->end(),
                       row_key, [](std::string_view key, const Region& region) {
                         return key < region.start;
                       });
  return chunk.begin + static_cast<size_t>(behind - chunk.regions->begin()) - 1;
}

const Region& RegionMap::at(size_t position) const {
  const Chunk& chunk = chunks_[ChunkAt(position)];
  return (*chunk.regions)[position - chunk.begin];
}

std::vector<Region> RegionMap::List() const {
  std::vector<Region> all;
  all.reserve(size_);
  for (const Chunk& chunk : chunks_) {
    all.insert(all.end(), chunk.regions->begin(), chunk.regions->end());
  }
  return all;
}

void RegionMap::SetChunks(std::vector<std::vector<Region>> chunks) {
  chunks_.clear();
  for (std::vector<Region>& chunk : chunks) {
    chunks_.push_back(
        {0, std::make_shared<const std::vector<Region>>(std::move(chunk))});
  }
  Renumber();
}

void RegionMap::Renumber() {
  size_ = 0;
  for (Chunk& chunk : chunks_) {
    chunk.begin = size_;
    size_ += chunk.regions->size();
  }
}

std::shared_ptr<const RegionMap> RegionMap::Replace(
    size_t position, size_t count, std::vector<Region> regions) const {
  DOVETAIL_CHECK(count > 0 && position + count <= size_);
  std::shared_ptr<RegionMap> map(new RegionMap());
  map->version_ = version_ + 1;
  const size_t first = ChunkAt(position);
  size_t last = ChunkAt(position + count - 1);
  // Merges leave small chunks, of which there should not be many.
  const size_t left =
      (last + 1 < chunks_.size() ? chunks_[last + 1].begin : size_) -
      chunks_[first].begin - count + regions.size();
  if (left < kChunk / 4 && last + 1 < chunks_.size()) ++last;
  // The chunks that lose regions, with those that come, as one list.
  std::vector<Region> all;
  for (size_t c = first; c <= last; ++c) {
    all.insert(all.end(), chunks_[c].regions->begin(),
               chunks_[c].regions->end());
  }
  const auto from =
      all.begin() + static_cast<ptrdiff_t>(position - chunks_[first].begin);
  const auto at = all.erase(from, from + static_cast<ptrdiff_t>(count));
  all.insert(at, std::make_move_iterator(regions.begin()),
             std::make_move_iterator(regions.end()));
  map->chunks_.assign(chunks_.begin(),
                      chunks_.begin() + static_cast<ptrdiff_t>(first));
  std::vector<std::vector<Region>> anew;
  if (all.size() < 2 * kChunk) {
    if (!all.empty()) anew.push_back(std::move(all));
  } else {
    anew = ChunksOf(std::move(all));
  }
  for (std::vector<Region>& chunk : anew) {
    map->chunks_.push_back(
        {0, std::make_shared<const std::vector<Region>>(std::move(chunk))});
  }
  map->chunks_.insert(map->chunks_.end(),
                      chunks_.begin() + static_cast<ptrdiff_t>(last) + 1,
                      chunks_.end());
  map->Renumber();
  return map;
}

}  // namespace dovetail
