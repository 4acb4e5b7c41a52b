// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/entry_diff.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace dovetail {
namespace {

using Entry = IndexDefinition::Entry;

bool KeyLess(const Entry& a, const Entry& b) { return a.key < b.key; }

// Leaves what has to be done. A key that comes again, with another value, goes
// by being put.
void RemoveCommon(EntryDiff* diff) {
  std::vector<Entry> go;
  std::vector<Entry> come;
  std::set_difference(diff->go.begin(), diff->go.end(), diff->come.begin(),
                      diff->come.end(), std::back_inserter(go), KeyLess);
  std::set_difference(diff->come.begin(), diff->come.end(), diff->go.begin(),
                      diff->go.end(), std::back_inserter(come));
  diff->go = std::move(go);
  diff->come = std::move(come);
}

}  // namespace

absl::StatusOr<std::optional<EntryDiff>> DiffEntriesOf(
    const internal::EntrySink& sink, size_t index, const EncodedRow* old_row,
    const EncodedRow* new_row) {
  const IndexDefinition& definition = sink.table().indexes()[index];
  if (old_row != nullptr && new_row != nullptr &&
      definition.SameEntries(*old_row, *new_row) &&
      !(definition.aggregates() && sink.IsBuilding(index))) {
    return std::optional<EntryDiff>();
  }
  EntryDiff diff;
  const std::string_view prefix = sink.EntryPrefix(index);
  if (old_row != nullptr) {
    RETURN_IF_ERROR(definition.EncodeEntries(*old_row, prefix, &diff.go));
  }
  if (new_row != nullptr) {
    RETURN_IF_ERROR(definition.EncodeEntries(*new_row, prefix, &diff.come));
  }
  if (!definition.aggregates()) RemoveCommon(&diff);
  return std::optional<EntryDiff>(std::move(diff));
}

absl::Status ApplyToGroups(internal::EntrySink& sink, size_t index,
                           const EncodedRow* old_row, const EncodedRow* new_row,
                           EntryDiff diff) {
  const IndexDefinition& definition = sink.table().indexes()[index];
  if (!diff.go.empty()) {
    const GroupValue was = definition.Contribution(old_row->fields);
    for (Entry& entry : diff.go) {
      RETURN_IF_ERROR(sink.AddToGroup(index, std::move(entry.key), old_row->key,
                                      /*there=*/false, was));
    }
  }
  if (!diff.come.empty()) {
    const GroupValue is = definition.Contribution(new_row->fields);
    for (Entry& entry : diff.come) {
      RETURN_IF_ERROR(sink.AddToGroup(index, std::move(entry.key), new_row->key,
                                      /*there=*/true, is));
    }
  }
  return absl::OkStatus();
}

}  // namespace dovetail
