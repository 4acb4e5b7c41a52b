// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Key spaces: every store key starts with the number of its space.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/coding.h"

namespace dovetail {

// Handed out once, never reused: an index that is dropped and created again
// has another space, so nothing of the old one can be taken for the new one's.
enum class SpaceId : uint32_t {};

inline constexpr SpaceId kMetadataSpace{0};
inline constexpr SpaceId kFirstTableSpace{1};

// One byte up to 239, then 0xF0 and two, then 0xF1 and four: prefixes are free
// of each other and ordered like the numbers.
inline void AppendSpacePrefix(SpaceId space, std::string* out) {
  const auto n = static_cast<uint32_t>(space);
  if (n < 0xF0) {
    AppendBigEndian(n, 1, out);
  } else if (n <= 0xFFFF) {
    out->push_back('\xF0');
    AppendBigEndian(n, 2, out);
  } else {
    out->push_back('\xF1');
    AppendBigEndian(n, 4, out);
  }
}

inline std::string SpacePrefix(SpaceId space) {
  std::string prefix;
  AppendSpacePrefix(space, &prefix);
  return prefix;
}

// Keys of the metadata space.
inline std::string CatalogKey() {
  return SpacePrefix(kMetadataSpace) + "catalog";
}
// The catalog again, in a space of its own behind all others: whoever reads a
// damaged database can do nothing without it.
inline constexpr SpaceId kCatalogCopySpace{0xFFFFFFFF};
inline std::string CatalogCopyKey() {
  return SpacePrefix(kCatalogCopySpace) + "catalog";
}
inline std::string MarkKey() { return SpacePrefix(kMetadataSpace) + "mark"; }
// Under which the table whose rows are in this space has its digests.
inline std::string DigestKey(SpaceId rows) {
  std::string key = SpacePrefix(kMetadataSpace) + "digest";
  AppendBigEndian(static_cast<uint32_t>(rows), 4, &key);
  return key;
}
// Under which a consumer of the change feed keeps its place.
inline std::string FeedCursorKey(std::string_view consumer) {
  std::string key = SpacePrefix(kMetadataSpace) + "feed/";
  return key.append(consumer);
}
// Under which the table whose rows are in this space has the head of its
// region map, and under which, behind this prefix, each region by its start.
inline std::string RegionMapHeadKey(SpaceId rows) {
  std::string key = SpacePrefix(kMetadataSpace) + "regions/";
  AppendBigEndian(static_cast<uint32_t>(rows), 4, &key);
  return key;
}
inline std::string RegionsPrefix(SpaceId rows) {
  std::string key = SpacePrefix(kMetadataSpace) + "region/";
  AppendBigEndian(static_cast<uint32_t>(rows), 4, &key);
  return key;
}
// Under which the place of a replayed source is kept.
inline std::string ReplayPositionKey(std::string_view source) {
  std::string key = SpacePrefix(kMetadataSpace) + "replay/";
  return key.append(source);
}
// Under which a part of the sample of dead keys is kept, by its number.
inline std::string DeadKeysPrefix() {
  return SpacePrefix(kMetadataSpace) + "dead/";
}
inline std::string DeadKeysKey(uint64_t number) {
  std::string key = DeadKeysPrefix();
  AppendBigEndian(number, 8, &key);
  return key;
}
// Under which the build of the index with this space keeps its progress.
inline std::string BuildKey(SpaceId space) {
  std::string key = SpacePrefix(kMetadataSpace) + "build";
  AppendBigEndian(static_cast<uint32_t>(space), 4, &key);
  return key;
}

}  // namespace dovetail
