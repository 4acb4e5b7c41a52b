// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ends a scan behind its last row, where a COUNT index knows how many rows it
// will find: what lies behind may be many dead keys.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "dovetail/read.h"
#include "engine/published_state.h"

namespace dovetail {

// Of one scan. Thread-compatible. What it is made from must outlive it.
class CountStop {
 public:
  // `index` is the one that is scanned, -1 the row key.
  CountStop(const internal::PublishedState& state, const TableState& table,
            int index, const ScanRequest& request)
      : state_(state), table_(table), index_(index), request_(request) {}

  // Whether no more rows follow once so many have been found. Asks the COUNT
  // index at the first call; false if there is none that counts, by the same
  // columns, at least the rows of the scan. DataLoss if its entry does not
  // parse.
  absl::StatusOr<bool> IsLast(uint64_t found, Work* work) {
    if (!looked_) RETURN_IF_ERROR(Look(work));
    if (!rows_.has_value() || found < *rows_) return false;
    CountIt();
    return true;
  }

  // Whether the scan, of these ranges, would begin with a walk over dead keys
  // and then find nothing. Errors as above.
  absl::StatusOr<bool> FindsNothing(std::string_view space,
                                    const std::vector<KeyRange>& ranges,
                                    Work* work) {
    if (state_.view == nullptr || state_.view->dead().empty()) return false;
    if (!BeginsDead(space, ranges)) return false;
    return IsLast(0, work);
  }

 private:
  bool BeginsDead(std::string_view space,
                  const std::vector<KeyRange>& ranges) const;
  // Finds the COUNT index and reads it.
  absl::Status Look(Work* work);
  int FindCounting(std::string* key) const;
  void CountIt() const;

  const internal::PublishedState& state_;
  const TableState& table_;
  const int index_;
  const ScanRequest& request_;
  bool looked_ = false;
  std::optional<uint64_t> rows_;
};

}  // namespace dovetail
