// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// On disk a sum is
//
//   number of the space, count: varints
//   sum: 16 bytes, big-endian
//
// The sums of the tables that were changed last are in the commit mark, which
// every commit writes anyway: another key would cost it more than all hashing.
// A table that has not been changed for a while gives up its place there, in
// the commit that needs it, and has a value of its own: 01, then its sums.
// What the mark has of a table is the newer.

#include "engine/digest_keeper.h"

#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/digest.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"

namespace dovetail {
namespace {

constexpr char kDigestFormat = 0x01;
constexpr size_t kSumBytesMax = 5 + 10 + 16;
// In the mark, since all of it is written with each commit.
constexpr size_t kMarkSpacesMax = 8;

std::string KeyOf(const v1::CatalogTable& table) {
  return DigestKey(SpaceId{table.rows().number()});
}

char* PutVarint(uint64_t v, char* out) {
  for (; v >= 0x80; v >>= 7) *out++ = static_cast<char>(v | 0x80);
  *out++ = static_cast<char>(v);
  return out;
}

// Every commit writes sums: byte by byte would be a third of what they cost.
char* PutBigEndian64(uint64_t v, char* out) {
  if constexpr (std::endian::native == std::endian::little) {
    v = __builtin_bswap64(v);
  }
  std::memcpy(out, &v, sizeof(v));
  return out + sizeof(v);
}

void AppendSpaceSum(uint32_t space, const SpaceSum& sum, std::string* value) {
  char buffer[kSumBytesMax];
  char* end = PutVarint(space, buffer);
  end = PutVarint(sum.count, end);
  end = PutBigEndian64(absl::Uint128High64(sum.sum), end);
  end = PutBigEndian64(absl::Uint128Low64(sum.sum), end);
  value->append(buffer, static_cast<size_t>(end - buffer));
}

absl::StatusOr<SpaceSums> ParseSums(std::string_view bytes) {
  SpaceSums sums;
  while (!bytes.empty()) {
    uint64_t space = 0;
    SpaceSum sum;
    if (!ConsumeVarint(&bytes, &space) || !ConsumeVarint(&bytes, &sum.count) ||
        bytes.size() < 16) {
      return absl::DataLossError("digests do not parse");
    }
    sum.sum = ParseSum(bytes.substr(0, 16));
    bytes.remove_prefix(16);
    sums[static_cast<uint32_t>(space)] = sum;
  }
  return sums;
}

// What the commit mark has.
absl::StatusOr<SpaceSums> LoadMarked(Store& store,
                                     const StoreReadOptions& options) {
  std::string value;
  ASSIGN_OR_RETURN(const bool found, store.Get(options, MarkKey(), &value));
  if (!found) return SpaceSums();
  ASSIGN_OR_RETURN(const CommitMark mark, DecodeMark(value));
  return ParseSums(mark.digests);
}

// What there is of one table. A space that is not named there is empty: nothing
// was ever put into it.
absl::StatusOr<SpaceSums> LoadSums(Store& store,
                                   const StoreReadOptions& options,
                                   const SpaceSums& marked,
                                   const v1::CatalogTable& table) {
  if (marked.contains(table.rows().number())) return marked;
  std::string value;
  ASSIGN_OR_RETURN(const bool found, store.Get(options, KeyOf(table), &value));
  if (!found) return SpaceSums();
  if (value.empty() || value[0] != kDigestFormat) {
    return absl::DataLossError(absl::StrCat(
        "digests are not of a known format: table=", table.schema().name()));
  }
  return ParseSums(std::string_view(value).substr(1));
}

SpaceSum Find(const SpaceSums& sums, uint32_t space) {
  const auto it = sums.find(space);
  return it == sums.end() ? SpaceSum() : it->second;
}

std::optional<std::string> BuiltTo(const v1::IndexBuild& build) {
  if (build.all_rows()) return std::nullopt;
  return build.position();
}

}  // namespace

DigestKeeper::DigestKeeper(std::shared_ptr<const SchemaState> schema)
    : schema_(std::move(schema)),
      mode_(schema_->catalog().digests() ? Mode::kOn : Mode::kOff) {
  for (int t = 0; t < static_cast<int>(schema_->tables().size()); ++t) {
    const TableState& state = schema_->tables()[t];
    Table& table = tables_.emplace_back();
    table.spaces.push_back({schema_->catalog().tables(t).rows().number(),
                            SpaceHasher(state.name(), {})});
    for (const v1::CatalogIndex& index : state.indexes) {
      Space& space = table.spaces.emplace_back(
          Space{index.space().number(), SpaceHasher(state.name(), index.name()),
                index.state() != v1::INDEX_DISABLED});
      if (index.state() == v1::INDEX_BUILDING) space.built_to.emplace();
      space.groups =
          state.compiled->indexes()[table.spaces.size() - 2].aggregates();
    }
  }
}

absl::StatusOr<DigestKeeper> DigestKeeper::Load(
    Store& store, std::shared_ptr<const SchemaState> schema) {
  DigestKeeper keeper(std::move(schema));
  SpaceSums marked;
  if (keeper.mode_ == Mode::kOn) {
    ASSIGN_OR_RETURN(marked, LoadMarked(store, {}));
  }
  for (size_t t = 0; t < keeper.tables_.size(); ++t) {
    SpaceSums sums;
    if (keeper.mode_ == Mode::kOn) {
      ASSIGN_OR_RETURN(
          sums,
          LoadSums(store, {}, marked,
                   keeper.schema_->catalog().tables(static_cast<int>(t))));
    }
    if (marked.contains(keeper.tables_[t].spaces[0].number)) {
      keeper.marked_.push_back(t);
    }
    for (Space& space : keeper.tables_[t].spaces) {
      space.sum = Find(sums, space.number);
      if (!space.built_to.has_value()) continue;
      std::string bytes;
      ASSIGN_OR_RETURN(const bool found,
                       store.Get({}, BuildKey(SpaceId{space.number}), &bytes));
      v1::IndexBuild build;
      if (found && !build.ParseFromString(bytes)) {
        return absl::DataLossError("progress of an index build does not parse");
      }
      space.built_to = BuiltTo(build);
    }
  }
  return keeper;
}

absl::uint128 DigestKeeper::Change(const TableState& table, int index,
                                   std::string_view key, std::string_view value,
                                   bool there) {
  Space& space = SpaceOf(table, index);
  if (!space.kept) return 0;
  if (space.built_to.has_value() && !space.groups) {
    std::string row_key;
    const bool counts = table.compiled->indexes()[static_cast<size_t>(index)]
                            .RowKeyOf(key, value, &row_key)
                            .ok() &&
                        row_key <= *space.built_to;
    if (!counts) return 0;
  }
  const SpaceSum one = space.hasher.Of(key, value);
  Apply(Of(table), space, one, there);
  return one.sum;
}

void DigestKeeper::AddBuilt(const TableState& table, int index,
                            std::string_view key, std::string_view value) {
  if (!on()) return;
  Space& space = SpaceOf(table, index);
  Apply(Of(table), space, space.hasher.Of(key, value), /*there=*/true);
}

void DigestKeeper::SetBuilt(const TableState& table, int index,
                            const v1::IndexBuild& build) {
  Space& space = SpaceOf(table, index);
  DOVETAIL_CHECK(space.built_to.has_value());
  space.built_to = BuiltTo(build);
}

void DigestKeeper::Apply(size_t table, Space& space, const SpaceSum& delta,
                         bool there) {
  if (there) {
    space.sum += delta;
  } else {
    space.sum -= delta;
  }
  SetChanged(table);
  undo_.push_back({&space, delta, there});
}

void DigestKeeper::SetChanged(size_t table) {
  if (tables_[table].changed) return;
  tables_[table].changed = true;
  changed_.push_back(table);
}

void DigestKeeper::RollBack() {
  for (const Undo& undo : undo_) {
    if (undo.there) {
      undo.space->sum -= undo.delta;
    } else {
      undo.space->sum += undo.delta;
    }
  }
  undo_.clear();
}

void DigestKeeper::Correct(uint32_t space, const SpaceSum& difference) {
  if (!on()) return;
  for (size_t t = 0; t < tables_.size(); ++t) {
    for (Space& candidate : tables_[t].spaces) {
      if (candidate.number == space && candidate.kept) {
        Apply(t, candidate, difference, /*there=*/false);
      }
    }
  }
}

void DigestKeeper::Adopt(std::shared_ptr<const SchemaState> schema) {
  DigestKeeper next(std::move(schema));
  if (mode_ == Mode::kCollecting && next.mode_ == Mode::kOff) {
    next.mode_ = Mode::kCollecting;
  }
  absl::flat_hash_map<uint32_t, const Space*> before;
  for (const Table& table : tables_) {
    for (const Space& space : table.spaces) before[space.number] = &space;
  }
  for (size_t t = 0; t < next.tables_.size(); ++t) {
    next.SetChanged(t);
    for (Space& space : next.tables_[t].spaces) {
      const auto it = before.find(space.number);
      if (it == before.end()) continue;
      space.sum = it->second->sum;
      if (space.built_to.has_value()) space.built_to = it->second->built_to;
    }
  }
  *this = std::move(next);
}

absl::StatusOr<absl::flat_hash_map<uint32_t, std::string>>
DigestKeeper::Collect() {
  DOVETAIL_CHECK(mode_ != Mode::kOn);
  if (mode_ == Mode::kCollecting) {
    return absl::FailedPreconditionError(
        "digests are being turned on by another call");
  }
  mode_ = Mode::kCollecting;
  absl::flat_hash_map<uint32_t, std::string> built;
  for (Table& table : tables_) {
    for (Space& space : table.spaces) {
      space.sum = SpaceSum();
      if (space.built_to.has_value()) built[space.number] = *space.built_to;
    }
  }
  return built;
}

absl::Status DigestKeeper::Finish(const SpaceSums& before) {
  if (mode_ != Mode::kCollecting) {
    return absl::FailedPreconditionError("digests are not being turned on");
  }
  for (Table& table : tables_) {
    for (Space& space : table.spaces) {
      space.sum += Find(before, space.number);
    }
  }
  return absl::OkStatus();
}

void DigestKeeper::GiveUp() {
  if (mode_ == Mode::kCollecting) mode_ = Mode::kOff;
}

void DigestKeeper::WriteTo(StoreBatch* batch, std::string* in_mark) {
  in_mark->clear();
  if (mode_ != Mode::kOn) return;
  for (const size_t table : changed_) {
    tables_[table].changed = false;
    std::erase(marked_, table);
    marked_.insert(marked_.begin(), table);
  }
  changed_.clear();
  size_t spaces = 0;
  for (const size_t table : marked_) spaces += tables_[table].spaces.size();
  for (; spaces > kMarkSpacesMax; marked_.pop_back()) {
    const Table& table = tables_[marked_.back()];
    spaces -= table.spaces.size();
    value_.assign(1, kDigestFormat);
    AppendSums(table, &value_);
    batch->Put(DigestKey(SpaceId{table.spaces[0].number}), value_);
  }
  for (const size_t table : marked_) AppendSums(tables_[table], in_mark);
}

void DigestKeeper::AppendSums(const Table& table, std::string* out) {
  for (const Space& space : table.spaces) {
    if (space.kept) AppendSpaceSum(space.number, space.sum, out);
  }
}

void DigestKeeper::AppendPending(
    google::protobuf::RepeatedPtrField<v1::SpaceDigest>* out) const {
  if (mode_ != Mode::kOn) return;
  for (size_t t = 0; t < tables_.size(); ++t) {
    const TableState& state = schema_->tables()[t];
    for (size_t i = 0; i < tables_[t].spaces.size(); ++i) {
      if (i > 0 && !state.Follows(i - 1)) continue;
      const SpaceSum& sum = tables_[t].spaces[i].sum;
      *out->Add() =
          ToProto({state.name(), i == 0 ? "" : state.indexes[i - 1].name(),
                   sum.count, sum.sum});
    }
  }
}

absl::StatusOr<StoredDigests> ReadDigests(Store& store,
                                          const StoreReadOptions& options,
                                          const SchemaState& schema) {
  StoredDigests all;
  if (!schema.catalog().digests()) return all;
  ASSIGN_OR_RETURN(const SpaceSums marked, LoadMarked(store, options));
  for (size_t t = 0; t < schema.tables().size(); ++t) {
    const v1::CatalogTable& stored =
        schema.catalog().tables(static_cast<int>(t));
    ASSIGN_OR_RETURN(const SpaceSums sums,
                     LoadSums(store, options, marked, stored));
    std::vector<std::optional<SpaceSum>>& table = all.emplace_back();
    table.push_back(Find(sums, stored.rows().number()));
    for (const v1::CatalogIndex& index : schema.tables()[t].indexes) {
      table.emplace_back();
      if (index.state() == v1::INDEX_DISABLED) continue;
      table.back() = Find(sums, index.space().number());
    }
  }
  return all;
}

}  // namespace dovetail
