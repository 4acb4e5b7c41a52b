// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The digests of the commit group that runs: what the store has, changed by
// what the group has done so far. Part of the serial section's view, beside the
// overlay: whoever puts a row or an entry there tells it here, with the value
// that goes.
//
// An index that is being built is summed up to the row the build has come to:
// writers change the entries of all rows, but only those of rows up to there
// count, and the build adds the others as it reaches them. So no entry is
// counted twice or missed, and none is read for it.
//
// If the database keeps no digests, nothing is done. When it begins to, the
// changes since a snapshot are collected (Collect), and added to the sums of
// what the snapshot holds (Finish).

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// By the number of the space.
using SpaceSums = absl::flat_hash_map<uint32_t, SpaceSum>;

// Thread-compatible.
class DigestKeeper {
 public:
  // What the store holds for `schema`. DataLoss if it does not parse.
  static absl::StatusOr<DigestKeeper> Load(
      Store& store, std::shared_ptr<const SchemaState> schema);

  // Whether changes have to be told. All tables and indexes below are of the
  // schema of Load or the last Adopt.
  bool on() const { return mode_ != Mode::kOff; }

  // A row, of index -1, or an entry of the index: it is there from now on, or
  // no longer. Keys are without the prefix of their space. Returns its hash; 0
  // if it does not count.
  absl::uint128 Add(const TableState& table, int index, std::string_view key,
                    std::string_view value) {
    return on() ? Change(table, index, key, value, /*there=*/true) : 0;
  }
  absl::uint128 Remove(const TableState& table, int index, std::string_view key,
                       std::string_view value) {
    return on() ? Change(table, index, key, value, /*there=*/false) : 0;
  }
  // A row of which only the hash is known.
  void RemoveRow(const TableState& table, absl::uint128 hash) {
    if (on()) Apply(Of(table), SpaceOf(table, -1), {1, hash}, /*there=*/false);
  }

  // Of an index that is being built: the build puts the entry of a row behind
  // those it has come to; and, at the end of its step, has come so far.
  void AddBuilt(const TableState& table, int index, std::string_view key,
                std::string_view value);
  void SetBuilt(const TableState& table, int index,
                const v1::IndexBuild& build);

  // Whether the build of the index has come to this row; true of one that is
  // not being built.
  bool Reached(const TableState& table, int index,
               std::string_view row_key) const {
    const Space& space =
        tables_[Of(table)].spaces[static_cast<size_t>(index + 1)];
    return !space.built_to.has_value() || row_key <= *space.built_to;
  }

  // Takes `difference` off the sum of a space, if there still is such a space.
  void Correct(uint32_t space, const SpaceSum& difference);

  // What is told from Mark on, RollBack takes back; but for SetBuilt, which
  // therefore comes last, when nothing can fail any more.
  void Mark() { undo_.clear(); }
  void RollBack();

  // Goes over to the schema that the group's commit brings.
  void Adopt(std::shared_ptr<const SchemaState> schema);

  // Begins to collect changes; returns how far each index that is being built
  // has come, by space. FailedPrecondition if it collects already.
  // REQUIRES: the database keeps no digests.
  absl::StatusOr<absl::flat_hash_map<uint32_t, std::string>> Collect();
  // The end of it: adds the sums of what there was when it began, before the
  // schema that keeps digests is adopted; or in vain. FailedPrecondition if it
  // does not collect.
  absl::Status Finish(const SpaceSums& before);
  void GiveUp();

  // Puts what has changed since the last call into the group's batch, or into
  // `in_mark`, which becomes what its commit mark is to hold.
  void WriteTo(StoreBatch* batch, std::string* in_mark);

  // Appends the digests after what the group has done so far: what
  // Engine::Digest would return if it were committed. Nothing if the database
  // keeps none. Cost: a few copies for each table and index.
  void AppendPending(
      google::protobuf::RepeatedPtrField<v1::SpaceDigest>* out) const;

 private:
  enum class Mode { kOff, kCollecting, kOn };
  struct Space {
    uint32_t number;
    SpaceHasher hasher;
    bool kept = true;  // Off: the index is disabled.
    SpaceSum sum = {};
    // Of an index that is being built, and has not come to all rows: the last
    // one that counts.
    std::optional<std::string> built_to = {};
    // Its entries are of groups: all of them count, for they are of no more
    // rows than the build has come to.
    bool groups = false;
  };
  struct Table {
    std::vector<Space> spaces;  // [0] the rows, [1 + i] index i.
    bool changed = false;       // It is in changed_.
  };
  struct Undo {
    Space* space;
    SpaceSum delta;
    bool there;
  };

  explicit DigestKeeper(std::shared_ptr<const SchemaState> schema);

  absl::uint128 Change(const TableState& table, int index, std::string_view key,
                       std::string_view value, bool there);
  void Apply(size_t table, Space& space, const SpaceSum& delta, bool there);
  void SetChanged(size_t table);
  static void AppendSums(const Table& table, std::string* out);
  // The position of a table, and one of its spaces.
  size_t Of(const TableState& table) const {
    return static_cast<size_t>(&table - schema_->tables().data());
  }
  Space& SpaceOf(const TableState& table, int index) {
    return tables_[Of(table)].spaces[static_cast<size_t>(index + 1)];
  }

  std::shared_ptr<const SchemaState> schema_;
  Mode mode_ = Mode::kOff;
  std::vector<Table> tables_;    // By position in the schema.
  std::vector<size_t> changed_;  // Tables, since the last WriteTo.
  std::vector<size_t> marked_;   // Tables in the mark, last changed first.
  std::vector<Undo> undo_;
  std::string value_;  // Scratch of WriteTo.
};

// The digests in one state of the store: by position of the table, its rows'
// first, then those of its indexes; nullopt of an index that is disabled. Empty
// if the database keeps none. DataLoss if they do not parse.
using StoredDigests = std::vector<std::vector<std::optional<SpaceSum>>>;
absl::StatusOr<StoredDigests> ReadDigests(Store& store,
                                          const StoreReadOptions& options,
                                          const SchemaState& schema);

}  // namespace dovetail
