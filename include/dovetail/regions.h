// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Regions: consecutive ranges that a table's row keys are cut into, from -inf
// to +inf, each assigned to a node by name.
//
//   Regions& regions = engine->regions();
//   regions.PreSplit("orders", *UniformSplits(16), {.nodes = {"a", "b"}});
//   auto map = *regions.Map("orders");
//   const Region& home = map->Locate(row.key);
//   regions.Split("orders", {home.id, home.epoch}, key_inside);
//   regions.Move("orders", home.id, "c");
//
// Regions are virtual: one store holds all rows, and a change of the map moves
// none. They say where rows would be in a system that spreads them, so that
// load can be counted per region before there is such a system; see
// region_load.h, and docs/regions.md for HBase's terms.
//
// A table that was never split has one region, id 1, from -inf to +inf. Every
// change is one commit of its own, synced, and is there whole or not at all
// after a crash. Snapshots, digests and the write log know nothing of regions:
// a replay makes a table with the same digest and its own map.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dovetail {

inline constexpr size_t kRegionsMax = 65'536;  // Of one table.
inline constexpr size_t kNodeNameBytesMax = 64;

// Handed out once per table, never reused.
enum class RegionId : uint64_t {};

struct Region {
  RegionId id{};
  // Raised by each change of the region.
  uint64_t epoch = 1;
  // Encoded row keys in [start, end) are its own. Any bytes: a start need not
  // be a row key itself.
  std::string start = {};  // Empty: -inf.
  std::string end = {};    // Empty: +inf.
  std::string node = {};   // Empty: none.

  bool Contains(std::string_view row_key) const {
    return row_key >= start && (end.empty() || row_key < end);
  }
};

// All regions of a table in one state. Immutable, so any number of threads may
// look into it without a lock.
class RegionMap {
 public:
  // One region, id 1, of version 0.
  static std::shared_ptr<const RegionMap> Whole();
  // InvalidArgument unless each region begins where the one before it ends,
  // the first at -inf, the last ends at +inf, and ids differ.
  static absl::StatusOr<std::shared_ptr<const RegionMap>> Of(
      std::vector<Region> regions, uint64_t version);
  // Regions 1, 2, ... cut at these keys, which must ascend; `nodes` in turn.
  static absl::StatusOr<std::shared_ptr<const RegionMap>> Cut(
      const std::vector<std::string>& keys,
      const std::vector<std::string>& nodes, uint64_t version);

  size_t size() const { return size_; }
  // Grows with each change of the table's regions; 0: never split.
  uint64_t version() const { return version_; }

  // The region that the key is in: there always is one. References live as
  // long as the map. Takes about log2(size) comparisons of keys.
  const Region& Locate(std::string_view row_key) const
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return at(PositionOf(row_key));
  }
  // Its place in the order of keys, from 0.
  size_t PositionOf(std::string_view row_key) const;
  // REQUIRES: position < size().
  const Region& at(size_t position) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  std::vector<Region> List() const;

 private:
  friend class Regions;
  // A change copies one chunk, and the list of them, instead of everything.
  struct Chunk {
    size_t begin;  // Position of its first region.
    std::shared_ptr<const std::vector<Region>> regions;
  };

  RegionMap() = default;
  // The map with `regions` in the place of `count` ones from `position` on.
  std::shared_ptr<const RegionMap> Replace(size_t position, size_t count,
                                           std::vector<Region> regions) const;
  void SetChunks(std::vector<std::vector<Region>> chunks);
  size_t ChunkAt(size_t position) const;
  void Renumber();

  std::vector<Chunk> chunks_;  // None is empty.
  size_t size_ = 0;
  uint64_t version_ = 0;
};

// A region, and, if given, the epoch that it must still have.
struct RegionRef {
  RegionRef(RegionId region, std::optional<uint64_t> at_epoch = std::nullopt)
      : id(region), epoch(at_epoch) {}
  RegionId id;
  std::optional<uint64_t> epoch;
};

// Keys that cut the space of keys into `regions` regions, in ascending order.
// InvalidArgument unless regions is in [1, kRegionsMax].
//
// Evenly over all bytes, for keys that begin with a binary hash or bucket.
absl::StatusOr<std::vector<std::string>> UniformSplits(size_t regions);
// Over 00000000 to ffffffff in lower-case hexadecimal, for keys that begin
// with a hash written so; the keys of HBase's HexStringSplit.
absl::StatusOr<std::vector<std::string>> HexSplits(size_t regions);
// Over all numbers of so many decimal digits, for keys that begin with a
// bucket ("%02d") or a number with leading zeros. InvalidArgument also if
// there are fewer numbers than regions, or over 18 digits.
absl::StatusOr<std::vector<std::string>> DecimalSplits(size_t regions,
                                                       size_t digits);

struct PreSplitOptions {
  // The regions are assigned to these in turn. Empty: to none.
  std::vector<std::string> nodes = {};
  // Give up the regions that there are. Off: FailedPrecondition if the table
  // is split already.
  bool replace = false;
};

struct SampleOptions {
  // Row keys to keep in memory. A table with no more has all of them counted,
  // one with more is sampled evenly.
  size_t keys_max = 1 << 16;
  uint64_t seed = 1;
};

// The regions of an engine's tables. Thread-safe; changes run one at a time.
// Belongs to the engine. All changes return
//   NotFound            no such table or region
//   Aborted             the region's epoch is not RegionRef::epoch
//   FailedPrecondition  the engine is closed or read-only; the call comes from
//                       inside a hook
//   DataLoss            the stored map is damaged; PreSplit with `replace`
//                       makes a new one
//   Unknown             the store failed while writing; see WriteOutcome
// and leave everything as it was if they fail, but for Unknown.
class Regions {
 public:
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  // The newest map. May be called from hooks. NotFound, DataLoss as above.
  absl::StatusOr<std::shared_ptr<const RegionMap>> Map(
      std::string_view table) const;
  // The region of one encoded row key, such as Row::key.
  absl::StatusOr<Region> Locate(std::string_view table,
                                std::string_view row_key) const;

  // Cuts a table that is one region at these keys. InvalidArgument if they do
  // not ascend, one is empty or over Limits::key_bytes_max, or for a node's
  // name; ResourceExhausted above kRegionsMax regions.
  absl::Status PreSplit(std::string_view table,
                        const std::vector<std::string>& keys,
                        const PreSplitOptions& options = {});

  // Cuts a region in two. The left one keeps the id; the right one, which is
  // returned, has a new id and the same node. InvalidArgument unless `key` is
  // strictly inside; ResourceExhausted above kRegionsMax.
  absl::StatusOr<Region> Split(std::string_view table, RegionRef region,
                               std::string_view key);

  // Makes one region of two, with the id and the node of the left one.
  // InvalidArgument unless `right` begins where `left` ends.
  absl::StatusOr<Region> Merge(std::string_view table, RegionRef left,
                               RegionRef right);

  // Assigns the region to a node; to none, if empty. InvalidArgument if the
  // name is over kNodeNameBytesMax or has control characters.
  absl::StatusOr<Region> Move(std::string_view table, RegionRef region,
                              std::string_view node);

  // Keys for PreSplit that give each region the same number of the rows that
  // there are now. Reads the table once. FailedPrecondition if it has fewer
  // rows than regions; InvalidArgument as for UniformSplits.
  absl::StatusOr<std::vector<std::string>> SampleSplits(
      std::string_view table, size_t regions,
      const SampleOptions& options = {}) const;

 private:
  friend class Engine;
  class Impl;
  explicit Regions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail
