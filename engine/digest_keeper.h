// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The digests of the commit group that runs: what the store has, changed by
// what the group has done so far. Part of the serial section's view, beside the
// overlay: whoever puts a row there tells it here, with the record that goes.
//
// Of rows only. Entries follow from them, which verify checks; to sum them up,
// too, would make three times the hashing and bytes of every commit.
//
// If the database keeps no digests, nothing is done. When it begins to, the
// changes since a snapshot are collected (Collect), and added to the sums of
// what the snapshot holds (Finish).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/write_log.pb.h"
#include "engine/schema_state.h"
#include "engine/space_sum.h"
#include "engine/storage/store.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace dovetail {

// By the number of the table's row space.
using RowSums = absl::flat_hash_map<uint32_t, SpaceSum>;

// Thread-compatible.
class DigestKeeper {
 public:
  // What the store holds for `schema`. DataLoss if it does not parse.
  static absl::StatusOr<DigestKeeper> Load(
      Store& store, std::shared_ptr<const SchemaState> schema);

  // Whether changes have to be told. All tables below are of the schema of
  // Load or the last Adopt.
  bool on() const { return mode_ != Mode::kOff; }

  // A row is there from now on, or no longer; its key without the prefix of
  // its space. Returns its hash, 0 if digests are off.
  absl::uint128 Add(const TableState& table, std::string_view key,
                    std::string_view record) {
    return on() ? Change(table, key, record, /*there=*/true) : 0;
  }
  absl::uint128 Remove(const TableState& table, std::string_view key,
                       std::string_view record) {
    return on() ? Change(table, key, record, /*there=*/false) : 0;
  }
  // A row of which only the hash is known.
  void Remove(const TableState& table, absl::uint128 hash) {
    if (on()) Apply(Of(table), {1, hash}, /*there=*/false);
  }

  // Takes `difference` off the sum of a row space, if there still is such a
  // space.
  void Correct(uint32_t space, const SpaceSum& difference);

  // What is told from Mark on, RollBack takes back.
  void Mark() { undo_.clear(); }
  void RollBack();

  // Goes over to the schema that the group's commit brings.
  void Adopt(std::shared_ptr<const SchemaState> schema);

  // Begins to collect changes. FailedPrecondition if it collects already.
  // REQUIRES: the database keeps no digests.
  absl::Status Collect();
  // The end of it: adds the sums of what there was when it began, before the
  // schema that keeps digests is adopted; or in vain. FailedPrecondition if it
  // does not collect.
  absl::Status Finish(const RowSums& before);
  void GiveUp();

  // Puts what has changed since the last call into the group's batch, or into
  // `in_mark`, which becomes what its commit mark is to hold.
  void WriteTo(StoreBatch* batch, std::string* in_mark);

  // Appends the digests after what the group has done so far: what
  // Engine::Digest would return if it were committed. Nothing if the database
  // keeps none.
  void AppendPending(
      google::protobuf::RepeatedPtrField<v1::SpaceDigest>* out) const;

 private:
  enum class Mode { kOff, kCollecting, kOn };
  struct Table {
    uint32_t space;  // Of its rows.
    SpaceHasher hasher;
    SpaceSum sum = {};
    bool changed = false;  // It is in changed_.
  };
  struct Undo {
    size_t table;
    SpaceSum delta;
    bool there;
  };

  explicit DigestKeeper(std::shared_ptr<const SchemaState> schema);

  absl::uint128 Change(const TableState& table, std::string_view key,
                       std::string_view record, bool there);
  void Apply(size_t table, const SpaceSum& delta, bool there);
  void SetChanged(size_t table);
  // The position of a table.
  size_t Of(const TableState& table) const {
    return static_cast<size_t>(&table - schema_->tables().data());
  }

  std::shared_ptr<const SchemaState> schema_;
  Mode mode_ = Mode::kOff;
  std::vector<Table> tables_;    // By position in the schema.
  std::vector<size_t> changed_;  // Tables, since the last WriteTo.
  std::vector<size_t> marked_;   // Tables in the mark, last changed first.
  std::vector<Undo> undo_;
  std::string value_;  // Scratch of WriteTo.
};

// The digests of tables' rows in one state of the store, by position of the
// table. Empty if the database keeps none. DataLoss if they do not parse.
absl::StatusOr<std::vector<SpaceSum>> ReadDigests(
    Store& store, const StoreReadOptions& options, const SchemaState& schema);

}  // namespace dovetail
