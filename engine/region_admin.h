// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Behind Regions: the maps of all tables in memory, and their changes as
// commits of the catalog's space, each alone in its group.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/limits.h"
#include "dovetail/regions.h"
#include "engine/committer.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-safe. What the constructor is given must outlive it.
class Regions::Impl {
 public:
  struct Services {
    Committer* committer;
    const Limits* limits;
    // Why a call is refused: closed, or inside a hook.
    std::function<absl::Status()> check_usable;
    // Told of each table's map by Announce, and behind each change.
    std::function<void(std::string_view table,
                       const std::shared_ptr<const RegionMap>& map)>
        on_change;
  };
  explicit Impl(Services services) : services_(std::move(services)) {}

  // Reads the maps. An error of the store only: a damaged map is an error of
  // the calls that need it, and its table is served.
  absl::Status Load(Store& store);
  void Announce();

  absl::StatusOr<std::shared_ptr<const RegionMap>> Map(
      std::string_view table) const;
  absl::Status PreSplit(std::string_view table,
                        const std::vector<std::string>& keys,
                        const PreSplitOptions& options);
  absl::StatusOr<Region> Split(std::string_view table, RegionRef region,
                               std::string_view key);
  absl::StatusOr<Region> Merge(std::string_view table, RegionRef left,
                               RegionRef right);
  absl::StatusOr<Region> Move(std::string_view table, RegionRef region,
                              std::string_view node);
  absl::StatusOr<std::vector<std::string>> SampleSplits(
      std::string_view table, size_t regions,
      const SampleOptions& options) const;

 private:
  // What there is of one table.
  struct Entry {
    std::shared_ptr<const RegionMap> map = RegionMap::Whole();
    uint64_t next_id = 2;
    absl::Status damage;
    // Of each region, its start. Kept from the first change on.
    absl::flat_hash_map<uint64_t, std::string> starts;
  };
  // `regions` in the place of `count` ones from `position` on.
  struct Edit {
    size_t position;
    size_t count;
    std::vector<Region> regions;
    uint64_t next_id;
  };
  struct Target {
    std::string name;
    uint32_t space;  // Of its rows.
  };

  absl::StatusOr<Target> Find(std::string_view table) const;
  // The map's entry, ready to be changed; damage is passed over on request.
  absl::StatusOr<Entry*> ToChange(const Target& target, bool even_damaged)
      REQUIRES(change_mu_);
  // The region's position. NotFound, Aborted.
  absl::StatusOr<size_t> PositionOf(const Target& target, Entry& entry,
                                    const RegionRef& region)
      REQUIRES(change_mu_);
  absl::Status Apply(const Target& target, Entry& entry, Edit edit)
      REQUIRES(change_mu_);
  absl::Status CheckKey(const Target& target, std::string_view key) const;

  const Services services_;

  // Held through a change, the commit included. Before mu_.
  Mutex change_mu_;

  mutable Mutex mu_;
  // By the space of the table's rows. Entries, once there, stay where they
  // are; all but `map` and `damage` belong to whoever holds change_mu_.
  absl::flat_hash_map<uint32_t, std::unique_ptr<Entry>> entries_
      GUARDED_BY(mu_);
};

}  // namespace dovetail
