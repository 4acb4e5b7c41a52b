// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads inside the serial section: what the commit group did so far over what
// the store holds. Nobody else writes meanwhile, so no snapshot is needed.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/digest_keeper.h"
#include "engine/group_counters.h"
#include "engine/known_keys.h"
#include "engine/overlay.h"
#include "engine/published_state.h"
#include "engine/schema_state.h"
#include "engine/storage/store.h"

namespace dovetail {

// A row as it is now.
struct CurrentRow {
  std::string key;    // Without the space prefix.
  std::string value;  // As stored, header included.
  SequenceNumber version{};
  size_t record_offset = 0;
  std::string_view record() const {
    return std::string_view(value).substr(record_offset);
  }
};

// Thread-compatible. The store must outlive it.
class SerialView {
 public:
  // `known` may be null; it must outlive the view, and be told of what the
  // overlay puts into the store.
  SerialView(Store* store, KnownKeys* known, DigestKeeper digests)
      : store_(store), known_(known), digests_(std::move(digests)) {}

  // To be given each state that is published, from before the first Scan on:
  // it has what the store has until the next one is.
  void UseState(std::shared_ptr<const internal::PublishedState> state) {
    state_ = std::move(state);
  }

  Overlay& overlay() { return overlay_; }
  const Overlay& overlay() const { return overlay_; }
  // To be told of every row that the overlay is given.
  DigestKeeper& digests() { return digests_; }
  const DigestKeeper& digests() const { return digests_; }
  // What the group changes in COUNT and SUM indexes.
  GroupCounters& groups() { return groups_; }

  // The value under a whole store key.
  absl::StatusOr<std::optional<std::string>> Read(std::string_view key) const;

  // The same in the store, without what the group has done.
  absl::StatusOr<std::optional<std::string>> ReadStored(
      std::string_view key) const;

  // The row under a row key; nullopt if there is none.
  absl::StatusOr<std::optional<CurrentRow>> ReadRow(
      const TableState& table, std::string_view row_key) const;

  // The row that an entry of index `index` leads to. DataLoss if the entry
  // does not decode or its row is not there.
  absl::StatusOr<CurrentRow> RowOfEntry(const TableState& table, int index,
                                        std::string_view entry_key,
                                        std::string_view entry_value) const;

  // Whether the entry of a row follows from it: always, but in an index that
  // is being built only once the build has come to the row. DataLoss if the
  // progress of the build does not parse.
  absl::StatusOr<bool> IsBuiltTo(const TableState& table, size_t index,
                                 std::string_view row_key) const;

  // Appends the entries in the ranges, which are relative to `prefix`, in key
  // order within each; stops behind `entries_max` of them.
  struct KeyValue {
    std::string key;  // Without the space prefix.
    std::string value;
  };
  absl::Status Scan(const std::string& prefix,
                    const std::vector<KeyRange>& ranges, size_t entries_max,
                    std::vector<KeyValue>* out);

 private:
  Store* const store_;
  KnownKeys* const known_;
  std::shared_ptr<const internal::PublishedState> state_;
  Overlay overlay_;
  DigestKeeper digests_;
  GroupCounters groups_;
};

// Decodes what is stored under a row's key.
absl::StatusOr<CurrentRow> MakeCurrentRow(const TableState& table,
                                          std::string row_key,
                                          std::string value);

}  // namespace dovetail
