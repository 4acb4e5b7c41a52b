// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The counters of COUNT and SUM indexes inside the serial section. Part of its
// view, beside the overlay.
//
// What a request adds to a group and takes away is added up first, and then
// settled once: the counter is read, changed in the overlay, and deleted there
// when no row is left. So the overlay has the exact counters behind every
// request, and undoes them with it; and the store's batch has each counter
// once, however many rows of the commit group are in it.
//
// A counter that was touched lately is remembered, so that a group that is
// busy costs no read. Memory: kRememberedBytes at most.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/overlay.h"
#include "engine/schema_state.h"
#include "index/group_value.h"

namespace dovetail {

class SerialView;

// Thread-compatible.
class GroupCounters {
 public:
  static constexpr size_t kRememberedBytes = 16 << 20;

  // Of the request, or step of maintenance, that runs. `key` is a whole store
  // key of an aggregate index of the table, which must be there until Settle
  // or Drop.
  void Add(const TableState& table, size_t index, std::string key,
           const GroupValue& delta);
  // Puts what was added into the view's overlay, and tells its digests.
  // `settled` hears of each group. DataLoss if a counter does not parse, or
  // would fall below 0: it does not follow from the rows.
  enum class Outcome { kPut, kDeleted, kUnchanged };
  absl::Status Settle(
      SerialView& view,
      absl::FunctionRef<void(const TableState&, size_t index, Outcome)>
          settled);
  // Forgets what was added and not settled: the request failed.
  void Drop() { pending_.clear(); }

  // The counter as the group has it; zero if there is none. DataLoss as above.
  absl::StatusOr<GroupValue> Read(const SerialView& view, bool with_sum,
                                  std::string_view key) const;

  // The group of requests ends: with `overlay` in the store, or with nothing.
  void EndGroup(const Overlay& overlay, bool stored);

 private:
  struct Change {
    const TableState* table;
    size_t index;
    GroupValue delta;
  };
  using Remembered = absl::flat_hash_map<std::string, GroupValue>;

  absl::Status SettleOne(SerialView& view, const std::string& key,
                         const Change& change, Outcome* outcome);
  void Remember(std::string key, const GroupValue& value);

  // By key: the order in which a commit puts its counters is always the same.
  absl::btree_map<std::string, Change> pending_;
  // Settled since the group began, and whether they have sums.
  std::vector<std::pair<std::string, bool>> touched_;
  // What the store holds: zero where it holds nothing. Two generations: what
  // is used in the older one moves to the newer, which becomes the older when
  // it is full.
  Remembered newer_;
  Remembered older_;
  size_t newer_bytes_ = 0;
};

}  // namespace dovetail
