// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// On disk a sum is
//
//   number of the row space, count: varints
//   sum: 16 bytes, big-endian
//
// The sums of the tables that were changed last are in the commit mark, which
// every commit writes anyway: another key would cost it more than all hashing.
// A table that has not been changed for a while gives up its place there, in
// the commit that needs it, and has a value of its own: 01, then its sum.
// What the mark has of a table is the newer.

#include "engine/digest_keeper.h"

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
// In the mark, since all of it is written with each commit.
constexpr size_t kMarkTablesMax = 4;

void AppendSpaceSum(uint32_t space, const SpaceSum& sum, std::string* value) {
  AppendVarint(space, value);
  AppendVarint(sum.count, value);
  AppendSum(sum.sum, value);
}

absl::StatusOr<RowSums> ParseSums(std::string_view bytes) {
  RowSums sums;
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
absl::StatusOr<RowSums> LoadMarked(Store& store,
                                   const StoreReadOptions& options) {
  std::string value;
  ASSIGN_OR_RETURN(const bool found, store.Get(options, MarkKey(), &value));
  if (!found) return RowSums();
  ASSIGN_OR_RETURN(const CommitMark mark, DecodeMark(value));
  return ParseSums(mark.digests);
}

// What there is of one table. One that is not named anywhere is empty: nothing
// was ever put into it.
absl::StatusOr<SpaceSum> LoadSum(Store& store, const StoreReadOptions& options,
                                 const RowSums& marked,
                                 const v1::CatalogTable& table) {
  const uint32_t space = table.rows().number();
  if (const auto it = marked.find(space); it != marked.end()) return it->second;
  std::string value;
  ASSIGN_OR_RETURN(const bool found,
                   store.Get(options, DigestKey(SpaceId{space}), &value));
  if (!found) return SpaceSum();
  if (value.empty() || value[0] != kDigestFormat) {
    return absl::DataLossError(absl::StrCat(
        "digests are not of a known format: table=", table.schema().name()));
  }
  ASSIGN_OR_RETURN(const RowSums sums,
                   ParseSums(std::string_view(value).substr(1)));
  const auto it = sums.find(space);
  return it == sums.end() ? SpaceSum() : it->second;
}

}  // namespace

DigestKeeper::DigestKeeper(std::shared_ptr<const SchemaState> schema)
    : schema_(std::move(schema)),
      mode_(schema_->catalog().digests() ? Mode::kOn : Mode::kOff) {
  for (const v1::CatalogTable& table : schema_->catalog().tables()) {
    tables_.push_back(
        {table.rows().number(), SpaceHasher(table.schema().name(), {})});
  }
}

absl::StatusOr<DigestKeeper> DigestKeeper::Load(
    Store& store, std::shared_ptr<const SchemaState> schema) {
  DigestKeeper keeper(std::move(schema));
  if (keeper.mode_ != Mode::kOn) return keeper;
  ASSIGN_OR_RETURN(const RowSums marked, LoadMarked(store, {}));
  for (size_t t = 0; t < keeper.tables_.size(); ++t) {
    ASSIGN_OR_RETURN(
        keeper.tables_[t].sum,
        LoadSum(store, {}, marked,
                keeper.schema_->catalog().tables(static_cast<int>(t))));
    if (marked.contains(keeper.tables_[t].space)) keeper.marked_.push_back(t);
  }
  return keeper;
}

absl::uint128 DigestKeeper::Change(const TableState& table,
                                   std::string_view key,
                                   std::string_view record, bool there) {
  const size_t t = Of(table);
  const SpaceSum one = tables_[t].hasher.Of(key, record);
  Apply(t, one, there);
  return one.sum;
}

void DigestKeeper::Apply(size_t table, const SpaceSum& delta, bool there) {
  if (there) {
    tables_[table].sum += delta;
  } else {
    tables_[table].sum -= delta;
  }
  SetChanged(table);
  undo_.push_back({table, delta, there});
}

void DigestKeeper::SetChanged(size_t table) {
  if (tables_[table].changed) return;
  tables_[table].changed = true;
  changed_.push_back(table);
}

void DigestKeeper::RollBack() {
  for (const Undo& undo : undo_) {
    if (undo.there) {
      tables_[undo.table].sum -= undo.delta;
    } else {
      tables_[undo.table].sum += undo.delta;
    }
  }
  undo_.clear();
}

void DigestKeeper::Correct(uint32_t space, const SpaceSum& difference) {
  if (!on()) return;
  for (size_t t = 0; t < tables_.size(); ++t) {
    if (tables_[t].space == space) Apply(t, difference, /*there=*/false);
  }
}

void DigestKeeper::Adopt(std::shared_ptr<const SchemaState> schema) {
  DigestKeeper next(std::move(schema));
  if (mode_ == Mode::kCollecting && next.mode_ == Mode::kOff) {
    next.mode_ = Mode::kCollecting;
  }
  RowSums before;
  for (const Table& table : tables_) before[table.space] = table.sum;
  for (size_t t = 0; t < next.tables_.size(); ++t) {
    next.SetChanged(t);
    const auto it = before.find(next.tables_[t].space);
    if (it != before.end()) next.tables_[t].sum = it->second;
  }
  *this = std::move(next);
}

absl::Status DigestKeeper::Collect() {
  DOVETAIL_CHECK(mode_ != Mode::kOn);
  if (mode_ == Mode::kCollecting) {
    return absl::FailedPreconditionError(
        "digests are being turned on by another call");
  }
  mode_ = Mode::kCollecting;
  for (Table& table : tables_) table.sum = SpaceSum();
  return absl::OkStatus();
}

absl::Status DigestKeeper::Finish(const RowSums& before) {
  if (mode_ != Mode::kCollecting) {
    return absl::FailedPreconditionError("digests are not being turned on");
  }
  for (Table& table : tables_) {
    const auto it = before.find(table.space);
    if (it != before.end()) table.sum += it->second;
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
  for (; marked_.size() > kMarkTablesMax; marked_.pop_back()) {
    const Table& table = tables_[marked_.back()];
    value_.assign(1, kDigestFormat);
    AppendSpaceSum(table.space, table.sum, &value_);
    batch->Put(DigestKey(SpaceId{table.space}), value_);
  }
  for (const size_t table : marked_) {
    AppendSpaceSum(tables_[table].space, tables_[table].sum, in_mark);
  }
}

void DigestKeeper::AppendPending(
    google::protobuf::RepeatedPtrField<v1::SpaceDigest>* out) const {
  if (mode_ != Mode::kOn) return;
  for (size_t t = 0; t < tables_.size(); ++t) {
    const SpaceSum& sum = tables_[t].sum;
    *out->Add() =
        ToProto({schema_->tables()[t].name(), {}, sum.count, sum.sum});
  }
}

absl::StatusOr<std::vector<SpaceSum>> ReadDigests(
    Store& store, const StoreReadOptions& options, const SchemaState& schema) {
  std::vector<SpaceSum> sums;
  if (!schema.catalog().digests()) return sums;
  ASSIGN_OR_RETURN(const RowSums marked, LoadMarked(store, options));
  for (const v1::CatalogTable& table : schema.catalog().tables()) {
    ASSIGN_OR_RETURN(sums.emplace_back(),
                     LoadSum(store, options, marked, table));
  }
  return sums;
}

}  // namespace dovetail
