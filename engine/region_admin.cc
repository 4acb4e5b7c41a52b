// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Each region is a value of its own under its start, so that a change writes
// two or three of them however many there are, and the head counts them, so
// that a lost one is noticed. docs/format.md has the bytes.
//
// Whoever changes a map holds change_mu_ from the look at the old map to the
// new one's publication, so the order of commits is the order of versions.

#include "engine/region_admin.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/v1/catalog.pb.h"
#include "engine/keyspace.h"
#include "engine/schema_state.h"

namespace dovetail {
namespace {

uint64_t Number(RegionId id) { return static_cast<uint64_t>(id); }

absl::Status CheckNode(std::string_view node) {
  const bool plain = std::none_of(node.begin(), node.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
  if (plain && node.size() <= kNodeNameBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a node's name has at most ", kNodeNameBytesMax,
                   " bytes and no control characters: node=", Quote(node)));
}

absl::Status TooMany(std::string_view table, size_t regions) {
  return absl::ResourceExhaustedError(
      absl::StrCat("too many regions: table=", ToAbsl(table),
                   " regions=", regions, " max=", kRegionsMax));
}

std::string HeadBytes(uint64_t version, uint64_t next_id, uint64_t regions) {
  v1::RegionMapHead head;
  head.set_version(version);
  head.set_next_id(next_id);
  head.set_regions(regions);
  return head.SerializeAsString();
}

std::string RegionBytes(const Region& region) {
  v1::StoredRegion stored;
  stored.set_id(Number(region.id));
  stored.set_epoch(region.epoch);
  stored.set_node(region.node);
  return stored.SerializeAsString();
}

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(
      absl::StrCat("stored region map is damaged: ", ToAbsl(what),
                   "; split the table anew"));
}

// The regions under the prefix, up to one more than there may be.
absl::StatusOr<std::vector<Region>> ReadRegions(Store& store,
                                                const std::string& prefix) {
  std::vector<Region> regions;
  const auto it = store.NewIterator({});
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    v1::StoredRegion stored;
    if (regions.size() > kRegionsMax ||
        !stored.ParseFromArray(it->value().data(),
                               static_cast<int>(it->value().size()))) {
      return Damaged("a region does not parse, or there are too many");
    }
    Region& region = regions.emplace_back();
    region.id = RegionId{stored.id()};
    region.epoch = stored.epoch();
    region.node = stored.node();
    region.start = std::string(it->key().substr(prefix.size()));
    if (regions.size() > 1) regions[regions.size() - 2].end = region.start;
  }
  RETURN_IF_ERROR(it->status());
  return regions;
}

struct LoadedMap {
  std::shared_ptr<const RegionMap> map;
  uint64_t next_id;
};

absl::StatusOr<LoadedMap> LoadMap(Store& store, SpaceId rows,
                                  std::string_view head_bytes) {
  v1::RegionMapHead head;
  if (!head.ParseFromArray(head_bytes.data(),
                           static_cast<int>(head_bytes.size()))) {
    return Damaged("its head does not parse");
  }
  ASSIGN_OR_RETURN(std::vector<Region> regions,
                   ReadRegions(store, RegionsPrefix(rows)));
  if (regions.size() != head.regions()) {
    return Damaged(absl::StrCat("regions=", regions.size(), " should be ",
                                head.regions()));
  }
  for (const Region& region : regions) {
    if (Number(region.id) == 0 || Number(region.id) >= head.next_id()) {
      return Damaged("a region has an id that was not handed out");
    }
  }
  auto map = RegionMap::Of(std::move(regions), head.version());
  if (!map.ok()) return Damaged(ToStd(map.status().message()));
  return LoadedMap{*std::move(map), head.next_id()};
}

// What a damaged map's head still tells, so that no number comes twice.
void KeepNumbers(std::string_view head_bytes, uint64_t* next_id,
                 std::shared_ptr<const RegionMap>* map) {
  v1::RegionMapHead head;
  if (!head.ParseFromArray(head_bytes.data(),
                           static_cast<int>(head_bytes.size()))) {
    return;
  }
  *next_id = std::max(*next_id, head.next_id());
  auto whole = RegionMap::Of(RegionMap::Whole()->List(), head.version());
  if (whole.ok()) *map = *std::move(whole);
}

// Up to `keys_max` keys under the prefix, each with the same chance (Vitter
// 1985, algorithm R), without the prefix and in order.
absl::StatusOr<std::vector<std::string>> SampleKeys(
    const internal::PublishedState& state, const std::string& prefix,
    const SampleOptions& options) {
  StoreReadOptions read;
  read.snapshot = state.snapshot.get();
  read.fill_cache = false;
  const auto it = state.store->NewIterator(read);
  std::mt19937_64 random(options.seed);
  std::vector<std::string> keys;
  uint64_t seen = 0;
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    const std::string_view key = it->key().substr(prefix.size());
    if (seen++ < options.keys_max) {
      keys.emplace_back(key);
      continue;
    }
    const uint64_t place = random() % seen;
    if (place < keys.size()) keys[place] = std::string(key);
  }
  RETURN_IF_ERROR(it->status());
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

absl::Status Regions::Impl::Load(Store& store) {
  const auto schema = services_.committer->published()->schema;
  MutexLock lock(mu_);
  for (const v1::CatalogTable& table : schema->catalog().tables()) {
    const SpaceId rows{table.rows().number()};
    std::string head;
    ASSIGN_OR_RETURN(const bool found,
                     store.Get({}, RegionMapHeadKey(rows), &head));
    if (!found) continue;
    auto entry = std::make_unique<Entry>();
    absl::StatusOr<LoadedMap> loaded = LoadMap(store, rows, head);
    if (loaded.ok()) {
      entry->map = std::move(loaded->map);
      entry->next_id = loaded->next_id;
    } else {
      entry->damage = loaded.status();
      KeepNumbers(head, &entry->next_id, &entry->map);
    }
    entries_[table.rows().number()] = std::move(entry);
  }
  return absl::OkStatus();
}

void Regions::Impl::Announce() {
  const auto schema = services_.committer->published()->schema;
  MutexLock one_at_a_time(change_mu_);
  for (const TableState& table : schema->tables()) {
    const auto map = Map(table.name());
    if (map.ok()) services_.on_change(table.name(), *map);
  }
}

absl::StatusOr<Regions::Impl::Target> Regions::Impl::Find(
    std::string_view table) const {
  const auto schema = services_.committer->published()->schema;
  ASSIGN_OR_RETURN(const TableState* state, schema->Find(table));
  const auto at = static_cast<int>(state - schema->tables().data());
  return Target{state->name(), schema->catalog().tables(at).rows().number()};
}

absl::StatusOr<std::shared_ptr<const RegionMap>> Regions::Impl::Map(
    std::string_view table) const {
  ASSIGN_OR_RETURN(const Target target, Find(table));
  MutexLock lock(mu_);
  const auto it = entries_.find(target.space);
  if (it == entries_.end()) return RegionMap::Whole();
  RETURN_IF_ERROR(it->second->damage);
  return it->second->map;
}

absl::StatusOr<Regions::Impl::Entry*> Regions::Impl::ToChange(
    const Target& target, bool even_damaged) {
  Entry* entry = nullptr;
  {
    MutexLock lock(mu_);
    std::unique_ptr<Entry>& place = entries_[target.space];
    if (place == nullptr) place = std::make_unique<Entry>();
    entry = place.get();
  }
  if (!even_damaged) RETURN_IF_ERROR(entry->damage);
  if (entry->starts.empty()) {
    for (const Region& region : entry->map->List()) {
      entry->starts[Number(region.id)] = region.start;
    }
  }
  return entry;
}

absl::StatusOr<size_t> Regions::Impl::PositionOf(const Target& target,
                                                 Entry& entry,
                                                 const RegionRef& region) {
  const auto it = entry.starts.find(Number(region.id));
  if (it == entry.starts.end()) {
    return absl::NotFoundError(absl::StrCat(
        "no such region: table=", target.name, " region=", Number(region.id)));
  }
  const size_t position = entry.map->PositionOf(it->second);
  const uint64_t epoch = entry.map->at(position).epoch;
  if (region.epoch.value_or(epoch) != epoch) {
    return absl::AbortedError(absl::StrCat(
        "region has changed; look at the map again: table=", target.name,
        " region=", Number(region.id), " epoch=", epoch,
        " given=", *region.epoch));
  }
  return position;
}

absl::Status Regions::Impl::CheckKey(const Target& target,
                                     std::string_view key) const {
  if (!key.empty() && key.size() <= services_.limits->key_bytes_max) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a split key has 1 to ", services_.limits->key_bytes_max,
                   " bytes: table=", target.name, " bytes=", key.size()));
}

absl::Status Regions::Impl::Apply(const Target& target, Entry& entry,
                                  Edit edit) {
  const std::string prefix = RegionsPrefix(SpaceId{target.space});
  const bool all = edit.count == entry.map->size() || entry.map->version() == 0;
  const std::shared_ptr<const RegionMap> old = entry.map;
  std::shared_ptr<const RegionMap> next =
      old->Replace(edit.position, edit.count, edit.regions);
  const auto body = [&](const SchemaState&, SerialView& view) -> absl::Status {
    if (all) {
      // Also what a damaged map has left.
      std::vector<SerialView::KeyValue> stored;
      RETURN_IF_ERROR(
          view.Scan(prefix, {KeyRange()}, 2 * kRegionsMax, &stored));
      for (const SerialView::KeyValue& key_value : stored) {
        view.overlay().Delete(prefix + key_value.key);
      }
      for (const Region& region : next->List()) {
        view.overlay().Put(prefix + region.start, RegionBytes(region));
      }
    } else {
      for (size_t i = 0; i < edit.count; ++i) {
        view.overlay().Delete(prefix + old->at(edit.position + i).start);
      }
      for (const Region& region : edit.regions) {
        view.overlay().Put(prefix + region.start, RegionBytes(region));
      }
    }
    view.overlay().Put(RegionMapHeadKey(SpaceId{target.space}),
                       HeadBytes(next->version(), edit.next_id, next->size()));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(services_.committer->RunMaintenance(
      body, Committer::Leaves::kSyncedChanges));
  for (size_t i = 0; i < edit.count; ++i) {
    entry.starts.erase(Number(old->at(edit.position + i).id));
  }
  for (const Region& region : edit.regions) {
    entry.starts[Number(region.id)] = region.start;
  }
  entry.next_id = edit.next_id;
  {
    MutexLock lock(mu_);
    entry.map = next;
    entry.damage = absl::OkStatus();
  }
  services_.on_change(target.name, next);
  return absl::OkStatus();
}

absl::Status Regions::Impl::PreSplit(std::string_view table,
                                     const std::vector<std::string>& keys,
                                     const PreSplitOptions& options) {
  RETURN_IF_ERROR(services_.check_usable());
  ASSIGN_OR_RETURN(const Target target, Find(table));
  if (keys.size() >= kRegionsMax) return TooMany(table, keys.size() + 1);
  for (const std::string& key : keys) {
    RETURN_IF_ERROR(CheckKey(target, key));
  }
  for (const std::string& node : options.nodes) {
    RETURN_IF_ERROR(CheckNode(node));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const RegionMap> cut,
                   RegionMap::Cut(keys, options.nodes, 0));
  MutexLock lock(change_mu_);
  ASSIGN_OR_RETURN(Entry* const entry, ToChange(target, options.replace));
  if (entry->map->size() > 1 && !options.replace) {
    return absl::FailedPreconditionError(absl::StrCat(
        "table is split already; split its regions, or replace all of them: "
        "table=",
        target.name, " regions=", entry->map->size()));
  }
  std::vector<Region> regions = cut->List();
  uint64_t next_id = entry->next_id;
  for (Region& region : regions) region.id = RegionId{next_id++};
  return Apply(target, *entry,
               {0, entry->map->size(), std::move(regions), next_id});
}

absl::StatusOr<Region> Regions::Impl::Split(std::string_view table,
                                            RegionRef region,
                                            std::string_view key) {
  RETURN_IF_ERROR(services_.check_usable());
  ASSIGN_OR_RETURN(const Target target, Find(table));
  RETURN_IF_ERROR(CheckKey(target, key));
  MutexLock lock(change_mu_);
  ASSIGN_OR_RETURN(Entry* const entry, ToChange(target, false));
  ASSIGN_OR_RETURN(const size_t position, PositionOf(target, *entry, region));
  Region left = entry->map->at(position);
  if (key == left.start || !left.Contains(key)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "split key is not strictly inside the region: table=", target.name,
        " region=", Number(left.id), " key=", Quote(key),
        " start=", Quote(left.start), " end=", Quote(left.end)));
  }
  if (entry->map->size() >= kRegionsMax) {
    return TooMany(table, entry->map->size() + 1);
  }
  Region right;
  right.id = RegionId{entry->next_id};
  right.start = std::string(key);
  right.end = std::exchange(left.end, right.start);
  right.node = left.node;
  ++left.epoch;
  RETURN_IF_ERROR(
      Apply(target, *entry,
            {position, 1, {std::move(left), right}, entry->next_id + 1}));
  return right;
}

absl::StatusOr<Region> Regions::Impl::Merge(std::string_view table,
                                            RegionRef left, RegionRef right) {
  RETURN_IF_ERROR(services_.check_usable());
  ASSIGN_OR_RETURN(const Target target, Find(table));
  MutexLock lock(change_mu_);
  ASSIGN_OR_RETURN(Entry* const entry, ToChange(target, false));
  ASSIGN_OR_RETURN(const size_t a, PositionOf(target, *entry, left));
  ASSIGN_OR_RETURN(const size_t b, PositionOf(target, *entry, right));
  if (b != a + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "regions to merge must be neighbours, the left one first: table=",
        target.name, " left=", Number(left.id), " right=", Number(right.id)));
  }
  Region merged = entry->map->at(a);
  const Region& other = entry->map->at(b);
  merged.end = other.end;
  merged.epoch = std::max(merged.epoch, other.epoch) + 1;
  RETURN_IF_ERROR(Apply(target, *entry, {a, 2, {merged}, entry->next_id}));
  return merged;
}

absl::StatusOr<Region> Regions::Impl::Move(std::string_view table,
                                           RegionRef region,
                                           std::string_view node) {
  RETURN_IF_ERROR(services_.check_usable());
  ASSIGN_OR_RETURN(const Target target, Find(table));
  RETURN_IF_ERROR(CheckNode(node));
  MutexLock lock(change_mu_);
  ASSIGN_OR_RETURN(Entry* const entry, ToChange(target, false));
  ASSIGN_OR_RETURN(const size_t position, PositionOf(target, *entry, region));
  Region moved = entry->map->at(position);
  moved.node = std::string(node);
  ++moved.epoch;
  RETURN_IF_ERROR(
      Apply(target, *entry, {position, 1, {moved}, entry->next_id}));
  return moved;
}

absl::StatusOr<std::vector<std::string>> Regions::Impl::SampleSplits(
    std::string_view table, size_t regions,
    const SampleOptions& options) const {
  RETURN_IF_ERROR(services_.check_usable());
  RETURN_IF_ERROR(UniformSplits(regions).status());  // Checks the number.
  const auto state = services_.committer->published();
  ASSIGN_OR_RETURN(const TableState* found, state->schema->Find(table));
  ASSIGN_OR_RETURN(std::vector<std::string> keys,
                   SampleKeys(*state, found->rows_prefix, options));
  if (keys.size() < regions) {
    return absl::FailedPreconditionError(absl::StrCat(
        "there are fewer row keys than regions: table=", found->name(),
        " keys=", keys.size(), " regions=", regions));
  }
  std::vector<std::string> splits;
  for (size_t i = 1; i < regions; ++i) {
    splits.push_back(std::move(keys[keys.size() * i / regions]));
  }
  return splits;
}

Regions::Regions(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Regions::~Regions() = default;

absl::StatusOr<std::shared_ptr<const RegionMap>> Regions::Map(
    std::string_view table) const {
  return impl_->Map(table);
}

absl::StatusOr<Region> Regions::Locate(std::string_view table,
                                       std::string_view row_key) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const RegionMap> map,
                   impl_->Map(table));
  return map->Locate(row_key);
}

absl::Status Regions::PreSplit(std::string_view table,
                               const std::vector<std::string>& keys,
                               const PreSplitOptions& options) {
  return impl_->PreSplit(table, keys, options);
}

absl::StatusOr<Region> Regions::Split(std::string_view table, RegionRef region,
                                      std::string_view key) {
  return impl_->Split(table, region, key);
}

absl::StatusOr<Region> Regions::Merge(std::string_view table, RegionRef left,
                                      RegionRef right) {
  return impl_->Merge(table, left, right);
}

absl::StatusOr<Region> Regions::Move(std::string_view table, RegionRef region,
                                     std::string_view node) {
  return impl_->Move(table, region, node);
}

absl::StatusOr<std::vector<std::string>> Regions::SampleSplits(
    std::string_view table, size_t regions,
    const SampleOptions& options) const {
  return impl_->SampleSplits(table, regions, options);
}

}  // namespace dovetail
