// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Index maintenance, the last observer of every engine: keeps each row's
// entries in the commit of its row.
//
// Rule: of each row change, entries(old) - entries(new) are deleted and
// entries(new) - entries(old) are put; what both have is not touched. Over a
// whole request a UNIQUE entry must end with one owner. In between it may have
// several, so that two rows can swap values in one request: a put over another
// row's entry notes that row as displaced; the note goes when that row gives
// the value up; any note left at the end of the request is a violation.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "dovetail/observer.h"
#include "observers/entry_sink.h"

namespace dovetail {

// Not thread-safe: runs in the engine's serial section only.
class IndexMaintenance final : public Observer {
 public:
  ObserverTraits traits() const override;

  absl::Status PrePut(HookContext& ctx, const RowChange& change) override;
  absl::Status PreDelete(HookContext& ctx, const RowChange& change) override;
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& changes) override;
  void PostBatchMutateIndispensably(const absl::Status& outcome) override;

  // AlreadyExists if, at this point of the request, two rows claim one entry
  // among those whose store keys start with `entry_prefix`: a look-up there
  // would find only one of them.
  absl::Status CheckSettled(std::string_view entry_prefix) const;

 private:
  // A row that claims a unique entry which now has another owner's value.
  struct Displaced {
    std::string value;  // Of the entry it had.
  };
  struct Contested {
    std::string what;  // Table, index and values, for the message.
    std::string added_by;
    std::vector<Displaced> displaced;
  };

  static absl::Status Violation(const Contested& contested);
  absl::Status Maintain(internal::EntrySink& sink, std::string_view added_by);
  // Of an index in which a row may have several entries, or a share of some.
  absl::Status MaintainMany(internal::EntrySink& sink, size_t index);
  absl::Status PutUnique(internal::EntrySink& sink, size_t index,
                         std::string key, std::string value,
                         std::string_view added_by);
  absl::Status DeleteUnique(internal::EntrySink& sink, size_t index,
                            std::string key, const std::string& value);

  using ContestedMap = absl::flat_hash_map<std::string, Contested>;
  // Whether the row that had an entry of this value is displaced there.
  bool IsDisplaced(ContestedMap::const_iterator contested,
                   std::string_view value) const;

  // By store key of the entry. Empty but for requests that displace someone.
  ContestedMap contested_;
};

}  // namespace dovetail
